"""`x[…]` and `x[…] = …`: NumPy's meaning in every format; nothing that was shared is changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.api.operands import (
    cube,
    cube_formats,
    dense_matrix,
    filled_matrices,
    matrix,
    matrix_formats,
    same,
    stored,
)

import linnet as ln

KEYS: dict[str, Any] = {
    "element": (1, 3),
    "negative element": (-1, -2),
    "row": 2,
    "column": (slice(None), 4),
    "rows": slice(1, 3),
    "steps": (slice(None, None, 2), slice(1, None, 3)),
    "backward": (slice(None, None, -1), slice(4, 0, -2)),
    "empty": slice(3, 1),
    "beyond": slice(2, 100),
    "ellipsis": (..., 0),
    "newaxis": (None, slice(1, 3), None),
    "all": slice(None),
    "positions": np.array([3, 0, 0, -1]),
    "list": [2, 1],
    "pairs": (np.array([0, 3]), np.array([5, 2])),
    "table": np.array([[0, 1], [2, 3]]),
    "columns by position": (slice(None), np.array([5, 0])),
    "slice and positions": (slice(1, 3), np.array([5, 0])),
    "number and positions": (2, np.array([5, 0, 1])),
    "outer": (np.array([[0], [2]]), np.array([1, 4, 5])),
    "row mask": np.array([True, False, True, True]),
    "column mask": (slice(None), np.array([True, False, True, False, True, False])),
    "mask": np.arange(24).reshape(4, 6) % 3 == 0,
    "no mask": np.zeros((4, 6), bool),
}


@pytest.mark.parametrize("key", list(KEYS))
@filled_matrices
def test_parts_of_matrices(format: str, fill: float, key: str):
    x, array = matrix(format, fill)
    same(x[KEYS[key]], array[KEYS[key]])


@pytest.mark.parametrize(
    "key",
    [
        (1, slice(None), np.array([0, 2])),
        (np.array([0, 2]), slice(None), np.array([4, 1])),
        (np.array([0, 2]), np.array([1, 3])),
        (slice(None), np.array([[0, 1], [3, 2]]), slice(1, 4)),
        (slice(None), np.arange(20).reshape(4, 5) % 2 == 0),
        (..., np.array([True, False, True, False, True])),
        (2, ..., -1),
        (slice(None, None, -1), 1),
    ],
    ids=str,
)
@cube_formats
def test_parts_of_cubes(format: str, key: Any):
    x, array = cube(format)
    same(x[key], array[key])


def any_key(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index of any kinds of parts; arrays fit each other; an ellipsis stands for 0 or more."""
    line, parts = random.integers(1, 4), list[Any]()
    covered = random.integers(0, len(shape) + 1)
    for n in shape[:covered]:
        mask = np.zeros(n, bool)
        mask[random.permutation(n)[:line]] = True
        kinds: list[Any] = [
            slice(None),
            slice(None, None, -1),
            slice(1, int(random.integers(0, n + 2))),
            int(random.integers(-n, n)),
            random.integers(-n, n, line),
            random.integers(-n, n, (2, 1)),
            mask if mask.sum() == line else np.int64(n - 1),
        ]
        parts.append(kinds[random.integers(len(kinds))])
    for extra, chance in ((None, 0.3), (Ellipsis, 0.6), (True, 0.05)):
        if random.random() < chance:
            parts.insert(random.integers(len(parts) + 1), extra)
    return tuple(parts)


@pytest.mark.parametrize(
    "format", [ln.DENSE(3), ln.COO(3), ln.CSF(3), ln.COO(3).with_order(2, 0, 1)]
)
@pytest.mark.parametrize("seed", range(4))
def test_any_index_reads_and_assigns_as_in_numpy(format: Any, seed: int):
    """`X[:, 1, ..., [0, 2]]`: an ellipsis that stands for no dimension was forgotten."""
    random = np.random.default_rng(seed)
    array = dense_matrix(0.0, (3, 4, 5))
    for key in [
        (slice(None), 1, ..., [0, 2]),
        (slice(None), [2, 1], ..., [0, 2]),
        (None, [2, 1], ..., [0, 2], [1, 3]),
        (slice(None), ..., [2, 1], [0, 2]),
        (..., [2, 1], 0, slice(None)),
        *(any_key(random, array.shape) for _ in range(25)),
    ]:
        x, mine = ln.asarray(array, format=format), array.copy()
        try:
            expected = np.asarray(array[key])
        except IndexError:
            with pytest.raises(ln.LinnetError):
                x[key]
            continue
        same(x[key], expected)
        new = random.integers(1, 9, expected.shape) / 2
        picked = np.arange(array.size).reshape(array.shape)[key]
        if np.unique(picked).size < picked.size:  # which value stays NumPy leaves open
            new = np.full(expected.shape, 7.0)
        x[key], mine[key] = new, new
        same(x, mine)


