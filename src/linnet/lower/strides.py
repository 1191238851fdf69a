"""Every k-th index of a fiber: `A[k * i + c]`, by what is stored, and not by indices.

Entries are stepped over until one is at such an index. Of runs and blocks those are left out that
lie between two such indices; of the others it is computed at which `i` they begin and end.
"""

from __future__ import annotations

from collections.abc import Sequence as Ints
from dataclasses import replace

from linnet import imp
from linnet.formats.looplets import (
    Jumper,
    Looplet,
    Phase,
    Seek,
    Sequence,
    Spike,
    Stepper,
    within,
)
from linnet.imp.rewrite import substitute
from linnet.lower.context import Context
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Stride:
    """The coordinates `factor * i + shift`; where i may be below zero, it is `signed`.

    The `least` of the coordinates is 0, unless they are not those of a level.
    """

    factor: int
    shift: imp.Expr
    signed: bool = False
    least: imp.Expr = imp.ZERO

    def at(self, i: imp.Expr) -> imp.Expr:
        """The coordinate of an index."""
        return i * self.factor + self.shift

    def first(self, coordinate: imp.Expr) -> imp.Expr:
        """The first index whose coordinate is this or a later one.

        If it is below zero, and that is not asked for, some number that is not above zero.
        """
        offset = coordinate - self.shift
        return offset if self.factor == 1 else self._divided(offset + (self.factor - 1))

    def last(self, coordinate: imp.Expr) -> imp.Expr:
        """The last index whose coordinate is this or an earlier one."""
        return self._divided(coordinate - self.shift)

    def _divided(self, offset: imp.Expr) -> imp.Expr:
        """An offset in steps of the stride, rounded down."""
        if isinstance(offset, imp.Const):
            assert isinstance(offset.value, int)
            return imp.Const(offset.value // self.factor, imp.INT)
        if self.signed:
            offset = imp.Select(offset < 0, offset - (self.factor - 1), offset)
        return imp.binary("div", offset, self.factor)


def strided(ctx: Context, looplet: Looplet, stride: Stride) -> Looplet:
    """A looplet whose coordinates are the level's, along an index that counts some of them.

    Needs: random access, stretches, or entries whose coordinates lie in an array.
    """
    match looplet:
        case Stepper(chunk=Spike()):
            return _strided_entries(ctx, looplet, stride)
        case Stepper():
            return _strided_chunks(ctx, looplet, stride)
        case Jumper(stepper):
            inner = strided(ctx, stepper, stride)
            assert isinstance(inner, Stepper)
            return Jumper(inner)
        case Sequence(phases):
            return Sequence(tuple(_strided_phase(ctx, p, stride) for p in phases))
        case _:
            return within(looplet, lambda part: strided(ctx, part, stride))


def _strided_phase(ctx: Context, phase: Phase, stride: Stride) -> Phase:
    stop = None if phase.stop is None else stride.first(phase.stop)
    return Phase(stop, strided(ctx, phase.body, stride))


def _strided_entries(ctx: Context, s: Stepper, stride: Stride) -> Stepper:
    """Entries, without those at other coordinates."""
    idx, target = _coordinates(s), s.seek.target

    def first(position: imp.Expr) -> imp.Expr:
        return ctx.b.call(next_multiple, idx, position, s.end, stride.factor, stride.shift)

    seek = substitute(s.seek.position, {target.name: stride.at(target)})
    following = s.pos + 1 if s.next is None else s.next[0].value
    before: imp.Expr = ctx.b.call(last_multiple, idx, s.begin, s.pos, stride.factor, stride.shift)
    if s.before is not None:
        before = substitute(s.before, {s.pos.name: before + 1})
    return replace(
        s,
        begin=first(s.begin),
        last=imp.binary("div", s.last - stride.shift, stride.factor),
        next=(imp.Assign(s.pos, first(following)),),
        seek=Seek(target, first(seek)),
        stop=None,
        before=before,
    )


def _coordinates(stepper: Stepper) -> imp.Buffer:
    last = stepper.last.x if isinstance(stepper.last, imp.Cast) else stepper.last
    assert isinstance(last, imp.Load)
    return last.buffer


def next_multiple(idx: Ints[int], q: int, end: int, factor: int, shift: int) -> int:
    """A codelet: the first entry from q on whose coordinate is `shift` plus or minus a multiple."""
    while q < end and (idx[q] - shift) % factor != 0:
        q += 1
    return q


def last_multiple(idx: Ints[int], begin: int, q: int, factor: int, shift: int) -> int:
    """A codelet: the last entry before q at such a coordinate, or the place before the first."""
    q -= 1
    while q >= begin and (idx[q] - shift) % factor != 0:
        q -= 1
    return q


def _strided_chunks(ctx: Context, s: Stepper, stride: Stride) -> Stepper:
    """Runs and blocks, without those that end before the next coordinate of the stride."""
    target, last = s.seek.target, stride.last(s.last)

    def sought(position: imp.Expr, index: imp.Expr) -> imp.Expr:
        found = {s.pos.name: position, target.name: stride.at(index)}
        return substitute(s.seek.position, found)

    start = stride.first(stride.least) if stride.signed else imp.ZERO
    return replace(
        s,
        begin=s.begin if stride.at(start) == imp.ZERO else sought(s.begin, start),
        last=last,
        chunk=strided(ctx, s.chunk, stride),
        next=(imp.Assign(s.pos, sought(s.pos + 1, last + 1)),),
        seek=Seek(target, sought(s.pos, target)),
        stop=None,
        reach=None,
    )
