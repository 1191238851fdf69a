"""Joins loops over fibers that lie one behind the other: a matrix is summed as one array.

for i in 0 … n:                          for q in ptr[0] … ptr[n]:
  for q in ptr[i] … ptr[i + 1]:    ->      body
    body                                   (which does not speak of i)
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.consecutive import Known, at
from linnet.imp.effects import Effects, breaks, effects_of
from linnet.imp.rewrite import rewrite


def fuse_ranges(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """One loop in place of two, where the inner ranges follow one another.

    Needs: simplified code. The order of all iterations stays the same.
    """
    effects = effects_of(kernel.codelets)

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.For(var, lo, hi, imp.Block((imp.For() as inner,))):
                fused = known.ordered(lo, hi) and known.follow(inner.start, inner.stop, var)
                if fused and _same_in_all(inner, var, effects):
                    start, stop = at(inner.start, var, lo), at(inner.start, var, hi)
                    return imp.For(inner.var, start, stop, inner.body, inner.note)
        return None

    body = rewrite(kernel.body, rule)  # the innermost first, so that whole trees collapse
    return kernel if body is kernel.body else replace(kernel, body=body)


def _same_in_all(inner: imp.For, var: imp.Var, effects: Effects) -> bool:
    """Whether the body does the same in each range, and leaves the bounds alone."""
    body, bound = effects.of(inner.body), effects.of(inner.start)
    return (
        var.name not in body.reads
        and body.assigns.isdisjoint(bound.reads)
        and body.changes.isdisjoint(bound.loads)
        and not breaks(inner.body)
    )
