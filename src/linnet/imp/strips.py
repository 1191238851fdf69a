"""Loops that may end early, looked at now and then: a test of every value would cost more.

    for q in a … b:           for strip in 0 … ((max(a, b) - a - 1) >> 10) + 1:
      s &= x[q]         ->      at = a + (strip << 10)
                                for q in at … at + min(b - at, 1024): s &= x[q]
                                if s == 0: break

Once an accumulator is annihilated nothing changes it, of integers and truth values without
exception. Where nobody asks, only the outermost loop of a kernel ends early: within, as over the
entries of a row, there is little to save. Around inner loops there is a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce

import numpy as np

from linnet import imp
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements, walk
from linnet.names import Names

_BITS = 10
_EAGER = {"or": "|", "and": "&"}  # which compute both sides, and so in vectors
LEAVE = imp.Block((imp.Break(),))


def strips(kernel: imp.Kernel) -> imp.Kernel:
    """Let loops that only accumulate end early, and ask less often whether they may."""
    names = fresh_names(kernel)
    body = rewrite_statements(kernel.body, lambda node: _asked(node, names))
    body = imp.Block(tuple([_outermost(s, names) for s in body.stmts]))
    return kernel if body == kernel.body else replace(kernel, body=body)


def _outermost(stmt: imp.Stmt, names: Names) -> imp.Stmt:
    """A loop that nobody asked to end early, if it does nothing but accumulate.

    One that goes from part to part ends where lowering says; those over parts are like outermost.
    """
    if not isinstance(stmt, imp.For):
        return stmt
    if stmt.over.counter:
        short = {*_short(stmt.body)}
        parts = [s if s in short else _outermost(s, names) for s in stmt.body.stmts]
        return replace(stmt, body=imp.Block(tuple(parts)))
    cond = settled(stmt)
    if cond is None:
        return stmt
    leave = imp.If(cond, LEAVE, imp.EMPTY)
    if _has_loop(stmt):
        return replace(stmt, body=imp.Block((*stmt.body.stmts, leave)))
    return _in_strips(stmt, leave, names)


def _short(block: imp.Block) -> Iterator[imp.Stmt]:
    """Loops over parts that are known to be no longer than a strip, without loops in them."""
    known = {s.var: s.value for s in block.stmts if isinstance(s, imp.Let)}
    for stmt in block.stmts:
        if isinstance(stmt, imp.For) and not _has_loop(stmt):
            match known.get(stmt.stop) if isinstance(stmt.stop, imp.Var) else stmt.stop:
                case imp.Binary("+", start, imp.Const(n) | imp.Binary("min", imp.Const(n))):
                    if start == stmt.start and isinstance(n, int) and n <= 1 << _BITS:
                        yield stmt


def _asked(node: imp.Node, names: Names) -> imp.Node | None:
    """A loop over a dimension that tests every value."""
    match node:
        case imp.For(_, imp.Const(), _, imp.Block((*stmts, imp.If(cond, then, orelse) as leave))):
            rest = replace(node, body=imp.Block(tuple(stmts)))
            tests = then == LEAVE and orelse == imp.EMPTY and not _has_loop(rest)
            fits = tests and settled(rest) == cond
            return _in_strips(rest, leave, names) if fits else None
        case _:
            return None


def _has_loop(loop: imp.For) -> bool:
    return any(isinstance(s, imp.For) for s in loop.body.stmts)


def _in_strips(loop: imp.For, leave: imp.Stmt, names: Names) -> imp.Stmt:
    eager = replace(loop, body=at_once(loop.body))
    return in_strips(eager, lambda strip: (strip, leave), names, _BITS)


def in_strips(
    loop: imp.For, make: Callable[[imp.For], tuple[imp.Stmt, ...]], names: Names, bits: int
) -> imp.For:
    """A loop over strips of a loop, of 2 ** bits iterations each: what `make` makes of each."""
    strip = imp.Var(names.fresh("strip"), imp.INT)
    first, last = (imp.Var(names.fresh(f"{loop.var.name}_{w}"), imp.INT) for w in ("from", "to"))
    lo, hi, shift = imp.widen(loop.start), imp.widen(loop.stop), imp.Const(bits, imp.INT)
    # nothing goes beyond `hi`, the last number, nor below `lo`, from where it may be the least
    count = imp.binary(">>", imp.maximum(hi, lo) - lo - 1, shift) + 1
    begin = imp.Let(first, lo + imp.binary("<<", strip, shift))
    length = imp.minimum(hi - first, imp.Const(1 << bits, imp.INT))
    end = imp.Let(last, first + length)
    over = loop.over if loop.over.spans else imp.Over(spans=(imp.Span("", -1, lo, hi),))
    inner = make(replace(loop, start=first, stop=last, over=imp.as_part(over)))
    return imp.For(strip, imp.ZERO, count, imp.Block((begin, end, *inner)))


def at_once(body: imp.Block) -> imp.Block:
    """The body of a loop without the branches of its updates."""
    return imp.Block(tuple([_eager(s) for s in body.stmts]))


def _eager(stmt: imp.Stmt) -> imp.Stmt:
    match stmt:
        case imp.Assign(var, imp.Binary(("or" | "and") as op, a, b, dtype)):
            return imp.Assign(var, imp.Binary(_EAGER[op], a, b, dtype))
        case _:
            return stmt


# -- what is settled -------------------------------------------------------------------------------


def settled(loop: imp.For) -> imp.Expr | None:
    """That nothing which a loop accumulates can change; None if it does anything else."""
    finals: dict[imp.Var, bool | int] = {}
    read: set[str] = set()
    for stmt in _statements(loop.body):
        match stmt:
            case imp.Let() | imp.For():
                read |= _names(stmt)
            case imp.Comment():
                pass
            case imp.Accumulate(var, op, value) | imp.Assign(var, imp.Binary(op, _, value, _)):
                final = _final(op, var.dtype) if _is_update(stmt) else None
                if final is None or finals.setdefault(var, final) != final:
                    return None
                read |= _names(value)
            case _:
                return None
    if not finals or any(var.name in read for var in finals):
        return None
    tests = [_is(var, final) for var, final in finals.items()]
    return reduce(imp.Operators.__and__, tests)


def _statements(block: imp.Block) -> Iterator[imp.Stmt]:
    """The statements of a loop and of the loops in it, one by one."""
    for stmt in block.stmts:
        yield stmt
        if isinstance(stmt, imp.For):
            yield from _statements(stmt.body)


def _names(node: imp.Stmt | imp.Expr) -> set[str]:
    """The variables that are read; of a loop, by its bounds."""
    match node:
        case imp.For(_, start, stop):
            return _names(start) | _names(stop)
        case _:
            return {n.name for n in walk(node) if isinstance(n, imp.Var)}


def _is_update(stmt: imp.Stmt) -> bool:
    """Whether a statement is `var = var op value`."""
    match stmt:
        case imp.Accumulate():
            return True
        case imp.Assign(var, imp.Binary(_, imp.Var() as same, _, _)):
            return same == var
        case _:
            return False


def _final(op: str, dtype: str) -> bool | int | None:
    """The value that an operator leaves as it is, whatever comes."""
    if dtype[0] not in "biu":
        return None
    if dtype == imp.BOOL:
        return {"or": True, "and": False}.get(op)
    limits = np.iinfo(dtype)
    least, greatest = int(limits.min), int(limits.max)
    ones = greatest if dtype[0] == "u" else -1
    return {"*": 0, "&": 0, "|": ones, "min": least, "max": greatest}.get(op)


def _is(var: imp.Var, final: bool | int) -> imp.Expr:
    if var.dtype != imp.BOOL:
        return imp.eq(var, imp.Const(final, var.dtype))
    return var if final else imp.Unary("not", var, imp.BOOL)
