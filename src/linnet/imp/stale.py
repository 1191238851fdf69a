"""What loops go through, in words that nobody has any more: a variable that only they named.

A fact about a loop is no use of a variable, so one that is dropped as useless may be named by one.
Then nothing is said, rather than something that has no meaning.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.rewrite import walk


def forget_stale(block: imp.Block, known: frozenset[str]) -> imp.Block:
    """The block, whose loops say what they go through by variables that are `known` there only."""
    stmts: list[imp.Stmt] = []
    for stmt in block.stmts:
        stmts.append(_statement(stmt, known))
        if isinstance(stmt, imp.Let):
            known |= {stmt.var.name}
    same = all(new is old for new, old in zip(stmts, block.stmts, strict=True))
    return block if same else imp.Block(tuple(stmts))


def _statement(stmt: imp.Stmt, known: frozenset[str]) -> imp.Stmt:
    match stmt:
        case imp.For(var, _, _, body, over):
            inner, said = forget_stale(body, known | {var.name}), _known(over, known)
        case imp.While(_, body, over):
            inner, said = forget_stale(body, known), _known(over, known)
        case imp.If(_, then, orelse):
            yes, no = forget_stale(then, known), forget_stale(orelse, known)
            return stmt if yes is then and no is orelse else replace(stmt, then=yes, orelse=no)
        case imp.Block():
            return forget_stale(stmt, known)
        case _:
            return stmt
    return stmt if inner is body and said is over else replace(stmt, body=inner, over=said)


def _known(over: imp.Over, known: frozenset[str]) -> imp.Over:
    """What is said of a loop by names that mean something."""
    spans = tuple(span for span in over.spans if _names(span) <= known)
    return over if len(spans) == len(over.spans) else replace(over, spans=spans)


def _names(span: imp.Span) -> set[str]:
    exprs = [e for e in (span.first, span.last, span.position) if e is not None]
    return {n.name for e in exprs for n in walk(e) if isinstance(n, imp.Var)}
