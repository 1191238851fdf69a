"""Statements, one case each; and a whole program, from its tensors to a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from linnet import imp, loops
from linnet.algebra.dtypes import as_python
from linnet.algebra.function import Function
from linnet.formats.fiber import Fiber, Register, Storage
from linnet.imp.build import Builder
from linnet.imp.prove import Facts as Known
from linnet.imp.rewrite import rewrite
from linnet.loops.rewrite import block, children, map_stmts, substitute, walk
from linnet.lower.context import (
    Context,
    Site,
    fresh_targets,
    initialize,
    replace_accesses,
    settle,
)
from linnet.lower.expressions import lower_expr, lower_update, out_of_bounds, status_of
from linnet.lower.loop import lower_loop
from linnet.lower.storage import Bound, equal_modes, make_storages
from linnet.lower.trace import Trace, body_lines
from linnet.lower.visits import count, counters_of
from linnet.names import Names
from linnet.normalize.guards import held, is_guarded
from linnet.normalize.lifecycles import carried_scalars
from linnet.normalize.shape_checks import Check
from linnet.normalize.simplify import MISSING, facts_of, is_missing, same
from linnet.stages import stage, watched


@dataclass(frozen=True, slots=True)
class Lowered:
    """A kernel, and what to say when one of its run-time checks fails."""

    kernel: imp.Kernel
    sites: tuple[Site, ...]


def lower(program: loops.Program, bound: dict[str, Bound], checks: tuple[Check, ...]) -> Lowered:
    """Specialize a normalized program to the formats of its tensors.

    Needs: names unique, dimensions known, accesses concordant, life cycles inserted; `checks` hold
    whenever the kernel is called.
    """
    skipping: dict[str, frozenset[int]] = {}
    while True:
        lowered, found = _lower_knowing(program, bound, checks, skipping)
        if all(levels <= skipping.get(name, frozenset()) for name, levels in found.items()):
            return lowered
        skipping = {
            name: levels | skipping.get(name, frozenset()) for name, levels in found.items()
        }


def _lower_knowing(
    program: loops.Program,
    bound: dict[str, Bound],
    checks: tuple[Check, ...],
    skipping: dict[str, frozenset[int]],
) -> tuple[Lowered, dict[str, frozenset[int]]]:
    """Lower, given which levels of which results are written with gaps; also says which were."""
    b = Builder(Names(_names_in(program)))
    facts = facts_of(program, {name: tensor.dtype for name, tensor in bound.items()})
    storages, dims, arguments = make_storages(b, program, bound, equal_modes(checks))
    for name, levels in skipping.items():
        storages[name] = replace(storages[name], skipping=levels)
    for name, op in _update_functions(program).items():
        if name in storages:
            storages[name] = replace(storages[name], op=op)
    sites = _limits(program, bound, storages)
    sizes = {dim.name for dim in dims.values() if isinstance(dim, imp.Var)}
    counters = counters_of(program, storages)
    ctx = Context(b, storages, facts, dims, sites=sites, known=Known(sizes), counters=counters)
    ctx.carried = carried_scalars(program)
    ctx.known.entered = ctx.indices
    ctx.known.assumed = [
        (lower_expr(ctx, c.a, imp.INT), lower_expr(ctx, c.b, imp.INT))
        for c in checks
        if type(c) is Check and c.relation == "<="
    ]
    ctx.trace = Trace() if watched() else None
    with b.collect() as stmts:
        _introduce_variables(ctx, program, bound)
        lower_stmt(ctx, ctx.simplify(_bind_operands(ctx, program, bound)))
        b.emit(imp.Return(imp.Const(imp.OK, imp.INT)))
    body = imp.Block(tuple(stmts))
    body = _without_lengths(body, {name for name, _ in program.temporaries}, arguments)
    kernel = imp.Kernel(program.name, arguments, body, tuple(b.codelets.values()))
    found = {name: frozenset(s.found) for name, s in ctx.storages.items()}
    if ctx.trace is not None:
        stage("lowering", "\n".join(ctx.trace.lines))
    return Lowered(kernel, tuple(ctx.sites)), found


def _limits(
    program: loops.Program, bound: dict[str, Bound], storages: dict[str, Storage]
) -> list[Site]:
    """What to say where a level cannot hold what is written to it."""
    sites: list[Site] = []
    for name, storage in storages.items():
        for k, level in enumerate(storage.format.levels):
            if (level.limit or level.merges) and bound[name].updated:
                storage.sites[k] = len(sites)
                message = f"a second {level.limit} is written to a fiber of `{name}`"
                sites.append(Site(message, program.at))
    return sites


def _update_functions(program: loops.Program) -> dict[str, Function | None]:
    """The function by which each tensor is updated; a workspace has no other (`normalize`)."""
    assigns = (n for n in walk(program.body) if isinstance(n, loops.Assign))
    return {str(a.target.tensor): a.op for a in assigns}


def _without_lengths(
    body: imp.Block, names: set[str], arguments: tuple[imp.Argument, ...]
) -> imp.Block:
    """Nobody asks how much of a temporary was in use."""
    mine = {buffer for a in arguments if a.name in names for buffer in a.buffers}

    def rule(node: imp.Node) -> imp.Node | None:
        return imp.EMPTY if isinstance(node, imp.SetLength) and node.buffer in mine else None

    return rewrite(body, rule)


def _names_in(program: loops.Program) -> set[str]:
    """Names that the user has taken."""
    taken: set[str] = set()
    for node in walk(program.body):
        match node:
            case loops.Loop(index):
                taken.add(index)
            case loops.Let(name):
                taken.add(name)
    return taken


def _register_storage(name: str, tensor: Bound) -> Storage:
    """What a register has of a tensor: a name, a type, an initial value."""
    fill = tensor.format.fill_value
    assert fill is not None
    return Storage(name, tensor.format, (), imp.Const(fill, tensor.dtype), (), ())


def _introduce_variables(ctx: Context, program: loops.Program, bound: dict[str, Bound]) -> None:
    """Variables that live as long as the kernel."""
    for name, tensor in bound.items():
        storage = ctx.storages.get(name)
        if storage is None:
            init = as_python(tensor.format.fill_value, tensor.dtype)
            ctx.registers[name] = ctx.b.let(name, imp.Const(init, tensor.dtype), tensor.dtype)
        elif tensor.updated:
            for k, level in enumerate(tensor.format.levels):
                for var in level.variables(storage, k):
                    ctx.b.emit(imp.Let(var, imp.Const(0, var.dtype)))


def _bind_operands(ctx: Context, program: loops.Program, bound: dict[str, Bound]) -> loops.Stmt:
    """Accesses to operands become accesses to their root fibers, and scalars registers."""
    declared = {n.tensor for n in walk(program.body) if isinstance(n, loops.Declare)}
    thawed = {n.tensor for n in walk(program.body) if isinstance(n, loops.Thaw)}

    def change(access: loops.Access, update: bool) -> loops.Expr | None:
        name = access.tensor
        if not isinstance(name, str):
            return None
        if name in ctx.registers:
            storage = _register_storage(name, bound[name])
            return replace(access, tensor=Register(storage, ctx.registers[name]))
        if update or name in declared or name in thawed:
            return None
        return at_root(ctx, access, fresh=False)

    body = replace_accesses(program.body, change)
    changing = [n for n in program.params if n in declared or n in thawed]
    stmts = statements(body)
    for name in changing:
        stmts = bind(ctx, stmts, name, update=False, fresh=False)
    return loops.Block(tuple(stmts))


def statements(body: loops.Stmt) -> list[loops.Stmt]:
    """The statements of a block, or the one that stands for it."""
    return list(body.stmts) if isinstance(body, loops.Block) else [body]


def at_root(ctx: Context, access: loops.Access, fresh: bool) -> loops.Access:
    """An access by name as an access to the tensor's root fiber, its indices in storage order."""
    assert isinstance(access.tensor, str)
    storage = ctx.storages[access.tensor]
    order = storage.format.order
    protocols = tuple(access.protocols[m] for m in order) if access.protocols else ()
    root = Fiber(storage, 0, imp.ZERO, fresh=fresh)
    indices = tuple(access.indices[m] for m in order)
    return replace(access, tensor=root, indices=indices, protocols=protocols)


