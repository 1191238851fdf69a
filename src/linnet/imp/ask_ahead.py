"""Rows at positions that are given, asked for before they are needed.

    for q in a … b:                              soon = b - 8
      at = P[q]                                  for q in a … b:
      if at < 0 or at >= n: return                 if q < soon:
      for p in ptr[at] … ptr[at + 1]:    ->          next = P[q + 8]
        … idx[p] …                                   if next >= 0 and next < n:
                                                       prefetch(idx, ptr[next])
                                                   at = P[q] …

Positions lead anywhere, and a processor that has to find a row first, and its entries then, waits
twice for memory. Indices that are stored are in order, and it is ahead of them by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from linnet import imp
from linnet.imp.effects import effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite, rewrite_statements, walk
from linnet.names import Names
from linnet.records import dataclass

_AHEAD = 8  # iterations: a row comes from memory while so many others are read
_LINE = 64  # bytes


def ask_ahead(kernel: imp.Kernel) -> imp.Kernel:
    """Prefetch the rows that loops find through checked positions. Needs: simplified code."""
    effects, names = effects_of(kernel.codelets), fresh_names(kernel)

    def rule(node: imp.Node) -> imp.Node | None:
        found = _followed(node) if isinstance(node, imp.For) else None
        if found is None:
            return None
        rows = _rows(found, effects.of(found.loop.body).changes)
        return _asking(found, rows, names) if rows else None

    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Followed:
    """A loop that loads a position at its index; the code in which that is known to be in range."""

    loop: imp.For
    given: imp.Buffer
    at: str  # the variable that holds the position
    size: imp.Expr
    inside: imp.Block


def _followed(loop: imp.For) -> _Followed | None:
    """The first position that a loop follows after it has been checked."""
    stmts = loop.body.stmts
    for k, (let, check) in enumerate(pairwise(stmts)):
        if isinstance(let, imp.Let) and isinstance(check, imp.If):
            found = _checked(let.var, check, imp.Block(stmts[k + 2 :]))
            match _uncast(let.value):
                case imp.Load(given, imp.Var(name)) if found and name == loop.var.name:
                    return _Followed(loop, given, let.var.name, *found)
        if _is_tested(loop.var.name, let):  # there may be no positions for later iterations
            return None
    return None


def _checked(at: imp.Var, check: imp.If, rest: imp.Block) -> tuple[imp.Expr, imp.Block] | None:
    """`if at < 0 or at >= n: return`, or `if at >= 0 and at < n: …`: n, and what is done then."""
    match check:
        case imp.If(imp.Binary("or", below, above), imp.Block((imp.Return(),)), imp.Block(())):
            signs = ("<", ">=")
        case imp.If(imp.Binary("and", below, above), rest):
            signs = (">=", "<")
        case _:
            return None
    match below, above:
        case imp.Binary(first, low, imp.Const(0)), imp.Binary(second, high, size):
            known = isinstance(size, imp.Var | imp.Const) and low == high == at
            return (size, rest) if known and (first, second) == signs else None
    return None


def _rows(followed: _Followed, changes: frozenset[str]) -> dict[imp.Prefetch, None]:
    """What is read for certain where the row of a position begins, of which it is written here."""
    at = followed.at
    starts: dict[str, imp.Load] = {}  # variables that walk a row, and where it begins
    found: dict[imp.Prefetch, None] = {}
    for node in _certain(followed.inside, at):
        match node:
            case imp.Let(var, value) | imp.For(var, value) if _is_start(value, at, changes):
                starts[var.name] = _uncast(value)  # type: ignore[assignment]
            case imp.Assign(var) | imp.Accumulate(var):
                starts.pop(var.name, None)
            case imp.Load(buffer, imp.Var(name)) if name in starts and buffer.name not in changes:
                found |= dict.fromkeys(_lines(buffer, starts[name]))
            case imp.Call(_, (imp.Address(buffer), imp.Var(name), *_)) if name in starts:
                if buffer.name not in changes:
                    found[imp.Prefetch(buffer, starts[name])] = None
    return found


def _is_start(value: imp.Expr, at: str, changes: frozenset[str]) -> bool:
    """Whether a row of the position begins here: `ptr[at]`."""
    match _uncast(value):
        case imp.Load(pointers, imp.Var(name)):
            return name == at and pointers.name not in changes
    return False


def _lines(buffer: imp.Buffer, start: imp.Load) -> Iterator[imp.Prefetch]:
    """Where a row of some entries lies: two cache lines of values, one of narrower indices."""
    size = np.dtype(buffer.dtype).itemsize
    yield imp.Prefetch(buffer, start)
    if size >= 8:
        yield imp.Prefetch(buffer, imp.widen(start) + _LINE // size)


def _certain(block: imp.Block, at: str) -> Iterator[imp.Node]:
    """Statements that are run if the block is, and what they compute; loops are as if they were.

    No further than to another test of the position: what is behind it may be shorter.
    """
    for stmt in block.stmts:
        match stmt:
            case imp.For(body=body):
                yield stmt
                yield from _certain(body, at)
            case imp.If(cond):
                yield from walk(cond)
            case imp.Assign(_, value) | imp.Accumulate(_, _, value):
                yield from walk(value)
                yield stmt
            case imp.While() | imp.Block():
                pass
            case _:
                yield from walk(stmt)
        if _is_tested(at, stmt):
            return


def _is_tested(name: str, stmt: imp.Stmt) -> bool:
    """Whether there is a test of a variable in a statement."""
    tests = [n.cond for n in walk(stmt) if isinstance(n, imp.If)]
    return any(isinstance(n, imp.Var) and n.name == name for cond in tests for n in walk(cond))


def _uncast(e: imp.Expr) -> imp.Expr:
    return _uncast(e.x) if isinstance(e, imp.Cast) else e


def _asking(followed: _Followed, rows: dict[imp.Prefetch, None], names: Names) -> imp.Stmt:
    """The loop, each of whose iterations asks for the rows of a later one."""
    loop = followed.loop
    soon, following = imp.Var(names.fresh("soon")), imp.Var(names.fresh("following"))
    there = imp.widen(imp.Load(followed.given, loop.var + _AHEAD))

    def moved(node: imp.Node) -> imp.Node | None:
        return following if isinstance(node, imp.Var) and node.name == followed.at else None

    asked = imp.Block(tuple([rewrite(row, moved) for row in rows]))
    inside = imp.binary("and", following >= 0, following < followed.size)
    ahead = imp.Block((imp.Let(following, there), imp.If(inside, asked, imp.EMPTY)))
    body = imp.Block((imp.If(loop.var < soon, ahead, imp.EMPTY), *loop.body.stmts))
    return imp.Block((imp.Let(soon, imp.widen(loop.stop) - _AHEAD), replace(loop, body=body)))
