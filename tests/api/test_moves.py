"""Functions that move values, by kernels: as NumPy, in every format, in the order of storage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.api.operands import cube, dense_matrix, matrix, same, stored
from tests.api.test_moving import MOVES

import linnet as ln
from linnet.api.indexing import positions
from linnet.errors import ShapeError
from linnet.formats.assemble import unpack

WIDE = 10**9  # columns: whoever goes through all of them is noticed
KERNELS = [m for m in MOVES if m not in ("transpose", "mT", "moveaxis", "copy")]
SOME = [("csr", 0.0), ("csc", 1.5), ("coo", float("nan")), ("coo by columns", 0.0)]


@pytest.fixture(autouse=True)
def always_compiled() -> Iterator[None]:
    """Arrays of any size are large."""
    with ln.config(many=0):
        yield


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
@pytest.mark.parametrize(
    "format", ["csf", "coo", "coo of 2, 0, 1", "rows of coo", "coo of rows", "csf of 1, 2, 0"]
)
def test_cubes(format: str, move: str):
    x, array = cube(format)
    ours, theirs = CUBES[move]
    agree(ours(x), theirs(array))


def test_many_entries_by_columns():
    """They were listed by columns, and said to be by rows: what came next was wrong."""
    sp, rng = pytest.importorskip("scipy.sparse"), np.random.default_rng(0)
    a = np.where(rng.random((90, 120)) < 0.6, rng.random((90, 120)), 0.0)
    x, a, mask = ln.asarray(sp.coo_array(a)).T, a.T, rng.random(120) < 0.5
    for found, expected in [
        (x[mask], a[mask]),
        (ln.roll(x, 7, axis=0), np.roll(a, 7, 0)),
        (ln.repeat(x, 2, axis=0), np.repeat(a, 2, 0)),
        (ln.tile(x, (2, 1)), np.tile(a, (2, 1))),
        (np.delete(x, [3, 5], axis=0), np.delete(a, [3, 5], 0)),
    ]:
        agree(found, expected)
        same(found.to(ln.CSR), expected)
        same(found[5], expected[5])


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
