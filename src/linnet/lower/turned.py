"""Fibers from the last index to the first: `A[c - i]` is a walk from the end of what is stored.

What ends a chunk begins it when it is turned around: a list says where its entries are, runs and
blocks where they begin, and runs that cover all begin where the one before them ends. Positions are
counted from the last one, so that all other rules find a walk like any other.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.formats.looplets import (
    FILL,
    Jumper,
    Looplet,
    Phase,
    Piece,
    Run,
    Seek,
    Sequence,
    Spike,
    Stepper,
    Thunk,
    Values,
    piece_of,
    with_variables,
    within,
)
from linnet.imp.rewrite import substitute
from linnet.lower.context import Context
from linnet.lower.strides import Stride, strided
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """The coordinates `origin - factor * i` of a dimension of some size."""

    factor: int
    origin: imp.Expr
    size: imp.Expr

    @property
    def stride(self) -> Stride:
        """The same steps, in coordinates that are counted from the origin, backward."""
        return Stride(self.factor, imp.ZERO, signed=True, least=self.origin + 1 - self.size)

    def at(self, i: imp.Expr) -> imp.Expr:
        """The coordinate of an index."""
        return self.origin - (i if self.factor == 1 else i * self.factor)

    def behind(self, coordinate: imp.Expr) -> imp.Expr:
        """The first index whose coordinate is below this one."""
        return self.stride.first(self.origin + 1 - coordinate)


def turned(ctx: Context, looplet: Looplet, turn: Turn) -> Looplet:
    """A looplet whose coordinates are the level's, along an index that counts them backward.

    Needs: what strides need; of steppers with a `next`, what comes `before`.
    """
    match looplet:
        case Stepper(chunk=Spike()) if turn.factor > 1:
            entries = strided(ctx, looplet, Stride(turn.factor, turn.origin, signed=True))
            return turned(ctx, entries, Turn(1, imp.ZERO, turn.size))
        case Stepper():
            around, chunks = _turned_stepper(ctx, looplet, replace(turn, factor=1))
            return Thunk(around, chunks if turn.factor == 1 else strided(ctx, chunks, turn.stride))
        case Jumper(stepper):
            inner = turned(ctx, stepper, turn)
            assert isinstance(inner, Thunk)
            assert isinstance(inner.body, Stepper)
            return replace(inner, body=Jumper(inner.body))
        case Sequence():
            return _turned_sequence(ctx, looplet, turn)
        case _:
            return within(looplet, lambda part: turned(ctx, part, turn))


def _turned_sequence(ctx: Context, sequence: Sequence, turn: Turn) -> Sequence:
    """The phases from the last to the first: each ends where it began."""
    begins = (None, *(phase.stop for phase in sequence.phases[:-1]))
    phases = (
        Phase(None if begin is None else turn.behind(begin), turned(ctx, phase.body, turn))
        for begin, phase in zip(begins, sequence.phases, strict=True)
    )
    return Sequence(tuple(phases)[::-1], sequence.inside and turn.factor == 1)


def _turned_stepper(ctx: Context, s: Stepper, turn: Turn) -> tuple[tuple[imp.Stmt, ...], Stepper]:
    """The chunks from the last to the first, and what is to be known before."""
    name, origin = s.pos.name, turn.origin
    first, last, pos = (ctx.b.var(f"{name}_{x}") for x in ("first", "last", "back"))
    here: Values = {name: last - pos}
    back = _before(s, s.pos)
    backward = replace(
        s,
        turned=True,
        pos=pos,
        begin=imp.ZERO if s.next is None else last - _before(s, last + 1),
        end=last - first + 1,
        last=origin - substitute(_left(s, first), here),
        chunk=with_variables(_turned_chunk(ctx, s, turn), here),  # type: ignore[arg-type]
        seek=_turned_seek(s, origin, first, last, pos),
        setup=tuple(imp.Let(x.var, _within(x.value, s, first, last, pos)) for x in s.setup),
        next=None if s.next is None else (imp.Assign(pos, last - substitute(back, here)),),
        stop=None,
        reach=None,
        before=None,
    )
    return (imp.Let(first, s.begin), imp.Let(last, s.end - 1)), backward


def _before(s: Stepper, position: imp.Expr) -> imp.Expr:
    """The position of the chunk before the one at a position."""
    if s.next is None:
        return position - 1
    assert s.before is not None
    return substitute(s.before, {s.pos.name: position})


def _within(x: imp.Expr, s: Stepper, first: imp.Var, last: imp.Var, pos: imp.Var) -> imp.Expr:
    """What is set up for a position; behind the last chunk, something that can be computed."""
    return substitute(x, {s.pos.name: imp.maximum(last - pos, first)})


def _left(s: Stepper, first: imp.Expr) -> imp.Expr:
    """The coordinate at which what the chunk at the position stores begins."""
    if isinstance(s.chunk, Spike):
        return s.last
    piece = piece_of(s.chunk)
    if piece.left is not None:
        return _in_full(piece)
    before = substitute(s.last, {s.pos.name: imp.maximum(s.pos - 1, first)})
    return imp.Select(s.pos > first, before + 1, imp.ZERO)


def _in_full(piece: Piece) -> imp.Expr:
    """Where a piece begins, in terms of what is known before its own variables are."""
    left = piece.left
    assert left is not None
    for let in reversed(piece.preamble):
        assert isinstance(let, imp.Let)
        left = substitute(left, {let.var.name: let.value})
    return left


def _turned_chunk(ctx: Context, s: Stepper, turn: Turn) -> Looplet:
    """What a chunk stores, behind the fill that came after it."""
    if isinstance(s.chunk, Spike):
        return s.chunk
    piece = piece_of(s.chunk)
    if piece.left is None:
        return turned(ctx, s.chunk, turn)
    stored = turned(ctx, piece.stored, turn)
    phases = (Phase(turn.origin - s.last, Run(FILL)), Phase(None, stored))
    chunk = Sequence(phases, inside=_is_inside(s.chunk))
    return Thunk(piece.preamble, chunk) if piece.preamble else chunk


def _is_inside(chunk: Looplet) -> bool:
    body = chunk.body if isinstance(chunk, Thunk) else chunk
    return isinstance(body, Sequence) and body.inside


def _turned_seek(s: Stepper, origin: imp.Expr, first: imp.Var, last: imp.Var, pos: imp.Var) -> Seek:
    """The last chunk that begins at the coordinate of an index or before it."""
    target = s.seek.target
    where = origin - target
    piece = None if isinstance(s.chunk, Spike) else piece_of(s.chunk)

    def sought(coordinate: imp.Expr) -> imp.Expr:
        return substitute(s.seek.position, {s.pos.name: first, target.name: coordinate})

    if piece is None:
        found = _before(s, sought(where + 1))
    elif piece.left is None:
        found = imp.minimum(sought(where), last)
    else:  # the first chunk that ends behind it, or else the one before
        ends = sought(where + 1)
        left = substitute(_in_full(piece), {s.pos.name: ends})
        found = ends - 1 + imp.Cast((ends <= last) & (left <= where), imp.INT)
    return Seek(target, imp.maximum(pos, last - found))
