"""A row that is a multiple of one other goes straight to the result, past the workspace.

    clear w                               if b - a == 1:
    for q in a … b:                         x = val[a]
      x = val[q]                            for p in lo … hi:
      for p in lo … hi:              ->       append idx[p], 0 + x * col[p]
        w[idx[p]] += x * col[p]           else:
    sort what w lists                       as before
    for j in w: append j, w[j]

Nothing meets there, and the coordinates of a fiber ascend, so that nothing has to be sorted either.
In graphs many have but one neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linnet import imp
from linnet.imp.consecutive import Known
from linnet.imp.effects import Effects, Summary, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite, rewrite_statements, substitute
from linnet.imp.scatters import Scatter, ascends, scatter_of
from linnet.names import Names
from linnet.records import dataclass

_ORDER = "order_bits"  # codelets that sort what a workspace lists


def single_rows(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """Append at once what a single row makes of a workspace. Needs: simplified code."""
    if not any(f.name.startswith(_ORDER) for f in kernel.codelets):
        return kernel
    effects, names = effects_of(kernel.codelets), fresh_names(kernel)

    def rule(node: imp.Node) -> imp.Node | None:
        if not isinstance(node, imp.Block):
            return None
        for found in _drained(node):
            elsewhere = effects.of(_without(kernel.body, node, found))
            straight = _straight(found, elsewhere, known, effects, names)
            if straight is not None:
                return _instead(node, found, straight)
        return None

    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Drained:
    """Statements of a block: a workspace is cleared, added to, sorted and written elsewhere."""

    begin: int
    end: int
    count: imp.Var
    adding: imp.For
    rooms: tuple[imp.Grow, ...]
    drain: imp.For


def _drained(block: imp.Block) -> Iterator[_Drained]:
    """Where a block has such statements."""
    for begin in range(len(block.stmts)):
        match block.stmts[begin : begin + 4]:
            case (
                imp.If(_, imp.Block((imp.Do(),)), imp.Block(())),
                imp.Assign(count, imp.Const(0)),
                imp.For() as adding,
                imp.Do(imp.Call(function)),
            ) if function.startswith(_ORDER):
                end = begin + 4
                while end < len(block.stmts) and isinstance(block.stmts[end], imp.Grow):
                    end += 1
                rooms = block.stmts[begin + 4 : end]
                match block.stmts[end : end + 1]:
                    case (imp.For(_, imp.Const(0), stop) as drain,) if stop == count:
                        yield _Drained(begin, end + 1, count, adding, rooms, drain)  # type: ignore[arg-type]


def _without(body: imp.Block, block: imp.Block, found: _Drained) -> imp.Block:
    """All other code: what it uses of the workspace is not there if nothing was added to it."""
    others = imp.Block((*block.stmts[: found.begin], *block.stmts[found.end :]))
    return rewrite_statements(body, lambda node: others if node is block else None)


def _instead(block: imp.Block, found: _Drained, straight: imp.Block) -> imp.Block:
    """The block, in which a single row goes another way."""
    before, after = block.stmts[: found.begin], block.stmts[found.end :]
    ends = imp.widen(found.adding.stop), imp.widen(found.adding.start)
    single = imp.eq(ends[0] - ends[1], imp.ONE)
    as_before = imp.Block(block.stmts[found.begin : found.end])
    return imp.Block((*before, imp.If(single, straight, as_before), *after))


def _straight(
    found: _Drained, elsewhere: Summary, known: Known, effects: Effects, names: Names
) -> imp.Block | None:
    """What a single row appends; None if it may meet itself, or something is not as it seems."""
    *first, inner = found.adding.body.stmts
    scatter = scatter_of(inner) if isinstance(inner, imp.For) else None
    if scatter is None or scatter.count != found.count:
        return None
    if not all(isinstance(s, imp.Let | imp.Prefetch) for s in first) or not ascends(scatter, known):
        return None
    x = imp.Var(names.fresh(f"{scatter.place.name}_sum"), scatter.workspace.dtype)
    appended = [_appended(s, found, scatter, x) for s in found.drain.body.stmts]
    done, own = effects.of(imp.Block(tuple(appended))), effects.of(found.adding)
    mine = {b.name for b in (scatter.workspace, scatter.listed, scatter.flags)}
    if done.loads & mine or {found.count.name, found.drain.var.name} & done.reads:
        return None
    if elsewhere.loads & mine or found.count.name in elsewhere.reads:
        return None
    if done.changes & own.loads or done.assigns & own.reads:
        return None
    row = scatter.loop
    length = imp.widen(row.stop) - imp.widen(row.start)
    rooms = [substitute(g, {found.count.name: length}) for g in found.rooms]
    body = (*scatter.lets, imp.Let(x, replace(scatter.total, a=scatter.first)), *appended)
    begin = imp.Let(found.adding.var, imp.widen(found.adding.start))
    walk_row = _at_once(replace(row, body=imp.Block(body)), names)
    return imp.Block((begin, *first, *rooms, *walk_row))


def _at_once(loop: imp.For, names: Names) -> tuple[imp.Stmt, ...]:
    """The loop, which counts what it appends after it, if there is no more to it."""
    match loop.body.stmts:
        case (*stmts, imp.Assign(count, more)) if more == count + 1:
            shift = imp.Var(names.fresh("shift"))
            body = substitute(imp.Block((*stmts,)), {count.name: shift + loop.var})
            return (
                imp.Let(shift, count - imp.widen(loop.start)),
                replace(loop, body=body),
                imp.Assign(count, shift + imp.widen(loop.stop)),
            )
    return (loop,)


def _appended(stmt: imp.Stmt, found: _Drained, scatter: Scatter, x: imp.Var) -> imp.Stmt:
    """A statement that writes an element of the workspace elsewhere, for one that is at hand."""
    listed = imp.Load(scatter.listed, found.drain.var)
    coordinate = imp.cast(scatter.place, listed.dtype)
    wide = imp.widen(coordinate)
    same = {scatter.place, wide} | {
        s.var
        for s in found.drain.body.stmts
        if isinstance(s, imp.Let) and s.value in (listed, imp.widen(listed))
    }

    def rule(node: imp.Node) -> imp.Node | None:
        if node == listed:
            return coordinate
        if node == wide:
            return scatter.place
        if isinstance(node, imp.Load) and node.buffer == scatter.workspace and node.index in same:
            return x
        return None

    return rewrite(stmt, rule)
