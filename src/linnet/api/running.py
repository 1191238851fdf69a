"""Running sums, products and differences along a dimension."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from linnet import loops
from linnet.algebra import table
from linnet.algebra.dtypes import as_python, canonical
from linnet.algebra.function import Function
from linnet.api.creation import full
from linnet.api.dtypes import DType, astype
from linnet.api.joining import concat
from linnet.api.operands import Array, as_tensor, axis_number, dtype_of, shape_of, whole
from linnet.api.shapes import moveaxis
from linnet.api.storage import is_dense, refuse_large
from linnet.arrays import apply
from linnet.errors import ArgumentError, DTypeError, ShapeError
from linnet.formats.element import Element
from linnet.formats.located import located
from linnet.formats.named import CSF, DENSE, stack
from linnet.formats.tensor import Tensor
from linnet.runtime.kernel import Kernel

_WIDE = {"b": "int64", "i": "int64", "u": "uint64"}


@located
def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: DType = None, include_initial: bool = False
) -> Tensor:
    """At every place, the sum of the elements up to it along a dimension. The result is dense."""
    return _running(table.add, 0, as_tensor(x), axis, dtype, include_initial)


@located
def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: DType = None, include_initial: bool = False
) -> Tensor:
    """At every place, the product of the elements up to it along a dimension."""
    return _running(table.multiply, 1, as_tensor(x), axis, dtype, include_initial)


def _running(
    function: Function, start: int, x: Tensor, axis: int | None, dtype: DType, initial: bool
) -> Tensor:
    if axis is None:
        if x.ndim > 1:
            raise ArgumentError("an array of several dimensions wants an axis")
        axis = 0
    d = axis_number(axis, x.ndim)
    held = dtype_of(x)
    wanted = _WIDE.get(np.dtype(held).kind, held) if dtype is None else canonical(dtype)
    if np.dtype(held).kind == "c" and np.dtype(wanted).kind != "c":
        raise DTypeError(f"complex values are not accumulated in {wanted}")
    refuse_large(x.size, f"the result of {function.name} along a dimension")
    inner = moveaxis(astype(x, wanted, copy=False), d, -1)
    if not is_dense(inner.contents().format):
        inner = inner.to(CSF(inner.ndim))
    first = str(start)
    if not start and np.dtype(wanted).kind in "fc" and _may_begin_with_minus_zero(inner):
        # -0.0 + x is x, be it -0.0; but what is not stored would leave it
        inner, first = inner.to(DENSE(inner.ndim)), "-0.0-0.0j"
    result = Tensor(DENSE(inner.ndim), None)
    running(function, inner.ndim, wanted, first)(result, inner)
    found = moveaxis(result, -1, d)
    if not initial:
        return found
    shape = tuple(1 if m == d else n for m, n in enumerate(shape_of(x)))
    return concat([full(shape, start, dtype=wanted), found], axis=d)


def _may_begin_with_minus_zero(x: Tensor) -> bool:
    """Whether some element may be -0.0: sums of others are the same from 0.0 on."""
    if is_dense(x.contents().format):
        return True
    held = (x.buffers["val"], np.array([x.fill_value], dtype_of(x)))
    parts = (values.view(values.real.dtype) for values in held)
    return any(((part == 0) & np.signbit(part)).any() for part in parts)


@lru_cache(maxsize=256)
def running(function: Function, ndim: int, dtype: str, text: str) -> Kernel:
    """`s = f(s, x[…, i]); y[…, i] = s`, for all `i` of every row, from a number on."""
    number = complex(text)
    start = as_python(number if np.dtype(dtype).kind == "c" else number.real, dtype)
    names = tuple(f"i{d}" for d in range(ndim))
    at = tuple(loops.Index(name) for name in names)
    s, zero = loops.Access("s", ()), loops.Literal(start, dtype)
    update = loops.Assign(s, function, loops.Access("x", at))
    write = loops.Assign(loops.Access("y", at), None, s)
    body: loops.Stmt = loops.Loop(names[-1], None, loops.Block((update, write)))
    body = loops.Block((loops.Declare("s", zero), body))
    for name in reversed(names[:-1]):
        body = loops.Loop(name, None, body)
    temps = (("s", stack(Element(start, dtype))),)
    program = loops.Program(
        "running", ("y", "x"), temps, loops.Block((loops.Declare("y", zero), body)), ("y",)
    )
    return Kernel(program)


@located
def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Tensor:
    """The differences of neighbours along a dimension, `n` times over."""
    from linnet.api.indexing import getitem

    x, times = as_tensor(x), whole(n, "n")
    d = axis_number(axis, x.ndim)
    if times < 0:
        raise ShapeError(f"differences cannot be taken {times} times")
    parts = [part for part in (prepend, x, append) if part is not None]
    found: Any = concat(parts, axis=d) if len(parts) > 1 else x
    front = (slice(None),) * d
    function = table.logical_xor if dtype_of(found) == "bool" else table.subtract
    for _ in range(min(times, shape_of(found)[d])):  # after which nothing is left
        upper, lower = (*front, slice(1, None)), (*front, slice(None, -1))
        found = apply(function, getitem(found, upper), getitem(found, lower))
    return found
