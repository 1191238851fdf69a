"""Loops whose body does not depend on the index: `n` updates become one, or a few.

A sum is a product, `s + n * x`; of a product the power is taken, unless it is too large or too
small for a number. For any other associative function f, the value is doubled: f(x, x) stands for
two updates, f of that with itself for four, so that `n` of them take log2(n) steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from linnet import imp, loops
from linnet.algebra.dtypes import concrete, kind
from linnet.algebra.function import Function
from linnet.algebra.table import add, astype, multiply, subtract
from linnet.formats.fiber import Fiber, Register
from linnet.loops.rewrite import accesses, walk
from linnet.loops.types import dtype_of
from linnet.lower.context import Context, fresh_targets, initialize, name_of, storage_of
from linnet.lower.expressions import lower_expr
from linnet.records import dataclass

LowerStmt = Callable[[Context, loops.Stmt], None]


@dataclass(frozen=True, slots=True)
class Many:
    """An update `times` over, where `by` says what two values amount to."""

    stmt: loops.Assign
    by: Function
    times: imp.Expr
    dtype: str


def lower_repeated(
    ctx: Context,
    body: loops.Stmt,
    index: imp.Var,
    lo: imp.Expr,
    hi: imp.Expr,
    lower_stmt: LowerStmt,
    nonempty: bool = False,
) -> bool:
    """Emit the loop without looping, if the laws of its updates allow that."""
    if any(isinstance(n, loops.Index) and n.name == index.name for n in walk(body)):
        return False
    if carries(body):
        return False
    once = [_times(ctx, s, hi - lo, declared_in(body)) for s in _statements(body)]
    if any(s is None for s in once):
        return False

    def lower() -> None:
        plain = all(isinstance(s, loops.Stmt) for s in once)
        for s in [loops.Block(tuple(once))] if plain else once:  # type: ignore[arg-type]
            if isinstance(s, Many):
                lower_many(ctx, s, lower_stmt)
            elif s is not None:
                lower_stmt(ctx, s)

    block = ctx.collect(lower)
    ctx.b.emit(block if nonempty else imp.If(lo < hi, block, imp.EMPTY))
    return True


def _statements(body: loops.Stmt) -> tuple[loops.Stmt, ...]:
    return body.stmts if isinstance(body, loops.Block) else (body,)


def _times(
    ctx: Context, stmt: loops.Stmt, times: imp.Expr, declared: frozenset[str]
) -> loops.Stmt | Many | None:
    """What does `times` of a statement; what begins anew in each iteration is done once."""
    if begins_anew(stmt, declared):
        return stmt
    return repeat(ctx, stmt, times) or many(ctx, stmt, times)


def declared_in(body: loops.Stmt) -> frozenset[str]:
    """The tensors that begin anew with every iteration, and are not looked at before."""
    found, seen = set[str](), set[str]()
    for node in walk(body):
        if isinstance(node, loops.Declare) and node.tensor not in seen:
            found.add(node.tensor)
        elif isinstance(node, loops.Access):
            seen |= {name_of(node)} - found
    return frozenset(found)


def begins_anew(stmt: loops.Stmt, declared: frozenset[str]) -> bool:
    """Whether a statement is only about tensors that begin anew."""
    if isinstance(stmt, loops.Declare | loops.Freeze | loops.Thaw):
        return stmt.tensor in declared
    written = {name_of(access) for access, is_target in accesses(stmt) if is_target}
    return bool(written) and written <= declared


def is_unordered(ctx: Context, body: loops.Stmt, times: imp.Expr) -> bool:
    """Whether a body, all the same in some iterations, may be done before all the others."""
    declared = declared_in(body)
    held = [s for name in declared if (s := ctx.storages.get(name)) is not None]
    if any(s.buffers and not s.temporary for s in held):
        return False  # a result is what the last iteration has made of it
    for stmt in _statements(body):
        if not begins_anew(stmt, declared):
            op = stmt.op if isinstance(stmt, loops.Assign) else None
            commutes = op is not None and op.commutative and op.associative
            if not commutes or _times(ctx, stmt, times, declared) is None:
                return False
    return True


def carries(body: loops.Stmt) -> bool:
    """Whether an iteration goes on from what the one before has left.

    It reads what is written, or writes one thing in several ways: `s *= x; s += y`.
    """
    fresh = declared_in(body)
    found = [(access, is_target) for access, is_target in accesses(body) if _lasts(access, fresh)]
    written = {name_of(access) for access, is_target in found if is_target}
    if any(name_of(access) in written for access, is_target in found if not is_target):
        return True
    ways: dict[str, list[Function | None]] = {}
    for stmt in walk(body):
        if isinstance(stmt, loops.Assign) and _lasts(stmt.target, fresh):
            op = add if stmt.op is subtract else stmt.op
            ways.setdefault(name_of(stmt.target), []).append(op)
    return any(not _in_any_order(ops) for ops in ways.values())


def _lasts(access: loops.Access, fresh: frozenset[str]) -> bool:
    """Whether a tensor goes on from one iteration to the next."""
    return name_of(access) not in fresh


def _in_any_order(ops: list[Function | None]) -> bool:
    """Whether updates by these functions, one after the other, may be done n times each instead."""
    first = ops[0]
    alike = all(op is first for op in ops)
    return len(ops) == 1 or (alike and (first is None or first.commutative))


def repeat(ctx: Context, stmt: loops.Stmt, times: imp.Expr) -> loops.Stmt | None:
    """One statement that does what `times` of `stmt` do, or None."""
    if isinstance(stmt, loops.Loop):
        return _repeat_loop(ctx, stmt, times)
    if not isinstance(stmt, loops.Assign) or not isinstance(stmt.target.tensor, Fiber | Register):
        return None
    if stmt.target.indices:
        return None
    op, dtype = stmt.op, stmt.target.tensor.storage.format.dtype
    assert dtype is not None
    if op is None or op.repeat == "once" or (op.idempotent and op.associative):
        return stmt
    found = dtype_of(stmt.value, ctx.facts.types)
    if op.repeat in ("times", "power") and dtype == "bool" and found in ("bool", "weak_bool"):
        return stmt  # on booleans, + is or and * is and
    # A complex infinity times n has a part that is not a number.
    if op.repeat == "times" and kind(dtype) in "iuf" and _stays(op, dtype, found):
        n = loops.Value(imp.Cast(times, dtype) if dtype != imp.INT else times)
        weak = found == dtype or found.startswith("weak_")
        value = stmt.value if weak else loops.Call(astype[dtype], (stmt.value,))
        return replace(stmt, value=loops.Call(multiply, (value, n)))
    return None


def _repeat_loop(ctx: Context, loop: loops.Loop, times: imp.Expr) -> loops.Loop | None:
    """A loop of which each iteration does `times` as much, if all of them do the same."""
    if any(isinstance(n, loops.Index) and n.name == loop.index for n in walk(loop.body)):
        return None
    more = [repeat(ctx, s, times) for s in _statements(loop.body)]
    found = tuple([s for s in more if s is not None])
    return replace(loop, body=loops.Block(found)) if len(found) == len(more) else None


def _stays(op: Function, dtype: str, found: str) -> bool:
    """Whether a value is converted to the target's type, and no further, when it is updated."""
    wanted, result = op.types((dtype, found))
    return all(concrete(t) == dtype for t in (*wanted, result))


