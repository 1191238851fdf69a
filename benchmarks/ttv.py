"""Tensor times vector, along the last mode of a tensor of order 3 (CSF)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.data import Coordinates
from benchmarks.harness import Case, Side
from benchmarks.peers import jit, peer

BAR = 0.95
RESULT = ln.CSF(2)


@ln.kernel
def ttv(Y, A, x):
    Y[...] = 0
    for i, j, k in ...:
        Y[i, j] += A[i, j, k] * x[k]
    return Y


def linnet(A: Coordinates, x: np.ndarray) -> Side:
    tensor, vector = ln.tensor(A.coords, A.values, A.shape, format=ln.CSF(3)), ln.asarray(x)
    read = lambda Y: Y.to(ln.CSR).to_scipy()  # noqa: E731
    return Side(lambda: ttv(ln.empty_tensor(RESULT), tensor, vector), read)


def c(A: Coordinates, x: np.ndarray, function: str = "ttv") -> Side:
    def read(result: native.Result) -> sp.csr_array:
        rows = np.repeat(result.ints(1), np.diff(result.ints(2)))
        return sp.csr_array((result.values(), (rows, result.ints(3))), shape=A.shape[:2])

    return native.building("ttv", function, read, *interleaved(A), A.values, x)


def c_full(A: Coordinates, x: np.ndarray) -> Side:
    """For tensors without empty fibers, which these are: the format does not promise it."""
    return c(A, x, "ttv_full")


def interleaved(A: Coordinates) -> list[np.ndarray]:
    """The ptr and idx arrays of each mode in turn."""
    return [array for pair in zip(*data.csf(A), strict=True) for array in pair]


def scipy_flat(A: Coordinates, x: np.ndarray) -> Side:
    """The tensor flattened to a matrix of (i, j) by k, times x; and back to i by j."""
    ptr, idx = data.csf(A)
    flat = sp.csr_array((A.values, idx[2], ptr[2]), shape=(len(idx[1]), A.shape[2]))
    rows = np.zeros(A.shape[0] + 1, np.int32)
    rows[idx[0] + 1] = np.diff(ptr[1])
    rows = np.cumsum(rows, dtype=np.int32)

    def run() -> sp.csr_array:
        return sp.csr_array((flat @ x, idx[1], rows), shape=A.shape[:2], copy=True)

    return Side(run)


def pydata(A: Coordinates, x: np.ndarray) -> Side:
    sparse = peer("sparse")
    tensor = sparse.COO(A.coords, A.values, shape=A.shape)

    def read(Y: object) -> sp.csr_array:
        return sp.csr_array(Y) if isinstance(Y, np.ndarray) else sp.csr_array(Y.to_scipy_sparse())

    return Side(lambda: tensor @ x, read)


def numba(A: Coordinates, x: np.ndarray) -> Side:
    (*_, ptr), (first, second, idx) = data.csf(A)
    loop, fibers = jit(_loop), data.csf(A)[0][1]
    rows = np.repeat(first, np.diff(fibers))

    def read(values: np.ndarray) -> sp.csr_array:
        return sp.csr_array((values, (rows, second)), shape=A.shape[:2])

    return Side(lambda: loop(ptr, idx, A.values, x, np.empty(len(second))), read)


def _loop(ptr, idx, val, x, y):
    for q in range(len(y)):
        s = 0.0
        for r in range(ptr[q], ptr[q + 1]):
            s += val[r] * x[idx[r]]
        y[q] = s
    return y


WAYS = {
    "linnet": linnet,
    "c": c,
    "c-full": c_full,
    "scipy": scipy_flat,
    "sparse": pydata,
    "numba": numba,
}


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        yield _case("random", data.tensor(stored, 3))
    if load.real:
        for name, A in data.real_tensors("nell995_3d", "kinship_3d"):
            yield _case(name, A)


def _case(name: str, A: Coordinates) -> Case:
    return Case(
        "ttv csf 3", name, len(A.values), (A, data.vector(A.shape[2])), WAYS, BAR, idiom=True
    )
