"""Many updates by one value, where that takes more than a statement: `s *= x`, n times over.

Of a product the power is taken, in a few steps if that is too large or too small for a number while
what comes out need not be. For any other associative function f, the value is doubled: f(x, x)
stands for two updates, f of that with itself for four, so that n of them take log2(n) steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np

from linnet import imp, loops
from linnet.algebra.dtypes import concrete, kind
from linnet.algebra.function import Function
from linnet.algebra.table import add, multiply
from linnet.imp.fold import fold
from linnet.imp.functions import MATH
from linnet.loops.rewrite import is_left, point_of, walk
from linnet.loops.types import dtype_of
from linnet.lower.context import Context, fresh_targets, initialize, storage_of
from linnet.lower.expressions import lower_expr
from linnet.records import dataclass

LowerStmt = Callable[[Context, loops.Stmt], None]

_FLOAT = "float64"  # powers are taken in double precision
_REACH = {"float64": 1000.0, "float32": 120.0}  # 2 to this and to less is a normal number
_STEPS = 5  # times half of that: from the smallest number there is beyond the largest


@dataclass(frozen=True, slots=True)
class Many:
    """An update `times` over, where `by` says what two values amount to.

    That often it is done in all iterations of the loops `within`, which do the same.
    """

    stmt: loops.Assign
    by: Function
    times: imp.Expr
    dtype: str
    within: tuple[loops.Loop, ...] = ()


def many(ctx: Context, stmt: loops.Stmt, times: imp.Expr) -> Many | None:
    """What does `times` of a statement: an update, perhaps in loops that do nothing else."""
    if isinstance(stmt, loops.Loop):
        inner = many(ctx, _only(stmt.body), times) if _is_plain(stmt) else None
        return None if inner is None else replace(inner, within=(stmt, *inner.within))
    if not isinstance(stmt, loops.Assign) or stmt.target.indices:
        return None
    found, storage = combining(ctx, stmt), storage_of(stmt.target)
    if found is None or storage is None:
        return None
    assert storage.format.dtype is not None
    return Many(stmt, found, times, storage.format.dtype)


def combining(ctx: Context, stmt: loops.Assign) -> Function | None:
    """The function of two values that says what an update by one and by the other amounts to."""
    op, storage = stmt.op, storage_of(stmt.target)
    if op is None or storage is None:
        return None
    dtype = storage.format.dtype
    assert dtype is not None
    by = {"times": add, "power": multiply}.get(op.repeat, op if op.associative else None)
    if by is None or not stays(op, dtype, dtype_of(stmt.value, ctx.facts.types)):
        return None
    return by if stays(by, dtype, dtype) else None


def _only(body: loops.Stmt) -> loops.Stmt:
    """The statement that a block consists of."""
    return body.stmts[0] if isinstance(body, loops.Block) and len(body.stmts) == 1 else body


def _is_plain(loop: loops.Loop) -> bool:
    """Whether a loop runs through a range, and does the same in all iterations."""
    is_range = isinstance(loop.extent, loops.Extent) and point_of(loop.extent) is None
    if not is_range or is_left(loop):
        return False
    return not any(isinstance(n, loops.Index) and n.name == loop.index for n in walk(loop.body))


def stays(op: Function, dtype: str, found: str) -> bool:
    """Whether a value is converted to the target's type, and no further, when it is updated."""
    wanted, result = op.types((dtype, found))
    return all(concrete(t) == dtype for t in (*wanted, result))


def lower_many(ctx: Context, many: Many, lower_stmt: LowerStmt) -> None:
    """Combine the value with itself, then update once."""
    if not many.within:
        _lower(ctx, many, (many.times,), lower_stmt)
        return
    lengths = [ctx.b.let(f"n_{loop.index}", _length(ctx, loop)) for loop in many.within]
    some = reduce(imp.Operators.__and__, [n > 0 for n in lengths])
    block = ctx.collect(lambda: _lower(ctx, many, (many.times, *lengths), lower_stmt))
    ctx.b.emit(imp.If(some, block, imp.EMPTY))


def _length(ctx: Context, loop: loops.Loop) -> imp.Expr:
    assert isinstance(loop.extent, loops.Extent)
    start = lower_expr(ctx, loop.extent.start, imp.INT)
    return lower_expr(ctx, loop.extent.stop, imp.INT) - start


def _lower(ctx: Context, many: Many, counts: tuple[imp.Expr, ...], lower_stmt: LowerStmt) -> None:
    """As many updates as the product of the counts says, which may be too large a number."""
    value = lower_expr(ctx, many.stmt.value, many.dtype)
    is_power = many.by is multiply and kind(many.dtype) == "f"
    if is_power and _is_own_power(value):
        lower_stmt(ctx, replace(many.stmt, value=loops.Value(value)))
        return
    if is_power:
        _lower_power(ctx, many, value, counts, lower_stmt)
        return
    x = ctx.b.let("x", value, many.dtype)
    for count in counts:
        x = _doubled(ctx, many, x, count)
    lower_stmt(ctx, replace(many.stmt, value=loops.Value(x)))


