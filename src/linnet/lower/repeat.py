"""Loops whose body does not depend on the index: `n` updates become one, or a few.

A sum is a product, `s + n * x`; a maximum is taken once. Products, and sums that are not one
multiplication, take more than a statement (`lower.many`). Loops in the body are run once, for all
iterations: of equal rows, one is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linnet import imp, loops
from linnet.algebra.derive import is_lawful
from linnet.algebra.dtypes import kind
from linnet.algebra.function import Function
from linnet.algebra.table import add, astype, multiply, subtract
from linnet.formats.fiber import Fiber, Register
from linnet.loops.rewrite import accesses, walk
from linnet.loops.types import dtype_of
from linnet.lower.context import Context, name_of
from linnet.lower.many import LowerStmt, Many, combining, lower_many, many, stays


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
    found = repeat(ctx, stmt, times, declared) or many(ctx, stmt, times)
    return found or _inward(ctx, stmt, times, declared)


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


def repeat(
    ctx: Context, stmt: loops.Stmt, times: imp.Expr, declared: frozenset[str] = frozenset()
) -> loops.Stmt | None:
    """One statement that does what `times` of `stmt` do, or None."""
    return _each(stmt, declared, lambda update: _repeat_update(ctx, update, times))


def _each(
    stmt: loops.Stmt, declared: frozenset[str], change: Callable[[loops.Assign], loops.Stmt | None]
) -> loops.Stmt | None:
    """A statement in which every update is changed, and what begins anew is as it was.

    None if one of them cannot be, or if there is something else that lasts.
    """

    def inside(stmt: loops.Stmt) -> loops.Stmt | None:
        return _each(stmt, declared, change)

    if begins_anew(stmt, declared) or isinstance(stmt, loops.Break):
        return stmt
    match stmt:
        case loops.Assign():
            return change(stmt)
        case loops.Loop(_, _, body) | loops.Let(_, _, body):
            more = inside(body)
            return None if more is None else replace(stmt, body=more)
        case loops.If(_, then, orelse):
            yes, no = inside(then), inside(orelse)
            return None if yes is None or no is None else replace(stmt, then=yes, orelse=no)
        case loops.Block(stmts):
            found = [s for one in stmts if (s := inside(one)) is not None]
            return loops.Block(tuple(found)) if len(found) == len(stmts) else None
    return None


def _repeat_update(ctx: Context, stmt: loops.Assign, times: imp.Expr) -> loops.Assign | None:
    """An update that does what `times` of it do."""
    if not isinstance(stmt.target.tensor, Fiber | Register):
        return None
    op, dtype = stmt.op, stmt.target.tensor.storage.format.dtype
    assert dtype is not None
    if op is None:
        return stmt
    found = dtype_of(stmt.value, ctx.facts.types)
    once = op.repeat == "once" or (op.idempotent and op.associative)
    if once and is_lawful(op, dtype, found):
        return stmt
    if op.repeat in ("times", "power") and dtype == "bool" and found in ("bool", "weak_bool"):
        return stmt  # on booleans, + is or and * is and
    # A complex infinity times n has a part that is not a number.
    if op.repeat == "times" and kind(dtype) in "iuf" and stays(op, dtype, found):
        n = loops.Value(imp.Cast(times, dtype) if dtype != imp.INT else times)
        weak = found == dtype or found.startswith("weak_")
        value = stmt.value if weak else loops.Call(astype[dtype], (stmt.value,))
        return replace(stmt, value=loops.Call(multiply, (value, n)))
    return None


def _inward(
    ctx: Context, stmt: loops.Stmt, times: imp.Expr, declared: frozenset[str]
) -> loops.Stmt | None:
    """`for i: for j: s *= x[j]` as `for j: for i: s *= x[j]`, and that by what x is in a run."""

    def change(update: loops.Assign) -> loops.Stmt | None:
        once, op = _repeat_update(ctx, update, times), update.op
        if once is not None or op is None or combining(ctx, update) is None:
            return once
        if not op.commutative and op.repeat != "power":
            return None
        all_of_them = loops.Extent(loops.Literal(0), loops.Value(times))
        return loops.Loop(ctx.b.names.fresh("n"), all_of_them, update)

    return _each(stmt, declared, change)
