"""`ln.linalg`: the linear algebra extension of the Array API.

Products, norms, diagonals and traces are compiled like everything else. Factorizations, inverses
and eigenvalues are dense by nature and are left to NumPy; a sparse operand of more elements than
`storage.DENSE_LIMIT` is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linnet.algebra import table
from linnet.api import moves, statistics
from linnet.api.dtypes import DType, astype
from linnet.api.operands import (
    Array,
    Axes,
    as_tensor,
    axis_number,
    axis_numbers,
    kind_of,
    shape_of,
    whole,
)
from linnet.api.products import matmul, outer, tensordot, vecdot
from linnet.api.programs import is_large
from linnet.api.shapes import matrix_transpose, reshape
from linnet.api.storage import alike, build, dense, densely, entries, is_dense
from linnet.arrays import apply
from linnet.errors import DTypeError, ShapeError, SingularError
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.runtime.operation import by_kernels

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


class EighResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns; both complex."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """An orthonormal factor and a triangular one."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its size."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """Singular vectors as columns, singular values, and singular vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


# -- compiled --------------------------------------------------------------------------------------


@by_kernels
@located
def diagonal(x: Array, /, *, offset: int = 0) -> Tensor:
    """A diagonal of every matrix in a stack."""
    return diagonal_of(x, offset)


def diagonal_of(x: Array, offset: int) -> Tensor:
    """The same, for functions of which it is a part."""
    x, k = _matrix(x, "diagonal"), whole(offset, "an offset")
    *stack, rows, cols = shape_of(x)
    k = max(-rows, min(k, cols))  # beyond its corners a matrix has no elements
    if is_dense(x.contents().format):
        return dense(np.diagonal(x.to_numpy(), k, -2, -1))
    size = max(0, min(rows + min(k, 0), cols - max(k, 0)))
    if is_large(x) and size:
        return moves.diagonal(x, k, size)
    coordinates, values = entries(x)
    kept = np.flatnonzero(coordinates[-1] - coordinates[-2] == k)
    found = [idx[kept] for idx in coordinates[:-1]]
    found[-1] = found[-1] + min(k, 0)
    return build(found, values[kept], (*stack, size), alike(x.contents().format, x.ndim - 1))


@located
def trace(x: Array, /, *, offset: int = 0, dtype: DType = None) -> Tensor:
    """The sum of a diagonal of every matrix in a stack."""
    return statistics.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


@located
def vector_norm(
    x: Array, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """The norm of vectors: along all dimensions together, or along those given."""
    x = as_tensor(x)
    axes = axis_numbers(axis, x.ndim)
    size: Any = apply(table.absolute, x)
    found: Any
    held = str(size.dtype) if size.dtype is not None and size.dtype.kind == "f" else "float64"
    size = astype(size, "float64", copy=False)
    if ord == np.inf:
        found = statistics.max(size, axis=axes, keepdims=keepdims)
    elif ord == -np.inf:
        found = statistics.min(size, axis=axes, keepdims=keepdims)
    elif ord == 0:
        powers = astype(apply(table.not_equal, size, 0.0), "float64")
        found = statistics.sum(powers, axis=axes, keepdims=keepdims)
    elif ord == 1:
        found = statistics.sum(size, axis=axes, keepdims=keepdims)
    elif ord == 2:
        total = statistics.sum(apply(table.square, size), axis=axes, keepdims=keepdims)
        found = apply(table.sqrt, total)
    else:
        total = statistics.sum(apply(table.power, size, float(ord)), axis=axes, keepdims=keepdims)
        found = apply(table.power, total, 1.0 / float(ord))
    return astype(found, held, copy=False)


@located
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """The norm of every matrix in a stack."""
    x = _matrix(x, "matrix_norm")
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        sums = vector_norm(x, axis=-2 if ord in (1, -1) else -1, ord=1)
        choose = statistics.max if ord in (1, np.inf) else statistics.min
        found = choose(sums, axis=-1)
        return reshape(found, (*shape_of(found), 1, 1)) if keepdims else found
    return _dense("matrix_norm", lambda a: np.linalg.norm(a, ord, (-2, -1), keepdims), x)


@located
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Tensor:
    """The vector that is orthogonal to two others of three elements."""
    a, b = as_tensor(x1), as_tensor(x2)
    m = axis_number(axis, min(a.ndim, b.ndim)) if axis >= 0 else axis
    axis_number(axis, min(a.ndim, b.ndim))
    if shape_of(a)[m] != 3 or shape_of(b)[m] != 3:
        raise ShapeError(f"cross takes 3 elements along its axis, not {a.shape} and {b.shape}")
    return _dense("cross", lambda p, q: np.cross(p, q, axis=m), a, b)


@located
def matrix_power(x: Array, n: int, /) -> Tensor:
    """A square matrix times itself, n times; the inverse if n is negative."""
    x, n = _square(x, "matrix_power"), whole(n, "the exponent")
    if n <= 0 or is_dense(x.contents().format):
        return _dense("matrix_power", lambda a: np.linalg.matrix_power(a, n), x)
    found, square = None, x
    while n:
        if n & 1:
            found = square if found is None else matmul(found, square)
        n >>= 1
        square = matmul(square, square) if n else square
    assert found is not None
    return found


# -- dense, by NumPy -------------------------------------------------------------------------------


@located
def cholesky(x: Array, /, *, upper: bool = False) -> Tensor:
    """The triangular factor of a positive definite matrix."""
    return _dense("cholesky", lambda a: np.linalg.cholesky(a, upper=upper), _square(x, "cholesky"))


@located
def det(x: Array, /) -> Tensor:
    """The determinant of every matrix in a stack."""
    return _dense("det", np.linalg.det, _square(x, "det"))


@located
def slogdet(x: Array, /) -> SlogdetResult:
    """The sign of the determinant, and the logarithm of its size."""
    return SlogdetResult(*_several("slogdet", np.linalg.slogdet, _square(x, "slogdet")))


@located
def inv(x: Array, /) -> Tensor:
    """The inverse of every matrix in a stack."""
    return _dense("inv", np.linalg.inv, _square(x, "inv"))


@located
def solve(x1: Array, x2: Array, /) -> Tensor:
    """What a matrix must be multiplied with to give another, or a vector."""
    a, b = _square(x1, "solve"), as_tensor(x2)
    if not b.ndim or shape_of(b)[-2 if b.ndim > 1 else -1] != shape_of(a)[-1]:
        raise ShapeError(f"the shapes {a.shape} and {b.shape} do not fit: a row for every column")
    if b.ndim == 1:
        return _dense("solve", lambda p, q: np.linalg.solve(p, q[..., None])[..., 0], a, b)
    return _dense("solve", np.linalg.solve, a, b)


@located
def pinv(x: Array, /, *, rtol: Any = None) -> Tensor:
    """The pseudo-inverse of every matrix in a stack."""
    limit: Any = None if rtol is None else as_tensor(rtol).to_numpy()
    return _dense("pinv", lambda a: np.linalg.pinv(a, rtol=limit), _matrix(x, "pinv"))


@located
def matrix_rank(x: Array, /, *, rtol: Any = None) -> Tensor:
    """The rank of every matrix in a stack."""
    limit: Any = None if rtol is None else as_tensor(rtol).to_numpy()
    given = _matrix(x, "matrix_rank")
    found = _dense("matrix_rank", lambda a: np.linalg.matrix_rank(a, rtol=limit), given)
    return astype(found, "int64", copy=False)


@located
def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """An orthonormal factor and a triangular one."""
    return QRResult(*_several("qr", lambda a: np.linalg.qr(a, mode), _matrix(x, "qr")))  # type: ignore[call-overload]


@located
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular vectors and singular values."""
    given = _matrix(x, "svd")
    return SVDResult(*_several("svd", lambda a: np.linalg.svd(a, full_matrices), given))


