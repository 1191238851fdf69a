"""MTTKRP: a sparse tensor (CSF, orders 3 to 5) times dense matrices along all modes but one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.data import Coordinates
from benchmarks.harness import Case, Side
from benchmarks.peers import jit
from benchmarks.ttv import interleaved

BAR = 0.95
RANK = 16
MATRIX = ln.Dense(ln.Dense(ln.Element(0.0)))


@ln.kernel
def mttkrp3(Y, A, B, C):
    Y[...] = 0
    for i, j, k, r in ...:
        Y[i, r] += A[i, j, k] * B[j, r] * C[k, r]
    return Y


@ln.kernel
def mttkrp4(Y, A, B, C, D):
    Y[...] = 0
    for i, j, k, l, r in ...:
        Y[i, r] += A[i, j, k, l] * B[j, r] * C[k, r] * D[l, r]
    return Y


@ln.kernel
def mttkrp5(Y, A, B, C, D, E):
    Y[...] = 0
    for i, j, k, l, m, r in ...:
        Y[i, r] += A[i, j, k, l, m] * B[j, r] * C[k, r] * D[l, r] * E[m, r]
    return Y


KERNELS = {3: mttkrp3, 4: mttkrp4, 5: mttkrp5}


def linnet(A: Coordinates, *factors: np.ndarray) -> Side:
    order = len(A.shape)
    kernel, Y = KERNELS[order], ln.empty_tensor(MATRIX)
    tensor = ln.tensor(A.coords, A.values, A.shape, format=ln.CSF(order))
    given = [ln.asarray(F) for F in factors]
    return Side(lambda: kernel(Y, tensor, *given), lambda Y: Y.to_numpy())


def c(A: Coordinates, *factors: np.ndarray) -> Side:
    return _native("mttkrp", A, factors)


def c_factored(A: Coordinates, *factors: np.ndarray) -> Side:
    return _native("factored", A, factors)


def _native(name: str, A: Coordinates, factors: tuple[np.ndarray, ...]) -> Side:
    function, Y = f"{name}{len(A.shape)}", np.empty((A.shape[0], RANK))
    return native.into("mttkrp", function, Y, *Y.shape, *interleaved(A), A.values, *factors)


def scipy_products(A: Coordinates, *factors: np.ndarray) -> Side:
    """From the last mode up: a sparse matrix times a dense one, scaled, summed over fibers."""
    ptrs, idxs = data.csf(A)
    leaf = sp.csr_array((A.values, idxs[-1], ptrs[-1]), shape=(len(idxs[-2]), A.shape[-1]))
    sums = [_sum_of_fibers(ptr) for ptr in ptrs]

    def run() -> np.ndarray:
        rows = leaf @ factors[-1]
        for mode in range(len(A.shape) - 2, 0, -1):
            rows *= factors[mode - 1][idxs[mode]]
            rows = sums[mode] @ rows
        Y = np.zeros((A.shape[0], RANK))
        Y[idxs[0]] = rows
        return Y

    return Side(run)


def _sum_of_fibers(ptr: np.ndarray) -> sp.csr_array:
    """The matrix of ones that adds the rows of each fiber."""
    shape = (len(ptr) - 1, ptr[-1])
    return sp.csr_array((np.ones(ptr[-1]), np.arange(ptr[-1], dtype=np.int32), ptr), shape=shape)


def numba(A: Coordinates, B: np.ndarray, C: np.ndarray) -> Side:
    ptrs, idxs = data.csf(A)
    loop, Y = jit(_loop), np.empty((A.shape[0], RANK))
    return Side(lambda: loop(*ptrs, *idxs, A.values, B, C, Y, np.empty(RANK)))


def _loop(ptr0, ptr1, ptr2, idx0, idx1, idx2, val, B, C, Y, w):
    Y[:] = 0.0
    for p in range(ptr0[0], ptr0[1]):
        for q in range(ptr1[p], ptr1[p + 1]):
            w[:] = 0.0
            for s in range(ptr2[q], ptr2[q + 1]):
                for r in range(len(w)):
                    w[r] += val[s] * C[idx2[s], r]
            for r in range(len(w)):
                Y[idx0[p], r] += w[r] * B[idx1[q], r]
    return Y


WAYS = {"linnet": linnet, "c": c, "c-factored": c_factored, "scipy": scipy_products}
THREE = WAYS | {"numba": numba}


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        for order in (3, 4, 5):
            yield _case("random", data.tensor(stored, order))
    if load.real:
        names = ("nell995_3d", "us_flights_4d", "wikipeople_5d")
        for name, A in data.real_tensors(*names):
            yield _case(name, A)


def _case(name: str, A: Coordinates) -> Case:
    rng, order = np.random.default_rng(12), len(A.shape)
    factors = [rng.random((n, RANK)) for n in A.shape[1:]]
    ways = THREE if order == 3 else WAYS
    return Case(
        f"mttkrp csf {order} x 16", name, len(A.values), (A, *factors), ways, BAR, idiom=True
    )