def _doubled(ctx: Context, many: Many, x: imp.Var, times: imp.Expr) -> imp.Var:
    """`times` of x by doubling: x is combined with itself, and with the result where a bit is 1."""

    def both(a: imp.Expr, b: imp.Expr) -> imp.Expr:
        return many.by.emit((a, b), many.dtype)

    twice = ctx.b.let("twice", x, many.dtype)
    power = ctx.b.let("power", x, many.dtype)
    left = ctx.b.let("left", times - 1)
    odd = imp.eq(imp.binary("&", left, 1), 1)
    step = (
        imp.If(odd, imp.Block((imp.Assign(power, both(power, twice)),)), imp.EMPTY),
        imp.Assign(left, imp.binary(">>", left, 1)),
        imp.If(left > 0, imp.Block((imp.Assign(twice, both(twice, twice)),)), imp.EMPTY),
    )
    ctx.b.emit(imp.While(left > 0, imp.Block(step)))
    return power


# -- powers ----------------------------------------------------------------------------------------


def _is_own_power(value: imp.Expr) -> bool:
    """Whether this is a number that stays what it is if it is multiplied by itself."""
    if not isinstance(value, imp.Const):
        return False
    x = float(value.value)  # type: ignore[arg-type]
    return x != x or (x in (0.0, 1.0, math.inf) and math.copysign(1, x) > 0)


def _lower_power(
    ctx: Context, many: Many, value: imp.Expr, counts: tuple[imp.Expr, ...], lower_stmt: LowerStmt
) -> None:
    """`x ** n`, unless that is too large or too small where `s * x * x …` may not be.

    What is not finite, and 0, are their own powers. An odd power has the sign of x.
    """
    b, info = ctx.b, np.finfo(many.dtype)
    found = initialize(ctx, many.stmt, fresh_targets(many.stmt))
    assert isinstance(found, loops.Assign)
    x = _held(ctx, "x", value)
    size = _held(ctx, "size", _call("fabs", _wide(x)))
    n = _held(ctx, "n", reduce(_times, [_wide(count) for count in counts]))
    odd = reduce(imp.Operators.__and__, [imp.eq(imp.binary("&", c, 1), 1) for c in counts])
    turns = _held(ctx, "turns", _is_negative(x) & odd)
    p = _held(ctx, "power", _call("pow", size, n))

    def update(factor: imp.Expr) -> None:
        lower_stmt(ctx, replace(found, value=loops.Value(imp.cast(factor, many.dtype))))

    def signed(e: imp.Expr) -> imp.Expr:
        return imp.Select(turns, imp.Unary("-", e, _FLOAT), e)

    normal = (p >= _number(float(info.tiny))) & (p <= _number(float(info.max)))
    own = imp.eq(size, _number(0.0)) | ~(size <= _number(float(np.finfo(_FLOAT).max)))
    once = ctx.collect(lambda: update(signed(p)))
    if size == _number(1.0):
        b.emit(once)
        return
    storage, carried = storage_of(found.target), ctx.carried
    assert storage is not None
    ctx.carried |= {storage.name}  # one after the other, and not in partial products
    parts = ctx.collect(lambda: _in_steps(ctx, size, n, _REACH[many.dtype], update, signed))
    ctx.carried = carried
    b.emit(imp.If(normal | own, once, parts))


def _in_steps(
    ctx: Context,
    size: imp.Expr,
    n: imp.Expr,
    reach: float,
    update: Callable[[imp.Expr], None],
    signed: Callable[[imp.Expr], imp.Expr],
) -> None:
    """Updates by powers that are normal numbers, until nothing can change any more."""
    bits = _call("fabs", _call("log2", size))
    part = _held(
        ctx, "part", _call("fmax", _number(1.0), _call("floor", _ratio(_number(reach), bits)))
    )
    factor = _held(ctx, "factor", _call("pow", size, part))
    steps = _held(
        ctx, "steps", _call("fmin", _call("floor", _ratio(n, part)), _number(float(_STEPS)))
    )
    body = ctx.collect(lambda: update(factor))
    ctx.b.emit(imp.For(ctx.b.var("t"), imp.ZERO, imp.Cast(steps, imp.INT), body))
    left = _call("fmin", part, n - steps * part)
    update(signed(_held(ctx, "rest", _call("pow", size, left))))


def _held(ctx: Context, name: str, value: imp.Expr) -> imp.Expr:
    """A variable for a value, unless it is a constant."""
    return value if isinstance(value, imp.Const) else ctx.b.let(name, value, value.dtype)


def _is_negative(x: imp.Expr) -> imp.Expr:
    if isinstance(x, imp.Const):
        return imp.Const(bool(np.signbit(x.value)), imp.BOOL)
    return imp.Call("signbit", (x,), imp.BOOL)


def _wide(x: imp.Expr) -> imp.Expr:
    """A number in double precision."""
    if isinstance(x, imp.Const):
        return _number(float(np.dtype(x.dtype).type(x.value)))
    return x if x.dtype == _FLOAT else imp.Cast(x, _FLOAT)


def _call(function: str, *args: imp.Expr) -> imp.Expr:
    """A call of a function of math.h; what is known is computed."""
    values = [a.value for a in args if isinstance(a, imp.Const)]
    if len(values) == len(args):
        return _number(float(MATH[function].meaning(*values)))  # type: ignore[arg-type]
    return imp.Call(function, args, _FLOAT)


def _number(x: float) -> imp.Const:
    return imp.Const(x, _FLOAT)


def _times(a: imp.Expr, b: imp.Expr) -> imp.Expr:
    return imp.binary("*", a, b)


def _ratio(a: imp.Expr, b: imp.Expr) -> imp.Expr:
    return fold(imp.binary("/", a, b))
