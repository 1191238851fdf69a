"""Schedules as text: `split(i, i0, i1, 32) reorder(i0, j, i1)`, commands one after the other.

Commands are separated by spaces, lines, dots or semicolons. Indices are names; `j:2` is the second
loop over `j`. Accesses are written as in the program; the name of a tensor is its only access.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from linnet import loops
from linnet.errors import Location, ScheduleError
from linnet.imp.how import RACES
from linnet.loops.bounds import BOUNDS
from linnet.loops.commands import (
    UNITS,
    Bound,
    Collapse,
    Command,
    Coord,
    NoRaces,
    Parallelize,
    Pos,
    Precompute,
    Reorder,
    Split,
    Unroll,
)
from linnet.records import dataclass

SCHEDULE = "<schedule>"
"""The file that a place in a text is said to be in."""
_NUMBERED = re.compile(r"\b([A-Za-z_]\w*):(\d+)")
_MARK = "·"  # joins a name and a number where Python would not let them be one name
_HINT = "a schedule is a row of commands: split(i, i0, i1, 32) reorder(i0, j, i1)"


def parse_schedule(text: str) -> tuple[Command, ...]:
    """The commands of a schedule that is given as text."""
    line, at, found = re.sub(r"\s", " ", text), 0, list[Command]()
    while at < len(line):
        if line[at] in " ;.,":
            at += 1
            continue
        stop = _end_of_call(line, at)
        found.append(_command(Text(line, at), line[at:stop]))
        at = stop
    return tuple(found)


def show_schedule(commands: tuple[Command, ...]) -> str:
    """A schedule as text, which can be read back."""
    return " ".join(map(str, commands))


def _end_of_call(line: str, at: int) -> int:
    """Where the parenthesis that a command opens is closed."""
    depth = 0
    for k in range(at, len(line)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(line[k], 0)
        if depth <= 0 and line[k] == ")":
            return k + 1
    place = Location(SCHEDULE, 1, at, len(line), line)
    raise ScheduleError("this command does not end", at=place, hint=_HINT)


@dataclass(frozen=True, slots=True)
class Text:
    """A line of commands, and where one of them begins in it."""

    line: str
    start: int = 0

    def place(self, node: ast.expr | None = None) -> Location:
        """Where a part of the command stands, or all that follows."""
        if node is None:
            return Location(SCHEDULE, 1, self.start, len(self.line), self.line)
        written = self.line[self.start :].encode()
        ends = (node.col_offset, node.end_col_offset or node.col_offset)
        first, last = (self.start + len(written[:k].decode(errors="ignore")) for k in ends)
        return Location(SCHEDULE, 1, first, last, self.line)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command, as it is written."""

    node: ast.expr
    at: Location

    def wrong(self, wanted: str) -> ScheduleError:
        """The argument is not what is wanted."""
        written = ast.unparse(self.node).replace(_MARK, ":")
        return ScheduleError(f"`{written}` is not {wanted}", at=self.at)


def _command(text: Text, written: str) -> Command:
    # one character for another, so that columns stay
    readable = _NUMBERED.sub(lambda m: m[0].replace(":", _MARK), written)
    try:
        call = ast.parse(readable, mode="eval").body
    except SyntaxError:
        raise ScheduleError("this is not a command", at=text.place(), hint=_HINT) from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ScheduleError("this is not a command", at=text.place(call), hint=_HINT)
    make = _MAKE.get(call.func.id)
    if make is None or call.keywords:
        problem = f"there is no command `{call.func.id}`"
        hint = f"the commands are {', '.join(_MAKE)}"
        raise ScheduleError(problem, at=text.place(call.func), hint=hint)
    at = text.place(call)
    made = make([Argument(node, text.place(node)) for node in call.args], at)
    return replace(made, at=at)


# -- arguments -------------------------------------------------------------------------------------


def name(arg: Argument) -> str:
    """A name of a loop."""
    if not isinstance(arg.node, ast.Name):
        raise arg.wrong("the name of a loop")
    return arg.node.id.replace(_MARK, ":")


def number(arg: Argument) -> int:
    """A number."""
    match arg.node:
        case ast.Constant(int(value)) if type(value) is int:
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))) if type(value) is int:
            return -value
    raise arg.wrong("a whole number")


