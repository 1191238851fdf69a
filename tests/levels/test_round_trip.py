"""From arrays to levels and back, and between any two formats."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from tests.levels.samples import ALL, NEW, array_for, nest

import linnet as ln
from linnet.errors import FormatError
from linnet.testing import assert_equal, dense, identical

NESTS = [
    *ALL,
    *(a + b for a, b in itertools.product(ALL, ALL) if {a, b} & set(NEW)),
    *("".join(random.Random(k).choices(ALL, k=3)) for k in range(60)),
]


@pytest.mark.parametrize("letters", NESTS)
def test_arrays(letters):
    for seed, n in enumerate((0, 1, 4, 7)):
        array = array_for(letters, (n,) * len(letters), np.random.default_rng(seed))
        array[array == 1] = -0.0
        x = ln.asarray(array, format=nest(letters))
        assert np.array_equal(dense(x), array)
        assert np.array_equal(np.signbit(dense(x)), np.signbit(array))
        ln.from_buffers(x.format, x.shape, dict(x.buffers))


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("format", [ln.COO(2), ln.CSR, ln.DCSC, ln.RLE, ln.BLOCK, ln.BAND])
def test_zeros_of_the_other_sign(format, zero):
    """What is not the fill value is kept by a conversion, as it is from NumPy's arrays."""
    for array in (np.array([[-0.0, 0.0], [2.0, -0.0]]), np.array([[-0j, 0j], [2j, -0j]])):
        x = ln.asarray(ln.asarray(array), format=format.with_dtype(array.dtype).with_fill(zero))
        assert np.array_equal(dense(x).view(np.int64), array.view(np.int64))
        assert x.nnz == ln.asarray(array, format=x.format).nnz


@pytest.mark.parametrize("letters", NEW)
def test_coordinates_in_any_order(letters):
    coords, values = [[4, 2, 3, 4]], [1.0, 2.0, 2.0, 1.0]
    if letters == "P":
        coords, values = [[4, 4]], [1.0, 1.0]
    x = ln.tensor(coords, values, (6,), nest(letters))
    expected = np.zeros(6)
    np.add.at(expected, coords[0], values)
    assert_equal(x, expected)


@pytest.mark.parametrize("letters", [a + b for a, b in itertools.product(ALL, NEW)])
def test_transposed(letters):
    array = array_for(letters, (3, 5), np.random.default_rng(1)).T
    assert_equal(ln.asarray(array, format=nest(letters, (1, 0))), array)


@pytest.mark.parametrize("source", NEW)
@pytest.mark.parametrize("target", "DSBHC")
def test_conversions(source, target):
    array = array_for(source, (7,), np.random.default_rng(5))
    x = ln.asarray(array, format=nest(source))
    y = x.to(nest(target))
    assert_equal(y, array)
    assert identical(y.to(x.format), x.to(nest("D")).to(x.format))


@pytest.mark.parametrize("letters", ["R", "U", "K", "S"])
def test_runs_of_fill_are_not_stored_elsewhere(letters):
    x = ln.asarray(np.array([0.0, 0, 3, 3, 0]), format=nest("R"))
    assert x.to(nest(letters)).nnz == {"R": 3, "U": 1, "K": 2, "S": 2}[letters]


def test_stored():
    x = ln.asarray(np.array([[0.0, 2, 0, 3], [0, 0, 0, 0]]), format=ln.BAND)
    assert x.nnz == 3
    assert x.buffers["idx1"].tolist() == [4, 0]
    assert x.buffers["ofs1"].tolist() == [0, 3, 3]


@pytest.mark.parametrize(
    ("letter", "message"),
    [
        ("P", "fiber 1 has a second element, at index 2"),
        ("V", "fiber 1 has a second run, at index 2"),
    ],
)
def test_what_does_not_fit(letter, message):
    array = np.array([[0.0, 1, 0, 0], [1, 0, 1, 0]])
    with pytest.raises(FormatError, match=message):
        ln.asarray(array, format=nest("D" + letter))


# -- formats with names ----------------------------------------------------------------------------


TRIANGLE = np.triu(np.arange(1.0, 17).reshape(4, 4))


@pytest.mark.parametrize(
    ("format", "array", "levels"),
    [
        (ln.BAND, np.eye(4, k=1), "Dense(SparseBand(Element()))"),
        (ln.TRIANGULAR, TRIANGLE, "Dense(SparseBand(Element()))"),
        (ln.RAGGED, np.tril(TRIANGLE.T), "Dense(SparseBand(Element()))"),
        (ln.BLOCK, np.kron(np.eye(2), np.ones((2, 2))), "Dense(SparseBlockList(Element()))"),
        (ln.RLE, np.repeat(np.eye(3), 2, axis=1), "Dense(RunList(Element()))"),
        (ln.SRLE, np.repeat(np.eye(3), 2, axis=1), "Dense(SparseRunList(Element()))"),
        (ln.PERM, np.eye(4)[::-1] != 0, "Dense(SparsePinpoint(Pattern()))"),
    ],
)
def test_named(format, array, levels):
    assert format.describe() == levels
    x = ln.asarray(array, format=format)
    assert repr(x.format) == format.name
    assert x.format == ln.asarray(array, format=format.name.lower()).format
    assert_equal(x, array)


def test_a_pinpoint_of_values_is_not_a_permutation():
    x = ln.asarray(np.eye(3), format=ln.Dense(ln.SparsePinpoint(ln.Element())))
    assert repr(x.T.T.format).startswith("Dense(SparsePinpoint(Element(")
