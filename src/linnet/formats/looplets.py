"""Looplets: the shape of a fiber along one loop (FINCH Table 2), as plain data.

    looplet = Run(body) | Lookup(body) | Spike(tail) | Sequence(phases) | Switch(cond, head, tail)
            | Thunk(preamble, body, epilogue) | Stepper(…) | Jumper(stepper)

The index variable of the loop is known when a fiber is unfurled, so bodies are expressions of it
and not functions. A payload is what an access becomes when its index is known: `FILL`, or a
subfiber, possibly inside a `Thunk` that prepares it. Coordinates of chunks are inclusive (`last`),
loop extents exclusive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, assert_never

from linnet import imp
from linnet.formats.fiber import Fiber
from linnet.imp.rewrite import substitute
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Fill:
    """Nothing is stored here: the value is the tensor's fill."""


FILL = Fill()


@dataclass(frozen=True, slots=True)
class Truth:
    """The value of a comparison of indices."""

    value: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """Beyond the bounds of the dimension: nothing is there, and to read it is an error."""

    site: int  # which error, if it is one


@dataclass(frozen=True, slots=True)
class Run:
    """One payload for the whole region."""

    body: Payload


@dataclass(frozen=True, slots=True)
class Reserve:
    """Code that makes room ahead of a loop for as many entries as `visits` says."""

    visits: imp.Var
    code: tuple[imp.Stmt, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Variables for the bounds `start … stop` of what is written at once.

    Another one says whether it `follows` what was written before, with nothing between them.
    """

    start: imp.Var
    stop: imp.Var
    follows: imp.Var


@dataclass(frozen=True, slots=True)
class Lookup:
    """A payload for every index, computed from the loop's index variable.

    When writing, `sure` is the payload to use where something is certain to be written. One with a
    `span` takes a run of equal indices at once (FINCH's AcceptRun), which may be a single one.
    """

    body: Payload
    reserve: Reserve | None = None
    sure: Payload | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Spike:
    """The fill value, then one payload at the last index of the region."""

    tail: Payload


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a sequence that ends before `stop` (None: where the loop ends)."""

    stop: imp.Expr | None
    body: Looplet


@dataclass(frozen=True, slots=True)
class Sequence:
    """Looplets one after the other.

    The stops of one that is `inside` are known to rise, within the bounds of what it describes: a
    dimension, or a chunk of a stepper.
    """

    phases: tuple[Phase, ...]
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """One looplet or the other, decided before the loop; or, as a payload, at one index."""

    cond: imp.Expr
    head: Looplet | Payload
    tail: Looplet | Payload


@dataclass(frozen=True, slots=True)
class Thunk:
    """Code around a looplet or payload: variables it needs, and what to do when it is done."""

    preamble: tuple[imp.Stmt, ...]
    body: Looplet | Payload
    epilogue: tuple[imp.Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Seek:
    """The position of the first chunk, from the current one on, whose last index is >= `target`."""

    target: imp.Var
    position: imp.Expr


@dataclass(frozen=True, slots=True)
class Stepper:
    """Chunks at positions `begin <= pos < end`, in order of their last index.

    `pos` is introduced by the loop; `last` is the last index of the chunk at `pos` and `chunk` its
    looplet. `setup` (introductions of variables) is run whenever `pos` has changed, also to `end`;
    `next` moves to the following chunk (None: `pos += 1`). A stepper that `covers` its dimension
    has no index outside its chunks; another is followed by fill. All chunks end before `stop`, or
    where that is None somewhere in the dimension. `reach` is the position of the last chunk that
    follows the one at `pos` without fill between them, where a level can tell. `before` is where
    the chunk before the one at `pos` is, or `begin - 1`: with a `next`, what a walk backward needs.
    One that `leads` is all that the loop goes through: other fibers are looked up. Positions of one
    that is `turned` are counted from the end.
    """

    pos: imp.Var
    begin: imp.Expr
    end: imp.Expr
    last: imp.Expr
    chunk: Looplet
    seek: Seek
    setup: tuple[imp.Let, ...] = ()
    next: tuple[imp.Assign, ...] | None = None
    covers: bool = False
    stop: imp.Expr | None = None
    reach: imp.Expr | None = None
    before: imp.Expr | None = None
    leads: bool = False
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Jumper:
    """A stepper that would rather be led: it seeks to where others are (galloping)."""

    stepper: Stepper


Value: TypeAlias = Fill | Truth | Missing | Fiber
Payload: TypeAlias = Value | Thunk | Switch
Looplet: TypeAlias = Run | Lookup | Spike | Sequence | Switch | Thunk | Stepper | Jumper


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk as what it stores, from `left` on if there is fill before it, and code to find it."""

    preamble: tuple[imp.Stmt, ...]
    left: imp.Expr | None
    stored: Looplet


def piece_of(chunk: Looplet) -> Piece:
    """The stored part of a chunk."""
    match chunk:
        case Thunk(preamble, body, ()):
            inner = piece_of(body)  # type: ignore[arg-type]
            return replace(inner, preamble=(*preamble, *inner.preamble))
        case Sequence((Phase(stop, Run(fill)), Phase(None, stored))) if fill is FILL:
            return Piece((), stop, stored)
        case _:
            return Piece((), None, chunk)


def within(looplet: Looplet, change: Callable[[Looplet], Looplet]) -> Looplet:
    """The looplet with what it chooses from or prepares changed, or one that has no such parts."""
    match looplet:
        case Switch(cond, head, tail):
            return Switch(cond, change(head), change(tail))  # type: ignore[arg-type]
        case Thunk(preamble, body, epilogue):
            return Thunk(preamble, change(body), epilogue)  # type: ignore[arg-type]
        case _:
            return looplet


Values = dict[str, imp.Expr]


def with_variables(x: Looplet | Payload, values: Values) -> Looplet | Payload:
    """The looplet with other expressions for some of its variables."""
    match x:
        case Fill() | Truth() | Missing():
            return x
        case Fiber():
            pos = substitute(x.pos, values)
            return replace(x, pos=pos, state=tuple(substitute(e, values) for e in x.state))
        case Run(body) | Spike(body):
            return type(x)(with_variables(body, values))  # type: ignore[arg-type]
        case Lookup(body, room, sure, span):
            inner = None if sure is None else with_variables(sure, values)
            return Lookup(with_variables(body, values), room, inner, span)  # type: ignore[arg-type]
        case Switch(cond, head, tail):
            yes, no = with_variables(head, values), with_variables(tail, values)
            return Switch(substitute(cond, values), yes, no)
        case Thunk(preamble, body, epilogue):
            before = tuple(substitute(s, values) for s in preamble)
            after = tuple(substitute(s, values) for s in epilogue)
            return Thunk(before, with_variables(body, values), after)
        case Sequence(phases, inside):
            return Sequence(tuple(_phase(p, values) for p in phases), inside)
        case Jumper(stepper):
            return Jumper(stepper_with(stepper, values))
        case Stepper():
            return stepper_with(x, values)
        case _:
            assert_never(x)


def _phase(phase: Phase, values: Values) -> Phase:
    stop = None if phase.stop is None else substitute(phase.stop, values)
    return Phase(stop, with_variables(phase.body, values))  # type: ignore[arg-type]


def stepper_with(s: Stepper, values: Values) -> Stepper:
    """A stepper with other variables; those that it introduces are renamed there too."""

    def new(var: imp.Var) -> imp.Var:
        renamed = values.get(var.name, var)
        assert isinstance(renamed, imp.Var)
        return renamed

    return Stepper(
        new(s.pos),
        substitute(s.begin, values),
        substitute(s.end, values),
        substitute(s.last, values),
        with_variables(s.chunk, values),  # type: ignore[arg-type]
        Seek(s.seek.target, substitute(s.seek.position, values)),
        tuple(imp.Let(new(let.var), substitute(let.value, values)) for let in s.setup),
        None if s.next is None else tuple(_assign(a, values) for a in s.next),
        s.covers,
        None if s.stop is None else substitute(s.stop, values),
        None if s.reach is None else substitute(s.reach, values),
        None if s.before is None else substitute(s.before, values),
        s.leads,
        s.turned,
    )


def _assign(stmt: imp.Assign, values: Values) -> imp.Assign:
    var = values.get(stmt.var.name, stmt.var)
    assert isinstance(var, imp.Var)
    return imp.Assign(var, substitute(stmt.value, values))
