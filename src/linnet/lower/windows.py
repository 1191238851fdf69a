"""Runs seen through a window: `A[x - 1] & A[x] & A[x + 1]` is one walk over the runs of A.

Where nothing happens unless a fiber is stored at all of some neighbouring indices, and all that it
stores is the same, these lie in one stretch of runs without a gap. The window fits in it from its
beginning, less the least of the shifts, to its end, less the greatest. What is as good as stored
beyond the bounds makes stretches that reach a border go on there. Without this rule every shifted
copy is walked for itself, with loops of their own for what lies at the borders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from linnet import imp, loops
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import (
    FILL,
    Lookup,
    Looplet,
    Missing,
    Phase,
    Run,
    Seek,
    Sequence,
    Stepper,
    piece_of,
)
from linnet.imp.linear import Linear
from linnet.imp.rewrite import substitute
from linnet.loops.solve import Scope, walk_of
from linnet.lower.context import Context, Cursor, Mask, as_value, resolve
from linnet.records import dataclass

Looplets = dict[Cursor, Looplet]


@dataclass(frozen=True, slots=True)
class Pane:
    """A copy of a fiber, shifted by a number; beyond its bounds it may be `missing`."""

    cursor: Cursor
    shift: int
    stepper: Stepper
    missing: Missing | None


def join_windows(
    ctx: Context, body: loops.Stmt, index: str, looplets: Looplets
) -> tuple[loops.Stmt, Looplets]:
    """The body and what it walks, with one stepper for each window."""
    windows = list(_windows(ctx, body, index, looplets))
    joined = {p.cursor for window in windows for p in window}
    others = {c: x for c, x in looplets.items() if c not in joined}
    if not windows or not all(_meets(ctx, body, index, c, x) for c, x in others.items()):
        return body, looplets
    for window in windows:
        base = next(p for p in reversed(window) if p.missing is None)
        others[base.cursor] = _through(ctx, window, base)
        stored = {p.cursor: _stored(p) for p in window if p is not base}
        body = ctx.simplify(resolve(body, index, stored))
    return body, others


def _windows(
    ctx: Context, body: loops.Stmt, index: str, looplets: Looplets
) -> Iterator[list[Pane]]:
    """Copies of one fiber by consecutive shifts, without any of which nothing happens."""
    found: dict[Fiber, list[Pane]] = {}
    for cursor, looplet in looplets.items():
        if (pane := _pane(ctx, cursor, index, looplet)) is not None:
            found.setdefault(cursor.fiber, []).append(pane)
    for copies in found.values():
        if len(copies) < 2:
            continue
        panes = sorted((p for p in copies if _counts(ctx, body, index, p)), key=lambda p: p.shift)
        near = all(b.shift - a.shift <= 1 for a, b in pairwise(panes))
        within = any(p.missing is None and p.shift == 0 for p in panes)
        if len(panes) > 1 and near and (within or not any(p.missing for p in panes)):
            yield panes


def _pane(ctx: Context, cursor: Cursor, index: str, looplet: Looplet) -> Pane | None:
    """A walk over runs that all hold one constant, and how it is shifted; None for any other."""
    missing = None
    match looplet:
        case Sequence((Phase(_, Run(Missing() as beyond)), Phase(_, inner), Phase())):
            looplet, missing = inner, beyond
    if isinstance(cursor, Mask) or not isinstance(looplet, Stepper) or looplet.reach is None:
        return None
    match walk_of(cursor.index, Scope(index, (), ctx.facts.types)), piece_of(looplet.chunk).stored:
        case (1, Linear(terms, shift)), Run(Fiber() as child) if not terms:
            constant = isinstance(as_value(cursor, child), loops.Literal)
            return Pane(cursor, shift, looplet, missing) if constant else None
    return None


def _counts(ctx: Context, body: loops.Stmt, index: str, p: Pane) -> bool:
    """Whether nothing happens where it is not stored, and missing is as good as stored."""

    def with_(value: Fiber | loops.Expr) -> loops.Stmt:
        return ctx.simplify(resolve(body, index, {p.cursor: value}))

    if with_(as_value(p.cursor, FILL)) != loops.NOTHING:
        return False
    return p.missing is None or with_(as_value(p.cursor, p.missing)) == with_(_stored(p))


def _stored(p: Pane) -> Fiber | loops.Expr:
    run = piece_of(p.stepper.chunk).stored
    assert isinstance(run, Run)
    assert isinstance(run.body, Fiber)
    return as_value(p.cursor, run.body)


def _meets(ctx: Context, body: loops.Stmt, index: str, cursor: Cursor, looplet: Looplet) -> bool:
    """Whether it is looked up, or stepped over where it stores nothing, as windows are."""
    if isinstance(looplet, Lookup):
        return True
    if not isinstance(looplet, Stepper) or piece_of(looplet.chunk).left is None:
        return False
    fill = {cursor: as_value(cursor, FILL)}
    return ctx.simplify(resolve(body, index, fill)) == loops.NOTHING


def _through(ctx: Context, window: list[Pane], base: Pane) -> Stepper:
    """Where the whole window is stored, in the walk of one of its panes."""
    low, high, s = window[0], window[-1], base.stepper
    left, dim = piece_of(s.chunk).left, base.cursor.fiber.dim
    assert left is not None
    assert s.reach is not None
    apart = s.reach == s.pos
    end = s.pos if apart else ctx.b.var(f"{s.pos.name}_last")
    begins, ends = left + base.shift, substitute(s.last, {s.pos.name: end}) + (base.shift + 1)
    first, stop = begins + -low.shift, ends + -high.shift
    if low.missing is not None:
        first = imp.Select(begins > 0, first, imp.ZERO)
    if high.missing is not None:
        stop = imp.Select(ends < dim, stop, dim)
    target = s.seek.target
    sought = substitute(s.seek.position, {target.name: target + (low.shift - base.shift)})
    return replace(
        s,
        last=stop - 1,
        chunk=Sequence((Phase(first, Run(FILL)), Phase(None, piece_of(s.chunk).stored))),
        seek=Seek(target, sought),
        setup=() if apart else (imp.Let(end, s.reach),),
        next=None if apart else (imp.Assign(s.pos, end + 1),),
        reach=s.pos,
    )
