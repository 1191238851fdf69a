"""Expressions of the loop language as code."""

from __future__ import annotations

from typing import assert_never

import numpy as np

from linnet import imp, loops
from linnet.algebra.dtypes import as_python, concrete
from linnet.algebra.exact import converter, same
from linnet.errors import InternalError
from linnet.formats.fiber import Fiber, Register
from linnet.imp.rewrite import walk
from linnet.loops.types import dtype_of
from linnet.lower.context import Context


def lower_expr(
    ctx: Context, expr: loops.Expr, dtype: str | None = None, stored: bool = False
) -> imp.Expr:
    """The code of an expression, as a `dtype` if one is given; it may be `stored` in any case."""
    found: imp.Expr
    match expr:
        case loops.Literal(value, None) if dtype == imp.BOOL:
            return imp.Const(bool(value), imp.BOOL)  # its truth
        case loops.Literal(value, None, structural) if dtype is not None and not structural:
            return imp.Const(as_python(value, dtype), dtype)  # a number of the user's must fit
        case loops.Literal(value):
            own = concrete(dtype_of(expr, ctx.facts.types))
            found = imp.Const(as_python(value, own), own)
        case loops.Value(imp.Call("missing", (imp.Const(site),), own)):
            ctx.b.emit(imp.Return(out_of_bounds(int(site))))  # type: ignore[arg-type]
            found = imp.Const(as_python(0, own), own)
        case loops.Value(imp.Call("refused", (imp.Var() as status, imp.Var() as value))):
            refuse = imp.Block((imp.Return(status),))
            ctx.b.emit(imp.If(imp.ne(status, imp.ZERO), refuse, imp.EMPTY))
            found = value
        case loops.Value(code):
            found = code
        case loops.Index(name):
            found = imp.Var(name)
        case loops.Name(name):
            found = imp.Var(name, concrete(ctx.facts.types[name]))
        case loops.Dimension(tensor, mode):
            found = ctx.dims[tensor, mode]
        case loops.Parts():
            from linnet.lower.ranges import lower_parts

            found = lower_parts(ctx, expr)
        case loops.Place():
            from linnet.lower.ranges import lower_place

            found = lower_place(ctx, expr)
        case loops.Access(Fiber() as fiber, ()):
            found = fiber.kind.read(fiber)  # type: ignore[attr-defined]
        case loops.Access(Register(_, var)):
            found = var
        case loops.Access():
            raise InternalError(f"an access was not resolved: {expr}")
        case loops.Call():
            found = _lower_call(ctx, expr, stored)
        case _:
            assert_never(expr)
    return found if dtype is None else convert(found, dtype)


REFUSED = "refused"
"""Stands for a value that was searched for beforehand: using it is an error if it was refused."""


def out_of_bounds(site: int) -> imp.Expr:
    """The status that says which access left its dimension."""
    return imp.Const(imp.OUT_OF_BOUNDS | site << 8, imp.INT)


def status_of(missing: loops.Expr) -> imp.Expr:
    """The same, of a value beyond the bounds."""
    assert isinstance(missing, loops.Value)
    assert isinstance(missing.code, imp.Call)
    (site,) = missing.code.args
    assert isinstance(site, imp.Const)
    return out_of_bounds(int(site.value))  # type: ignore[arg-type]


def _lower_call(ctx: Context, call: loops.Call, stored: bool) -> imp.Expr:
    given = tuple([dtype_of(a, ctx.facts.types) for a in call.args])
    wanted, result = call.function.types(given)
    dtypes = [concrete(t) for t in wanted]
    if call.function.name not in LAZY:
        args = [lower_expr(ctx, a, t, stored) for a, t in zip(call.args, dtypes, strict=True)]
        return call.function.emit(tuple(args), concrete(result))
    args, sure = _lower_lazily(ctx, call, dtypes, stored)
    found = call.function.emit(tuple(args), concrete(result))
    return at_once(found) if sure and stored else found


LAZY = ("logical_and", "logical_or", "where")
"""Functions that do not use all of their arguments."""


def _lower_lazily(
    ctx: Context, call: loops.Call, dtypes: list[str], stored: bool
) -> tuple[list[imp.Expr], bool]:
    """Arguments of which the first decides, and whether the others can be had in any case.

    Beyond the bounds is an error only where it is used.
    """
    first = lower_expr(ctx, call.args[0], dtypes[0], stored)
    args, blocks = [first], []
    for arg, dtype in zip(call.args[1:], dtypes[1:], strict=True):
        with ctx.b.collect() as stmts:
            args.append(lower_expr(ctx, arg, dtype, stored))
        blocks.append(imp.Block(tuple(stmts)))
    then, orelse = (*blocks, imp.EMPTY)[:2]
    if call.function.name == "logical_or":
        then, orelse = orelse, then
    sure = then == orelse == imp.EMPTY
    if not sure:
        ctx.b.emit(imp.If(convert(first, imp.BOOL), then, orelse))
    return args, sure


_EAGER = {"and": "&", "or": "|"}


def at_once(e: imp.Expr) -> imp.Expr:
    """`a and b` or `a or b` without a branch, where `b` is had sooner than a branch is foretold.

    Of what is stored in any case: a condition leads to a branch anyway, and may spare a load.
    """
    match e:
        case imp.Binary(("and" | "or") as op, a, b) if _is_cheap(b):
            return imp.Binary(_EAGER[op], a, b, imp.BOOL)
        case _:
            return e


def _is_cheap(e: imp.Expr) -> bool:
    """Whether a value is had with little work, if nobody needs it."""
    match e:
        case imp.Const() | imp.Var():
            return True
        case imp.Load(_, index):
            return not any(isinstance(n, imp.Load | imp.Call) for n in walk(index))
        case imp.Cast(x) | imp.Unary(_, x):
            return _is_cheap(x)
        case imp.Binary(op, a, b):
            return op not in ("div", "rem", "/") and _is_cheap(a) and _is_cheap(b)
        case _:
            return False


def convert(x: imp.Expr, dtype: str) -> imp.Expr:
    """`x` as a value of another type; a constant is converted as the code would."""
    if x.dtype == dtype:
        return x
    if isinstance(x, imp.Const):
        value = converter(dtype)(np.dtype(x.dtype).type(x.value))
        return imp.Const(value.item(), dtype)  # type: ignore[attr-defined]
    return imp.Cast(x, dtype)


def lower_update(
    ctx: Context, old: imp.Expr, stmt: loops.Assign, dtype: str, stored: bool = False
) -> imp.Expr:
    """The new value of a target whose value is `old`; the first sum is the value: `0 + x`."""
    if stmt.op is None:
        return lower_expr(ctx, stmt.value, dtype, stored)
    wanted, result = stmt.op.types((dtype, dtype_of(stmt.value, ctx.facts.types)))
    value = lower_expr(ctx, stmt.value, concrete(wanted[1]), stored)
    if isinstance(old, imp.Const) and same(old.value, stmt.op.identity(concrete(wanted[0]))):
        return convert(at_once(value) if stored else value, dtype)
    new = stmt.op.emit((convert(old, concrete(wanted[0])), value), concrete(result))
    return convert(at_once(new) if stored else new, dtype)
