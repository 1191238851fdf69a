"""Entries in any order, so many that they are sorted by compiled code."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linnet as ln
from linnet.files.build import from_entries
from linnet.formats.coordinates import MANY, sort_unique
from linnet.formats.format import Format
from linnet.formats.named import stack
from linnet.testing import identical

FEW = MANY - 1
INTEGERS = ("int8", "uint16", "int32", "uint64", "int64")
DTYPES = ("bool", *INTEGERS, "float32", "float64", "complex64", "complex128")
OPS = (np.add, np.multiply, np.minimum, np.maximum, np.bitwise_xor, ln.add, ln.maximum)


def in_numpy(coordinates, values, op):
    """The same in plain Python: stable, folded from the left."""
    found: dict[tuple[int, ...], object] = {}
    with np.errstate(all="ignore"):
        for *at, value in zip(*map(np.ndarray.tolist, coordinates), values, strict=True):
            key = tuple(at)
            found[key] = op(found[key], value) if key in found else value
    keys = sorted(found)
    columns = np.array(keys, np.int64).reshape(len(keys), len(coordinates)).T
    return columns, np.array([found[key] for key in keys], values.dtype)


def drawn(rng, count, dims, dtype, index_dtype):
    """Entries with many duplicates and some values of every kind."""
    coordinates = [rng.integers(0, dim, count).astype(index_dtype) for dim in dims]
    values = rng.integers(-100 if np.dtype(dtype).kind in "ifc" else 0, 100, count)
    return coordinates, values.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPS, ids=lambda op: getattr(op, "__name__", repr(op)))
def test_every_dtype_and_function(dtype, op):
    function = op.numpy if isinstance(op, type(ln.add)) else op
    try:
        function(np.zeros(1, dtype), np.zeros(1, dtype))
    except TypeError:
        pytest.skip("NumPy has no such function of these")
    rng = np.random.default_rng(0)
    coordinates, values = drawn(rng, MANY + 100, (50, 60), dtype, np.int32)
    found, folded = sort_unique(list(coordinates), (50, 60), values, op)
    columns, expected = in_numpy(coordinates, values, function)
    assert folded.dtype == values.dtype
    assert all(np.array_equal(a, b) for a, b in zip(found, columns, strict=True))
    assert np.array_equal(folded, expected)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from((1, 2, 3, 200, 70_000, 2**31 + 7, 2**40)), min_size=1, max_size=5),
    st.sampled_from((np.int32, np.int64)),
    st.booleans(),
)
def test_any_dimensions(seed, dims, index_dtype, clustered):
    """Whatever the dimensions, however the entries lie, keys of more than 63 bits included."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(MANY, 4 * MANY))
    most = [min(dim, 2**31 - 1) if index_dtype == np.int32 else dim for dim in dims]
    if clustered:  # nearly all in one corner, so that buckets are uneven
        most = [min(dim, 9) if rng.random() < 0.9 else dim for dim in most]
    coordinates, values = drawn(rng, count, most, "int64", index_dtype)
    found, folded = sort_unique(list(coordinates), dims, values, np.subtract)
    columns, expected = in_numpy(coordinates, values, np.subtract)
    assert all(np.array_equal(a, b) for a, b in zip(found, columns, strict=True))
    assert np.array_equal(folded, expected)


def test_a_function_of_python():
    rng = np.random.default_rng(1)
    coordinates, values = drawn(rng, MANY, (30, 30), "float64", np.int64)
    last = lambda x, y: y  # noqa: E731
    found, folded = sort_unique(list(coordinates), (30, 30), values, last)
    columns, expected = in_numpy(coordinates, values, last)
    assert all(np.array_equal(a, b) for a, b in zip(found, columns, strict=True))
    assert np.array_equal(folded, expected)


def test_sorted_entries_are_not_copied():
    at, values = np.arange(MANY), np.ones(MANY)
    found, held = sort_unique([at], [MANY], values, np.add)
    assert found[0] is at
    assert held is values


def test_memory_is_used_again_while_entries_of_a_file_are_sorted():
    """Coordinates are freed as soon as there are keys, and those of the result lie where keys were.

    At most there are, each of 8 bytes for an entry: values and keys as they are given and as they
    are sorted, and room for as many once more, of which little is touched.
    """
    count, rng = 400_000, np.random.default_rng(3)

    def sort():
        both = rng.integers(0, 2**20, 2 * count).astype(np.int32)
        coordinates, values = [both[:count], both[count:]], rng.random(count)
        del both
        return from_entries(Path("a.mtx"), coordinates, values, (2**20, 2**20), ln.COO, None)

    sort()  # which loads or compiles what it takes
    tracemalloc.start()
    try:
        made = sort()
        left, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert made.nnz == count
    assert most < 6.5 * 8 * count
    assert left < 2.5 * 8 * count


