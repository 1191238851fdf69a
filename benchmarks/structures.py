"""Sparse matrix times dense vector, each matrix in the format that fits it (FINCH §7.1, Fig. 20).

The side `csr` is Linnet's own product with the same matrix in CSR: how much faster than that a
format is, is what it is for. The sums over runs show that their time depends on the number of
runs, and not on what they cover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.spmv import by_rows, linnet_rows, scipy_product

BAR = 0.9
VECTOR = ln.Dense(ln.Element(0.0))
PATTERN = ln.Dense(ln.SparseList(ln.Pattern()))
RUN_VECTOR = ln.RunList(ln.Element(0.0))


@ln.kernel
def symmetric(y, U, D, x):
    y_i = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        x_i = x[i]
        y_i[...] = 0
        for j in ...:
            u = U[i, j]
            y[j] += u * x_i
            y_i[()] += u * x[j]
        y[i] += y_i[()] + D[i] * x_i
    return y


@ln.kernel
def total(s, x):
    s[...] = 0
    for i in ...:
        s[()] += x[i]
    return s


def fitting(A: sp.csr_array, format: object) -> ln.Tensor:
    """The matrix in another format; as a pattern, where the format has no values."""
    if format in (PATTERN, ln.PERM):
        A = A.astype(bool)
    return ln.asarray(A).to(format)  # type: ignore[arg-type]


def linnet(A: sp.csr_array, matrix: ln.Tensor, x: np.ndarray) -> Side:
    y, vector = ln.empty_tensor(VECTOR), ln.asarray(x)
    return Side(lambda: by_rows(y, matrix, vector), lambda y: y.to_numpy())


def c(function: str, *arrays: str) -> Callable[..., Side]:
    """Hand-written C, on the same arrays."""

    def way(A: sp.csr_array, matrix: ln.Tensor, x: np.ndarray) -> Side:
        given = [_narrow(matrix.buffers[name]) for name in arrays]
        return native.into("structures", function, np.empty(A.shape[0]), A.shape[0], *given, x)

    return way


def _narrow(array: np.ndarray) -> np.ndarray:
    return array.astype(np.int32, copy=False) if array.dtype.kind == "i" else array


def linnet_symmetric(A: sp.csr_array, U: ln.Tensor, x: np.ndarray) -> Side:
    y, D, vector = ln.empty_tensor(VECTOR), ln.asarray(A.diagonal()), ln.asarray(x)
    return Side(lambda: symmetric(y, U, D, vector), lambda y: y.to_numpy())


def c_symmetric(A: sp.csr_array, stored: ln.Tensor, x: np.ndarray) -> Side:
    n, arrays = A.shape[0], native.csr(sp.csr_array(sp.triu(A, 1)))
    return native.into("structures", "symmetric", np.empty(n), n, *arrays, A.diagonal(), x)


def c_dense(A: sp.csr_array, matrix: ln.Tensor, x: np.ndarray) -> Side:
    given = (*A.shape, matrix.to_numpy(), x)
    return native.into("structures", "dense", np.empty(A.shape[0]), *given)


def scipy_csr(A: sp.csr_array, matrix: ln.Tensor, x: np.ndarray) -> Side:
    return scipy_product(A, x)


def linnet_csr(A: sp.csr_array, matrix: ln.Tensor, x: np.ndarray) -> Side:
    return linnet_rows(A, x)


def linnet_total(right: np.ndarray, values: np.ndarray) -> Side:
    arrays = {"ptr0": np.array([0, len(right)], np.int32), "right0": right, "val": values}
    x, s = ln.from_buffers(RUN_VECTOR, (int(right[-1]),), arrays), ln.scalar(0.0)
    return Side(lambda: total(s, x), lambda s: s.item())


def c_total(right: np.ndarray, values: np.ndarray) -> Side:
    return native.scalar("structures", "run_sum", len(right), right, values)


WAYS = {"linnet": linnet, "scipy": scipy_csr, "csr": linnet_csr}
BAND = {**WAYS, "c": c("band", "idx1", "ofs1", "val")}
BLOCK = {**WAYS, "c": c("blocks", "ptr1", "idx1", "ofs1", "val")}
TILES = {n: {**WAYS, "c": c(f"tiles_{n}", "ptr1", "idx1", "sub1", "val")} for n in (4, 8)}
PERMUTATION = {**WAYS, "c": c("permutation", "idx1")}
PATTERNS = {**WAYS, "c": c("pattern", "ptr1", "idx1")}
RUNS = {**WAYS, "c": c("runs", "ptr1", "right1", "val")}
DENSE = {**WAYS, "c": c_dense}
SYMMETRIC = {**WAYS, "c": c_symmetric}
SYMMETRIC_TILES = {**WAYS, "c": c("symmetric_tiles", "ptr0", "idx0", "val")}
TWO_RESULTS = {**WAYS, "linnet": linnet_symmetric, "c": c_symmetric}
TOTAL = {"linnet": linnet_total, "c": c_total}


# -- matrices of each structure ------------------------------------------------------------------


def banded(n: int, width: int) -> sp.csr_array:
    """`width` diagonals around the main one."""
    first = -(width // 2)
    offsets = list(range(first, first + width))
    rng = np.random.default_rng(0)
    diagonals = [rng.random(n - abs(k)) + 0.5 for k in offsets]
    return sp.csr_array(sp.diags_array(diagonals, offsets=offsets, shape=(n, n)))


def blocked(n: int, length: int, part: float = 0.05) -> sp.csr_array:
    """Dense square blocks, each there with the same probability."""
    rng, m = np.random.default_rng(0), n // length
    chosen = sp.csr_array(sp.random_array((m, m), density=part, rng=rng))
    A = sp.csr_array(sp.kron(chosen, np.ones((length, length))))
    A.sort_indices()
    A.data = rng.random(A.nnz) + 0.5
    return A


def reversal(n: int) -> sp.csr_array:
    """The permutation that turns a vector round."""
    columns = np.arange(n, dtype=np.int32)[::-1]
    return sp.csr_array((np.ones(n), columns, np.arange(n + 1, dtype=np.int32)), shape=(n, n))


def ones(A: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)


def mirrored(A: sp.csr_array) -> sp.csr_array:
    A = sp.csr_array(A + A.T)
    A.sort_indices()
    return A


def near(stored: int) -> sp.csr_array:
    """A symmetric matrix of 32 entries a row, all within 200 columns of the diagonal."""
    rng, n = np.random.default_rng(0), stored // 32
    i = np.repeat(np.arange(n), 16)
    j = np.maximum(i - rng.integers(1, 200, len(i)), 0)
    return mirrored(sp.csr_array((rng.random(len(i)), (i, j)), shape=(n, n)))


def stepped(n: int, length: int) -> sp.csr_array:
    """Rows of runs, none of them zero."""
    levels = np.random.default_rng(0).integers(1, 9, (n, n // length)).astype(float)
    return sp.csr_array(levels.repeat(length, axis=1))


def triangle(n: int) -> sp.csr_array:
    return sp.csr_array(np.triu(np.random.default_rng(0).random((n, n)) + 0.5))


# Of each structure: its format, the sides, and how many times as fast as CSR it shall be.
STRUCTURES = {
    "band": (ln.BAND, BAND, 2.0),
    "triangular": (ln.TRIANGULAR, BAND, 2.0),
    "blocks": (ln.BLOCK, BLOCK, 1.5),
    "permutation": (ln.PERM, PERMUTATION, 1.2),
    "pattern": (PATTERN, PATTERNS, 1.1),
    "symmetric": (ln.SYMMETRIC, SYMMETRIC, 1.3),
    "symmetric tiles": (ln.SYMMETRIC_TILES, SYMMETRIC_TILES, 1.3),
    "two results": (ln.CSR, TWO_RESULTS, 1.3),
    "tiles of 4": (ln.BSR(4), TILES[4], 1.5),
    "tiles of 8": (ln.BSR(8), TILES[8], 1.5),
    "dense": (ln.DENSE(2), DENSE, None),
    "runs": (ln.RLE, RUNS, None),
}


def cases(load: data.Load) -> Iterator[Case]:
    for structure, label, A in matrices(load):
        format, sides, least = STRUCTURES[structure]
        goals = {"csr": least} if least else {}
        stored = sp.csr_array(sp.triu(A, 1)) if structure == "two results" else A
        args = A, fitting(stored, format), data.vector(A.shape[1])
        yield Case(f"spmv {structure}", label, A.nnz, args, sides, BAR, goals=goals)
    for length in (10, 1000, 100_000):
        right = np.arange(1, 10_001, dtype=np.int32) * length
        values = np.random.default_rng(0).random(len(right))
        yield Case("sum of runs", f"of {length}", len(right), (right, values), TOTAL, BAR)


def matrices(load: data.Load) -> Iterator[tuple[str, str, sp.csr_array]]:
    """A structure, a label, and a matrix."""
    for width in (5, 30, 100):
        yield "band", f"{width} wide", banded(10_000, width)
    yield "triangular", "upper", triangle(1024)
    for length in (8, 32, 128):
        yield "blocks", f"of {length}", blocked(4096, length)
    yield "tiles of 8", "8 by 8", blocked(4096, 8)
    yield "permutation", "reversal", reversal(1_000_000)
    yield "dense", "square", sp.csr_array(1 + np.random.default_rng(0).random((1024, 1024)))
    yield "runs", "of 50", stepped(1000, 50)
    for stored in load.stored(most=2_000_000):
        yield "pattern", "uniform", ones(data.uniform(stored))
        yield "pattern", "skewed", ones(data.skewed(stored))
        yield "symmetric", "uniform", mirrored(data.uniform(stored // 2))
        if stored > 1_000_000:  # what it is for
            yield "symmetric tiles", "uniform", mirrored(data.uniform(stored // 2))
        yield "two results", "uniform", mirrored(data.uniform(stored // 2))
        yield "symmetric", "near the diagonal", near(stored)
    if load.real:
        for name, A in data.real_matrices("email-Enron", "ego-twitter"):
            yield "pattern", name, ones(A)
        for name, A in data.real_matrices("bcsstk16", "bcsstk33"):
            yield "symmetric", name, mirrored(A)
        for name, A in data.real_matrices("steam2", "ldg_diffusion"):
            yield "blocks", name, A
            yield "tiles of 4", name, A