Change = Callable[[loops.Access, bool], loops.Expr | None]


def bind(
    ctx: Context, stmts: list[loops.Stmt], name: str, *, update: bool, fresh: bool
) -> list[loops.Stmt]:
    """Bind the accesses to a tensor, until its mode changes."""

    def change(access: loops.Access, is_target: bool) -> loops.Expr | None:
        if access.tensor == name and is_target == update:
            return at_root(ctx, access, fresh)
        return None

    return _until(stmts, name, change)[0]


def _until(stmts: list[loops.Stmt], name: str, change: Change) -> tuple[list[loops.Stmt], bool]:
    """Replace accesses in statements up to the one that changes the tensor's mode, if one does."""
    done: list[loops.Stmt] = []
    for k, stmt in enumerate(stmts):
        match stmt:
            case loops.Declare(tensor) | loops.Freeze(tensor) | loops.Thaw(tensor) if (
                tensor == name
            ):
                return done + stmts[k:], True
        bound, over = _bind_in(stmt, name, change)
        done.append(bound)
        if over:
            return done + stmts[k + 1 :], True
    return done, False


def _bind_in(stmt: loops.Stmt, name: str, change: Change) -> tuple[loops.Stmt, bool]:
    """One statement; a tensor that is declared again inside is another matter from there on."""
    if not isinstance(stmt, loops.Loop | loops.If | loops.Let):
        return replace_accesses(stmt, change), False
    over = False

    def inside(body: loops.Stmt) -> loops.Stmt:
        nonlocal over
        stmts, ended = _until(statements(body), name, change)
        over = over or (ended and isinstance(stmt, loops.Let))  # a name opens no scope of its own
        return block(stmts)

    own = map_stmts(stmt, lambda body: loops.NOTHING)
    own = replace_accesses(own, change)
    bodies = iter([inside(s) for s in children(stmt) if isinstance(s, loops.Stmt)])
    return map_stmts(own, lambda body: next(bodies)), over


