"""Arrays from nothing, and what the namespace says about itself."""

from __future__ import annotations

import numpy as np
import pytest
from tests.api.operands import matrix, same

import linnet as ln


@pytest.mark.parametrize("format", [None, "dense", "coo", "csr", "csf"])
def test_arrays_of_one_value(format: object):
    same(ln.zeros((2, 3), format=format), np.zeros((2, 3)))
    same(ln.ones((2, 3), format=format, dtype="int8"), np.ones((2, 3), "int8"))
    same(ln.full((2, 3), np.inf, format=format), np.full((2, 3), np.inf))
    assert ln.full((10**6, 10**6), 2.0, format="coo").nnz == 0
    assert ln.ones((5,), format="coo").fill_value == 1.0


def test_likeness_keeps_the_kind_of_format():
    x, a = matrix("csr")
    assert ln.zeros_like(x).format == x.format
    assert ln.zeros_like(x).nnz == 0
    same(ln.full_like(x, 3), np.full_like(a, 3))
    same(ln.ones_like(x, dtype=ln.int32), np.ones_like(a, dtype=np.int32))
    assert ln.zeros_like(matrix("dense")[0]).format.name == "DENSE(2)"


def test_ranges():
    same(ln.arange(5), np.arange(5))
    same(ln.arange(1.5, 4), np.arange(1.5, 4))
    same(ln.arange(5, 0, -2, dtype="float32"), np.arange(5, 0, -2, dtype="float32"))
    same(ln.linspace(0, 1, 5), np.linspace(0, 1, 5))
    same(ln.linspace(0, 1, 4, endpoint=False), np.linspace(0, 1, 4, endpoint=False))
    for ours, theirs in zip(
        ln.meshgrid(ln.arange(3), ln.arange(2)), np.meshgrid(range(3), range(2)), strict=True
    ):
        same(ours, theirs)
    with pytest.raises(ValueError, match="not 0"):
        ln.arange(0, 5, 0)


@pytest.mark.parametrize("k", [-3, -1, 0, 2, 9, 2**70])
def test_diagonals(k: int):
    same(ln.eye(3, 5, k=k), np.eye(3, 5, k if k < 100 else 100))
    assert ln.eye(3).format.name == "CSR"
    same(ln.eye(3, format="dense", dtype=bool), np.eye(3, dtype=bool))
    if abs(k) < 9:
        same(ln.diag([1.0, 0.0, 2.0], k=k), np.diag([1.0, 0.0, 2.0], k))
        same(ln.diag(ln.eye(4), k=k), np.diag(np.eye(4), k))
        wanted = ln.diag(ln.eye(4), k=k, format="dense")
        same(wanted, np.diag(np.eye(4), k))
        assert wanted.format.name == "DENSE(1)"


def test_random_arrays():
    x = ln.random((50, 40), 0.1, format="csr", rng=3)
    assert x.nnz == 200
    same(x, ln.random((50, 40), 0.1, rng=3).to_numpy())
    assert ln.random((4, 4), 1.0, rng=0).nnz == 16
    assert ln.random((10**9, 10**9), 1e-15, rng=0).nnz == 1000
    with pytest.raises(ValueError, match="density"):
        ln.random((3, 3), 2.0)


def test_refusals():
    with pytest.raises(ValueError, match="negative"):
        ln.zeros((-1, 2))
    with pytest.raises(ValueError, match="134217728"):
        ln.zeros((10**6, 10**6))
    with pytest.raises(ValueError, match="no device"):
        ln.zeros((2,), device="gpu")
    with pytest.raises(TypeError, match="is not a number"):
        ln.full((2,), "a")


def test_the_namespace_describes_itself():
    info = ln.__array_namespace_info__()
    assert info.default_device() == "cpu"
    assert info.capabilities()["boolean indexing"]
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert info.default_dtypes()["integral"] == np.int64
    assert ln.eye(2).__array_namespace__() is ln
    assert ln.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match=r"1999\.12"):
        ln.eye(2).__array_namespace__(api_version="1999.12")


def test_names_are_listed():
    for name in "sum matmul reshape unique_all astype linalg fft pi float32 bool".split():
        assert name in dir(ln)
        assert getattr(ln, name) is not None


def test_arrays_like_others_of_another_shape():
    x = ln.eye(3)
    for make, value in ((ln.zeros_like, 0), (ln.ones_like, 1), (ln.empty_like, 0)):
        found = make(x, shape=(2, 5))
        np.testing.assert_array_equal(found.to_numpy(), np.full((2, 5), value))
        assert found.format.name == "CSR"
    assert np.zeros_like(x, shape=(4,)).shape == (4,)
    assert ln.full_like(x, 7, shape=5, dtype="int8").dtype == np.int8


NUMBERS = [np.uint64(2**64 - 1), np.float32(1.5), np.array(3, np.int8), np.bool_(True), 2, 1j]


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_full_has_the_dtype_of_its_number(value):
    for given in (value, ln.asarray(np.asarray(value))):
        found, expected = ln.full((2,), given), np.full((2,), value)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.to_numpy(), expected)


def test_the_ends_of_linspace_may_be_elements():
    x = ln.tensor([[1]], np.array([5.0], np.float32), (3,), format=ln.CSF(1))
    found = ln.linspace(x[0], x[1], 3)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.to_numpy(), [0.0, 2.5, 5.0])
