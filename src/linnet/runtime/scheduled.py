"""`kernel.schedule()`: a kernel with commands that say in which order its loops are run.

    tiled = spmv.schedule().split("i", "i0", "i1", 32)
    y = tiled(y, A, x)

A command gives a new schedule, which is called like the kernel. What can be told by names is told
at once; what depends on formats, when it is called.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from dataclasses import replace
from keyword import iskeyword
from operator import index as whole_number
from typing import Protocol, Self, SupportsIndex, TypeAlias

from linnet import loops
from linnet.errors import ArgumentError, LinnetError, Location, ScheduleError
from linnet.formats.located import located
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
from linnet.runtime.kernel import Kernel
from linnet.scheduling.factors import canonical
from linnet.scheduling.log import Provenance
from linnet.scheduling.running import BEFORE, NOT_AFTER
from linnet.scheduling.text import SCHEDULE, Argument, access, parse_schedule, show_schedule


class Indexed(Protocol):
    """What names a loop, such as an index of `ln.indices`."""

    @property
    def name(self) -> str:
        """The name of the loop."""


Named: TypeAlias = str | Indexed


class Commanded(ABC):
    """What takes commands. Each gives another one, under one command more."""

    @property
    @abstractmethod
    def program(self) -> loops.Program:
        """The program, with the commands so far."""

    @abstractmethod
    def _under(self, program: loops.Program) -> Self:
        """The same, of a program with one command more."""

    @located
    def split(
        self, index: Named, outer: Named, inner: Named, size: SupportsIndex, direction: str = "down"
    ) -> Self:
        """Two loops for one: `outer` over parts of its range, `inner` within a part.

        A part has `size` indices; with `direction="up"` there are `size` parts.
        """
        if direction not in ("down", "up"):
            raise ArgumentError(f"{direction!r} is no direction", hint='"down" or "up"')
        whole, parts, within = map(name_of, (index, outer, inner))
        return self._with(Split(whole, parts, within, _number(size), direction == "up"))

    @located
    def reorder(self, *order: Named) -> Self:
        """Put loops that are directly inside one another into this order, the outermost first."""
        return self._with(Reorder(tuple(map(name_of, order))))

    @located
    def collapse(self, outer: Named, inner: Named, fused: Named) -> Self:
        """One name for two loops of which one is directly inside the other."""
        return self._with(Collapse(name_of(outer), name_of(inner), name_of(fused)))

    @located
    def pos(self, index: Named, position: Named, operand: object, flat: bool = False) -> Self:
        """Go through the positions of what an operand stores: `pos("j", "p", "A[i, j]")`.

        Those of several coordinates are gone through by loops in one another, or with `flat=True`
        by one loop, which looks where a row ends.
        """
        names = name_of(index), name_of(position)
        return self._with(Pos(*names, self._operand(operand), bool(flat)))

    @located
    def coord(self, position: Named, index: Named) -> Self:
        """Go through all coordinates from some positions to the next part: `coord("p1", "i")`."""
        return self._with(Coord(name_of(position), name_of(index)))

    @located
    def bound(self, index: Named, *said: object) -> Self:
        """Say what is known of a range: `bound("k", ln.MaxExact, 128)`.

        With a new name for the loop, the value comes first: `bound("k", "kb", 128, ln.MaxExact)`.
        What is said is checked in every call.
        """
        match said:
            case (str(kind), SupportsIndex() as value) if kind in BOUNDS:
                return self._with(Bound(name_of(index), "", _number(value), kind))
            case (bounded, SupportsIndex() as value, str(kind)) if kind in BOUNDS:
                return self._with(Bound(name_of(index), name_of(bounded), _number(value), kind))
        hint = f"bound('k', ln.MaxExact, 128); kinds are {', '.join(BOUNDS)}"
        raise ArgumentError("a bound has a kind and a number", hint=hint)

    @located
    def precompute(self, expr: object, index: object, early: object, workspace: str) -> Self:
        """Compute a part of an update early: `precompute("A[i, j] * x[j]", "j", "k", "w")`.

        It is stored in a dense workspace over `index`, or several of them; the loops that compute
        it are called `early`.
        """
        indices, names = _several(index), _several(early)
        if len(indices) != len(names):
            raise ArgumentError("as many names are given as indices", hint='"j", "jw"')
        return self._with(Precompute(self._part(expr), indices, names, name_of(workspace)))

    def _part(self, expr: object) -> str:
        """A part of an update as it is written in the program."""
        if not isinstance(expr, str):
            raise ArgumentError(f"{expr!r} is not the text of an expression", hint='"A[i] * x[i]"')
        return canonical(expr)

    @located
    def unroll(self, index: Named, factor: SupportsIndex) -> Self:
        """Write the body of a loop out `factor` times, for as many turns at once."""
        return self._with(Unroll(name_of(index), _number(factor)))

    @located
    def parallelize(self, index: Named, unit: str, race: str = NoRaces) -> Self:
        """Make several turns of a loop at the same time: `parallelize("j", ln.CPUVector)`.

        Where they write to one place, `race` says what is done: `ln.ParallelReduction` takes sums
        in another order, `ln.IgnoreRaces` leaves it to you that there are no such places.
        """
        if unit not in UNITS:
            raise ArgumentError(f"{unit!r} is no unit of the machine", hint="ln.CPUVector")
        if race not in RACES:
            races = ", ".join(f"ln.{r}" for r in RACES)
            raise ArgumentError(f"{race!r} is no strategy for races", hint=races)
        return self._with(Parallelize(name_of(index), unit, race))

    @located
    def apply(self, commands: str | Commanded) -> Self:
        """Commands as text: `apply("split(i, i0, i1, 32) reorder(i0, j, i1)")`.

        Those of another schedule are taken, too.
        """
        text = commands.commands if isinstance(commands, Commanded) else commands
        if not isinstance(text, str):
            raise ArgumentError(f"{text!r} is no schedule", hint='"split(i, i0, i1, 32)"')
        found = self
        try:
            for command in parse_schedule(text):
                found = found._with(command)
        except LinnetError as error:
            error.told_to(Location.of_caller())
            raise
        return found

    def _with(self, command: Command) -> Self:
        if command.at is None:
            command = replace(command, at=Location.of_caller())
        _check_names(self.program, command)
        return self._under(replace(self.program, schedule=(*self.program.schedule, command)))

    def _operand(self, operand: object) -> loops.Access:
        """An operand as it is written in the program."""
        return _access(operand)

    @property
    def commands(self) -> str:
        """The schedule as text, which `apply` reads."""
        return show_schedule(self.program.schedule)

    @property
    def provenance(self) -> Provenance:
        """Which loops come from which, by which commands; it draws itself in a notebook."""
        return Provenance(self.program)


class ScheduledKernel(Kernel, Commanded):
    """A kernel under a schedule: called like the kernel, and made faster or slower by commands."""

    @classmethod
    def of(cls, kernel: Kernel) -> ScheduledKernel:
        """A kernel, which has no commands yet."""
        return cls(kernel.program, kernel.policy)

    def _under(self, program: loops.Program) -> Self:
        return type(self)(program, self.policy)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}({', '.join(self.params)}): {self.commands}>"


def _several(index: object) -> tuple[str, ...]:
    """The names of one loop, or of several."""
    return tuple(map(name_of, index)) if isinstance(index, tuple | list) else (name_of(index),)


def _number(value: object) -> int:
    """A whole number, of Python or of NumPy."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise ArgumentError(f"{value!r} is not a whole number", hint="a number such as 32")
    return whole_number(value)


