"""What lowering does, rule by rule, as text: the steps of FINCH Fig. 18 for any program.

A step shows a region before a rule is applied to it: the loop, and what is known of the fibers that
it walks. What the rule makes of it are the steps below, further to the right.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, assert_never

from linnet import imp, loops
from linnet.formats.fiber import Fiber, Register
from linnet.formats.looplets import (
    Fill,
    Jumper,
    Lookup,
    Looplet,
    Missing,
    Payload,
    Phase,
    Run,
    Sequence,
    Spike,
    Stepper,
    Switch,
    Thunk,
    Truth,
)
from linnet.imp.fold import fold
from linnet.imp.printer import show as show_code
from linnet.imp.rewrite import rewrite
from linnet.loops.printer import show as show_loops
from linnet.loops.rewrite import rewrite_stmt
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.lower.region import Region


@dataclass(slots=True)
class Trace:
    """The steps so far, and how deep we are."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def note(self, rule: str, *lines: str) -> None:
        """A step without steps below."""
        for k, line in enumerate((f"{rule}:", *lines)):
            self.lines.append("  " * (self.depth + (k > 0)) + line)

    @contextmanager
    def step(self, rule: str, lines: list[str]) -> Iterator[None]:
        """A step, and those below it."""
        self.note(rule, *lines)
        self.depth += 1
        yield
        self.depth -= 1


def rule_of(r: Region) -> str:
    """The name of the rule that comes next."""
    order = {Thunk: "Thunk", Switch: "Switch", Sequence: "Sequence", Run: "Run"}
    order |= {Stepper: "Stepper", Jumper: "Jumper", Spike: "Spike"}
    kinds = [type(x) for x in r.looplets.values()]
    return next((name for kind, name in order.items() if kind in kinds), "Lookup")


def walked_line(r: Region) -> str:
    """What a loop walks: fibers, and comparisons of its index."""
    return ", ".join(map(_name, r.looplets)) or "nothing"


def region_lines(r: Region) -> list[str]:
    """`for i in 0 … n_i: body`, and the looplet of every fiber."""
    bounds = f"at {r.index.name}" if r.point else f"for {r.index.name} in {_range(r.lo, r.hi)}"
    known = [f"{_name(c)} = {show_looplet(x, c)}" for c, x in r.looplets.items()]
    return [f"{bounds}:", *("    " + line for line in body_lines(r.body)), *known]


def body_lines(body: loops.Stmt) -> list[str]:
    """A statement, with fibers under the names of their tensors."""

    def on_stmt(s: loops.Stmt) -> loops.Stmt | None:
        if not isinstance(s, loops.Assign) or isinstance(s.target.tensor, str):
            return None
        target = loops.Access(s.target.tensor.storage.name, s.target.indices, s.target.protocols)
        return loops.Assign(target, s.op, s.value, s.at)

    def on_expr(e: loops.Expr) -> loops.Expr | None:
        match e:
            case loops.Value(code):
                return loops.Name(show(code))
            case loops.Access(Fiber() as fiber, ()) if hasattr(fiber.kind, "read"):
                return loops.Name(show(fiber.kind.read(fiber)))
            case loops.Access(Fiber(storage) | Register(storage), indices, protocols):
                return loops.Access(storage.name, indices, protocols)
            case _:
                return None

    return show_loops(rewrite_stmt(body, on_stmt, on_expr)).splitlines()


def show(code: imp.Expr) -> str:
    """Code as it will be, without the conversions of indices."""

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.Cast(x, imp.INT) if x.dtype.startswith("int"):
                return x
            case imp.Binary():
                return fold(node)
            case _:
                return None

    return show_code(rewrite(code, rule))


def _range(lo: imp.Expr, hi: imp.Expr) -> str:
    return f"{show(lo)} … {show(hi)}"


def _name(cursor: object) -> str:
    call = getattr(cursor, "call", None)
    return getattr(cursor, "name", "") if call is None else f"({show_loops(call)})"


def show_looplet(x: Looplet, cursor: object) -> str:
    """A looplet as FINCH writes it."""
    match x:
        case Run(body):
            return f"Run({show_payload(body, cursor)})"
        case Lookup(body):
            return f"Lookup({show_payload(body, cursor)})"
        case Spike(tail):
            return f"Spike({_fill(cursor)}, {show_payload(tail, cursor)})"
        case Sequence(phases):
            return f"Sequence({', '.join(_phase(p, cursor) for p in phases)})"
        case Switch(cond, head, tail):
            parts = [show_any(part, cursor) for part in (head, tail)]
            return f"Switch({show(cond)}, {', '.join(parts)})"
        case Thunk(_, body):
            return f"Thunk({show_any(body, cursor)})"
        case Jumper(stepper):
            return f"Jumper({show_looplet(stepper, cursor)})"
        case Stepper(pos, begin, end, last, chunk):
            walk = f"{pos.name} in {_range(begin, end)}, last = {show(last)}"
            return f"Stepper({walk}, {show_looplet(chunk, cursor)})"
        case _:
            assert_never(x)


def show_any(x: Looplet | Payload, cursor: object) -> str:
    """A looplet or a payload."""
    if isinstance(x, Fill | Truth | Missing | Fiber):
        return show_payload(x, cursor)
    return show_looplet(x, cursor)


def _phase(phase: Phase, cursor: object) -> str:
    body = show_looplet(phase.body, cursor)
    return body if phase.stop is None else f"Phase(stop = {show(phase.stop)}, {body})"


def _fill(cursor: object) -> str:
    fiber = getattr(cursor, "fiber", None)
    return "false" if fiber is None else repr(fiber.storage.format.fill_value)


def show_payload(x: Payload, cursor: object) -> str:
    """What an access becomes: a value, or a fiber of the next level."""
    match x:
        case Fill():
            return _fill(cursor)
        case Truth(value):
            return str(value).lower()
        case Missing():
            return "missing"
        case Fiber() if x.kind.leaf and x.dirty is None and hasattr(x.kind, "read"):
            return show(x.kind.read(x))
        case Fiber():
            return f"{x.storage.name}.{type(x.kind).__name__}({show(x.pos)})"
        case Thunk() | Switch():
            return show_looplet(x, cursor)
        case _:
            assert_never(x)
