"""Joins loops over fibers that lie one behind the other: a matrix is summed as one array.

for i in 0 … n:                          for q in ptr[0] … ptr[n]:
  for q in ptr[i] … ptr[i + 1]:    ->      body
    body                                   (which does not speak of i)

Coordinates that are stored side by side (`SparseCOO`) go from one group of equal ones to the next:

q = begin
while q < end:
  stop = run_end(idx, q, end)            for q2 in begin … end:
  for q2 in q … stop: body         ->      body
  q = stop
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.consecutive import RUN_ENDS, Known, at
from linnet.imp.effects import Effects, breaks, effects_of
from linnet.imp.prescribed import may_go_on
from linnet.imp.rewrite import rewrite_statements


def fuse_ranges(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """One loop in place of two, where the inner ranges follow one another.

    Needs: simplified code. The order of all iterations stays the same.
    """
    effects = effects_of(kernel.codelets)

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.For(var, lo, hi, imp.Block((imp.For() as inner,))):
                fused = known.runs(node) and known.follow(inner.start, inner.stop, var)
                if fused and _same_in_all(inner, var, effects):
                    start, stop = at(inner.start, var, lo), at(inner.start, var, hi)
                    over = over_all(inner.over, var, lo, hi)
                    return replace(inner, start=start, stop=stop, over=over)
            case imp.Block(stmts) if any(isinstance(s, imp.While) for s in stmts):
                return _without_groups(node, effects)
        return None

    # the innermost first, so that whole trees collapse
    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


def over_all(over: imp.Over, var: imp.Var, lo: imp.Expr, hi: imp.Expr) -> imp.Over:
    """What is gone through for one value of a variable after the other, from lo to hi."""
    spans = tuple(
        replace(s, first=at(s.first, var, lo), last=at(s.last, var, hi - 1)) for s in over.spans
    )
    return replace(over, spans=spans)


def _without_groups(block: imp.Block, effects: Effects) -> imp.Block | None:
    """The block with one loop for each walk through groups, if there is such a walk."""
    stmts: list[imp.Stmt] = []
    for k, stmt in enumerate(block.stmts):
        if isinstance(stmt, imp.While) and stmts and isinstance(stmts[-1], imp.Let):
            q, fused = stmts[-1].var.name, _one_walk(stmts[-1], stmt, effects)
            if fused and not any(q in effects.of(s).reads for s in block.stmts[k + 1 :]):
                stmts[-1] = fused
                continue
        stmts.append(stmt)
    return imp.Block(tuple(stmts)) if len(stmts) < len(block.stmts) else None


def _one_walk(first: imp.Let, walk: imp.While, effects: Effects) -> imp.For | None:
    """A loop over all that the walk comes to, which begins where `first` says."""
    q, begin = first.var, first.value
    match walk:
        case imp.While(
            imp.Binary("<", at_q, end),
            imp.Block(
                (
                    imp.Let(stop, imp.Call(function, (imp.Address(), start, last))),
                    imp.For() as inner,
                    imp.Assign(moved, to),
                )
            ),
        ) if function in RUN_ENDS and at_q == start == inner.start == moved == q:
            body, bound = effects.of(inner.body), effects.of(end)
            alike = (
                last == end
                and to == inner.stop == stop
                and body.reads.isdisjoint((q.name, stop.name))
                and body.assigns.isdisjoint((q.name, *bound.reads))
                and body.changes.isdisjoint(bound.loads)
                and not breaks(inner.body)
                and may_go_on(inner)
            )
            if not alike:
                return None
            spans = tuple(replace(span, position=None) for span in walk.over.spans)
            over = imp.Over(inner.over.text, spans)
            return replace(inner, start=begin, stop=end, over=over)
    return None


def _same_in_all(inner: imp.For, var: imp.Var, effects: Effects) -> bool:
    """Whether the body does the same in each range, and leaves the bounds alone."""
    body, bound = effects.of(inner.body), effects.of(inner.start)
    return (
        var.name not in body.reads
        and body.assigns.isdisjoint(bound.reads)
        and body.changes.isdisjoint(bound.loads)
        and not breaks(inner.body)
        and may_go_on(inner)
    )
