"""Loops along tiles: those that lie within the matrix have a length that is known.

    for j in a … min(a + 4, n): …     ->     if a + 4 <= n:
                                               for j in a … a + 4: …
                                             else:
                                               for j in a … min(a + 4, n): …

A short loop of a known length is written out by the back end, and is no loop any more.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import effects_of
from linnet.imp.fold import fold
from linnet.imp.rewrite import rebuild, substitute, walk

_SHORT = 4  # iterations: longer loops are better walked in vectors

Lets = dict[str, imp.Expr]


def whole_tiles(kernel: imp.Kernel) -> imp.Kernel:
    """Give loops that mostly have one short length a version for it.

    Needs: simplified code.
    """
    body = _block(kernel.body, {}, _changing(kernel))
    return kernel if body is kernel.body else replace(kernel, body=body)


def _changing(kernel: imp.Kernel) -> frozenset[str]:
    """Variables that get other values, and buffers that do: what is made of them is not kept."""
    assigned = {n.var.name for n in walk(kernel.body) if isinstance(n, imp.Assign | imp.Accumulate)}
    return effects_of(kernel.codelets).of(kernel.body).changes | assigned


def _block(block: imp.Block, lets: Lets, changing: frozenset[str]) -> imp.Block:
    stmts, lets = [], dict(lets)
    for stmt in block.stmts:
        if isinstance(stmt, imp.Let) and stmt.var.name not in changing:
            value = substitute(stmt.value, lets)
            if not any(_name(n) in changing for n in walk(value)):
                lets[stmt.var.name] = value
        stmts.append(_statement(stmt, lets, changing))
    same = all(new is old for new, old in zip(stmts, block.stmts, strict=True))
    return block if same else imp.Block(tuple(stmts))


def _name(node: imp.Node) -> str:
    """The variable or the buffer that a part of a value reads."""
    match node:
        case imp.Var(name):
            return name
        case imp.Load(buffer) | imp.Address(buffer):
            return buffer.name
    return ""


def _statement(stmt: imp.Stmt, lets: Lets, changing: frozenset[str]) -> imp.Stmt:
    if isinstance(stmt, imp.For) and (found := _known_length(stmt, lets)):
        inside, length = found
        known = replace(stmt, stop=stmt.start + length, over=imp.as_part(stmt.over))
        return imp.If(inside, imp.Block((known,)), imp.Block((stmt,)))
    if isinstance(stmt, imp.Block):
        return _block(stmt, lets, changing)
    return rebuild(stmt, lambda n: _block(n, lets, changing) if isinstance(n, imp.Block) else n)


def _known_length(loop: imp.For, lets: Lets) -> tuple[imp.Expr, int] | None:
    """When a loop has the length that it mostly has, and that length."""
    simple = imp.Let | imp.Accumulate | imp.Store | imp.Comment
    start, stop = (fold(substitute(e, lets)) for e in (loop.start, loop.stop))
    if not isinstance(stop, imp.Binary) or stop.op != "min":
        return None
    if not all(isinstance(stmt, simple) for stmt in loop.body.stmts):
        return None
    for end, limit in ((stop.a, stop.b), (stop.b, stop.a)):
        match end:
            case imp.Binary("+", a, imp.Const(int(length))) if a == start and length <= _SHORT:
                return end <= limit, length
    return None
