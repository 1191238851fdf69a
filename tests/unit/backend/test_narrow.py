"""Positions of results have 32 bits, until a result outgrows them: then it is computed anew."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet import imp
from linnet.errors import OutOfMemoryError

BACKENDS = ("llvm", "c")


@pytest.fixture
def limit(monkeypatch, tmp_path):
    """A limit that tests can reach, in kernels of their own."""
    monkeypatch.setattr(imp, "MOST_NARROW", 100)
    with ln.config(cache_dir=str(tmp_path)):
        yield


def doubled():
    """A new kernel, for which nothing has been compiled yet."""

    @ln.kernel
    def double(B, A):
        B[...] = 0
        for i, j in ...:
            B[i, j] = 2 * A[i, j]
        return B

    return double


def matrix(n):
    return np.arange(1.0, n * n + 1).reshape(n, n)


@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO(2), ln.CSC], ids=repr)
def test_positions_are_narrow(format):
    B = doubled()(ln.empty_tensor(format), ln.asarray(matrix(5), format=ln.CSR))
    assert {a.dtype for n, a in B.buffers.items() if n.startswith("ptr")} == {np.dtype("int32")}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO(2), ln.CSC], ids=repr)
def test_a_result_that_outgrows_them(limit, format, backend):
    A, double = ln.asarray(matrix(12), format=ln.CSR), doubled()
    with ln.config(backend=backend):
        B = double(ln.empty_tensor(format), A)
        assert {a.dtype for n, a in B.buffers.items() if n.startswith("ptr")} == {np.dtype("int64")}
        assert np.array_equal(B.to_numpy(), 2 * matrix(12))
        few = double(ln.empty_tensor(format), ln.asarray(np.eye(12), format=ln.CSR))
        assert few.buffers[next(iter(few.buffers))].dtype == np.int32
        # the memory of the long one is not lent to the kernel that has a limit
        assert np.array_equal(
            double(B, ln.asarray(np.eye(12), format=ln.CSR)).to_numpy(), 2 * np.eye(12)
        )
        assert np.array_equal(double(B, A).to_numpy(), 2 * matrix(12))


def test_an_update_of_a_long_one(limit):
    @ln.kernel
    def add(B, A):
        for i, j in ...:
            B[i, j] += A[i, j]

    format = ln.Dense(ln.SparseByteMap(ln.Element(0.0)))
    B = ln.asarray(matrix(12), format=format)
    add(B, ln.asarray(np.eye(12), format=ln.CSR))
    assert np.array_equal(B.to_numpy(), matrix(12) + np.eye(12))


def test_memory_that_there_is_not():
    """A kernel that fails for want of memory is not tried again with wider positions."""

    @ln.kernel
    def ones(y, x):
        y[...] = 0
        for i in range(2**58):
            y[i] = 1.0
        return y

    with pytest.raises(OutOfMemoryError):
        ones(ln.empty_tensor(ln.Dense(ln.Element(0.0))), ln.asarray(np.ones(1)))
