"""Reductions of long arrays read them at four places at once.

    for q in a … b:           part = (b - a) >> 2, if that is long
      s += x[q]         ->    for q in a … a + part:
                                s += x[q]; t += x[q + part]; u += x[q + 2 part]; …
                              for q in a + 4 part … b: s += x[q]
                              s += t; s += u; …

A processor asks memory ahead for each array that is walked, and for one alone not far enough: four
walks of a quarter each take two thirds of the time. Only the outermost loops of a kernel are long
enough, and those of them that do nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

from linnet import imp
from linnet.imp.fresh import fresh_names
from linnet.imp.replace_loops import at_another
from linnet.imp.rewrite import walk
from linnet.names import Names

_PLACES = 4
_LONG = 1 << 14  # elements: fewer are in a cache that is near
_NOTHING = {"+": -0.0, "*": 1.0, "max": -inf, "min": inf}  # what changes nothing


def several_places(kernel: imp.Kernel, gathers: Callable[[imp.For], bool]) -> imp.Kernel:
    """Let loops that only reduce neighbours to floats begin at several places.

    `gathers` says whether a loop reads something else than neighbours.
    """
    names = fresh_names(kernel)

    def block(outer: imp.Block) -> imp.Block:
        stmts: list[imp.Stmt] = []
        for stmt in outer.stmts:
            if isinstance(stmt, imp.For) and stmt.over.counter:
                stmts.append(replace(stmt, body=block(stmt.body)))
            elif isinstance(stmt, imp.For) and _reduces(stmt) and not gathers(stmt):
                stmts += _split(stmt, names)
            else:
                stmts.append(stmt)
        return imp.Block(tuple(stmts))

    body = block(kernel.body)
    return kernel if body == kernel.body else replace(kernel, body=body)


def _reduces(loop: imp.For) -> bool:
    """Whether a loop reads arrays, and accumulates floats that it does not look at."""
    found: set[str] = set()
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Accumulate(var, op) if op in _NOTHING and var.dtype.startswith("float"):
                if var.name in found:
                    return False
                found.add(var.name)
            case imp.Let() | imp.Comment():
                pass
            case _:
                return False
    values = [s.value for s in loop.body.stmts if isinstance(s, imp.Let | imp.Accumulate)]
    nodes = [node for value in values for node in walk(value)]
    looked_at = {node.name for node in nodes if isinstance(node, imp.Var)} & found
    return bool(found) and not looked_at and any(isinstance(node, imp.Load) for node in nodes)


def _split(loop: imp.For, names: Names) -> list[imp.Stmt]:
    """The loop at several places, then what is left of it, and the results together."""
    first, count, part = (
        imp.Var(names.fresh(f"{loop.var.name}_{what}")) for what in ("first", "count", "part")
    )
    sums = [s for s in loop.body.stmts if isinstance(s, imp.Accumulate)]
    body, before, after = list(loop.body.stmts), list[imp.Stmt](), list[imp.Stmt]()
    for k in range(1, _PLACES):
        own = {s.var: imp.Var(names.fresh(f"{s.var.name}_part"), s.var.dtype) for s in sums}
        body += at_another(loop, loop.var + part * k, own, names)
        before += [imp.Let(own[s.var], imp.Const(_NOTHING[s.op], s.var.dtype)) for s in sums]
        after += [imp.Accumulate(s.var, s.op, own[s.var]) for s in sums]
    quarter = imp.binary(">>", count, imp.Const(_PLACES.bit_length() - 1, imp.INT))
    rest = imp.Var(names.fresh(loop.var.name))
    left = at_another(loop, rest, {s.var: s.var for s in sums}, names)
    return [
        imp.Let(first, imp.widen(loop.start)),
        imp.Let(count, imp.maximum(imp.widen(loop.stop), first) - first),
        imp.Let(part, imp.Select(count < _LONG, imp.ZERO, quarter)),
        *before,
        replace(
            loop,
            start=first,
            stop=first + part,
            over=imp.as_part(loop.over),
            body=imp.Block(tuple(body)),
        ),
        imp.For(rest, first + part * _PLACES, first + count, imp.Block(tuple(left))),
        *after,
    ]