def many(ctx: Context, stmt: loops.Stmt, times: imp.Expr) -> Many | None:
    """The same, where that takes more than a statement."""
    if not isinstance(stmt, loops.Assign) or not isinstance(stmt.target.tensor, Fiber | Register):
        return None
    op, dtype = stmt.op, stmt.target.tensor.storage.format.dtype
    assert dtype is not None
    if stmt.target.indices or op is None:
        return None
    by = {"times": add, "power": multiply}.get(op.repeat, op if op.associative else None)
    if by is None or not _stays(op, dtype, dtype_of(stmt.value, ctx.facts.types)):
        return None
    return Many(stmt, by, times, dtype) if _stays(by, dtype, dtype) else None


def lower_many(ctx: Context, many: Many, lower_stmt: LowerStmt) -> None:
    """Combine the value with itself, then update once."""
    x = ctx.b.let("x", lower_expr(ctx, many.stmt.value, many.dtype), many.dtype)
    if many.by is multiply and kind(many.dtype) == "f":
        _lower_power(ctx, many, x, lower_stmt)
        return
    all_of_them = _doubled(ctx, many, x)
    lower_stmt(ctx, replace(many.stmt, value=loops.Value(all_of_them)))


def _doubled(ctx: Context, many: Many, x: imp.Var) -> imp.Var:
    """`times` of x by doubling: x is combined with itself, and with the result where a bit is 1."""

    def both(a: imp.Expr, b: imp.Expr) -> imp.Expr:
        return many.by.emit((a, b), many.dtype)

    twice = ctx.b.let("twice", x, many.dtype)
    power = ctx.b.let("power", x, many.dtype)
    left = ctx.b.let("left", many.times - 1)
    odd = imp.eq(imp.binary("&", left, 1), 1)
    step = (
        imp.If(odd, imp.Block((imp.Assign(power, both(power, twice)),)), imp.EMPTY),
        imp.Assign(left, imp.binary(">>", left, 1)),
        imp.If(left > 0, imp.Block((imp.Assign(twice, both(twice, twice)),)), imp.EMPTY),
    )
    ctx.b.emit(imp.While(left > 0, imp.Block(step)))
    return power


def _lower_power(ctx: Context, many: Many, x: imp.Var, lower_stmt: LowerStmt) -> None:
    """`x ** n`, unless that is too large or too small where `s * x * x …` may not be: then a loop.

    What is not finite, and 0, are their own powers.
    """
    stmt, dtype = many.stmt, many.dtype
    found = initialize(ctx, stmt, fresh_targets(stmt))
    assert isinstance(found, loops.Assign)
    power = imp.Call("pow", (x, imp.Cast(many.times, dtype)), dtype)
    p = ctx.b.let("power", power, dtype)
    info, size = np.finfo(dtype), imp.Call("fabs", (p,), dtype)
    normal = (size >= imp.Const(float(info.tiny), dtype)) & (
        size <= imp.Const(float(info.max), dtype)
    )
    large = imp.Call("fabs", (x,), dtype) <= imp.Const(float(info.max), dtype)
    own = imp.eq(x, imp.Const(0.0, dtype)) | ~large
    once = ctx.collect(lambda: lower_stmt(ctx, replace(found, value=loops.Value(p))))
    storage, carried = storage_of(found.target), ctx.carried
    assert storage is not None
    ctx.carried |= {storage.name}  # one after the other, and not in partial products
    again = ctx.collect(lambda: lower_stmt(ctx, replace(found, value=loops.Value(x))))
    ctx.carried = carried
    loop = imp.For(ctx.b.var("t"), imp.ZERO, many.times, again)
    ctx.b.emit(imp.If(normal | own, once, imp.Block((loop,))))