def name_of(index: object) -> str:
    """The name of a loop."""
    name = index if isinstance(index, str) else getattr(index, "name", None)
    if not isinstance(name, str) or not name:
        hint = "the name of its index, or an index of `ln.indices`"
        raise ArgumentError(
            f"{index!r} is not the name of a loop", at=Location.of_caller(), hint=hint
        )
    return name


def _access(operand: object) -> loops.Access:
    """An operand as it is written in the program."""
    if not isinstance(operand, str):
        raise ArgumentError(f"{operand!r} is not the text of an access", hint='"A[i, j]"')
    try:
        node = ast.parse(operand.strip(), mode="eval").body
    except SyntaxError:
        raise ScheduleError(f"`{operand}` is not an access", hint='"A[i, j]"') from None
    return access(Argument(node, Location(SCHEDULE, 1, 0, len(operand), operand)))


def _check_names(program: loops.Program, command: Command) -> None:
    """Refuse names that no loop has by now, and new ones that a loop has already."""
    names = Provenance(program).order
    for earlier in program.schedule:
        if isinstance(earlier, Parallelize) and not isinstance(command, Parallelize):
            problem = f"`{command}`: it comes after `{earlier}`"
            raise ScheduleError(problem, at=command.at, why=NOT_AFTER, hint=BEFORE)
    for name in command.uses:
        if name not in names:
            several = [n for n in names if n.partition(":")[0] == name]
            what = f"several loops over `{name}`" if several else f"no loop over `{name}`"
            raise ScheduleError(
                f"`{command}`: there {'are' if several else 'is'} {what}"
                f"{'' if several else ' among ' + ', '.join(names)}",
                at=command.at,
                hint=f"one of {', '.join(several)}" if several else "name one of these",
            )
    for name in command.given:
        if not name.isidentifier() or iskeyword(name):
            raise ScheduleError(
                f"`{command}`: `{name}` is no name for a loop or a workspace",
                at=command.at,
                why="code and messages call it so",
                hint="letters, digits and underscores, as for a variable",
            )
    left = [n for n in names if n not in command.ends]
    for name in command.makes:
        if name in left:
            problem = f"`{command}`: there is a loop over `{name}` already"
            raise ScheduleError(problem, at=command.at, hint="another name")
