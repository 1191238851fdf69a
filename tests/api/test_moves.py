"""Functions that move values, by kernels: as NumPy, in every format, in the order of storage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.api.operands import cube, dense_matrix, matrix, same, stored
from tests.api.test_indexing import VALUES
from tests.api.test_moving import MOVES

import linnet as ln
from linnet.api import programs
from linnet.api.indexing import positions
from linnet.errors import FormatError, ShapeError
from linnet.formats.assemble import unpack

WIDE = 10**9  # columns: whoever goes through all of them is noticed
KERNELS = [m for m in MOVES if m not in ("transpose", "mT", "moveaxis", "copy")]
SOME = [("csr", 0.0), ("csc", 1.5), ("coo", float("nan"))]


@pytest.fixture(autouse=True)
def always_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of any size are large."""
    monkeypatch.setattr(programs, "MANY", 0)


def in_order(x: ln.Tensor) -> bool:
    """Whether what is stored is stored in order, and no element twice."""
    coordinates, _ = unpack(x)
    places = [coordinates[m] for m in x.format.order]
    key = np.ravel_multi_index(places, [x.shape[m] for m in x.format.order])  # type: ignore[index]
    return bool((np.diff(key) > 0).all())


@pytest.mark.parametrize("move", KERNELS)
@pytest.mark.parametrize(("format", "fill"), SOME)
def test_matrices(format: str, fill: float, move: str):
    x, array = matrix(format, fill)
    found, expected = MOVES[move][0](x), MOVES[move][1](array)
    same(found, expected)
    assert found.fill_value == fill or found.fill_value != found.fill_value
    assert found.ndim == 0 or in_order(found)


@pytest.mark.parametrize("format", ["dcsr", "runs", "band", "block", "bytemap", "hash"])
def test_levels_of_other_kinds(format: str):
    x, array = matrix(format)
    for ours, theirs in (MOVES[m] for m in ("reshape", "roll columns", "take", "concat columns")):
        same(ours(x), theirs(array))


CUBES: dict[str, Any] = {
    "rows": (lambda x: x[[2, 0, 2]], lambda a: a[[2, 0, 2]]),
    "middle mask": (lambda x: x[:, [True, False, True, True]], lambda a: a[:, [0, 2, 3]]),
    "middle": (lambda x: ln.take(x, [3, 0, 3], axis=1), lambda a: a[:, [3, 0, 3]]),
    "last": (lambda x: ln.take(x, [4, 0, 1], axis=2), lambda a: a[:, :, [4, 0, 1]]),
    "nothing": (lambda x: x[:, []], lambda a: a[:, []]),
    "join": (lambda x: ln.concat([x, x, x], axis=1), lambda a: np.concatenate([a] * 3, 1)),
    "roll": (lambda x: ln.roll(x, (1, -2), axis=(1, 2)), lambda a: np.roll(a, (1, -2), (1, 2))),
    "flip": (lambda x: ln.flip(x), np.flip),
    "tile": (lambda x: ln.tile(x, (2, 1, 3)), lambda a: np.tile(a, (2, 1, 3))),
    "merge": (lambda x: ln.reshape(x, (12, 5)), lambda a: a.reshape(12, 5)),
    "merge last": (lambda x: ln.reshape(x, (3, 20)), lambda a: a.reshape(3, 20)),
    "split": (lambda x: ln.reshape(x, (3, 2, 2, 5)), lambda a: a.reshape(3, 2, 2, 5)),
    "mix": (lambda x: ln.reshape(x, (5, 1, 12)), lambda a: a.reshape(5, 1, 12)),
    "points": (lambda x: x[[2, 0], [1, 3]], lambda a: a[[2, 0], [1, 3]]),
    "points apart": (lambda x: x[[2, 0], :, [1, 3]], lambda a: a[[2, 0], :, [1, 3]]),
    "grid": (lambda x: x[np.ix_([2, 0], [1, 3, 3])], lambda a: a[np.ix_([2, 0], [1, 3, 3])]),
    "mask": (lambda x: x[x.to_numpy() > 0.5], lambda a: a[a > 0.5]),
    "diagonal": (lambda x: ln.linalg.diagonal(x, offset=1), lambda a: np.diagonal(a, 1, -2, -1)),
    "triangle": (lambda x: ln.tril(x, k=1), lambda a: np.tril(a, 1)),
}


