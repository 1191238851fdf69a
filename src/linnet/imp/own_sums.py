"""Sums over stretches: a loop that goes on adding to a sum gets one of its own, added once.

    for q in a … b:                      for q in a … b:
      for j in lo(q) … hi(q):     ->       t = -0.0
        s += x[j]                          for j in lo(q) … hi(q):
                                             t += x[j]
                                           s += t

The elements of a stretch are added in vectors, whose parts must be brought together at its end.
With a sum for each stretch the next one need not wait for that. A stretch that is gone through part
by part is one all the same: its parts go on with one sum.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements
from linnet.names import Names

_NOTHING = {"+": -0.0, "*": 1.0}  # what changes nothing, not even the sign of a zero


def own_sums(kernel: imp.Kernel) -> imp.Kernel:
    """Give loops inside loops that accumulate floats accumulators of their own."""
    names = fresh_names(kernel)

    def rule(node: imp.Node) -> imp.Node | None:
        if isinstance(node, imp.For | imp.While) and not node.over.counter:
            body = _with_sums(node.body, names)
            return None if body is node.body else replace(node, body=body)
        return None

    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _with_sums(block: imp.Block, names: Names) -> imp.Block:
    """The body of a loop, in which loops go on with sums from outside."""
    inside: set[str] = set()
    stmts: list[imp.Stmt] = []
    for stmt in block.stmts:
        if isinstance(stmt, imp.Let):
            inside.add(stmt.var.name)
        found = _sums(stmt, inside) if isinstance(stmt, imp.For) else {}
        stmts += _apart(stmt, found, names) if found else [stmt]  # type: ignore[arg-type]
    return imp.Block(tuple(stmts)) if len(stmts) > len(block.stmts) else block


def _sums(loop: imp.For, inside: set[str]) -> dict[imp.Var, str]:
    """What a loop that does nothing else accumulates from outside the loop around it."""
    found: dict[imp.Var, str] = {}
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Accumulate(var, op) if op in _NOTHING and var.dtype.startswith("float"):
                if var.name in inside or found.setdefault(var, op) != op:
                    return {}
            case imp.Let() | imp.Comment():
                pass
            case imp.For() if loop.over.counter:
                for var, op in (parts := _sums(stmt, inside)).items():
                    if found.setdefault(var, op) != op:
                        return {}
                if not parts:
                    return {}
            case _:
                return {}
    return found


def _apart(loop: imp.For, sums: dict[imp.Var, str], names: Names) -> list[imp.Stmt]:
    own = {var: imp.Var(names.fresh(f"{var.name}_part"), var.dtype) for var in sums}

    def into(node: imp.Node) -> imp.Node | None:
        return replace(node, var=own[node.var]) if isinstance(node, imp.Accumulate) else None

    before = [imp.Let(own[v], imp.Const(_NOTHING[op], v.dtype)) for v, op in sums.items()]
    after = [imp.Accumulate(v, op, own[v]) for v, op in sums.items()]
    return [*before, replace(loop, body=rewrite_statements(loop.body, into)), *after]
