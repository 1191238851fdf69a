"""The experiments of WORK §7: dense against sparse workspaces, policies against each other.

The side `linnet` leaves the choice to Linnet; the others have a workspace of one kind. What is
kept the same and what is swept is as in the figures, at sizes that fit a small machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.eigen import eigen_product
from benchmarks.harness import Case, Side, Unavailable
from benchmarks.peers import mkl_product
from benchmarks.spgemm import graphblas, scipy_product

Way = Callable[..., Side]
POLICIES = {"coord": ln.Coord(), "hash": ln.Hash(), "bucket": ln.Bucket()}
# Figure 21: sorted once, at the end; batches of one size; a heap, which sorts at once. Figure 24: a
# second all array, a second thread, and both.
OPTIONS = {
    "vector": ln.Coord(capacity=1 << 24, growth=False),
    "steady": ln.Coord(capacity=1 << 16, growth=False),
    "heap": ln.Heap(),
    "doubled": ln.Coord(double_buffered=True),
    "pipelined": ln.Coord(pipelined=True),
    "both": ln.Coord(double_buffered=True, pipelined=True),
}


@ln.kernel
def rows(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


@ln.kernel
def outer(C, A, B):
    C[...] = 0
    for k, i, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


DENSE_ROW = ln.SparseByteMap(ln.Element(0.0))
DENSE = ln.SparseByteMap(ln.SparseByteMap(ln.Element(0.0)))


@ln.kernel
def dense_rows(C, A, B):
    w = ln.temp(DENSE_ROW)
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]
    return C


@ln.kernel
def dense_outer(C, A, B):
    w = ln.temp(DENSE)
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    C[...] = 0
    for i, j in ...:
        C[i, j] = w[i, j]
    return C


MAP = ln.SparseHash(ln.SparseHash(ln.Element(0.0)))


@ln.kernel
def map_outer(C, A, B):
    w = ln.temp(MAP)
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    C[...] = 0
    for i, j in ...:
        C[i, j] = w[i, j]
    return C


@ln.kernel
def mttkrp(A, B, C, D):
    A[...] = 0
    for k, l, i, j in ...:
        A[i, j] += B[k, l, i] * C[k, j] * D[l, j]
    return A


@ln.kernel
def ttm(A, B, C):
    A[...] = 0
    for k, i, j, l in ...:
        A[i, j, l] += B[k, i, j] * C[k, l]
    return A


@ln.kernel
def ttm_i(A, B, C):
    A[...] = 0
    for k, i, j, l in ...:
        A[k, j, l] += B[k, i, j] * C[i, l]
    return A


def product(kernel: ln.Kernel, first: ln.Format) -> Way:
    """A product whose first operand is stored like this."""

    def way(A: sp.csr_array, B: sp.csr_array) -> Side:
        a, b = ln.asarray(A).to(first), ln.asarray(B)
        return Side(lambda: kernel(ln.empty_tensor(ln.CSR), a, b), lambda C: C.to_scipy())

    return way


def dense_product(A: sp.csr_array, B: sp.csr_array) -> Side:
    """A product by columns into a dense matrix, where memory has room for one."""
    if 8 * A.shape[0] * B.shape[1] > 1 << 32:
        raise Unavailable("a dense workspace would take more than 4 GB")
    return product(dense_outer, ln.CSC)(A, B)


def with_policies(
    kernel: ln.Kernel, first: ln.Format, policies: dict[str, ln.Policy] = POLICIES
) -> dict[str, Way]:
    """A way for every policy."""
    made = {name: ln.insert_workspaces(kernel, policy) for name, policy in policies.items()}
    return {name: product(one, first) for name, one in made.items()}


def c_outer(A: sp.csr_array, B: sp.csr_array) -> Side:
    """By hand, for products of two matrices only: all products are kept until the end."""
    columns = sp.csc_array(A)
    shape = A.shape[0], A.shape[1], B.shape[1]
    read = native.read_csr((shape[0], shape[2]))
    arrays = (*native.csr(columns), *native.csr(B))
    return native.building("workspaces", "outer", read, *shape, *arrays)


PEERS = {
    "scipy": scipy_product,
    "eigen": eigen_product,
    "mkl": mkl_product,
    "graphblas": graphblas,
}
ROWS_GOALS = {"scipy": 1.3, "eigen": 1.3, "graphblas": 1.0, "mkl": 0.9}
OUTER_GOALS = {"by rows": 0.5}
ROWS = {
    "linnet": product(rows, ln.CSR),
    "dense": product(dense_rows, ln.CSR),
    **with_policies(rows, ln.CSR, {"coord": ln.Coord(), "hash": ln.Hash()}),
    **PEERS,
}
OUTER = {
    "linnet": product(outer, ln.CSC),
    "c": c_outer,
    "dense": dense_product,
    **with_policies(outer, ln.CSC, {"coord": ln.Coord(), "hash": ln.Hash()}),
    "by rows": product(rows, ln.CSR),
    "scipy": scipy_product,
}
STAGES = {
    "linnet": product(outer, ln.CSC),
    "map": product(map_outer, ln.CSC),
    **with_policies(outer, ln.CSC, POLICIES | OPTIONS),
    "scipy": scipy_product,
}


def filled_columns(n: int, columns: int, seed: int) -> sp.csr_array:
    """An n by n matrix of which some columns have entries, in a tenth of their places."""
    rng = np.random.default_rng(seed)
    which = np.repeat(rng.choice(n, columns, replace=False), n // 10)
    rows = rng.integers(0, n, len(which))
    A = sp.csr_array((np.ones(len(rows)), (rows, which)), shape=(n, n))
    A.sum_duplicates()
    A.data = rng.random(A.nnz) + 0.5
    return A


def by_rows(name: str, what: str, A: sp.csr_array, B: sp.csr_array) -> Case:
    """A product by rows, against everybody."""
    return Case(name, what, A.nnz, (A, B), ROWS, goals=ROWS_GOALS)


def by_columns(name: str, what: str, A: sp.csr_array, B: sp.csr_array) -> Case:
    """A product by columns, against the one by rows."""
    return Case(name, what, A.nnz, (A, B), OUTER, goals=OUTER_GOALS)


def products(load: data.Load) -> Iterator[Case]:
    """Figures 14 to 17 and 21 to 24: by rows and by columns, as more and more products meet."""
    for n, per_row in ((10_000, 4), (10_000, 30), (60_000, 10), (300_000, 4), (1_000_000, 2)):
        A, B = (data.uniform(n * per_row, per_row, seed) for seed in (0, 1))
        yield by_rows("fig. 14 by rows", f"n={n}, {per_row} in a row", A, B)
    for columns in (1, 8, 64, 512):
        A = filled_columns(4000, columns, 1)
        yield by_rows("fig. 15 by rows", f"{columns} used", A, sp.csr_array(A.T))
    for columns in (1, 4, 16, 64):
        A = filled_columns(4000, columns, 1)
        yield by_columns("fig. 16 by columns", f"{columns} used", A, sp.csr_array(A.T))
    A = filled_columns(4000, 4, 1)
    few = (A, sp.csr_array(A.T))
    yield Case("fig. 21 to 24 policies", "4 used", A.nnz, few, STAGES)
    for n, per_row in ((2_000, 20), (20_000, 8), (200_000, 4)):
        A, B = (data.uniform(n * per_row, per_row, seed) for seed in (0, 1))
        yield by_columns("fig. 17 by columns", f"n={n}", A, B)
        yield Case("fig. 21 to 24 policies", f"n={n}", A.nnz, (A, B), STAGES)
    if load.real:
        for name, A in data.real_matrices("bcsstk16", "memplus", "email-Enron", "wing"):
            yield by_rows("fig. 14 by rows", name, A, A)
            if name != "email-Enron":  # whose products are fifty million
                yield by_columns("fig. 17 by columns", name, A, A)
        for name, A in data.real_matrices("memplus", "wing"):
            yield Case("fig. 21 to 24 policies", name, A.nnz, (A, A), STAGES)


def factor(n: int, columns: int, density: float, seed: int) -> np.ndarray:
    """A factor of which a part is filled."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, columns)) < density, rng.random((n, columns)), 0.0)