@pytest.mark.parametrize("move", list(CUBES))
@pytest.mark.parametrize("format", ["csf", "coo"])
def test_cubes(format: str, move: str):
    x, array = cube(format)
    ours, theirs = CUBES[move]
    same(ours(x), theirs(array))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_dtypes_and_patterns(dtype: str):
    array = dense_matrix().astype(dtype)
    formats = [ln.CSR, ln.COO(2)] + ([ln.Dense(ln.SparseList(ln.Pattern()))] * (dtype == "bool"))
    for format in formats:
        x = stored(array, format)
        same(x[[3, 0]], array[[3, 0]])
        same(x[:, [5, 0, 5]], array[:, [5, 0, 5]])
        same(ln.concat([x, x], axis=1), np.concatenate([array, array], 1))
        same(ln.reshape(x, (8, 3)), array.reshape(8, 3))


E = ln.Element()
LISTS: list[tuple[int, Any]] = [
    (2, ln.DCSC),
    (2, ln.SparseList(ln.Dense(E))),
    (3, ln.Dense(ln.SparseList(ln.SparseList(E)))),
    (3, ln.SparseList(ln.Dense(ln.SparseList(E)))),
]


def agree(found: ln.Tensor, expected: Any) -> None:
    np.testing.assert_array_equal(found.to_numpy(), expected)
    ln.from_buffers(found.format, found.shape, dict(found.buffers))  # which checks them


@pytest.mark.parametrize("case", range(len(LISTS)))
def test_any_sizes(case: int):
    (ndim, format), rng = LISTS[case], np.random.default_rng(case)
    for _ in range(6):
        shape = tuple(int(n) for n in rng.integers(0, 6, ndim))
        a, d = dense_matrix(0.0, shape, case), int(rng.integers(ndim))
        x = stored(a, format)
        if n := shape[d]:
            at = rng.integers(-n, n, rng.integers(0, 7))
            agree(ln.take(x, ln.asarray(at), axis=d), np.take(a, at, d))
            key = (*[slice(None)] * d, rng.random(n) < 0.5)
            agree(x[key], a[key])
        size = tuple(int(rng.integers(5)) if m == d else n for m, n in enumerate(shape))
        b = dense_matrix(0.0, size, case + 1)
        agree(ln.concat([x, stored(b, format), x], axis=d), np.concatenate([a, b, a], d))
        agree(ln.roll(x, 2, axis=d), np.roll(a, 2, d))
        agree(
            ln.reshape(x, (-1, 1) if a.size else (0, 7)), a.reshape((-1, 1) if a.size else (0, 7))
        )
        agree(ln.sort(x, axis=d), np.sort(a, d))
        agree(ln.tril(x), np.tril(a))


SORTED = [("float64", float("nan")), ("float32", -0.0), ("int8", 3), ("uint64", 0), ("bool", 0)]


@pytest.mark.parametrize(("dtype", "fill"), SORTED, ids=str)
@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO(2)], ids=str)
def test_fibers_are_sorted(format: Any, dtype: str, fill: float):
    rng = np.random.default_rng(0)
    array = rng.integers(-9 if dtype[0] in "fi" else 0, 9, (6, 40)).astype(dtype)
    if dtype[0] == "f":
        array[rng.random(array.shape) < 0.1] = rng.choice([np.nan, -np.nan, np.inf, -0.0])
    if dtype == "uint64":
        array[0] += np.uint64(2**63)
    array[rng.random(array.shape) < 0.5] = fill
    x = stored(array, format, fill)
    for d in (0, 1):
        same(ln.sort(x, axis=d), np.sort(array, d))
        same(ln.sort(x, axis=d, descending=True), np.flip(np.sort(array, d), d))
    values, counts = np.unique(array, return_counts=True, equal_nan=False)
    same(ln.unique_values(x), values)
    assert ln.unique_counts(x).counts.to_numpy().tolist() == counts.tolist()


