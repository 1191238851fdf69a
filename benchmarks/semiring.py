"""Products over semirings: masked matrix times vector, and matrix times matrix (ARRAY §8.3).

A quarter of the mask is false. Vectors are dense here, and a quarter of the boolean one is true.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import peer
from linnet.arrays import contract

BAR = 0.9
INF = np.inf


@ln.kernel
def min_plus(y, A, x, mask):
    y[...] = INF
    for i in ...:
        if mask[i]:
            for j in ...:
                y[i] = min(y[i], A[i, j] + x[j])
    return y


@ln.kernel
def or_and(y, A, x, mask):
    found = ln.scalar(False, short_circuit=True)
    y[...] = False
    for i in ...:
        if mask[i]:
            found[...] = False
            for j in ...:
                found[()] |= A[i, j] and x[j]
            y[i] = found[()]
    return y


def finite(y: np.ndarray) -> np.ndarray:
    """Distances that can be compared: -1 where there is no way."""
    return np.where(np.isinf(y), -1.0, y)


# -- matrix times vector ---------------------------------------------------------------------------


def linnet_min_plus(A: sp.csr_array, x: np.ndarray, mask: np.ndarray) -> Side:
    y, graph = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, fill_value=INF)
    args = (graph, ln.asarray(x), ln.asarray(mask))
    return Side(lambda: min_plus(y, *args), lambda y: finite(y.to_numpy()))


def c_min_plus(A: sp.csr_array, x: np.ndarray, mask: np.ndarray) -> Side:
    arrays = (*native.csr(A), x, mask.astype(np.uint8))
    side = native.into("semiring", "min_plus_mxv", np.zeros(A.shape[0]), A.shape[0], *arrays)
    return Side(side.run, lambda result: finite(side.read(result)))


def graphblas_min_plus(A: sp.csr_array, x: np.ndarray, mask: np.ndarray) -> Side:
    gb = peer("graphblas")
    graph, vector = gb.io.from_scipy_sparse(A), gb.Vector.from_dense(x)
    allowed = gb.Vector.from_dense(mask)

    def run() -> object:
        y = gb.Vector(float, A.shape[0])
        y(mask=allowed.V) << gb.semiring.min_plus(graph @ vector)
        y.wait()
        return y

    return Side(run, lambda y: finite(y.to_dense(INF)))


def reference_min_plus(A: sp.csr_array, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    y = np.full(A.shape[0], INF)
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    np.minimum.at(y, rows, A.data + x[A.indices])
    return finite(np.where(mask, y, INF))


def linnet_or_and(A: sp.csr_array, x: np.ndarray, mask: np.ndarray) -> Side:
    pattern = ln.asarray(A.astype(bool)).to(ln.Dense(ln.SparseList(ln.Pattern())))
    y, args = ln.empty_tensor(ln.DENSE(1)), (pattern, ln.asarray(x), ln.asarray(mask))
    return Side(lambda: or_and(y, *args), lambda y: y.to_numpy())


def c_or_and(A: sp.csr_array, x: np.ndarray, mask: np.ndarray) -> Side:
    arrays = (*native.csr(A)[:2], x.astype(np.uint8), mask.astype(np.uint8))
    out = np.zeros(A.shape[0], np.uint8)
    return native.into("semiring", "or_and_mxv", out, A.shape[0], *arrays)


def graphblas_or_and(A: sp.csr_array, x: np.ndarray, mask: np.ndarray) -> Side:
    gb = peer("graphblas")
    graph, vector = gb.io.from_scipy_sparse(A.astype(bool)), gb.Vector.from_dense(x)
    allowed = gb.Vector.from_dense(mask)

    def run() -> object:
        y = gb.Vector(bool, A.shape[0])
        y(mask=allowed.V) << gb.semiring.lor_land(graph @ vector)
        y.wait()
        return y

    return Side(run, lambda y: y.to_dense(False))


def reference_or_and(A: sp.csr_array, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return ((A != 0).astype(np.int64) @ x.astype(np.int64) > 0) & mask


# -- matrix times matrix ---------------------------------------------------------------------------


def linnet_mxm(A: sp.csr_array, B: sp.csr_array) -> Side:
    first, second = (ln.asarray(X, fill_value=INF) for X in (A, B))
    ring = ("minimum", "add")
    return Side(lambda: contract("ik,kj->ij", first, second, semiring=ring), _stored)


def _stored(C: ln.Tensor) -> sp.csr_array:
    arrays = (C.buffers["val"], C.buffers["idx1"], C.buffers["ptr1"])
    return sp.csr_array(arrays, shape=C.shape)


def c_mxm(A: sp.csr_array, B: sp.csr_array) -> Side:
    shape = (A.shape[0], B.shape[1])
    arrays = (*native.csr(A), *native.csr(B))
    return native.building("semiring", "min_plus_mxm", native.read_csr(shape), *shape, *arrays)


def graphblas_mxm(A: sp.csr_array, B: sp.csr_array) -> Side:
    gb = peer("graphblas")
    first, second = (gb.io.from_scipy_sparse(X) for X in (A, B))

    def run() -> object:
        product = gb.semiring.min_plus(first @ second).new()
        product.wait()
        return product

    return Side(run, gb.io.to_scipy_sparse)


# -- matrix times matrix under a mask --------------------------------------------------------------


@ln.fuse
def masked_product(X):
    return (X @ X) * X


def linnet_masked(A: sp.csr_array) -> Side:
    X = ln.asarray(A)
    return Side(lambda: masked_product(X), _stored)


def c_masked(A: sp.csr_array) -> Side:
    arrays = native.csr(A) * 3
    return native.building("semiring", "masked_mxm", native.read_csr(A.shape), *A.shape, *arrays)


def scipy_masked(A: sp.csr_array) -> Side:
    return Side(lambda: (A @ A).multiply(A), in_order)


def in_order(C: sp.csr_array) -> sp.csr_array:
    """A product with the entries of its rows in order, which SciPy leaves as they come."""
    found = sp.csr_array(C)
    found.sort_indices()
    return found


def graphblas_masked(A: sp.csr_array) -> Side:
    gb = peer("graphblas")
    X = gb.io.from_scipy_sparse(A)

    def run() -> object:
        product = gb.Matrix(float, *A.shape)
        product(mask=X.S) << gb.semiring.plus_times(X @ X)
        product << gb.binary.times(product & X)
        product.wait()
        return product

    return Side(run, gb.io.to_scipy_sparse)


def cases(load: data.Load) -> Iterator[Case]:
    matrices = [("uniform", data.uniform(stored)) for stored in load.stored()]
    if load.real:
        matrices += list(data.real_matrices("memplus", "web-Stanford"))
    rng = np.random.default_rng(4)
    for label, A in matrices:
        A = sp.csr_array((np.abs(A.data) + 0.5, A.indices, A.indptr), shape=A.shape)
        n = A.shape[1]
        x, true, mask = rng.random(n), rng.random(n) < 0.25, rng.random(A.shape[0]) < 0.75
        for name, ways, args, reference in (
            ("mxv min plus", (linnet_min_plus, c_min_plus, graphblas_min_plus), (A, x, mask),
             reference_min_plus),
            ("mxv or and", (linnet_or_and, c_or_and, graphblas_or_and), (A, true, mask),
             reference_or_and),
        ):  # fmt: skip
            sides = dict(zip(("linnet", "c", "graphblas"), ways, strict=True))
            expected = lambda reference=reference, args=args: reference(*args)  # noqa: E731
            goals = {"graphblas": 1.3}
            yield Case(name, label, A.nnz, args, sides, BAR, expected=expected, goals=goals)
        ways = {"linnet": linnet_masked, "c": c_masked, "scipy": scipy_masked,
                "graphblas": graphblas_masked}  # fmt: skip
        yield Case(
            "masked mxm", label, A.nnz, (A,), ways, BAR,
            expected=lambda A=A: in_order((A @ A).multiply(A)), goals={"graphblas": 0.9},
        )  # fmt: skip
        if A.nnz <= 2_000_000:
            ways = {"linnet": linnet_mxm, "graphblas": graphblas_mxm, "c": c_mxm}
            goals = {"graphblas": 0.9}
            read = lambda A=A: c_mxm(A, A)  # noqa: E731
            reference_side = read()
            expected = lambda s=reference_side: s.read(s.run())  # noqa: E731
            yield Case(
                "mxm min plus", label, A.nnz, (A, A), ways, BAR, expected=expected, goals=goals
            )
