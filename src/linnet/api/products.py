"""Products of arrays: sums over dimensions that they share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from linnet.algebra import table
from linnet.algebra.dtypes import promote
from linnet.api.dtypes import astype
from linnet.api.operands import (
    Array,
    as_array,
    axis_number,
    axis_numbers,
    check_kind,
    dtype_of,
    kind_of,
    shape_of,
    whole,
)
from linnet.api.shapes import broadcast_shapes, moveaxis, reshape
from linnet.api.storage import DENSE_LIMIT, is_dense
from linnet.arrays import apply, contract
from linnet.errors import ShapeError
from linnet.formats.contents import Signature
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.named import DENSE, FormatLike, recognize
from linnet.formats.tensor import Tensor

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@located
def matmul(x1: Array, x2: Array, /, *, format: FormatLike | None = None) -> Array:
    """The product of matrices, or of stacks of matrices; a vector is a row or a column."""
    a, b = as_array(x1), as_array(x2)
    if format is None and type(a) is Tensor and type(b) is Tensor:
        plain = _plain(a.signature, b.signature)
        if plain is not None and shape_of(a)[-1] == shape_of(b)[0]:
            return contract(plain, a, b, format=_mixed(a, b), told="matmul")
    a, b = _alike(a, b, "matmul")
    known = _MATRICES.get((a.ndim, b.ndim))
    if known is not None and shape_of(a)[-1] == shape_of(b)[0]:
        b = _along(a, b) if known is _BOTH else b
        return contract(known, a, b, format=_mixed(a, b) if format is None else format)
    if not a.ndim or not b.ndim:
        raise ShapeError("matmul takes vectors and matrices, not single numbers", hint="use *")
    rows, cols = shape_of(a)[-1], shape_of(b)[-2 if b.ndim > 1 else -1]
    if rows != cols:
        raise ShapeError(f"the shapes {a.shape} and {b.shape} do not fit: {rows} is not {cols}")
    batch = broadcast_shapes(shape_of(a)[:-2], shape_of(b)[:-2])
    front = _LETTERS[3 : 3 + len(batch)]
    a, left = _batched(a, front, "ik" if a.ndim > 1 else "k")
    b, right = _batched(b, front, "kj" if b.ndim > 1 else "k")
    left, right = left.translate(_SHORT), right.translate(_SHORT)
    tail = ("a" if "a" in left else "") + ("c" if "c" in right else "")
    named = [letter for letter in front if letter in left or letter in right]
    wanted = _mixed(a, b) if format is None else format
    found = contract(f"{left},{right}->{''.join(named)}{tail}", a, b, format=wanted)
    rows_kept = shape_of(a)[-2:-1] if "a" in left else ()
    cols_kept = shape_of(b)[-1:] if "c" in right else ()
    return found if len(named) == len(batch) else reshape(found, (*batch, *rows_kept, *cols_kept))


@lru_cache(maxsize=1024)
def _plain(left: Signature, right: Signature) -> str | None:
    """The subscripts of a product of vectors and matrices that are taken as they are."""
    a, b = left.format, right.format
    known = _MATRICES.get((a.ndim, b.ndim))
    return None if a.dtype != b.dtype or (known is _BOTH and _turned(a, b)) else known


def _along(a: Any, b: Any) -> Any:
    """A sparse `b` by rows if `a` is by rows: rows times columns would ask for every element."""
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return b
    left, right = a.contents().format, b.contents().format
    return b.to(recognize(Format(right.levels, (0, 1)))) if _turned(left, right) else b


def _turned(a: Format, b: Format) -> bool:
    """Whether one sparse matrix is stored by rows, and the other by columns."""
    return a.order == (0, 1) and b.order == (1, 0) and not (is_dense(a) or is_dense(b))


def _mixed(a: Any, b: Any) -> FormatLike | None:
    """The product of a sparse and a dense array is dense, as in SciPy, if it is not too large."""
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return None
    if not _is_mixed(a.signature, b.signature):
        return None
    size = math.prod(shape_of(a)[:-1]) * math.prod(shape_of(b)[-1:] if b.ndim > 1 else ())
    return None if size > DENSE_LIMIT else DENSE


@lru_cache(maxsize=1024)
def _is_mixed(left: Signature, right: Signature) -> bool:
    """Whether one is dense, unless the result is so without being told."""
    a, b = left.format, right.format
    rows_first = a.levels[0].full and a.order[0] == 0
    return is_dense(a) != is_dense(b) and not (is_dense(b) and rows_first)


_BOTH = "ik,kj->ij"
_MATRICES = {(2, 2): _BOTH, (2, 1): "ik,k->i", (1, 2): "k,kj->j", (1, 1): "k,k->"}
_SHORT = str.maketrans("ikj", "abc")


def _batched(x: Any, front: str, core: str) -> tuple[Any, str]:
    """The array without dimensions of size 1 among those of the stack, and its subscripts."""
    shape, n = shape_of(x), len(core)
    stack = shape[: len(shape) - n]
    letters = front[len(front) - len(stack) :]
    kept = [(letter, size) for letter, size in zip(letters, stack, strict=True) if size != 1]
    flat = (*(size for _, size in kept), *shape[len(stack) :])
    return x if flat == shape else reshape(x, flat), "".join(letter for letter, _ in kept) + core


def _alike(a: Any, b: Any, name: str) -> tuple[Any, Any]:
    """Both with the dtype in which they meet."""
    check_kind(a, "biufc", name)
    dtype = promote(dtype_of(a), dtype_of(b))
    return astype(a, dtype, copy=False), astype(b, dtype, copy=False)


@located
def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2, format: FormatLike | None = None) -> Array:
    """The sum over pairs of dimensions: the last n of one and the first n of the other, or given.

    >>> ln.tensordot(ln.eye(3), ln.eye(3), axes=1).nnz
    3
    """
    a, b = _alike(as_array(x1), as_array(x2), "tensordot")
    left, right = _pairs(axes, a.ndim, b.ndim)
    for m, n in zip(left, right, strict=True):
        if shape_of(a)[m] != shape_of(b)[n]:
            raise ShapeError(
                f"dimension {m} of the shape {a.shape} and {n} of {b.shape} differ in size"
            )
    first = list(_LETTERS[: a.ndim])
    second = list(_LETTERS[a.ndim : a.ndim + b.ndim])
    for m, n in zip(left, right, strict=True):
        second[n] = first[m]
    result = [c for m, c in enumerate(first) if m not in left]
    result += [c for n, c in enumerate(second) if n not in right]
    return contract(f"{''.join(first)},{''.join(second)}->{''.join(result)}", a, b, format=format)


def _pairs(axes: Any, m: int, n: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions to sum over, of both arrays."""
    if not isinstance(axes, Sequence) or isinstance(axes, str):
        count = whole(axes, "the number of axes")
        if not 0 <= count <= min(m, n):
            raise ShapeError(f"arrays of {m} and {n} dimensions do not share {count}")
        return tuple(range(m - count, m)), tuple(range(count))
    if len(axes) != 2:
        raise ShapeError(f"the axes are those of two arrays, not {axes!r}")
    left, right = (a if isinstance(a, Sequence) else (a,) for a in axes)
    if len(left) != len(right):
        raise ShapeError(f"{len(left)} dimensions do not pair with {len(right)}")
    return axis_numbers(tuple(left), m), axis_numbers(tuple(right), n)