def ragged(dtype: str, fill: float, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Small numbers, many of them equal, some the fill value; NaN and both zeros if there are."""
    rng = np.random.default_rng(seed)
    array = rng.integers(0 if dtype[0] in "bu" else -4, 4, shape).astype(dtype)
    if dtype[0] == "f":
        array[rng.random(shape) < 0.1] = np.nan
        array[rng.random(shape) < 0.1] = -0.0
    array[rng.random(shape) < rng.choice([0.1, 0.5, 0.9])] = fill
    return array


@pytest.mark.parametrize(
    ("dtype", "fill"), [*SORTED[:1], ("float32", -1.0), ("uint64", 2)], ids=str
)
@pytest.mark.parametrize("format", [ln.CSC, ln.CSF(3)], ids=str)
def test_extremes_of_fibers(format: Any, dtype: str, fill: float):
    for seed in range(4):
        array = ragged(dtype, fill, (3, 4, 6)[: format.ndim], seed)
        x = stored(array, format, fill)
        for axis in (*range(format.ndim), None):
            same(ln.argmax(x, axis=axis), np.argmax(array, axis))
            same(ln.argmin(x, axis=axis, keepdims=True), np.argmin(array, axis, keepdims=True))
        for d in range(format.ndim):
            k = (0, 1, 3, array.shape[d])[seed]
            for largest in (True, False):
                found = ln.topk(x, min(k, array.shape[d]), axis=d, largest=largest)
                expected = ln.topk(
                    ln.asarray(array), min(k, array.shape[d]), axis=d, largest=largest
                )
                for ours, theirs in zip(found, expected, strict=True):
                    same(ours, theirs.to_numpy())


ORDERED = [*SORTED, ("float32", 1.0), ("int64", -4), ("uint8", 2)]
LAYOUTS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "csf": (ln.CSF(3), (3, 4, 40)),
    "coo": (ln.COO(3), (3, 4, 40)),
    "dense": (ln.DENSE(3), (3, 4, 40)),
    "csc": (ln.CSC, (4, 40)),
    "runs": (ln.RLE, (4, 40)),
    "bytemap": (ln.Dense(ln.SparseByteMap(ln.Element())), (4, 40)),
    "hash": (ln.SparseList(ln.SparseHash(ln.Element())), (4, 40)),
    "list": (ln.SparseList(ln.Element()), (40,)),
}


@pytest.mark.parametrize(("dtype", "fill"), ORDERED, ids=str)
@pytest.mark.parametrize("format", list(LAYOUTS))
def test_positions_in_order(format: str, dtype: str, fill: float):
    """Of equal elements, the first stays first in both directions; NaN is the largest."""
    for seed in range(3):
        layout, shape = LAYOUTS[format]
        array = ragged(dtype, fill, shape, seed)
        x = stored(array, layout, fill)
        for d in range(array.ndim):
            same(ln.argsort(x, axis=d), np.argsort(array, d, kind="stable"))
            back = np.flip(np.argsort(np.flip(array, d), d, kind="stable"), d)
            same(ln.argsort(x, axis=d, descending=True), array.shape[d] - 1 - back)


@pytest.mark.parametrize(("dtype", "fill"), [*ORDERED, ("complex64", 1.0)], ids=str)
@pytest.mark.parametrize("format", list(LAYOUTS))
def test_different_values(format: str, dtype: str, fill: float):
    for seed in range(3):
        layout, shape = LAYOUTS[format]
        array = ragged(dtype, fill, shape, seed)
        if dtype == "complex64":
            array = array + 1j * ragged(dtype, 0.0, shape, seed + 9)
        x, expected = stored(array, layout, fill), np.unique(array, True, True, True)
        if dtype[0] != "f":
            for ours, theirs in zip(ln.unique_all(x), expected, strict=True):
                same(ours, theirs.reshape(ours.shape))
        check_distinct(x, array)


@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO(2)], ids=str)
@pytest.mark.parametrize("shape", [(0, 3), (4, 5), (1, 1)], ids=str)
def test_different_values_where_nothing_or_all_is_stored(shape: tuple[int, int], format: Any):
    for array in (np.zeros(shape), np.ones(shape), np.full(shape, np.nan)):
        x = stored(array, format)
        check_distinct(x, array)
        same(ln.argsort(x), np.argsort(array, kind="stable"))


def check_distinct(x: ln.Tensor, array: np.ndarray) -> None:
    """What is said of different values is true of an array, NaN being equal to nothing."""
    values, places, inverse, counts = (found.to_numpy() for found in ln.unique_all(x))
    expected, often = np.unique(array, return_counts=True, equal_nan=False)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(counts, often)
    np.testing.assert_array_equal(values[inverse], array)
    np.testing.assert_array_equal(array.reshape(-1)[places], values)
    for k in np.flatnonzero(values == values):
        assert places[k] == np.flatnonzero(array == values[k])[0]
    lost = inverse[array != array]
    assert len(np.unique(lost)) == len(lost)
    same(ln.unique_inverse(x).inverse_indices, inverse)
    for name, found in ln.unique_counts(x)._asdict().items():
        same(found, values if name == "values" else counts)


def test_different_values_of_more_elements_than_memory_has():
    x = ln.tensor(([0, 2, 2], [5, 7, WIDE - 1]), [1.0, 0.0, 1.0], (3, WIDE), format="csr")
    found = ln.unique_all(x)
    assert [part.to_numpy().tolist() for part in (found.values, found.indices, found.counts)] == [
        [0.0, 1.0], [0, 5], [3 * WIDE - 2, 2]
    ]  # fmt: skip
    assert found.inverse_indices.data.tolist() == [1, 0, 1]
    assert found.inverse_indices.format.name == "CSR"
    lost = ln.tensor(([0], [5]), [1.0], (3, WIDE), fill_value=np.nan)
    with pytest.raises(FormatError, match="every NaN"):
        ln.unique_all(lost)


@pytest.mark.parametrize(("dtype", "fill"), ORDERED, ids=str)
@pytest.mark.parametrize("format", list(LAYOUTS))
def test_extremes_of_all(format: str, dtype: str, fill: float):
    """The fill value takes part where something is not stored, and only there."""
    layout, shape = LAYOUTS[format]
    for seed in range(3):
        array = ragged(dtype, fill, shape, seed)
        for stands in (array, np.full(shape, 5, dtype), np.full(shape, fill, dtype)):
            x = stored(stands, layout, fill)
            for ours, theirs in ((x.max(), stands.max()), (x.min(), stands.min())):
                same(ours, theirs)


def test_the_size_of_an_array_need_not_fit_a_number():
    x = ln.tensor(([0, 2], [5, 7], [1, 2]), [-1.0, -2.0], (2**40, 2**40, 3), format="coo")
    assert float(x.max()) == 0.0
    assert float(x.min()) == -2.0


@pytest.mark.parametrize("format", ["coo", "dcsr", "dcsc", "csf"])
def test_places_that_exceed_64_bits_are_reshaped(format: str):
    shape, last = (2**40, 2**40), 2**40 - 1
    x = ln.tensor(([2**30, last], [3, last]), [1.0, 2.0], shape, format=format)
    found = x.reshape((2**41, 2**39))
    assert np.array(found.coords).tolist() == [[2**31, 2**41 - 1], [3, 2**39 - 1]]
    assert found.data.tolist() == [1.0, 2.0]
    found = x.reshape((2, 2**60, 2**19))
    assert np.array(found.coords).tolist() == [[0, 1], [2**51, 2**60 - 1], [3, 2**19 - 1]]
    odd = ln.tensor(([2**30], [3]), [1.0], (3**25, 2**40), format=format)
    with pytest.raises(ShapeError, match="cannot be reshaped"):
        odd.reshape((2**40, 3**25))


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "runs", "csf"])
def test_positions_for_every_place(format: str, recwarn: Any):
    x, array = cube(format) if format == "csf" else matrix(format)
    rng = np.random.default_rng(1)
    for d, n in enumerate(array.shape):
        sizes = [3 if m == d else size for m, size in enumerate(array.shape)]
        for shape in (sizes, [3 if m == d else 1 for m in range(array.ndim)]):
            at = rng.integers(-n, n, shape)
            expected = np.take_along_axis(array, np.broadcast_to(at, sizes), d)
            same(ln.take_along_axis(x, ln.asarray(at), axis=d), expected)
    assert not recwarn.list  # the array is stored as it is walked


@pytest.mark.parametrize("dtype", ["float32", "complex128", "bool"])
@pytest.mark.parametrize("size", [3, 16, 300])
def test_fibers_in_another_order(size: int, dtype: str):
    """Short ones and long ones, with values of any kind and without."""
    rng = np.random.default_rng(size)
    array = (rng.random((7, size)) * (rng.random((7, size)) < 0.6)).astype(dtype)
    formats = [ln.CSR, ln.DCSR] + [ln.Dense(ln.SparseList(ln.Pattern()))] * (dtype == "bool")
    for format in formats:
        x = stored(array, format)
        for at in (rng.permutation(size), rng.integers(0, size, size + 5)):
            found = x[:, at]
            same(found, array[:, at])
            assert in_order(found)


@pytest.mark.parametrize("count", [1, 2, 9, 20])
def test_many_parts(count: int):
    for format in ("csr", "dcsr"):
        parts = [matrix(format, seed=k) for k in range(count)]
        for axis in (0, 1):
            found = ln.concat([x for x, _ in parts], axis=axis)
            same(found, np.concatenate([a for _, a in parts], axis))


@pytest.mark.parametrize("format", ["csr", "coo"])
def test_only_what_is_stored_is_visited(format: str):
    x = ln.tensor(([0, 2, 2], [5, 7, WIDE - 1]), [1.0, 2.0, 3.0], (3, WIDE), format=format)
    assert ln.take(x, [2, 0], axis=0).coords[1].tolist() == [7, WIDE - 1, 5]
    assert x[:, [7, 0, 7]].coords[1].tolist() == [0, 2]
    assert x[[2, 0], [7, 5]].to_numpy().tolist() == [2.0, 1.0]
    joined = ln.concat([x, x], axis=1)
    assert joined.coords[1].tolist() == [5, WIDE + 5, 7, WIDE - 1, WIDE + 7, 2 * WIDE - 1]
    assert ln.roll(x, 1, axis=1).coords[1].tolist() == [6, 0, 8]
    assert ln.tril(x, k=6).coords[1].tolist() == [5, 7]
    assert ln.tile(x, (1, 2)).coords[1].tolist() == joined.coords[1].tolist()
    assert ln.reshape(x, (3 * WIDE,)).coords[0].tolist() == [5, 2 * WIDE + 7, 3 * WIDE - 1]


def test_what_moves_nothing_is_another_array():
    x, array = matrix("csr")
    alone = [ln.concat([x]), ln.tile(x, (1, 1)), ln.flip(x, axis=()), ln.roll(x, (), axis=())]
    for y in alone:
        y[0, 0] = 9.0
        same(x, array)


def test_positions_are_those_of_the_call():
    """What a kernel follows without a test is no memory that others may write to."""
    given = np.array([2, 0, 1])
    assert not np.shares_memory(positions(given, 3, 0), given)


# -- parts that are assigned to --------------------------------------------------------------------


@pytest.mark.parametrize("value", list(VALUES))
@pytest.mark.parametrize(("format", "fill"), [*SOME, ("runs", 0.0)])
def test_assignments(format: str, fill: float, value: str):
    x, array = matrix(format, fill)
    alias, before, kept = x[...], array.copy(), x.format
    key, new = VALUES[value]
    x[key] = new
    array[key] = new
    same(x, array)
    same(alias, before)
    assert x.format.describe() == kept.describe()


PARTS: dict[str, Any] = {
    "box": (slice(1, 3), slice(0, 2), slice(2, 5)),
    "plane": (slice(None), 2),
    "line": (1, slice(None), 3),
    "steps": (slice(None, None, 2), slice(None, None, -3)),
    "positions": (slice(1, 3), np.array([3, 0]), slice(None, 4)),
    "mask": (slice(None), np.array([True, False, True, True])),
    "nothing": slice(2, 2),
}


@pytest.mark.parametrize("part", list(PARTS))
@pytest.mark.parametrize("format", ["csf", "coo"])
def test_parts_of_cubes_are_assigned_to(format: str, part: str):
    key = PARTS[part]
    for sparse in (False, True):
        x, array = cube(format)
        new = dense_matrix(0.0, array[key].shape[-2:], 3)
        x[key] = ln.asarray(new, format="coo") if sparse else new
        array[key] = new
        same(x, array)


def test_what_is_assigned_where_a_sparse_mask_is_true():
    x, array = matrix("csr")
    x[x > 0.5] = 0.0
    array[array > 0.5] = 0.0
    same(x, array)
    x[ln.asarray(array < 0, format="coo")] = 2.5
    array[array < 0] = 2.5
    same(x, array)
    x[~(x == 2.5)] = 1.0  # true where nothing is stored
    array[array != 2.5] = 1.0
    same(x, array)


def test_an_element_of_a_wide_array_is_assigned_to():
    x = ln.tensor(([0, 2, 2], [5, 7, WIDE - 1]), [1.0, 2.0, 3.0], (3, WIDE), format="csr")
    x[2, 8] = 4.0
    x[0] = 0.0
    assert x.coords[1].tolist() == [7, 8, WIDE - 1]
    with pytest.raises(ValueError, match="do not fit"):
        x[1, 0:3] = np.ones(4)
    with pytest.raises(ValueError, match="would be dense"):
        x[1] = 1.0


STRETCHED = [ln.RunList, ln.SparseRunList, ln.SparseBlockList]
SHAPES = [(12, 5), (60,), (5, 3, 4), (60, 1)]


@pytest.mark.parametrize("dtype", ["float64", "bool"])
@pytest.mark.parametrize("level", STRETCHED, ids=lambda level: level.__name__)
def test_stretches_are_reshaped(level: Any, dtype: str):
    a = np.repeat(np.arange(20) % 3, 3).astype(dtype)
    for shape in SHAPES:
        format = level(ln.Element())
        for _ in shape[1:]:
            format = ln.Dense(format)
        for fill in (False, True):
            x = ln.asarray(a.reshape(shape), format=format, fill_value=fill)
            for other in SHAPES:
                found = ln.reshape(x, other)
                same(found, a.reshape(other))
                assert found.fill_value == x.fill_value
                assert any(isinstance(part, level) for part in found.format.levels)
                ln.from_buffers(found.format, found.shape, dict(found.buffers))
                same(ln.reshape(found, shape), a.reshape(shape))


def test_runs_are_reshaped_as_runs():
    ptr, right, val = [0, 2, 3], [WIDE // 4, WIDE, WIDE], [1.0, 2.0, 2.0]
    x = ln.from_buffers(ln.RLE, (2, WIDE), {"ptr1": ptr, "right1": right, "val": val})
    assert ln.reshape(x, (2 * WIDE,)).buffers["right0"].tolist() == [WIDE // 4, 2 * WIDE]
    found = ln.reshape(x, (8, WIDE // 4))
    assert found.buffers["val"].tolist() == [1.0] + [2.0] * 7
    back = ln.reshape(found, (2, WIDE))
    assert back.buffers["right1"].tolist() == right
    assert ln.sum(back) == WIDE // 4 + 2.0 * (2 * WIDE - WIDE // 4)


@pytest.mark.parametrize("fill", [0.0, 1.0])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "runs", "band", "block", "hash"])
def test_points_are_assigned_to(format: str, fill: float):
    rng = np.random.default_rng(0)
    i, j = rng.integers(-4, 4, 9), rng.integers(-6, 6, 9)  # some of them twice: the last one counts
    mask = np.arange(24).reshape(4, 6) % 5 == 0
    for key, value in (
        ((i, j), 3.0),
        ((i, j), fill),
        ((i, j), rng.random(9)),
        ((i[:, None], j[:2]), rng.random((9, 2))),
        ((2, j), rng.random(9)),
        (mask, rng.random(5)),
    ):
        x, array = matrix(format, fill)
        array[key] = value
        old, x[key] = x.copy(), value
        same(x, array)
        assert x.fill_value == fill
        assert not np.array_equal(old.to_numpy(), array)
    x, array = matrix(format, fill)
    x[i, j] = ln.asarray([0.0, 2.0, 0.0], format=ln.COO)[np.arange(9) % 3]
    array[i, j] = np.array([0.0, 2.0, 0.0])[np.arange(9) % 3]
    same(x, array)
    with pytest.raises(ValueError, match=r"shapes \(2,\), \(9,\) do not fit together"):
        x[i, j] = [1.0, 2.0]


def test_values_of_more_elements_than_can_be_counted():
    """They are known all the same; how often each occurs is no number of 64 bits."""
    x = ln.tensor([[0], [0]], [2.0], (2**33, 2**33))
    assert ln.unique_values(x).to_numpy().tolist() == [0.0, 2.0]
    for counting in (ln.unique_counts, ln.unique_inverse, ln.unique_all):
        with pytest.raises(ShapeError, match="more elements than 64 bits can count"):
            counting(x)