# -- statements ----------------------------------------------------------------------------------


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
        case loops.Break():
            ctx.b.emit(imp.Break())
        case _:
            assert_never(stmt)


def lower_block(ctx: Context, stmts: list[loops.Stmt]) -> None:
    """Statements in order. What follows knows which fibers have been initialized by then."""
    unwritten: set[str] = set()
    while stmts:
        stmt, stmts = stmts[0], stmts[1:]
        if ctx.trace is not None and isinstance(stmt, loops.Declare | loops.Freeze | loops.Thaw):
            ctx.trace.note(type(stmt).__name__, *body_lines(stmt))
        match stmt:
            case loops.Declare(tensor):
                stmts = lower_declare(ctx, stmt, stmts)
                unwritten.add(tensor)
            case loops.Freeze(tensor):
                stmts = lower_freeze(ctx, tensor, stmts, tensor in unwritten)
                unwritten.discard(tensor)
            case loops.Thaw(tensor):
                stmts = lower_thaw(ctx, tensor, stmts)
            case loops.Let():
                stmts = statements(lower_let(ctx, stmt)) + stmts
            case _:
                fresh = fresh_targets(stmt)
                lower_stmt(ctx, stmt)
                unwritten -= {fiber.storage.name for fiber in fresh}
                stmts = [settle(s, fresh) for s in stmts]


def lower_let(ctx: Context, stmt: loops.Let) -> loops.Stmt:
    """Name a value; what follows knows where that is stored, if it was searched for."""
    name, value = stmt.name, stmt.value
    code = lower_expr(ctx, value)
    ctx.facts.types[name] = code.dtype
    ctx.b.emit(imp.Let(imp.Var(name, code.dtype), code))
    ctx.known.define(name, code)
    if not is_guarded(value):
        return stmt.body
    assert isinstance(value, loops.Call)
    stored, _, fill = value.args
    assert isinstance(fill, loops.Literal)
    found = ctx.b.let(f"{name}_found", lower_expr(ctx, stored), imp.BOOL)
    known = held(loops.Value(found), loops.Name(name), fill)
    return ctx.simplify(substitute(stmt.body, {name: known}))


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
    count(ctx, stmt)
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
            if target.fresh and _starts_anew(stmt, storage.init, dtype):
                stmt = replace(stmt, op=None)
            leaf.write(ctx.b, target, lower_update(ctx, old, stmt, dtype))  # type: ignore[attr-defined]
            if leaf.selective:
                return
        case _:
            raise AssertionError(stmt)
    if dirty is not None:
        ctx.b.emit(imp.Assign(dirty, imp.TRUE))


def _starts_anew(stmt: loops.Assign, init: imp.Expr, dtype: str) -> bool:
    """Whether the first update of an element is the value itself: `0 + x`."""
    if stmt.op is None or not isinstance(init, imp.Const):
        return False
    return same(init.value, stmt.op.identity(dtype))