@located
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The sum of products along a dimension; of complex numbers, the first is conjugated."""
    a, b = _alike(as_array(x1), as_array(x2), "vecdot")
    d = axis if isinstance(axis, int) else whole(axis, "an axis")
    a, b = moveaxis(a, axis_number(d, a.ndim), -1), moveaxis(b, axis_number(d, b.ndim), -1)
    if shape_of(a)[-1] != shape_of(b)[-1]:
        raise ShapeError(f"the shapes {a.shape} and {b.shape} do not fit along the axis {axis}")
    if kind_of(a) == "c":
        a = apply(table.conj, a)
    batch = broadcast_shapes(shape_of(a)[:-1], shape_of(b)[:-1])
    front = _LETTERS[3 : 3 + len(batch)]
    a, left = _batched(a, front, "a")
    b, right = _batched(b, front, "a")
    named = [letter for letter in front if letter in left or letter in right]
    found = contract(f"{left},{right}->{''.join(named)}", a, b)
    return found if len(named) == len(batch) else reshape(found, batch)


@located
def outer(x1: Array, x2: Array, /) -> Array:
    """All products of an element of one vector and one of another."""
    a, b = as_array(x1), as_array(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(f"outer takes two vectors, not the shapes {a.shape} and {b.shape}")
    return tensordot(a, b, axes=0)


@located
def dot(x1: Array, x2: Array, /) -> Array:
    """As NumPy's `dot`: a matrix product, or a product with a number."""
    a, b = as_array(x1), as_array(x2)
    if not a.ndim or not b.ndim:
        return apply(table.multiply, a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b)
    return tensordot(a, b, axes=((a.ndim - 1,), (max(b.ndim - 2, 0),)))
