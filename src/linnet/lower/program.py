"""A whole program, from its tensors to a kernel."""

from __future__ import annotations

from dataclasses import replace

from linnet import imp, loops
from linnet.algebra.dtypes import as_python
from linnet.algebra.function import Function
from linnet.codelets.build import Builder, TooManyCases
from linnet.formats.fiber import Register, Storage
from linnet.formats.format import Format
from linnet.imp.order import Order
from linnet.imp.rewrite import rewrite_statements
from linnet.imp.rewrite import walk as nodes
from linnet.loops.parts import come_again
from linnet.loops.rewrite import names_in, walk
from linnet.lower.binding import at_root, bind, statements
from linnet.lower.context import Context, Site, replace_accesses
from linnet.lower.crowds import too_many_cases
from linnet.lower.expressions import lower_expr
from linnet.lower.ranges import check_bounds
from linnet.lower.statements import lower_stmt
from linnet.lower.storage import Bound, equal_modes, make_storages
from linnet.lower.trace import Trace
from linnet.names import Names
from linnet.normalize.facts import facts_of
from linnet.normalize.lifecycles import carried_scalars
from linnet.normalize.shape_checks import Check
from linnet.normalize.unordered import unordered
from linnet.records import dataclass
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
    below = {name: _skipped(tensor.format) for name, tensor in bound.items() if tensor.updated}
    skipping = {name: levels for name, levels in below.items() if levels}
    while True:
        try:
            lowered, found = _lower_knowing(program, bound, checks, skipping)
        except TooManyCases:
            formats = {name: tensor.format for name, tensor in bound.items()}
            raise too_many_cases(program, formats) from None
        if all(levels <= skipping.get(name, frozenset()) for name, levels in found.items()):
            return lowered
        skipping = {
            name: levels | skipping.get(name, frozenset()) for name, levels in found.items()
        }


def _skipped(format: Format) -> frozenset[int]:
    """Levels that are below one which never visits all of its children."""
    first = next((k for k, level in enumerate(format.levels) if level.skips), len(format.levels))
    return frozenset(k for k, level in enumerate(format.levels) if k > first and level.sequential)


def _lower_knowing(
    program: loops.Program,
    bound: dict[str, Bound],
    checks: tuple[Check, ...],
    skipping: dict[str, frozenset[int]],
) -> tuple[Lowered, dict[str, frozenset[int]]]:
    """Lower, given which levels of which results are written with gaps; also says which were."""
    b = Builder(Names(names_in(program.body)))
    facts = facts_of(program, {name: tensor.dtype for name, tensor in bound.items()})
    equal = equal_modes(checks, bound)
    storages, dims, arguments = make_storages(b, program, bound, equal)
    for name in unordered(program, {n: tensor.format for n, tensor in bound.items()}, equal):
        storages[name] = replace(storages[name], unordered=True)
    for name, levels in skipping.items():
        storages[name] = replace(storages[name], skipping=levels)
    for name, op in _update_functions(program).items():
        if name in storages:
            storages[name] = replace(storages[name], op=op)
    sites = _limits(program, bound, storages)
    sizes = {dim.name for dim in dims.values() if isinstance(dim, imp.Var)}
    ctx = Context(b, storages, facts, dims, sites=sites, known=Order(sizes))
    ctx.carried, ctx.again = carried_scalars(program), come_again(program.body)
    ctx.known.entered = ctx.indices
    for c in checks:
        if type(c) is Check and c.relation == "<=":
            ctx.known.assume(lower_expr(ctx, c.a, imp.INT), lower_expr(ctx, c.b, imp.INT))
    ctx.trace = Trace() if watched() else None
    with b.collect() as stmts:
        _introduce_variables(ctx, program, bound)
        check_bounds(ctx, program.body)
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
    """Nobody asks how much of a temporary was in use; what has no elements need not be swapped."""
    mine = {buffer for a in arguments if a.name in names for buffer in a.buffers}
    touches = (imp.Load, imp.Address, imp.Store, imp.Fill)
    used = {n.buffer.name for n in nodes(body) if isinstance(n, touches)}

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.SetLength(buffer) if buffer in mine:
                return imp.EMPTY
            case imp.Swap(a, b) if not {a.name, b.name} & used:
                return imp.EMPTY
        return None

    return rewrite_statements(body, rule)


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
