"""Plain loops that may end early, looked at now and then: a test of every value would cost more.

    for q in a … b:           for strip in 0 … ((max(a, b) - a - 1) >> 10) + 1:
      s &= x[q]         ->      at = a + (strip << 10)
                                for q in at … at + min(b - at, 1024): s &= x[q]
                                if s == 0: break

Once an accumulator is annihilated nothing changes it (`lower.shortcircuit`). Where nobody asks,
only the outermost loop of a kernel ends early: within, as over the entries of a row, there is
little to save. Around inner loops there is a test for each turn.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp, loops
from linnet.lower.context import Context
from linnet.lower.shortcircuit import LEAVE, pays, settled

_BITS = 10  # of the turns in a strip, beside which a test takes no time
_EAGER = {"or": "|", "and": "&"}  # which compute both sides, and so in vectors
_SIMPLE = (imp.Let, imp.Assign, imp.Accumulate, imp.Comment)


def in_strips(ctx: Context, body: loops.Stmt, index: str, stmt: imp.Stmt) -> imp.Stmt:
    """A loop over an index that was made of `body`, with tests whether it is to go on."""
    match stmt:
        case imp.If(cond, imp.Block((imp.For() as loop,)), imp.Block(())):
            inner = in_strips(ctx, body, index, loop)
            return stmt if inner is loop else imp.If(cond, imp.Block((inner,)), imp.EMPTY)
        case imp.For():
            found = settled(ctx, body) if stmt.how.is_plain else None
            if found is not None:
                leave = imp.If(found.cond, LEAVE, imp.EMPTY)
                return _tested(ctx, index, stmt, leave)
    return stmt


def _tested(ctx: Context, index: str, loop: imp.For, leave: imp.If) -> imp.Stmt:
    """The loop with a test: of each turn with loops in it, or of each strip."""
    *stmts, last = loop.body.stmts
    if last == leave and pays(imp.Block(tuple(stmts))):
        return loop  # each turn takes longer than its test
    if isinstance(loop.start, imp.Const) and last == leave and _is_simple(stmts):
        return _strips(ctx, replace(loop, body=imp.Block(tuple(stmts))), leave)  # it was asked for
    counting = ctx.counting.get(index)
    counters = set() if counting is None else counting.counters
    around = sum(ctx.running[:-1]) - len(counters.intersection(ctx.indices))
    short = counting is not None and counting.longest <= 1 << _BITS  # the next counter has the test
    if around:
        return loop
    if _is_simple(loop.body.stmts):
        return loop if short else _strips(ctx, loop, leave)
    plain = _is_simple([s for s in loop.body.stmts if not _has_simple_body(s)])
    return replace(loop, body=imp.Block((*loop.body.stmts, leave))) if plain else loop


def _is_simple(stmts: list[imp.Stmt] | tuple[imp.Stmt, ...]) -> bool:
    return all(isinstance(s, _SIMPLE) for s in stmts)


def _has_simple_body(stmt: imp.Stmt) -> bool:
    """Whether a statement is a loop in which there is nothing but sums, and loops with such."""
    return isinstance(stmt, imp.For) and all(
        isinstance(s, _SIMPLE) or _has_simple_body(s) for s in stmt.body.stmts
    )


def _strips(ctx: Context, loop: imp.For, leave: imp.Stmt) -> imp.For:
    """A loop over strips of the loop."""
    strip = ctx.b.var("strip")
    first, last = (ctx.b.var(f"{loop.var.name}_{word}") for word in ("from", "to"))
    lo, hi = imp.widen(loop.start), imp.widen(loop.stop)
    # nothing goes beyond `hi`, the last number, nor below `lo`, from where it may be the least
    farthest = hi if loop.over.ordered else imp.maximum(hi, lo)
    count = imp.binary(">>", farthest - lo - 1, imp.Const(_BITS, imp.INT)) + 1
    begin = imp.Let(first, lo + imp.binary("<<", strip, imp.Const(_BITS, imp.INT)))
    length = imp.minimum(hi - first, imp.Const(1 << _BITS, imp.INT))
    body = imp.Block(tuple(map(_eager, loop.body.stmts)))
    over = imp.as_part(loop.over)
    inner = replace(loop, start=first, stop=last, body=body, over=over)
    stmts = (begin, imp.Let(last, first + length), inner, leave)
    return imp.For(strip, imp.ZERO, count, imp.Block(stmts))


def _eager(stmt: imp.Stmt) -> imp.Stmt:
    """An update without a branch."""
    match stmt:
        case imp.Assign(var, imp.Binary(("or" | "and") as op, a, b, dtype)):
            return imp.Assign(var, imp.Binary(_EAGER[op], a, b, dtype))
        case _:
            return stmt