def test_tensors_are_indices():
    x, array = matrix("csr")
    same(x[ln.asarray([2, 0])], array[[2, 0]])
    same(x[x > 0], array[array > 0])
    same(x[ln.asarray(1), ln.asarray(2)], array[1, 2])
    same(x[ln.asarray(1) : ln.asarray(3)], array[1:3])


def test_a_part_is_an_array():
    x, array = matrix("coo")
    assert isinstance(x[0, 0], ln.Tensor)
    assert x[0, 0].shape == ()
    same(x[()], array[()])
    assert float(x[1, 3]) == array[1, 3]
    assert [float(v) for v in x[0]] == array[0].tolist()


@matrix_formats
def test_take_along_axis(format: str):
    x, array = matrix(format)
    places = np.argsort(array, 1)
    same(ln.take_along_axis(x, ln.asarray(places), axis=1), np.take_along_axis(array, places, 1))
    same(
        ln.take_along_axis(x, ln.asarray([[0, -1]])),
        np.take_along_axis(array, np.array([[0, -1]]), 1),
    )


VALUES: dict[str, tuple[Any, Any]] = {
    "element": ((1, 3), 7.5),
    "fill value": ((1, slice(None)), 0.0),
    "row": (2, np.arange(6.0)),
    "broadcast": (slice(1, 4), np.arange(6.0)),
    "columns": ((slice(None), slice(None, None, 2)), np.arange(12.0).reshape(4, 3)),
    "backward": ((0, slice(None, None, -1)), np.arange(6.0)),
    "mask": (np.arange(24).reshape(4, 6) % 5 == 0, 9.0),
    "masked values": (np.arange(24).reshape(4, 6) % 5 == 0, np.arange(5.0)),
    "positions": (np.array([0, 3]), 4.0),
    "twice": ((np.array([0, 0]), np.array([1, 1])), np.array([3.0, 4.0])),
    "all": (..., 2.5),
    "integers": (0, 3),
}


@pytest.mark.parametrize("value", list(VALUES))
@matrix_formats
def test_assignment_changes_the_object_and_nothing_else(format: str, value: str):
    x, array = matrix(format)
    other, before, expected = x.copy(), x.to_numpy(copy=True), array.copy()
    shared = ln.asarray(x)
    alias = x[...]
    key, new = VALUES[value]
    x[key] = new
    expected[key] = new
    same(x, expected)
    assert shared is x
    same(alias, before)
    same(other, before)


def test_sparse_values_are_assigned():
    x, array = matrix("csr")
    x[0:2] = ln.asarray([[1.0, 0, 0, 0, 0, 2.0]], format="csr")
    array[0:2] = [1.0, 0, 0, 0, 0, 2.0]
    same(x, array)
    assert x.format.name == "CSR"


def test_memory_of_numpy_is_not_written():
    array = np.arange(4.0)
    x = ln.asarray(array)
    x[0] = 9.0
    x += 1.0
    assert array.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert x.to_numpy().tolist() == [10.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (4, IndexError, "index 4 is out of bounds for dimension 0 with size 4"),
        ((0, -7), IndexError, "index -7 is out of bounds for dimension 1 with size 6"),
        ((0, 0, 0), IndexError, "too many indices"),
        (1.5, IndexError, "1.5 is not an index"),
        (float("nan"), IndexError, "nan is not an index"),
        ("a", IndexError, "'a' is not an index"),
        ((..., ...), IndexError, "only one ellipsis"),
        (np.array([0.5]), IndexError, "is not an index"),
        (np.array([0, 9]), IndexError, "index 9 is out of bounds"),
        (np.zeros((3, 6), bool), IndexError, "a mask of shape (3, 6) does not fit"),
        (slice(0.5, 2), TypeError, "the bounds of a slice are integers"),
    ],
    ids=str,
)
def test_bad_indices(key: Any, error: type, text: str):
    for format in ("dense", "csr"):
        x, array = matrix(format)
        with pytest.raises(error) as caught:
            x[key]
        assert text in str(caught.value)
        assert "test_indexing.py" in str(caught.value)
        with pytest.raises(error):
            array[key]


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        (0, [1.0, 2.0], ValueError),
        (0, 1j, TypeError),
        (9, 1.0, IndexError),
    ],
)
@pytest.mark.parametrize("format", ["dense", "csr"])
def test_bad_assignments(format: str, key: Any, value: Any, error: type):
    x, array = matrix(format)
    with pytest.raises(error):
        x[key] = value
    same(x, array)


@pytest.mark.parametrize("key", KEYS)
def test_a_number_is_assigned_wherever_an_index_points(key: str):
    x, array = matrix("coo", 1.5)
    x[KEYS[key]] = 7.0
    array[KEYS[key]] = 7.0
    same(x, array)