def access(arg: Argument) -> loops.Access:
    """An access, as it is written in the program; the name of a tensor is its only one."""
    match arg.node:
        case ast.Name(tensor):
            return loops.Access(tensor, ())
        case ast.Subscript(ast.Name(tensor), index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            names = [part.id for part in parts if isinstance(part, ast.Name)]
            if len(names) == len(parts):
                return loops.Access(tensor, tuple(map(loops.Index, names)))
    raise arg.wrong("an access to a tensor, such as A[i, j]")


def _count(args: list[Argument], at: Location, *counts: int, like: str) -> None:
    if len(args) not in counts:
        raise ScheduleError(f"this command has {len(args)} arguments", at=at, hint=f"`{like}`")


# -- commands --------------------------------------------------------------------------------------


def _split(args: list[Argument], at: Location) -> Split:
    _count(args, at, 4, 5, like="split(i, i0, i1, 32)")
    up = len(args) == 5 and name(args[4]) == "up"
    if len(args) == 5 and name(args[4]) not in ("up", "down"):
        raise args[4].wrong("a direction: up or down")
    return Split(name(args[0]), name(args[1]), name(args[2]), number(args[3]), up)


def _reorder(args: list[Argument], at: Location) -> Reorder:
    return Reorder(tuple(map(name, args)))


def _collapse(args: list[Argument], at: Location) -> Collapse:
    _count(args, at, 3, like="collapse(i, j, f)")
    return Collapse(name(args[0]), name(args[1]), name(args[2]))


def _pos(args: list[Argument], at: Location) -> Pos:
    _count(args, at, 3, 4, like="pos(j, p, A[i, j])")
    if len(args) == 4 and name(args[3]) != "flat":
        raise args[3].wrong("how positions are gone through: flat, or nothing")
    return Pos(name(args[0]), name(args[1]), access(args[2]), len(args) == 4)


def _coord(args: list[Argument], at: Location) -> Coord:
    _count(args, at, 2, like="coord(p, i)")
    return Coord(name(args[0]), name(args[1]))


def _bound(args: list[Argument], at: Location) -> Bound:
    _count(args, at, 3, 4, like="bound(k, MaxExact, 128)")
    if len(args) == 4:
        bounded, kind = name(args[1]), args[3]
    else:
        bounded, kind = "", args[1]
    if _word(kind) not in BOUNDS:
        raise kind.wrong(f"a kind of bound: {', '.join(BOUNDS)}")
    return Bound(name(args[0]), bounded, number(args[2]), _word(kind))


def _precompute(args: list[Argument], at: Location) -> Precompute:
    _count(args, at, 4, like="precompute(B[i, j] * c[j], j, jw, w)")
    written = ast.unparse(args[0].node).replace(_MARK, ":")
    indices, early = _names(args[1]), _names(args[2])
    if len(indices) != len(early):
        raise args[2].wrong("as many names as there are indices")
    return Precompute(written, indices, early, name(args[3]))


def _names(arg: Argument) -> tuple[str, ...]:
    """A name, or several in parentheses."""
    parts = arg.node.elts if isinstance(arg.node, ast.Tuple) else [arg.node]
    return tuple([name(Argument(part, arg.at)) for part in parts])


def _unroll(args: list[Argument], at: Location) -> Unroll:
    _count(args, at, 2, like="unroll(i, 4)")
    return Unroll(name(args[0]), number(args[1]))


def _parallelize(args: list[Argument], at: Location) -> Parallelize:
    _count(args, at, 2, 3, like="parallelize(j, CPUVector, NoRaces)")
    unit, race = _word(args[1]), _word(args[2]) if len(args) == 3 else NoRaces
    if unit not in UNITS:
        raise args[1].wrong(f"a unit of the machine: {' or '.join(UNITS)}")
    if race not in RACES:
        raise args[2].wrong(f"a strategy for races: {', '.join(RACES)}")
    return Parallelize(name(args[0]), unit, race)


def _word(arg: Argument) -> str:
    """A public name, with or without `ln.` before it."""
    match arg.node:
        case ast.Attribute(ast.Name("ln"), word) | ast.Name(word):
            return word
    raise arg.wrong("a name")


_MAKE: dict[str, Callable[[list[Argument], Location], Command]] = {
    "split": _split,
    "reorder": _reorder,
    "collapse": _collapse,
    "fuse": _collapse,
    "pos": _pos,
    "coord": _coord,
    "bound": _bound,
    "precompute": _precompute,
    "unroll": _unroll,
    "parallelize": _parallelize,
}
