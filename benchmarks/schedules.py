"""Kernels under a schedule, beside C written by hand in the same order; the paper's among them.

`unscheduled` is the same kernel as it is written: what the schedule costs, or gains. Operands are
not small: scheduled kernels are called in the general way, of which `latency` says what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.data import Coordinates
from benchmarks.harness import Case, Side
from benchmarks.ttv import interleaved

BAR = 0.9
LEAST = 500_000  # stored values
WIDE, RANK = 64, 16
VECTOR = ln.Dense(ln.Element(0.0))
MATRIX = ln.Dense(VECTOR)
CUBE = ln.Dense(MATRIX)


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def spmspv(y, A, x):
    y[...] = 0
    for j, i in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def spmm(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def sddmm(A, B, C, D):
    A[...] = 0
    for i, k, j in ...:
        A[i, k] += B[i, k] * C[i, j] * D[j, k]
    return A


@ln.kernel
def sddmm_by_columns(A, B, C, D):
    A[...] = 0
    for i, k, j in ...:
        A[i, k] += B[i, k] * C[i, j] * D[k, j]
    return A


@ln.kernel
def ttv(A, B, c):
    A[...] = 0
    for i, j, k in ...:
        A[i, j] += B[i, j, k] * c[k]
    return A


@ln.kernel
def ttm(A, B, C):
    A[...] = 0
    for i, j, k, l in ...:
        A[i, j, l] += B[i, j, k] * C[k, l]
    return A


@ln.kernel
def mttkrp(A, B, C, D):
    A[...] = 0
    for i, k, l, j in ...:
        A[i, j] += B[i, k, l] * D[l, j] * C[k, j]
    return A


@ln.kernel
def mttkrp_with_sums(A, B, C, D):
    """What `precompute` of the product of B and D makes of it, as the paper's evaluation has it."""
    w = ln.temp(VECTOR)
    A[...] = 0
    for i in ...:
        for k in ...:
            w[...] = 0
            for l, j in ...:
                w[j] += B[i, k, l] * D[l, j]
            for j in ...:
                A[i, j] += w[j] * C[k, j]
    return A


