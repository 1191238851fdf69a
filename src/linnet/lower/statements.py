"""Statements, one case each: what each of them emits, and what those after it know by then."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from linnet import imp, loops
from linnet.formats.fiber import Fiber, Register, Storage
from linnet.lower.binding import bind, statements
from linnet.lower.context import Context, fresh_targets, initialize, settle
from linnet.lower.counted import counting
from linnet.lower.expressions import lower_expr, lower_update, out_of_bounds, status_of
from linnet.lower.loop import lower_loop
from linnet.lower.ranges import parts_at_once
from linnet.lower.stored import find_positions
from linnet.lower.trace import body_lines
from linnet.normalize.simplify import MISSING, is_missing


def lower_stmt(ctx: Context, stmt: loops.Stmt) -> None:
    """Emit the code of a statement that has been simplified."""
    match stmt:
        case loops.Loop():
            lower_loop(ctx, stmt, lower_stmt)
        case loops.Assign():
            lower_assign(ctx, stmt)
        case loops.If():
            lower_if(ctx, stmt)
        case loops.Block(stmts):
            lower_block(ctx, list(stmts))
        case loops.Let() | loops.Declare() | loops.Freeze() | loops.Thaw():
            lower_block(ctx, [stmt])
        case loops.Swap(a, b):
            lower_swap(ctx, a, b)
        case loops.Break():
            ctx.b.emit(imp.Break())
        case _:
            assert_never(stmt)


def lower_block(ctx: Context, stmts: list[loops.Stmt]) -> None:
    """Statements in order. What follows knows which fibers have been initialized by then."""
    with parts_at_once(ctx, stmts):
        _lower_in_order(ctx, stmts)


def _lower_in_order(ctx: Context, stmts: list[loops.Stmt]) -> None:
    unwritten: set[str] = set()
    counted: dict[str, list[imp.Stmt]] = {}
    while stmts:
        stmt, stmts = stmts[0], stmts[1:]
        if ctx.trace is not None and isinstance(stmt, loops.Declare | loops.Freeze | loops.Thaw):
            ctx.trace.note(type(stmt).__name__, *body_lines(stmt))
        match stmt:
            case loops.Declare(tensor):
                find_positions(ctx, stmt, stmts)
                with ctx.b.collect() as begin:
                    stmts = lower_declare(ctx, stmt, stmts)
                if stmt.counts is None:
                    ctx.b.emit(*begin)
                else:
                    counted[tensor] = begin
                unwritten.add(tensor)
            case loops.Freeze(tensor):
                ctx.b.emit(*counted.pop(tensor, ()))
                stmts = lower_freeze(ctx, tensor, stmts, tensor in unwritten)
                unwritten.discard(tensor)
            case loops.Thaw(tensor):
                stmts = lower_thaw(ctx, tensor, stmts)
            case loops.Let():
                stmts = statements(lower_let(ctx, stmt)) + stmts
            case _:
                fresh = fresh_targets(stmt)
                written = {fiber.storage.name for fiber in fresh}
                lower_counted(ctx, stmt, {n: counted.pop(n) for n in written & counted.keys()})
                unwritten -= written
                stmts = [settle(s, fresh) for s in stmts]


def lower_let(ctx: Context, stmt: loops.Let) -> loops.Stmt:
    """Name a value."""
    name, value = stmt.name, stmt.value
    code = lower_expr(ctx, value)
    ctx.facts.name(name, code.dtype)
    ctx.b.emit(imp.Let(imp.Var(name, code.dtype), code))
    ctx.known.define(name, code)
    return stmt.body


def lower_declare(ctx: Context, stmt: loops.Declare, rest: list[loops.Stmt]) -> list[loops.Stmt]:
    """Begin a tensor anew; its storage is initialized later, where it is first visited."""
    name = stmt.tensor
    if name in ctx.registers:
        var = ctx.registers[name]
        ctx.b.emit(imp.Assign(var, lower_expr(ctx, stmt.init, var.dtype)))
        return rest
    assert stmt.dims is not None
    storage = ctx.storages[name]
    dims = tuple(lower_expr(ctx, d, imp.INT) for d in stmt.dims)
    init = lower_expr(ctx, stmt.init, storage.format.dtype)
    counts = ctx.storages[stmt.counts].buffers[-1]["val"] if stmt.counts is not None else None
    storage = replace(storage, dims=dims, init=init, notes={}, counts=counts)
    ctx.storages[name] = storage
    levels = storage.format.levels
    levels[0].reserve(ctx.b, storage, 0, imp.ONE)
    for k, level in enumerate(levels):
        level.declare(ctx.b, storage, k)
    if stmt.room is not None:
        make_room(ctx, storage, lower_expr(ctx, stmt.room, imp.INT))
    return bind(ctx, rest, name, update=True, fresh=True)


def lower_counted(ctx: Context, stmt: loops.Stmt, begun: dict[str, list[imp.Stmt]]) -> None:
    """A statement; tensors that it writes are begun when it is counted how much that is."""
    if not begun:
        lower_stmt(ctx, stmt)
        return
    writing = ctx.collect(lambda: lower_stmt(ctx, stmt))
    for name, begin in begun.items():
        ctx.b.emit(*counting(ctx, ctx.storages[name], writing).stmts, *begin)
    ctx.b.emit(*writing.stmts)


def make_room(ctx: Context, storage: Storage, count: imp.Expr) -> None:
    """Take memory for as many entries of the last level, if that lists them."""
    last = len(storage.format.levels) - 2
    level = storage.format.levels[last]
    if last < 0 or not level.sequential:
        return
    lists = [storage.buffers[last][a.name] for a in level.arrays if a.role == "coordinate"]
    ctx.b.emit(*(imp.Grow(idx, count) for idx in lists))
    storage.below(last).reserve(ctx.b, storage, last + 1, count)


def lower_freeze(
    ctx: Context, name: str, rest: list[loops.Stmt], unwritten: bool
) -> list[loops.Stmt]:
    """Finish a tensor, so that it can be read."""
    if name in ctx.registers:
        return rest
    storage = ctx.storages[name]
    root = storage.format.levels[0]
    if unwritten:
        root.initialize(ctx.b, storage, 0, imp.ZERO, imp.ONE)
    root.freeze(ctx.b, storage, 0, imp.ONE)
    return bind(ctx, rest, name, update=False, fresh=False)


def lower_thaw(ctx: Context, name: str, rest: list[loops.Stmt]) -> list[loops.Stmt]:
    """Let a tensor be updated again, keeping what it holds."""
    if name in ctx.registers:
        return rest
    storage = ctx.storages[name]
    storage.format.levels[0].thaw(ctx.b, storage, 0, imp.ONE)
    return bind(ctx, rest, name, update=True, fresh=False)


def lower_swap(ctx: Context, a: str, b: str) -> None:
    """Let two tensors of one format exchange their memory, and what variables say of it."""
    one, other = ctx.storages[a], ctx.storages[b]
    for k, level in enumerate(one.format.levels):
        for x, y in zip(level.variables(one, k), level.variables(other, k), strict=True):
            before = ctx.b.let("before", x, x.dtype)
            ctx.b.emit(imp.Assign(x, y), imp.Assign(y, before))
        buffers = zip(one.buffers[k].values(), other.buffers[k].values(), strict=True)
        ctx.b.emit(*(imp.Swap(x, y) for x, y in buffers))


def lower_if(ctx: Context, stmt: loops.If) -> None:
    """A condition that could not be decided while compiling."""
    whole = initialize(ctx, stmt, fresh_targets(stmt))
    assert isinstance(whole, loops.If)
    cond = lower_expr(ctx, whole.cond, imp.BOOL)
    then = ctx.collect(lambda: lower_stmt(ctx, whole.then))
    orelse = ctx.collect(lambda: lower_stmt(ctx, whole.orelse))
    ctx.b.emit(imp.If(cond, then, orelse))


_ACCUMULATED = {"add": "+", "multiply": "*", "minimum": "min", "maximum": "max"}


def lower_assign(ctx: Context, stmt: loops.Assign) -> None:
    """Write one value: to a register, or to memory."""
    target = stmt.target.tensor
    if ctx.trace is not None:
        ctx.trace.note("Write", *body_lines(stmt))
    match target:
        case Register(storage, imp.Var(name)) if name.startswith(MISSING):
            ctx.b.emit(imp.Return(out_of_bounds(int(name.removeprefix(MISSING)))))
            return
        case Register(storage, _, dirty) if is_missing(stmt.value) and storage.name in ctx.refused:
            ctx.b.emit(imp.Assign(ctx.refused[storage.name], status_of(stmt.value)))
        case Register(storage, var, dirty):
            op = _ACCUMULATED.get(stmt.op.name) if stmt.op is not None else None
            value = lower_expr(ctx, stmt.value)
            reorders = var.dtype != imp.BOOL and storage.name not in ctx.carried
            if op is not None and value.dtype == var.dtype and reorders:
                ctx.b.emit(imp.Accumulate(var, op, value))
            else:
                ctx.b.emit(imp.Assign(var, lower_update(ctx, var, stmt, var.dtype)))
        case Fiber(storage, dirty=dirty):
            leaf, dtype = target.kind, storage.format.dtype
            assert dtype is not None
            old = storage.init if target.fresh else leaf.read(target)  # type: ignore[attr-defined]
            value = lower_update(ctx, old, stmt, dtype, stored=True)
            leaf.write(ctx.b, target, value)  # type: ignore[attr-defined]
            if leaf.selective:
                return
        case _:
            raise AssertionError(stmt)
    if dirty is not None:
        ctx.b.emit(imp.Assign(dirty, imp.TRUE))
