"""NumPy -> any format -> coordinates -> NumPy, for random nests of levels: nothing is lost."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.formats.arrays import arrays_for, cases, formats, same_bits

from linnet.formats.construct import asarray, from_buffers, pack, tensor, unpack
from linnet.formats.from_numpy import differs
from linnet.formats.named import recognize
from linnet.testing import assert_equal, dense, identical


@given(cases())
def test_array_to_format_and_back(case):
    format, array = case
    stored = asarray(array, format=format)
    assert stored.format == format
    assert stored.shape == array.shape
    assert same_bits(dense(stored), array)


@given(cases())
def test_coordinates_come_in_storage_order_and_once(case):
    format, array = case
    coordinates, values = unpack(asarray(array, format=format))
    places = list(zip(*(coordinates[mode].tolist() for mode in format.order), strict=True))
    assert places == sorted(set(places))
    assert len(values) == (len(places) if format.ndim else 1)


@given(cases())
def test_stored_count(case):
    format, array = case
    stored = asarray(array, format=format)
    assert stored.nnz == len(unpack(stored)[1])


@given(cases())
def test_only_what_is_not_fill_is_stored_in_sparse_levels(case):
    format, array = case
    stored = asarray(array, format=format)
    if not any(level.full for level in format.levels) and format.ndim:
        assert stored.nnz == differs(array, format.fill_value).sum()


@given(cases())
def test_buffers_are_valid_and_make_the_same_tensor(case):
    format, array = case
    stored = asarray(array, format=format)
    again = from_buffers(format, array.shape, stored.buffers)
    assert again.signature is stored.signature
    assert identical(again, stored)


@given(cases())
def test_unpack_then_pack(case):
    format, array = case
    stored = asarray(array, format=format)
    assert identical(pack(*unpack(stored), stored.shape, stored.format), stored)


@given(cases(), st.randoms(use_true_random=False))
def test_coordinates_in_any_order(case, random):
    format, array = case
    stored = asarray(array, format=format)
    coordinates, values = unpack(stored)
    mixed = list(range(len(values)))
    random.shuffle(mixed)
    given = [idx[mixed] for idx in coordinates]
    built = tensor(given, values[mixed], array.shape, format)
    assert identical(built, stored)


@given(cases())
def test_pickle_and_copies(case):
    format, array = case
    stored = asarray(array, format=format)
    for again in (
        pickle.loads(pickle.dumps(stored)),
        copy.copy(stored),
        copy.deepcopy(stored),
        stored.copy(),
    ):
        assert identical(again, stored)
        assert again.signature is stored.signature


@given(cases())
def test_transpose_shares_memory(case):
    format, array = case
    stored = asarray(array, format=format)
    turned = stored.T
    assert same_bits(dense(turned), array.T)
    assert turned.T.format == format
    for mine, theirs in zip(stored.buffers.values(), turned.buffers.values(), strict=True):
        assert mine.size == 0 or np.shares_memory(mine, theirs)


@given(st.data())
def test_any_permutation(data):
    format, array = data.draw(cases())
    axes = tuple(data.draw(st.permutations(range(array.ndim))))
    turned = asarray(array, format=format).permute(axes)
    assert same_bits(dense(turned), array.transpose(axes))


@given(cases())
def test_prints(case):
    format, array = case
    stored = asarray(array, format=format)
    line = repr(stored)
    if not array.shape:
        assert str(stored) == str(array)
        assert line.startswith(f"Tensor({array}, dtype={array.dtype}")
        return
    for part in (str(array.shape), str(array.dtype), f"stored={stored.nnz}", "fill="):
        assert part in line
    assert str(stored).startswith(str(array) if stored.format.dense else line)


@given(st.data())
def test_duplicates_are_folded_in_order(data):
    """`first - second - third`: an operator that shows any other order."""
    format = data.draw(formats(max_ndim=3, pattern=False)).with_fill(0).with_dtype("int64")
    shape = data.draw(arrays_for(format)).shape
    if 0 in shape:
        return
    count = data.draw(st.integers(1, 12))
    rows = [
        data.draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count)) for n in shape
    ]
    values = data.draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count))
    expected: dict[tuple[int, ...], int] = {}
    for place, value in zip(zip(*rows, strict=True) if rows else [()] * count, values, strict=True):
        expected[place] = expected[place] - value if place in expected else value
    array = np.zeros(shape, np.int64)
    for place, value in expected.items():
        array[place] = value
    for op in (np.subtract, lambda a, b: a - b):
        assert_equal(tensor(rows, values, shape, format, op=op), array)


@given(formats())
def test_formats_are_values(format):
    assert pickle.loads(pickle.dumps(format)) == format
    assert recognize(format) == format
    assert format.with_order(*format.order) == format
