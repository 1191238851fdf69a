"""Tensor (CSF, order 3) times a dense matrix of 16 columns, along the last mode."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.data import Coordinates
from benchmarks.harness import Case, Side
from benchmarks.peers import peer
from benchmarks.ttv import interleaved

BAR = 0.95
RANK = 16
RESULT = ln.SparseList(ln.SparseList(ln.Dense(ln.Element(0.0))))


@ln.kernel
def ttm(Y, A, M):
    Y[...] = 0
    for i, j, k, r in ...:
        Y[i, j, r] += A[i, j, k] * M[k, r]
    return Y


def linnet(A: Coordinates, M: np.ndarray) -> Side:
    tensor, matrix = ln.tensor(A.coords, A.values, A.shape, format=ln.CSF(3)), ln.asarray(M)
    i, j = _fibers(A)
    return Side(lambda: ttm(ln.empty_tensor(RESULT), tensor, matrix), lambda Y: _values_of(Y, i, j))


def _fibers(A: Coordinates) -> tuple[np.ndarray, np.ndarray]:
    (_, ptr, _), (first, second, _) = data.csf(A)
    return np.repeat(first, np.diff(ptr)), second


def _values_of(Y: ln.Tensor, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The dense rows of Y in storage order; those of a small tensor are looked up one by one."""
    if Y.size < 10**7:
        return Y.to_numpy()[i, j]
    return np.asarray(Y.buffers["val"]).reshape(len(i), -1)


def c(A: Coordinates, M: np.ndarray) -> Side:
    read = lambda result: result.values().reshape(-1, RANK)  # noqa: E731
    return native.building("ttm", "ttm", read, RANK, *interleaved(A), A.values, M)


def scipy_flat(A: Coordinates, M: np.ndarray) -> Side:
    """The tensor flattened to a matrix of (i, j) by k, times M."""
    ptr, idx = data.csf(A)
    flat = sp.csr_array((A.values, idx[2], ptr[2]), shape=(len(idx[1]), A.shape[2]))
    return Side(lambda: flat @ M)


def pydata(A: Coordinates, M: np.ndarray) -> Side:
    sparse = peer("sparse")
    if np.prod(A.shape[:2]) * RANK > 10**8:
        raise MemoryError("the result of sparse is dense, and too large")
    tensor, (i, j) = sparse.COO(A.coords, A.values, shape=A.shape), _fibers(A)
    return Side(lambda: sparse.tensordot(tensor, M, axes=(2, 0)), lambda Y: Y[i, j])


WAYS = {"linnet": linnet, "c": c, "scipy": scipy_flat, "sparse": pydata}


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        yield _case("random", data.tensor(stored, 3))
    if load.real:
        for name, A in data.real_tensors("nell995_3d", "kinship_3d"):
            yield _case(name, A)


def _case(name: str, A: Coordinates) -> Case:
    M = np.random.default_rng(11).random((A.shape[2], RANK))
    return Case("ttm csf 3 x 16", name, len(A.values), (A, M), WAYS, BAR, idiom=True)