@ln.kernel
def scale(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * 2
    return C


@ln.kernel
def add(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]
    return C


@ln.kernel
def matmul(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


def dense(result: ln.Tensor) -> object:
    """For results that are compared as arrays."""
    return result.to_numpy()


@dataclass(frozen=True)
class Scheduled:
    """A kernel, its schedule, the format of its result, and the C for the same order."""

    name: str
    kernel: ln.Kernel
    text: str
    format: object
    c: Callable[..., Side]
    read: Callable[[ln.Tensor], object] = dense

    def case(self, data_name: str, stored: int, expected: object, *args: object) -> Case:
        """The case on some operands, as Linnet takes them; C is given `args` as they are."""
        ways = {
            "linnet": lambda *given: self.linnet(self.kernel.schedule().apply(self.text), given),
            "c": self.c,
            "unscheduled": lambda *given: self.linnet(self.kernel, given),
        }
        return Case(self.name, data_name, stored, args, ways, BAR, expected=lambda: expected)

    def linnet(self, kernel: Callable[..., ln.Tensor], args: tuple[object, ...]) -> Side:
        """The kernel on operands, which are made tensors first."""
        given = [_tensor(arg) for arg in args]
        if self.format in (VECTOR, MATRIX, CUBE):  # C writes to an array that is there
            result = ln.empty_tensor(self.format)
            return Side(lambda: kernel(result, *given), self.read)
        return Side(lambda: kernel(ln.empty_tensor(self.format), *given), self.read)


def _tensor(arg: object) -> ln.Tensor:
    if isinstance(arg, Coordinates):
        format = ln.CSF(len(arg.shape)) if len(arg.shape) > 1 else ln.SparseList(ln.Element(0.0))
        return ln.tensor(arg.coords, arg.values, arg.shape, format=format)
    return ln.asarray(arg)


def to_csr(result: ln.Tensor) -> sp.csr_array:
    """For results that are compared as matrices of SciPy."""
    return sp.csr_array(result.to_scipy())


# -- the C -----------------------------------------------------------------------------------------


def c_rows(function: str, size: int) -> Callable[..., Side]:
    """Rows in parts of a size."""

    def side(A: sp.csr_array, x: np.ndarray) -> Side:
        y = np.empty(A.shape[0])
        return native.into("schedules", function, y, A.shape[0], size, *native.csr(A), x)

    return side


def c_tiles(rows: int, columns: int) -> Callable[..., Side]:
    """Tiles of rows and columns."""

    def side(A: sp.csr_array, x: np.ndarray) -> Side:
        y, sizes = np.empty(A.shape[0]), (*A.shape, rows, columns)
        return native.into("schedules", "spmv_tiles", y, *sizes, *native.csr(A), x)

    return side


def c_parts_of_rows(A: sp.csr_array, x: np.ndarray) -> Side:
    y = np.empty(A.shape[0])
    return native.into("schedules", "spmv_parts_of_rows", y, A.shape[0], *native.csr(A), x)


def c_spmspv(A: sp.csc_array, x: Coordinates) -> Side:
    y, sizes = np.empty(A.shape[0]), (A.shape[0], len(x.values))
    return native.into("schedules", "spmspv", y, *sizes, *native.csr(A), x.coords[0], x.values)


def c_spmm(A: sp.csr_array, B: np.ndarray) -> Side:
    C = np.empty((A.shape[0], B.shape[1]))
    return native.into("schedules", "spmm", C, *C.shape, 16, *native.csr(A), B)


def c_sddmm_parts(B: sp.csr_array, C: np.ndarray, D: np.ndarray) -> Side:
    A, sizes = np.empty(B.shape), (*B.shape, C.shape[1], 16)
    return native.into("schedules", "sddmm_parts", A, *sizes, *native.csr(B), C, D)


def c_sddmm(B: sp.csr_array, C: np.ndarray, D: np.ndarray) -> Side:
    read, sizes = native.read_csr(B.shape), (B.shape[0], C.shape[1], 16)
    return native.building("schedules", "sddmm", read, *sizes, *native.csr(B), C, D)


def c_ttv(B: Coordinates, c: np.ndarray) -> Side:
    A = np.empty(B.shape[:2])
    return native.into("schedules", "ttv_dense", A, *A.shape, *interleaved(B), B.values, c)


def c_ttv_sparse(B: Coordinates, c: np.ndarray) -> Side:
    def read(result: native.Result) -> np.ndarray:
        ptr0, idx0, ptr, idx = (result.ints(k) for k in range(4))
        A = np.zeros(B.shape[:2])
        A[np.repeat(idx0[: ptr0[1]], np.diff(ptr)), idx] = result.values()
        return A

    return native.building("schedules", "ttv_sparse", read, *interleaved(B), B.values, c)


def c_ttm(B: Coordinates, C: np.ndarray) -> Side:
    A = np.empty((*B.shape[:2], C.shape[1]))
    return native.into("schedules", "ttm", A, *A.shape, *interleaved(B), B.values, C)


def c_mttkrp(function: str) -> Callable[..., Side]:
    """Tiles of 16 rows."""

    def side(B: Coordinates, C: np.ndarray, D: np.ndarray) -> Side:
        A = np.empty((B.shape[0], C.shape[1]))
        operands = (*interleaved(B), B.values, C, D)
        return native.into("schedules", function, A, *A.shape, 16, *operands)

    return side


def c_scale_rows(A: sp.csr_array) -> Side:
    read = native.read_csr(A.shape)
    return native.building("schedules", "scale_rows", read, A.shape[0], 16, *native.csr(A))


def c_scale_columns(columns: int) -> Callable[..., Side]:
    """Each row in parts."""

    def side(A: sp.csr_array) -> Side:
        read, sizes = native.read_csr(A.shape), (*A.shape, columns)
        return native.building("schedules", "scale_columns", read, *sizes, *native.csr(A))

    return side


def c_add_rows(A: sp.csr_array, B: sp.csr_array) -> Side:
    read, operands = native.read_csr(A.shape), (*native.csr(A), *native.csr(B))
    return native.building("schedules", "add_rows", read, A.shape[0], 16, *operands)


def c_matmul(function: str) -> Callable[..., Side]:
    """Tiles of 32 by 32 by 32."""
    return lambda A, B: native.into("schedules", function, np.empty(A.shape), len(A), A, B)


# -- the schedules ---------------------------------------------------------------------------------

WIDTH = 1 << 14  # rows and columns of a tile whose part of x stays in the second cache
SPMV = (
    Scheduled("spmv rows of 16", spmv, "split(i, i0, i1, 16) reorder(i0, i1, j)", VECTOR,
              c_rows("spmv_rows", 16)),
    Scheduled("spmv rows of 32", spmv, "split(i, i0, i1, 32) reorder(i0, i1, j)", VECTOR,
              c_rows("spmv_rows", 32)),
    Scheduled("spmv strided rows", spmv, "split(i, i0, i1, 16) reorder(i1, i0, j)", VECTOR,
              c_rows("spmv_strided", 16)),
    Scheduled("spmv tiles", spmv,
              f"split(i, i0, i1, {WIDTH}) split(j, j0, j1, {WIDTH}) reorder(i0, j0, i1, j1)",
              VECTOR, c_tiles(WIDTH, WIDTH)),
    Scheduled("spmv positions", spmv, "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 512)",
              VECTOR, c_rows("spmv_positions", 512)),
    Scheduled("spmv parts of rows", spmv, "pos(j, p, A) split(p, p0, p1, 8)", VECTOR,
              c_parts_of_rows),
)  # fmt: skip
SPMSPV = Scheduled("spmspv", spmspv, "pos(j, q, x) split(q, q0, q1, 16)", VECTOR, c_spmspv)
SPMM = Scheduled(
    "spmm", spmm,
    "split(i, i0, i1, 16) pos(j, jpos, A) split(jpos, jpos0, jpos1, 8) "
    "reorder(i0, i1, jpos0, k, jpos1)", MATRIX, c_spmm,
)  # fmt: skip
POSITIONS_OF_B = "split(i, i0, i1, 16) pos(k, kpos, B) split(kpos, kpos0, kpos1, 8) "
SDDMM = Scheduled("sddmm to csr", sddmm_by_columns, POSITIONS_OF_B, ln.CSR, c_sddmm, to_csr)
SDDMM_PARTS = Scheduled(
    "sddmm", sddmm, POSITIONS_OF_B + "reorder(i0, i1, kpos0, j, kpos1)", MATRIX, c_sddmm_parts
)
FIBERS = "collapse(i, j, f) pos(f, fpos, B) split(fpos, chunk, fpos2, 16) "
TTV = (
    Scheduled("ttv", ttv, FIBERS + "reorder(chunk, fpos2, k)", MATRIX, c_ttv),
    Scheduled("ttv to csf", ttv, FIBERS + "reorder(chunk, fpos2, k)", ln.CSF(2), c_ttv_sparse),
)
TTM = Scheduled(
    "ttm", ttm,
    FIBERS + "pos(k, kpos, B) split(kpos, kpos1, kpos2, 8) reorder(chunk, fpos2, kpos1, l, kpos2)",
    CUBE, c_ttm,
)  # fmt: skip
ROWS_OF_B = "split(i, i1, i2, 16) reorder(i1, i2, k, l, j)"
MTTKRP = Scheduled("mttkrp", mttkrp, ROWS_OF_B, MATRIX, c_mttkrp("mttkrp"))
MTTKRP_WITH_SUMS = Scheduled(
    "mttkrp precomputed", mttkrp_with_sums, "split(i, i1, i2, 16)", MATRIX,
    c_mttkrp("mttkrp_precomputed"),
)  # fmt: skip
SCALE = (
    Scheduled("scale rows of 16", scale, "split(i, i0, i1, 16)", ln.CSR, c_scale_rows, to_csr),
    Scheduled("scale columns", scale, f"split(j, j0, j1, {WIDTH})", ln.CSR,
              c_scale_columns(WIDTH), to_csr),
)  # fmt: skip
ADD = Scheduled("add rows of 16", add, "split(i, i0, i1, 16)", ln.CSR, c_add_rows, to_csr)
TILES = "split(i, i0, i1, 32) split(j, j0, j1, 32) split(k, k0, k1, 32) "
MATMUL = (
    Scheduled("matmul i1 j1 k1", matmul, TILES + "reorder(i0, j0, k0, i1, j1, k1)", MATRIX,
              c_matmul("matmul_ijk")),
    Scheduled("matmul i1 k1 j1", matmul, TILES + "reorder(i0, j0, k0, i1, k1, j1)", MATRIX,
              c_matmul("matmul_ikj")),
)  # fmt: skip


# -- the cases -------------------------------------------------------------------------------------


def cases(load: data.Load) -> Iterator[Case]:
    for stored in sorted({max(LEAST, count) for count in load.stored(2_000_000)}):
        yield from _matrix("uniform", data.uniform(stored))
        yield from _matrix("skewed", data.skewed(stored))
        yield from _tensor_cases("random", data.tensor(stored, 3))
    for n in (256, 500):
        A, B = (np.random.default_rng(seed).random((n, n)) for seed in (1, 2))
        for scheduled in MATMUL:
            yield scheduled.case(f"{n} x {n}", n * n, A @ B, A, B)
    if load.real:
        for name, A in data.real_matrices("dlmc_tf_mp80_ffn2", "bcsstk33", "web-Stanford"):
            yield from _matrix(name, A)
        for name, T in data.real_tensors("nell995_3d"):
            yield from _tensor_cases(name, T)


def _matrix(name: str, A: sp.csr_array) -> Iterator[Case]:
    """Products with vectors and sums, and with dense matrices where the matrix is small."""
    if A.nnz <= LEAST:
        yield from _products(name, A)
    if A.nnz < LEAST / 2:
        return
    x = data.vector(A.shape[1])
    for scheduled in SPMV:
        yield scheduled.case(name, A.nnz, A @ x, A, x)
    idx, val = data.sparse_vector(A.shape[1], A.shape[1] // 10)
    sparse = Coordinates(idx[None, :], val, (A.shape[1],))
    few = np.zeros(A.shape[1])
    few[idx] = val
    yield SPMSPV.case(name, A.nnz, A @ few, sp.csc_array(A), sparse)
    for scheduled in SCALE:
        yield scheduled.case(name, A.nnz, A * 2, A)
    B = sp.csr_array(A[::-1])
    yield ADD.case(name, A.nnz, sp.csr_array(A + B), A, B)


def _products(name: str, A: sp.csr_array) -> Iterator[Case]:
    """Products with dense matrices."""
    rng = np.random.default_rng(5)
    factor, other = rng.random((A.shape[1], WIDE)), rng.random((A.shape[0], WIDE))
    yield SPMM.case(name, A.nnz, A @ factor, A, factor)
    sums = np.einsum("pk,pk->p", other[A.nonzero()[0]], factor[A.indices])
    expected = sp.csr_array((A.data * sums, A.indices, A.indptr), shape=A.shape)
    yield SDDMM.case(name, A.nnz, expected, A, other, factor)
    if A.shape[0] * A.shape[1] <= 30_000_000:
        yield SDDMM_PARTS.case(name, A.nnz, expected.toarray(), A, other, factor.T.copy())


def _tensor_cases(name: str, T: Coordinates) -> Iterator[Case]:
    rng = np.random.default_rng(6)
    c, C, D = rng.random(T.shape[2]), rng.random((T.shape[1], RANK)), rng.random((T.shape[2], RANK))
    i, k, l = T.coords.astype(np.int64)
    fibers = i * T.shape[1] + k
    if T.shape[0] * T.shape[1] <= 20_000_000:
        sums = np.bincount(fibers, T.values * c[l], T.shape[0] * T.shape[1])
        for scheduled in TTV:
            yield scheduled.case(name, len(T.values), sums.reshape(T.shape[:2]), T, c)
    if T.shape[0] * T.shape[1] * RANK <= 40_000_000:
        yield TTM.case(name, len(T.values), _sums(fibers, T.values[:, None] * D[l],
                       T.shape[0] * T.shape[1]).reshape(*T.shape[:2], RANK), T, D)  # fmt: skip
    expected = _sums(i, T.values[:, None] * C[k] * D[l], T.shape[0])
    yield MTTKRP.case(name, len(T.values), expected, T, C, D)
    if len(np.unique(fibers)) > T.shape[0] * T.shape[1] / 10:  # this one visits empty fibers, too
        yield MTTKRP_WITH_SUMS.case(name, len(T.values), expected, T, C, D)


def _sums(groups: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """The sums of rows that belong together."""
    ones = np.ones(len(groups))
    where = sp.csr_array((ones, (groups, np.arange(len(groups)))), shape=(count, len(groups)))
    return where @ rows
