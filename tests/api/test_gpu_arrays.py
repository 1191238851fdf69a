"""Arrays on a GPU, in and out: run where torch or CuPy has one, skipped elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.api.operands import close, matrix, same

import linnet as ln


@pytest.fixture
def torch() -> Any:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no GPU here")
    return torch


@pytest.fixture
def cupy() -> Any:
    cupy = pytest.importorskip("cupy")
    try:
        if not cupy.cuda.runtime.getDeviceCount():
            pytest.skip("CuPy has no GPU here")
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"CuPy has no GPU here: {error}")
    return cupy


def test_torch(torch: Any):
    x, a = matrix("csr")
    there = torch.from_numpy(a).cuda()
    close(x @ there.T, a @ a.T)
    for given in (there, there.to_sparse(), there.to_sparse_csr(), there.to_sparse_csc()):
        same(ln.asarray(given), a)
        close(x + given, a + a)
    for out in (x.to_torch(), x.to(ln.CSC).to_torch(), x.to(ln.COO).to_torch()):
        np.testing.assert_array_equal(out.cuda().to_dense().cpu().numpy(), a)


def test_cupy(cupy: Any):
    x, a = matrix("csr")
    there = cupy.asarray(a)
    same(ln.asarray(there), a)
    close(x * there, a * a)
    close(there * x, a * a)
    np.testing.assert_array_equal(cupy.asnumpy(x.to(ln.DENSE).to_cupy()), a)
    for format in (ln.CSR, ln.CSC, ln.COO):
        out = x.to(format).to_cupy()
        np.testing.assert_array_equal(out.get().toarray(), a)
        same(ln.asarray(out), a)
    with pytest.raises(ValueError, match="3 dimensions"):
        ln.zeros((2, 2, 2), format=ln.CSF).to_cupy()


class OnGPU:
    """What an array of CuPy does when NumPy or we ask it for its memory."""

    def __init__(self, held: np.ndarray):
        self.held = held

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self) -> np.ndarray:
        return self.held


OnGPU.__module__ = "cupy"


def test_on_the_left_without_a_gpu():
    x, a = matrix("csr")
    there: Any = OnGPU(a)
    same(ln.asarray(there), a)
    close(x * there, a * a)
    close(x.__array_ufunc__(np.multiply, "__call__", there, x), a * a)