def contraction(kernel: ln.Kernel) -> Way:
    """A kernel over a tensor in CSF and factors in DCSR, as the paper has it."""

    def way(t: data.Coordinates, *factors: np.ndarray) -> Side:
        B = ln.tensor(tuple(t.coords), t.values, t.shape, format=ln.CSF(3))
        sparse = [ln.asarray(f, format=ln.DCSR) for f in factors]
        ndim = 2 if kernel.__name__ == "mttkrp" else 3
        return Side(lambda: kernel(ln.empty_tensor(ln.COO(ndim)), B, *sparse), total)

    return way


def total(result: ln.Tensor) -> np.ndarray:
    """What is compared of a large result: how many values, and their sum."""
    return np.array([result.nnz, result.buffers["val"].sum()])


def by_fiber(i, j, k, n_i, n_j, n_k):
    """One of 65536 buckets, by the first two coordinates: there are few of the first alone."""
    return (i * n_j + j) * 65536 // (n_i * n_j)


OF_FIBERS = ln.Bucket(by_fiber, 1 << 16, capacity=1 << 16, growth=False)


def policies_of(kernel: ln.Kernel) -> dict[str, Way]:
    """Linnet's choice, and every policy."""
    policies = POLICIES | ({"bucket": OF_FIBERS} if kernel is ttm else {})
    made = {name: ln.insert_workspaces(kernel, policy) for name, policy in policies.items()}
    return {"linnet": contraction(kernel)} | {n: contraction(k) for n, k in made.items()}


def given(load: data.Load) -> Iterator[tuple[str, data.Coordinates]]:
    """Tensors of three dimensions: one that is made, and two from outside."""
    yield "made", data.tensor(100_000, 3)
    if load.real:
        yield from data.real_tensors("kinship_3d", "nell995_3d")


def tensors(load: data.Load) -> Iterator[Case]:
    """Figures 19 and 20, and Table 3: the free dimension of the factors is swept."""
    for name, t in given(load):
        stored = len(t.values)
        for columns in (4, 16, 64):
            C, D = (factor(n, columns, 0.1, seed) for seed, n in enumerate(t.shape[:2]))
            what = f"{name}, {columns} columns"
            yield Case("fig. 19, 20 mttkrp", what, stored, (t, C, D), policies_of(mttkrp))
            yield Case("fig. 19 ttm", what, stored, (t, C), policies_of(ttm))
            yield Case("fig. 20 ttm-i", what, stored, (t, D), policies_of(ttm_i))
        for columns in (4, 32, 256):
            C, D = (factor(n, columns, 0.01, seed) for seed, n in enumerate(t.shape[:2]))
            what = f"{name}, {columns} columns"
            yield Case("table 3 mttkrp", what, stored, (t, C, D), policies_of(mttkrp))


def cases(load: data.Load) -> Iterator[Case]:
    yield from products(load)
    yield from tensors(load)
