"""Do two fibers hold the same? Code that compares them, for levels that store equal ones once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from linnet import imp

if TYPE_CHECKING:
    from linnet.imp.build import Builder

Each = Callable[[imp.Var], imp.Expr | None]


def same_value(a: imp.Expr, b: imp.Expr) -> imp.Expr:
    """Whether two numbers are the same: NaN is NaN, and 0.0 is not -0.0."""
    match a.dtype[0]:
        case "c":
            part = "float32" if a.dtype == "complex64" else "float64"
            pairs = [(imp.Call(f, (a,), part), imp.Call(f, (b,), part)) for f in ("real", "imag")]
            return same_value(*pairs[0]) & same_value(*pairs[1])
        case "f":
            signs = imp.eq(*(imp.Call("signbit", (x,), imp.BOOL) for x in (a, b)))
            return (imp.eq(a, b) & signs) | (imp.ne(a, a) & imp.ne(b, b))
        case _:
            return imp.eq(a, b)


def all_alike(b: Builder, count: imp.Expr, each: Each, first: imp.Expr = imp.TRUE) -> imp.Expr | None:
    """Whether `first` holds and then, for every t below `count`, what `each` says."""
    same, t = b.var("same", imp.BOOL), b.var("t")
    with b.collect() as body:
        found = each(t)
    if found is None:
        return None
    step = (*body, imp.Assign(same, found), imp.Assign(t, t + 1))
    b.emit(imp.Let(same, first), imp.Let(t, imp.ZERO))
    b.emit(imp.While(same & (t < count), imp.Block(step)))
    return same


def both(b: Builder, first: imp.Expr, then: Callable[[], imp.Expr | None]) -> imp.Expr | None:
    """Whether two things hold; the second is found out only where the first does."""
    with b.collect() as body:
        found = then()
    if found is None:
        return None
    if not body:
        return first & found
    same = b.var("same", imp.BOOL)
    b.emit(imp.Let(same, first))
    b.emit(imp.If(same, imp.Block((*body, imp.Assign(same, found))), imp.EMPTY))
    return same


def same_length(ptr: imp.Buffer, p: imp.Expr, q: imp.Expr) -> tuple[imp.Expr, imp.Expr]:
    """How long range p of a pointer array is, and whether range q is as long."""
    length = imp.widen(ptr[p + 1]) - imp.widen(ptr[p])
    return length, imp.eq(length, imp.widen(ptr[q + 1]) - imp.widen(ptr[q]))