@located
def svdvals(x: Array, /) -> Tensor:
    """Singular values, the largest first."""
    return _dense("svdvals", lambda a: np.linalg.svd(a, compute_uv=False), _matrix(x, "svdvals"))


@located
def eigh(x: Array, /) -> EighResult:
    """Eigenvalues and eigenvectors of a symmetric or Hermitian matrix."""
    return EighResult(*_several("eigh", np.linalg.eigh, _square(x, "eigh")))


@located
def eigvalsh(x: Array, /) -> Tensor:
    """Eigenvalues of a symmetric or Hermitian matrix."""
    return _dense("eigvalsh", np.linalg.eigvalsh, _square(x, "eigvalsh"))


@located
def eig(x: Array, /) -> EigResult:
    """Eigenvalues and eigenvectors of a square matrix, as complex numbers."""
    values, vectors = _several("eig", np.linalg.eig, _square(x, "eig"))
    dtype = "complex64" if as_tensor(x).dtype in (np.float32, np.complex64) else "complex128"
    return EigResult(astype(values, dtype, copy=False), astype(vectors, dtype, copy=False))


@located
def eigvals(x: Array, /) -> Tensor:
    """Eigenvalues of a square matrix, as complex numbers."""
    found = _dense("eigvals", np.linalg.eigvals, _square(x, "eigvals"))
    dtype = "complex64" if as_tensor(x).dtype in (np.float32, np.complex64) else "complex128"
    return astype(found, dtype, copy=False)


def _matrix(x: Array, name: str) -> Tensor:
    found = as_tensor(x)
    if found.ndim < 2:
        raise ShapeError(f"{name} takes matrices, and this has shape {found.shape}")
    return found


def _square(x: Array, name: str) -> Tensor:
    found = _matrix(x, name)
    if shape_of(found)[-1] != shape_of(found)[-2]:
        raise ShapeError(f"{name} takes square matrices, and this has shape {found.shape}")
    if kind_of(found) not in "fciu":
        raise DTypeError(f"{name} is not defined for {found.dtype}")
    return found


def _several(name: str, function: Callable[..., Any], *given: Tensor) -> list[Tensor]:
    """What NumPy computes of dense copies, which are made below a stated size only."""
    arrays: list[NDArray[Any]] = [densely(x, f"an operand of {name}") for x in given]
    try:
        found = function(*arrays)
    except np.linalg.LinAlgError as error:
        raise SingularError(f"{name}: {error}") from None
    return [dense(np.asarray(a)) for a in (found if isinstance(found, tuple) else (found,))]


def _dense(name: str, function: Callable[..., Any], *given: Tensor) -> Tensor:
    return _several(name, function, *given)[0]
