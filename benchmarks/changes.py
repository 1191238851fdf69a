"""Small changes to a kernel beside the kernel as it was: what a user changes should cost nothing.

The side `plain` is Linnet, too: the same loops without the change, or the way around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.spgemm import gustavson
from benchmarks.spmm import spmm
from benchmarks.spmv import VECTOR, by_rows

# how many times as fast as the plain kernel one is with the change
RANGE, TWO, BELOW, ROWS, NARROW = 0.95, 0.95, 1.0, 0.85, 1.0
WIDE = 32  # columns of a dense factor


@ln.kernel
def total(s, A):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j]
    return s


def total_of(rows: int) -> ln.Kernel:
    """The same with a number for the rows."""

    @ln.kernel
    def total(s, A):
        s[...] = 0
        for i in range(rows):
            for j in ...:
                s[()] += A[i, j]
        return s

    return total


@ln.kernel
def two_products(C, D, A, B):
    C[...] = 0
    D[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
        D[i, j] += A[i, k] * A[i, k] * B[k, j]
    return C, D


@ln.kernel
def below(C, A, B):
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            if j < i:
                w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]
    return C


# -- the ways --------------------------------------------------------------------------------------


def summed(kernel: Callable[[int], ln.Kernel]) -> Callable[..., Side]:
    """The sum of all values, by a kernel for so many rows."""

    def way(A: sp.csr_array) -> Side:
        run, s, matrix = kernel(A.shape[0]), ln.scalar(0.0), ln.asarray(A)
        return Side(lambda: run(s, matrix), lambda s: s.item())

    return way


def at_once(A: sp.csr_array, B: np.ndarray) -> Side:
    C, D = (ln.empty_tensor(ln.DENSE(2)) for _ in range(2))
    matrix, factor = ln.asarray(A), ln.asarray(B)
    return Side(lambda: two_products(C, D, matrix, factor), _both)


def one_by_one(A: sp.csr_array, B: np.ndarray) -> Side:
    C, D = (ln.empty_tensor(ln.DENSE(2)) for _ in range(2))
    matrix, squares, factor = ln.asarray(A), ln.asarray(A * A), ln.asarray(B)
    return Side(lambda: (spmm(C, matrix, factor), spmm(D, squares, factor)), _both)


def _both(made: object) -> tuple[np.ndarray, ...]:
    return tuple(C.to_numpy() for C in made)  # type: ignore[attr-defined]


def product(kernel: ln.Kernel) -> Callable[..., Side]:
    """A product of sparse matrices, of which what is below the diagonal is compared."""

    def way(A: sp.csr_array) -> Side:
        matrix = ln.asarray(A)
        run = lambda: kernel(ln.empty_tensor(ln.CSR), matrix, matrix)  # noqa: E731
        return Side(run, lambda C: sp.csr_array(sp.tril(C.to_scipy(), -1)))

    return way


def times_vector(format: ln.Format, dtype: str) -> Callable[..., Side]:
    """SpMV of a matrix in a format."""

    def way(A: sp.csr_array, x: np.ndarray) -> Side:
        matrix, vector = ln.asarray(A.astype(dtype)).to(format), ln.asarray(x.astype(dtype))
        y = ln.empty_tensor(VECTOR if dtype == "float64" else ln.DENSE(1))
        return Side(lambda: by_rows(y, matrix, vector), lambda y: y.to_numpy().astype("float64"))

    return way


# -- the C -----------------------------------------------------------------------------------------


def c_total(A: sp.csr_array) -> Side:
    ptr, _, val = native.csr(A)
    return native.scalar("changes", "total", A.shape[0], ptr, val)


def c_products(A: sp.csr_array, B: np.ndarray) -> Side:
    Y, Z = (np.empty((A.shape[0], WIDE)) for _ in range(2))
    run = native.call("changes", "two_products", A.shape[0], WIDE, *native.csr(A), B, Y, Z)
    return Side(run, lambda _: (Y.copy(), Z.copy()))


def c_below(A: sp.csr_array) -> Side:
    read, arrays = native.read_csr(A.shape), (*native.csr(A), *native.csr(A))
    return native.building("changes", "below", read, *A.shape, *arrays)


def c_listed(A: sp.csr_array, x: np.ndarray) -> Side:
    rows, arrays = np.arange(A.shape[0], dtype=np.int32), native.csr(A)
    y = np.empty(A.shape[0])
    return native.into("changes", "listed_rows", y, A.shape[0], len(rows), rows, *arrays, x)


def c_floats(A: sp.csr_array, x: np.ndarray) -> Side:
    y, given = np.empty(A.shape[0], "float32"), native.csr(A.astype("float32"))
    side = native.into("changes", "floats", y, A.shape[0], *given, x.astype("float32"))
    return Side(side.run, lambda made: side.read(made).astype("float64"))  # type: ignore[attr-defined]


# -- the cases -------------------------------------------------------------------------------------

TOTAL = {"linnet": summed(total_of), "plain": summed(lambda _: total), "c": c_total}
PRODUCTS = {"linnet": at_once, "plain": one_by_one, "c": c_products}
MASKED = {"linnet": product(below), "plain": product(gustavson), "c": c_below}
FULL_ROWS = {
    "linnet": times_vector(ln.DCSR, "float64"), "plain": times_vector(ln.CSR, "float64"),
    "c": c_listed,
}  # fmt: skip
FLOATS = {
    "linnet": times_vector(ln.CSR, "float32"), "plain": times_vector(ln.CSR, "float64"),
    "c": c_floats,
}  # fmt: skip


def cases(load: data.Load) -> Iterator[Case]:
    for name, A in matrices(load):
        B, x = np.random.default_rng(5).integers(1, 9, (A.shape[1], WIDE)), np.ones(A.shape[1])
        factor, squares = B.astype("float64"), sp.csr_array(A * A)
        yield _case("total, range(n)", name, A, (A,), TOTAL, RANGE, lambda A=A: A.sum())
        if A.shape[0] * WIDE <= 10_000_000:
            yield _case("spmm, two results", name, A, (A, factor), PRODUCTS, TWO,
                        lambda A=A, S=squares, F=factor: (A @ F, S @ F))  # fmt: skip
        yield _case("spgemm, if j < i", name, A, (A,), MASKED, BELOW)
        if (np.diff(A.indptr) > 0).all():
            yield _case("spmv dcsr, full rows", name, A, (A, x), FULL_ROWS, ROWS,
                        lambda A=A, x=x: A @ x)  # fmt: skip
        yield _case("spmv float32", name, A, (A, x), FLOATS, NARROW, lambda A=A, x=x: A @ x)


def _case(
    name: str,
    where: str,
    A: sp.csr_array,
    args: tuple[object, ...],
    ways: dict[str, Callable[..., Side]],
    goal: float,
    expected: Callable[[], object] | None = None,
) -> Case:
    return Case(name, where, A.nnz, args, ways, expected=expected, goals={"plain": goal})


def matrices(load: data.Load) -> Iterator[tuple[str, sp.csr_array]]:
    """Matrices of small whole numbers, whose sums 32 bits hold."""
    for stored in load.stored(2_000_000):
        yield "uniform", _whole(data.uniform(stored))
    if load.real:
        for name, A in data.real_matrices("bcsstk16", "memplus", "wing"):
            yield name, _whole(A)


def _whole(A: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((np.round(4 * A.data), A.indices, A.indptr), shape=A.shape)
