"""Do two fibers hold the same? Code that compares them, for levels that store equal ones once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from linnet import imp

if TYPE_CHECKING:
    from linnet.codelets.build import Builder

Each = Callable[[imp.Var], imp.Expr | None]


def same_value(b: Builder, x: imp.Expr, y: imp.Expr) -> imp.Expr:
    """Whether two numbers are the same."""
    match x.dtype[0]:
        case "c":
            part = "float32" if x.dtype == "complex64" else "float64"
            pairs = [[imp.Call(f, (z,), part) for z in (x, y)] for f in ("real", "imag")]
            return b.call(same, *pairs[0]) & b.call(same, *pairs[1])
        case "f":
            return b.call(same, x, y)
        case _:
            return imp.eq(x, y)


def same(x: float, y: float) -> bool:
    """A codelet: whether two floats are the same, where NaN is NaN, and 0.0 is not -0.0."""
    if x == y:
        return x != 0 or math.copysign(1.0, x) == math.copysign(1.0, y)
    return x != x and y != y


def all_alike(
    b: Builder, count: imp.Expr, each: Each, first: imp.Expr = imp.TRUE
) -> imp.Expr | None:
    """Whether `first` holds and then, for every t below `count`, what `each` says."""
    alike, t = b.var("alike", imp.BOOL), b.var("t")
    with b.collect() as body:
        found = each(t)
    if found is None:
        return None
    step = (*body, imp.Assign(alike, found), imp.Assign(t, t + 1))
    b.emit(imp.Let(alike, first), imp.Let(t, imp.ZERO))
    b.emit(imp.While(alike & (t < count), imp.Block(step)))
    return alike


def both(b: Builder, first: imp.Expr, then: Callable[[], imp.Expr | None]) -> imp.Expr | None:
    """Whether two things hold; the second is found out only where the first does."""
    with b.collect() as body:
        found = then()
    if found is None:
        return None
    if not body:
        return first & found
    alike = b.var("alike", imp.BOOL)
    b.emit(imp.Let(alike, first))
    b.emit(imp.If(alike, imp.Block((*body, imp.Assign(alike, found))), imp.EMPTY))
    return alike


def same_length(ptr: imp.Buffer, p: imp.Expr, q: imp.Expr) -> tuple[imp.Expr, imp.Expr]:
    """How long range p of a pointer array is, and whether range q is as long."""
    length = imp.widen(ptr[p + 1]) - imp.widen(ptr[p])
    return length, imp.eq(length, imp.widen(ptr[q + 1]) - imp.widen(ptr[q]))
