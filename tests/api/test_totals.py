"""Reductions of whole arrays that store much, in which one fill value counts as much as many."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.api.gaps import _goes_by
from linnet.api.programs import MANY

FLAT = {"csr": ln.CSR, "csc": ln.CSC, "coo": ln.COO(2)}
FILLS = [0.0, -0.0, 2.0, np.inf, np.nan]


def sample(shape, fill, dtype="float64"):
    """More values than are needed, among them the fill value, some of which are stored."""
    rng = np.random.default_rng(0)
    values = rng.choice([-1, -1.25, 0.8], shape)
    return np.where(rng.random(shape) < 0.3, fill, values).astype(dtype)


def check(a, dense):
    assert a.nnz >= MANY
    with np.errstate(all="ignore"):
        for name in ("max", "min", "prod", "sum", "any", "all"):
            expected = getattr(np, name)(dense)
            found = getattr(ln, name)(a)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("format", FLAT.values(), ids=FLAT)
def test_matrices(format, fill):
    dense = sample((120, 64), fill)
    check(ln.asarray(dense, format=format, fill_value=fill), dense)


@pytest.mark.parametrize("fill", [0.0, 2.0])
@pytest.mark.parametrize("family", [ln.CSF, ln.COO], ids=str)
def test_tensors(family, fill):
    dense = sample((20, 30, 16), fill)
    check(ln.asarray(dense, format=family, fill_value=fill), dense)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32"])
@pytest.mark.parametrize("fill", [0, 1])
def test_integers_are_accumulated_in_64_bits(dtype, fill):
    dense = np.where(sample((120, 64), 9.0) == 9, fill, 1 - fill).astype(dtype)
    dense[5:7] = 2
    a = ln.asarray(dense, format=ln.COO, fill_value=fill)
    for name in ("max", "min", "prod", "sum"):
        np.testing.assert_array_equal(getattr(ln, name)(a).to_numpy(), getattr(np, name)(dense))


def test_nothing_is_left_out_of_an_array_without_gaps():
    dense = np.full((64, 100), 3.0)
    dense[1, 2] = 0.5
    a = ln.tensor(list(np.indices(dense.shape).reshape(2, -1)), dense.ravel(), dense.shape)
    assert float(ln.min(a)) == 0.5  # and not the fill value, 0
    assert float(ln.prod(a / 3)) == pytest.approx(0.5 / 3)


def test_single_precision_keeps_its_digits():
    values = np.full(6000, 0.1, "float32")
    a = ln.tensor([np.arange(6000) // 80, np.arange(6000) % 80 * 2], values, (75, 160), ln.COO)
    assert float(ln.sum(a)) == np.float32(values.astype(float).sum())
    assert _goes_by(ln.multiply, a, "float64")
    assert not _goes_by(ln.multiply, a, "int32")  # conversions that lose something come first


@pytest.mark.parametrize("function", [ln.multiply, ln.add], ids=str)
def test_what_counts_more_than_once(function):
    """2 * 2 is not 2: such fill values are counted."""
    a = ln.asarray(sample((120, 64), 2.0), format=ln.COO, fill_value=2.0)
    assert not _goes_by(function, a, "float64")
