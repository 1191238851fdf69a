"""Entries that lie side by side are added to a workspace as one vector, where all have been before.

    for q in a … b:                    at = a
      j = idx[q]                       while at + 4 <= b:  # if there are many
      if j is new: …            ->       j = idx[at]
      w[j] = w[j] + x * val[q]           if idx[at + 3] is j + 3, and none of the four new:
                                           w[j … j + 4] = w[j … j + 4] + x * val[at … at + 4]
                                           at = at + 4
                                         else: one as before
                                       for q in at … b: as before

In matrices of physics, neighbours meet the same others, so that rows have stretches: then most
entries need neither a flag of their own nor a load and a store. Coordinates of a fiber ascend: if
the fourth is where it would be, so are those between. In short rows, to look for it costs more.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.codelets.bit_sets import has_bits
from linnet.imp.consecutive import Known
from linnet.imp.effects import Effects, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements, statements, substitute, walk
from linnet.imp.scatters import Scatter, ascends, scatter_of
from linnet.names import Names

_FOUR = 4
_LONG = 16  # entries: rows of matrices of physics have more
_HELD = frozenset({"float32", "float64", "int32", "int64"})  # what vectors hold
_PLAIN = imp.Const | imp.Var | imp.Load | imp.Binary | imp.Unary | imp.Cast | imp.Buffer


def in_fours(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """Add four entries at once in loops that mark what they touch. Needs: simplified code."""
    if not any(isinstance(s, imp.For) and scatter_of(s) for s in statements(kernel.body)):
        return kernel
    effects, names = effects_of(kernel.codelets), fresh_names(kernel)

    def rule(node: imp.Node) -> imp.Node | None:
        found = scatter_of(node) if isinstance(node, imp.For) else None
        if found is None or not ascends(found, known) or not _is_free(found, effects):
            return None
        return _fours(found, names)

    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _is_free(found: Scatter, effects: Effects) -> bool:
    """Whether entries can be added in vectors: what they add is read, and nothing else is done."""
    if found.workspace.dtype not in _HELD:
        return False
    values = [found.total.b, *(let.value for let in found.lets)]
    ends = imp.widen(found.loop.start) - imp.widen(found.loop.stop)
    read = [effects.of(e) for e in (*values, ends)]
    mine = {b.name for b in (found.workspace, found.listed, found.flags)}
    plain = all(isinstance(n, _PLAIN) for value in values for n in walk(value))
    return plain and not any(e.loads & mine or found.count.name in e.reads for e in read)


def _fours(found: Scatter, names: Names) -> imp.Block:
    """Four at a time where they lie side by side, and then the rest."""
    loop, name = found.loop, found.loop.var.name
    at, end = (imp.Var(names.fresh(f"{name}_{what}")) for what in ("at", "end"))
    first = imp.Var(names.fresh(found.place.name))
    side_by_side = imp.eq(imp.widen(found.idx[at + (_FOUR - 1)]), first + (_FOUR - 1))
    known = side_by_side & has_bits(found.flags, first, _FOUR)
    four = (*_at_once(found, at, first, names), imp.Assign(at, at + _FOUR))
    one = (*substitute(loop.body, {name: at}).stmts, imp.Assign(at, at + 1))
    step = imp.Let(first, imp.widen(found.idx[at])), imp.If(known, imp.Block(four), imp.Block(one))
    is_long = end - at >= _LONG
    return imp.Block(
        (
            imp.Let(at, imp.widen(loop.start)),
            imp.Let(end, imp.widen(loop.stop)),
            imp.If(is_long, imp.Block((imp.While(at + _FOUR <= end, imp.Block(step)),)), imp.EMPTY),
            replace(loop, start=at, stop=end, over=imp.as_part(loop.over)),
        )
    )


def _at_once(found: Scatter, at: imp.Var, first: imp.Var, names: Names) -> tuple[imp.Stmt, ...]:
    """Add four entries side by side."""
    r = imp.Var(names.fresh("r"))
    here: dict[str, imp.Expr] = {found.loop.var.name: at + r, found.place.name: first + r}
    lets = tuple([substitute(let, here) for let in found.lets if let.var != found.place])
    add = substitute(found.store, here)
    return (imp.For(r, imp.ZERO, imp.Const(_FOUR, imp.INT), imp.Block((*lets, add))),)
