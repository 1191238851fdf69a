"""Loops over the entries of rows that may end early: the first is tested, then eight at a time.

    for q in a … b:                  if a < b: s |= x[idx[a]]
      s |= x[idx[q]]                 if a < b and not s:
      if s: break            ->        at = a + 1
                                       while b - at > 7:
                                         for q in at … at + 8: s |= x[idx[q]]
                                         if s: break
                                         at += 8
                                       if not s:
                                         for q in at … b: s |= x[idx[q]]

Where rows end is hard to foretell, and a processor that is wrong loses more than some entries cost.
Where most rows end at once there is nothing to be gained: hence the first.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects
from linnet.imp.replace_loops import replace_loops
from linnet.imp.rewrite import walk
from linnet.imp.strips import LEAVE, at_once, settled
from linnet.names import Names

_TIMES = 8  # entries for each test


def fewer_tests(kernel: imp.Kernel) -> imp.Kernel:
    """Ask less often whether a loop that only accumulates may end. Needs: simplified code."""
    return replace_loops(kernel, _seldom)


def _seldom(loop: imp.For, effects: Effects, names: Names) -> imp.Block | None:
    match loop.body.stmts:
        case (*stmts, imp.If(cond, then, imp.Block(())) as leave) if then == LEAVE:
            rest = replace(loop, body=imp.Block(tuple(stmts)))
        case _:
            return None
    if _takes_long(rest) or settled(rest) != cond:
        return None
    return _in_turns(replace(rest, body=at_once(rest.body)), leave, names)


def _takes_long(loop: imp.For) -> bool:
    """Whether an entry costs as much as a test that was foretold wrongly."""
    return any(isinstance(node, imp.For | imp.Call) for node in walk(loop.body))


def _in_turns(loop: imp.For, leave: imp.If, names: Names) -> imp.Block:
    first, at, end = (
        imp.Var(names.fresh(f"{loop.var.name}_{word}"), imp.INT) for word in ("first", "at", "end")
    )
    some = replace(loop, start=at, stop=at + _TIMES, over=imp.as_part(loop.over))
    turn = imp.Block((some, leave, imp.Assign(at, at + _TIMES)))
    more = imp.Unary("not", leave.cond, imp.BOOL)
    last = imp.If(
        more,
        imp.Block((replace(loop, start=at, stop=end, over=imp.as_part(loop.over)),)),
        imp.EMPTY,
    )
    alone = imp.Block((imp.Let(loop.var, first), *loop.body.stmts))
    # neither `first + 1` nor `at + 8` is beyond the end, which may be the last number there is
    turns = (imp.Let(at, first + 1), imp.While(end - at > _TIMES - 1, turn), last)
    return imp.Block(
        (
            imp.Let(first, imp.widen(loop.start)),
            imp.Let(end, imp.widen(loop.stop)),
            imp.If(first < end, alone, imp.EMPTY),
            imp.If((first < end) & more, imp.Block(turns), imp.EMPTY),
        )
    )