@pytest.mark.parametrize("dtypes", [(np.int32, np.int32, np.int32), (np.int32, np.int64)])
@pytest.mark.parametrize("copies", [1, 3])
def test_coordinates_that_do_not_fit_where_keys_were(dtypes, copies):
    rng = np.random.default_rng(4)
    once = [rng.integers(0, 2**20, MANY + 1).astype(dtype) for dtype in dtypes]
    coordinates = [np.tile(idx, copies) for idx in once]
    values, dims = np.ones(len(coordinates[0])), [2**20] * len(dtypes)
    found, folded = sort_unique(list(coordinates), dims, values, np.add)
    columns, expected = in_numpy(coordinates, values, np.add)
    assert [idx.dtype for idx in found] == [np.dtype(dtype) for dtype in dtypes]
    assert all(np.array_equal(a, b) for a, b in zip(found, columns, strict=True))
    assert np.array_equal(folded, expected)


def test_what_is_given_stays_as_it_is():
    rng = np.random.default_rng(2)
    coordinates, values = drawn(rng, 3 * MANY, (200, 90), "float64", np.int32)
    before = [array.copy() for array in (*coordinates, values)]
    ln.tensor(coordinates, values, (200, 90), format=ln.CSR)
    after = (*coordinates, values)
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_a_tensor_does_not_share_them(index_dtype):
    at, values = np.arange(2 * MANY, dtype=index_dtype), np.ones(2 * MANY)
    made = ln.tensor([at], values, (2 * MANY,))
    at[:], values[:] = 0, 5
    assert made.buffers["idx0_0"].dtype == np.int32
    assert np.array_equal(made.to_numpy(), np.ones(2 * MANY))


FORMATS = (ln.CSR, ln.CSC, ln.DCSR, ln.COO, ln.CSF, ln.DENSE, ln.RLE, ln.BAND, ln.BLOCK, ln.SRLE)


@pytest.mark.parametrize("format", FORMATS, ids=repr)
@pytest.mark.parametrize("fill", [0.0, np.inf])
def test_every_format(format, fill):
    """Many entries and few make the same tensor."""
    rng = np.random.default_rng(3)
    shape = (130, 170)
    coordinates, values = drawn(rng, 2 * MANY, shape, "float64", np.int32)
    made = ln.tensor(coordinates, values, shape, format=format, fill_value=fill)
    dense = np.full(shape, fill)
    columns, expected = in_numpy(coordinates, values, np.add)
    dense[tuple(columns)] = expected
    assert made.format == ln.tensor([[0], [0]], [1.0], shape, format, fill).format
    assert np.array_equal(made.to_numpy(), dense)


def test_patterns_store_what_is_true():
    rng = np.random.default_rng(4)
    coordinates, values = drawn(rng, 2 * MANY, (130, 170), "bool", np.int32)
    values &= rng.random(len(values)) < 0.2
    format = ln.Dense(ln.SparseList(ln.Pattern()))
    made = ln.tensor(coordinates, values, (130, 170), format=format)
    columns, expected = in_numpy(coordinates, values, np.logical_or)
    assert made.nnz == expected.sum()
    assert made.to_numpy()[tuple(columns)].tolist() == expected.tolist()


def test_few_and_many_agree():
    rng = np.random.default_rng(5)
    coordinates, values = drawn(rng, MANY, (300, 400), "float64", np.int32)
    few = ln.tensor([c[:FEW] for c in coordinates], values[:FEW], (300, 400), format=ln.CSR)
    for array, value in zip((*coordinates, values), (*(c[0] for c in coordinates), 0), strict=True):
        array[FEW:] = value
    assert identical(ln.tensor(coordinates, values, (300, 400), format=ln.CSR), few)


ORDERED = (
    ln.COO(3),
    ln.CSF(3),
    ln.COO(3).with_order(2, 0, 1),
    ln.CSF(3).with_order(1, 2, 0),
    Format((*ln.CSR.levels[:1], *ln.CSF(2).levels), (2, 1, 0)),
    ln.DENSE(3),
)


@pytest.mark.parametrize("target", ORDERED, ids=repr)
@pytest.mark.parametrize("source", ORDERED, ids=repr)
def test_dimensions_in_another_order(source, target):
    """A conversion that has to sort gives what one that need not gives."""
    rng, shape = np.random.default_rng(6), (40, 30, 20)
    coordinates, values = drawn(rng, 2 * MANY, shape, "int32", np.int64)
    dense = np.zeros(shape, np.int32)
    np.add.at(dense, tuple(coordinates), values)
    made = ln.tensor(coordinates, values, shape, format=source).to(target)
    assert made.format.order == target.order
    assert np.array_equal(made.to_numpy(), dense)
    again = ln.from_buffers(made.format, shape, dict(made.buffers))  # which checks all arrays
    assert identical(again, made)


def test_what_else_a_conversion_changes():
    """Another dtype, another leaf, stored zeros that stay, in another order."""
    rng, shape = np.random.default_rng(7), (90, 80)
    coordinates, values = drawn(rng, 2 * MANY, shape, "float64", np.int32)
    source = ln.tensor(coordinates, values * (values > 0), shape, format=ln.DCSR)
    by_columns = source.to(ln.DCSC.with_dtype("complex64"))
    assert by_columns.nnz == source.nnz
    assert by_columns.dtype == np.complex64
    assert np.array_equal(by_columns.to_numpy(), source.to_numpy())
    flags = source.to(ln.DCSR.with_dtype("bool"))
    pattern = flags.to(stack(ln.SparseList(ln.SparseList(ln.Pattern())), (1, 0)))
    assert np.array_equal(pattern.to_numpy(), source.to_numpy() != 0)
