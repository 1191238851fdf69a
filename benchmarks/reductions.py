"""Sums and maxima of a sparse matrix (CSR): of each row, of each column, of everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import peer

BAR = 0.95
INF = float("inf")
ZEROS = ln.Dense(ln.Element(0.0))
LOWEST = ln.Dense(ln.Element(-INF))


@ln.kernel
def row_sum(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j]
    return y


@ln.kernel
def row_max(y, A):
    y[...] = -INF
    for i, j in ...:
        y[i] = max(y[i], A[i, j])
    return y


@ln.kernel
def column_sum(y, A):
    y[...] = 0
    for i, j in ...:
        y[j] += A[i, j]
    return y


@ln.kernel
def column_max(y, A):
    y[...] = -INF
    for i, j in ...:
        y[j] = max(y[j], A[i, j])
    return y


@ln.kernel
def total_sum(s, A):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j]
    return s


@ln.kernel
def total_max(s, A):
    s[...] = -INF
    for i, j in ...:
        s[()] = max(s[()], A[i, j])
    return s


KERNELS = {
    "row_sum": row_sum,
    "row_max": row_max,
    "column_sum": column_sum,
    "column_max": column_max,
    "total_sum": total_sum,
    "total_max": total_max,
}


def linnet(what: str, how: str) -> Callable[..., Side]:
    def way(A: sp.csr_array) -> Side:
        fill = 0.0 if how == "sum" else -INF  # what is not stored takes no part
        matrix = ln.asarray(A, fill_value=fill)
        if what == "total":
            y = ln.scalar(fill)
        else:
            y = ln.empty_tensor(ZEROS if how == "sum" else LOWEST)
        kernel = KERNELS[f"{what}_{how}"]
        # SciPy counts zeros: the values are positive, so only empty rows and columns differ.
        return Side(lambda: kernel(y, matrix), lambda y: np.maximum(y.to_numpy(), 0.0))

    return way


def c(what: str, how: str, law: str = "") -> Callable[..., Side]:
    def way(A: sp.csr_array) -> Side:
        function, (ptr, idx, val) = f"{what}_{how}{law}", native.csr(A)
        n, m = A.shape
        if what == "total":
            return native.scalar("reductions", function, n, ptr, val)
        given = (n, ptr, val) if what == "row" else (n, m, ptr, idx, val)
        side = native.into("reductions", function, np.empty(n if what == "row" else m), *given)
        return Side(side.run, lambda y: np.maximum(side.read(y), 0.0))

    return way


def c_numbers(what: str, how: str) -> Callable[..., Side]:
    """Maxima that lose a NaN, as `a > b ? a : b` does: another result, for comparison."""
    return c(what, how, "_numbers")


def scipy_way(what: str, how: str) -> Callable[..., Side]:
    axis = {"row": 1, "column": 0, "total": None}[what]

    def read(y: object) -> np.ndarray:
        return y.toarray().ravel() if sp.issparse(y) else np.asarray(y)

    return lambda A: Side(lambda: getattr(A, how)(axis=axis), read)


def graphblas(what: str, how: str) -> Callable[..., Side]:
    def way(A: sp.csr_array) -> Side:
        gb = peer("graphblas")
        matrix = gb.io.from_scipy_sparse(A)
        monoid = gb.monoid.plus if how == "sum" else gb.monoid.max
        name = {"row": "rowwise", "column": "columnwise", "total": "scalar"}[what]
        reduce = getattr(matrix, f"reduce_{name}")
        if what == "total":
            return Side(lambda: reduce(monoid).new().value)
        return Side(lambda: reduce(monoid).new(), lambda y: y.to_dense(0.0))

    return way


MAKERS = {
    "linnet": linnet,
    "c": c,
    "scipy": scipy_way,
    "graphblas": graphblas,
}
OTHER_LAW = {"c-numbers": c_numbers}  # of maxima


def matrices(load: data.Load) -> Iterator[tuple[str, sp.csr_array]]:
    for stored in load.stored():
        yield "uniform", data.uniform(stored)
    if load.real:
        yield from data.real_matrices("bcsstk16", "web-Stanford")


def cases(load: data.Load) -> Iterator[Case]:
    for name, A in matrices(load):
        for what in ("row", "column", "total"):
            for how in ("sum", "max"):
                makers = MAKERS | (OTHER_LAW if how == "max" else {})
                ways = {side: make(what, how) for side, make in makers.items()}
                yield Case(f"{what} {how}", name, A.nnz, (A,), ways, BAR)