@pytest.mark.parametrize("shape", [(10**10,), (3, 10**10), (2**33, 2**33)], ids=str)
@pytest.mark.parametrize("format", [ln.COO, ln.CSF], ids=str)
def test_elements_of_what_is_long_are_assigned(format: Any, shape: tuple[int, ...]):
    """Nothing that is made is as long as a dimension."""
    last = [n - 1 for n in shape]
    x = ln.tensor([[0, n] for n in last], [1.0, 2.0], shape, format=format(len(shape)))
    x[tuple(last)] = 9.0
    x[tuple([0, n - 1] for n in last)] = [4.0, 5.0]
    assert (x.nnz, x.sum().item(), x[tuple(last)].item()) == (3, 18.0, 9.0)
    x[-1] = 0.0
    assert (x[0] if x.ndim == 1 else x.sum()).item() == {1: 4.0}.get(x.ndim, 9.0)


@pytest.mark.parametrize("format", [ln.RLE, ln.SRLE, ln.RunList(ln.RunList(ln.Element()))], ids=str)
def test_runs_are_not_taken_apart_for_one_element(format: Any):
    """Of 10**13 elements in a few runs, one is read, and others are assigned."""
    at = 4 * 10**12
    arrays = {"ptr1": range(4), "left1": [at] * 3, "right1": [2 * at] * 3, "val": [1.0, 2.0, 3.0]}
    given = {name: np.array(array) for name, array in arrays.items()}
    x = ln.from_buffers(ln.SRLE, (3, 10**13), given).to(format)
    assert [x[2, k].item() for k in (at - 1, at, 2 * at - 1, 2 * at)] == [0.0, 3.0, 3.0, 0.0]
    x[2, at] = 7.0
    assert [x[2, k].item() for k in (at - 1, at, at + 1)] == [0.0, 7.0, 3.0]
    x[x > 2] = 1.0
    assert [x[2, k].item() for k in (at - 1, at, at + 1)] == [0.0, 1.0, 1.0]


MASKED = np.where(np.arange(120).reshape(6, 5, 4) % 3 == 0, np.arange(120).reshape(6, 5, 4), 0)


@pytest.mark.parametrize("store", [ln.COO, ln.CSF, ln.DENSE])
@pytest.mark.parametrize("mask", [ln.COO, ln.CSF])
@pytest.mark.parametrize(
    "key",
    [
        lambda m: m(MASKED > 30),
        lambda m: (m(MASKED[:, :, 0] > 30), slice(1, 3)),
        lambda m: (slice(None), m(MASKED[0] > 1)),
        lambda m: (m(MASKED[:, 0, 0] > 1), 0),
        lambda m: (..., m(MASKED[0, 0] > 1)),
        lambda m: m(MASKED[:, 0, 0] > 1000),
    ],
)
def test_masks_that_store_where_they_are_true(store, mask, key):
    x = ln.asarray(MASKED, format=store(3))
    given = key(lambda array: ln.asarray(array, format=mask(array.ndim)))
    np.testing.assert_array_equal(x[given].to_numpy(), MASKED[key(np.asarray)])
    y, expected = x.copy(), MASKED.copy()
    y[given], expected[key(np.asarray)] = 7, 7
    np.testing.assert_array_equal(y.to_numpy(), expected)


@pytest.mark.parametrize("shape", [(6, 4), (5,), (6, 5, 4, 1)])
def test_masks_that_store_where_they_are_true_and_do_not_fit(shape):
    with pytest.raises(IndexError, match=r"does not fit|too many"):
        ln.asarray(MASKED, format=ln.COO(3))[
            ln.zeros(shape, dtype="bool", format=ln.COO(len(shape)))
        ]


def test_a_mask_of_more_elements_than_memory_holds():
    n = 2**40
    x = ln.tensor([[1, 5, n - 1], [0, n - 2, 3]], [1.0, 2.0, 3.0], (n, n), format=ln.COO(2))
    assert x[x > 1].to_numpy().tolist() == [2.0, 3.0]
    rows = ln.tensor([[5, n - 1]], [True, True], (n,), format=ln.CSF(1))
    assert x[rows].coords.tolist() == [[0, 1], [n - 2, 3]]


SQUARE = np.array([[1.0, 2.0, 0.0, 0.0], [2.0, 0.0, 3.0, 0.0], [0.0, 3.0, 5.0, 0.0], [0, 0, 0, 1]])
OTHERS = [ln.SYMMETRIC, ln.SYMMETRIC_TILES, ln.BSR(2, 2), ln.BSR(3, 2), ln.SRLE, ln.RLE]


@pytest.mark.parametrize("format", OTHERS, ids=str)
def test_elements_are_found_in_every_level(format: Any):
    x = stored(SQUARE, format)
    for i, j in np.ndindex(*SQUARE.shape):
        same(x[i, j], SQUARE[i, j])


def test_truth_is_found_where_it_is_stored():
    a = np.eye(4, dtype=bool)[[1, 0, 3, 2]]
    for format in (ln.PERM, ln.Dense(ln.SparseList(ln.Pattern())), ln.SparseCOO(2, ln.Pattern())):
        x = stored(a, format, False)
        for i, j in np.ndindex(4, 4):
            same(x[i, j], a[i, j])
