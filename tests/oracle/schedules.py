"""Random schedules for random programs: commands each of which may follow those before it.

A command is drawn for the loops that there are by then, and tried. One that is refused is left out,
and another is drawn: so most of what is drawn is legal, however many commands there are. What is
refused may be any command; it must be refused in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar
from unittest import mock

from hypothesis import strategies as st
from tests.oracle.meaning import Arguments

from linnet import compiler, loops
from linnet.errors import LinnetError, ScheduleError
from linnet.loops.bounds import BOUNDS
from linnet.loops.commands import (
    Bound,
    Collapse,
    Command,
    Coord,
    CPUVector,
    Divisible,
    IgnoreRaces,
    NoRaces,
    Parallelize,
    ParallelReduction,
    Pos,
    Precompute,
    Reorder,
    Split,
    Unroll,
)
from linnet.loops.rewrite import accesses, walk
from linnet.normalize.shape_checks import Check
from linnet.runtime.kernel import Kernel
from linnet.runtime.specialize import formats_of
from linnet.scheduling.carry_out import carry_out
from linnet.scheduling.nest import Nest
from linnet.scheduling.positions import goes_through_positions

T = TypeVar("T")
SIZES = (2, 1, 3, 5, 1000)
LENGTHS = (1, 2, 3, 4, 5, 6)
TRIES = 3  # for each command
RACES = st.permutations((NoRaces, ParallelReduction, IgnoreRaces))
# the first is what examples shrink to; common ones are repeated
KINDS = (
    *(Split, Pos, Collapse, Pos, Reorder) * 2,
    *(Split, Coord, Bound, Precompute, Unroll),
)

# What commands keep. New ones belong into one of these, or into both.
LOOPS_IN_ORDER = (Split, Collapse, Pos, Bound)  # of which nothing is said of how they are run
SUMS_IN_ORDER = (*LOOPS_IN_ORDER, Coord, Unroll)


def keeps_loops(commands: tuple[Command, ...]) -> bool:
    """Whether all iterations are made as they would be without: in order, walking operands.

    Beside a flat loop operands are looked up.
    """
    flat = any(isinstance(command, Pos) and command.flat for command in commands)
    return not flat and all(isinstance(command, LOOPS_IN_ORDER) for command in commands)


def keeps_sums(commands: tuple[Command, ...]) -> bool:
    """Whether all sums are made in the order of the program: no turns of a loop share one."""
    apart = (NoRaces, IgnoreRaces)
    plain = [c for c in commands if not (isinstance(c, Parallelize) and c.race in apart)]
    return all(isinstance(command, SUMS_IN_ORDER) for command in plain)


def untiled(commands: tuple[Command, ...], longest: int) -> tuple[Command, ...]:
    """The same commands, of which none makes more than one tile of a range no longer than this."""
    size = max([longest, *(c.size for c in commands if isinstance(c, Split))])
    return tuple([replace(c, size=size, up=False) if isinstance(c, Split) else c for c in commands])


@st.composite
def schedules(draw: st.DrawFn, program: loops.Program, args: Arguments) -> tuple[Command, ...]:
    """A few commands for a program; none if that has no meaning, or no loops."""
    nest = nest_of(program, args)
    if nest is None or not nest.stands:
        return ()
    sizes = {n for tensor in args.values() for n in tensor.shape or ()}
    scheduler = Scheduler(draw, nest, sorted({1, 2, 3, *sizes}))
    for _ in range(draw(st.sampled_from(LENGTHS))):
        any(scheduler.command() for _ in range(TRIES))
    scheduler.all_coordinates()
    if scheduler.one_in(4):
        scheduler.vectors()
    return tuple(scheduler.found)


def nest_of(program: loops.Program, args: Arguments) -> Nest | None:
    """The program as the first command finds it; None if it does not come to that."""
    kernel, found = Kernel(program), list[Nest]()

    def keep(
        program: loops.Program,
        formats: compiler.Formats,
        written: loops.Program,
        checks: Iterable[Check] = (),
        final: bool = True,
    ) -> tuple[loops.Program, compiler.Formats]:
        found.append(Nest.of(program, formats, written, checks))
        return program, formats

    with mock.patch.object(compiler, "apply_schedule", keep):
        try:
            compiler.under_schedule(program, formats_of(kernel, [args[p] for p in program.params]))
        except LinnetError:
            return None
    return found[0] if found else None


def followed(nest: Nest, command: Command) -> Nest | None:
    """What a command makes of a nest, which is left as it is; None if it is refused."""
    after = nest.copy()
    try:
        carry_out(after, command)
    except ScheduleError:
        return None
    return after


@dataclass
class Scheduler:
    """Commands that have been drawn for a program, and what they have made of it."""

    draw: st.DrawFn
    nest: Nest
    values: list[int]  # of bounds
    found: list[Command] = field(default_factory=list)
    tried: int = 0

    def choose(self, options: Iterable[T]) -> T:
        """One of these; the first in the simplest example."""
        return self.draw(st.sampled_from(tuple(options)))

    def one_in(self, n: int) -> bool:
        """True once in a while, and False in the simplest example."""
        return self.draw(st.integers(0, n - 1)) == n - 1

    def fresh(self, letter: str) -> str:
        """A name that no loop has."""
        return f"{letter}{self.tried}"

    def add(self, command: Command) -> bool:
        """Let a command follow, if it may."""
        self.tried += 1
        after = followed(self.nest, command)
        if after is None:
            return False
        self.nest, self.found = after, [*self.found, command]
        return True

    # -- what there is ---------------------------------------------------------------------------

    def loops_of(self, name: str) -> tuple[loops.Loop, ...]:
        """The loops that a name stands for."""
        nodes = walk(self.nest.program.body)
        found = {n.index: n for n in nodes if isinstance(n, loops.Loop)}
        return tuple([found[index] for index in self.nest.stands[name]])

    def name(self) -> str:
        """The name of a loop: often one that the last command has made."""
        names = list(self.nest.stands)
        last = [n for n in self.found[-1].makes if n in names] if self.found else []
        return self.choose(last if last and self.draw(st.booleans()) else names)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The names of loops of which one is directly inside the other."""
        for outer in self.nest.stands:
            for inner in self.nest.stands:
                if self.loops_of(outer)[-1].body == self.loops_of(inner)[0]:
                    yield outer, inner

    def chain(self) -> list[str]:
        """The names of loops directly inside one another, the outermost first."""
        inside, names = dict(self.pairs()), [self.name()]
        while names[-1] in inside:
            names.append(inside[names[-1]])
        return names

    def reads(self, name: str) -> list[loops.Access]:
        """What is read in the loops that a name stands for, each access once."""
        found = accesses(self.loops_of(name)[-1].body)
        return list(dict.fromkeys(a for a, is_target in found if not is_target and a.indices))

    # -- commands --------------------------------------------------------------------------------

    def command(self) -> bool:
        """One more, if it may follow."""
        match self.choose(KINDS):
            case kind if kind is Split:
                return self.split(self.name())
            case kind if kind is Pos:
                return self.positions()
            case kind if kind is Coord:
                led = [n for n in self.nest.stands if goes_through_positions(self.loops_of(n)[0])]
                return self.add(Coord(self.choose(led or self.nest.stands), self.fresh("c")))
            case kind if kind is Collapse:
                pairs = list(self.pairs()) or [(self.name(), self.name())]
                return self.add(Collapse(*self.choose(pairs), self.fresh("f")))
            case kind if kind is Reorder:
                chain = self.chain()
                names = chain if len(chain) > 1 else list(self.nest.stands)
                order = self.draw(st.permutations(names))
                return self.add(Reorder(tuple(order[: self.choose((2, 3, 4))])))
            case kind if kind is Bound:
                return self.bound()
            case kind if kind is Precompute:
                return self.early()
            case _:
                return self.add(Unroll(self.name(), self.choose((2, 3, 4))))

    def split(self, name: str) -> bool:
        """Parts of a range, of some size or so many."""
        size, up = self.choose(SIZES), self.draw(st.booleans())
        return self.add(Split(name, self.fresh("s"), self.fresh("t"), size, up))

    def positions(self) -> bool:
        """Lead a loop through what an operand stores: one that can lead, if there is one."""
        new, flat = self.fresh("p"), self.one_in(4)
        found = [Pos(name, new, a, flat) for name in self.nest.stands for a in self.reads(name)]
        legal = [command for command in found if followed(self.nest, command) is not None]
        options = legal if legal and not self.one_in(8) else found
        if not options:
            return False
        command = self.choose(options)
        if self.draw(st.booleans()):  # its only access, whatever its indices are
            command = replace(command, access=loops.Access(command.access.tensor, ()))
        return self.add(command)

    def bound(self) -> bool:
        """Say something of a range, which need not be true."""
        kind, value = self.choose(BOUNDS), self.choose((0, *self.values))
        value = max(value, 1) if kind == Divisible else value
        bounded = self.choose(("", self.fresh("b")))
        return self.add(Bound(self.name(), bounded, value, kind))

    def early(self) -> bool:
        """Compute a part of an update before the rest, over an index, or over more of them."""
        updates = [n for n in walk(self.nest.program.body) if isinstance(n, loops.Assign)]
        values = [n for update in updates for n in walk(update.value)]
        parts = [v for v in values if isinstance(v, loops.Access | loops.Call)]
        texts, early = list(dict.fromkeys(map(self.nest.as_written, parts))), self.fresh("e")
        over, w = list(self.nest.stands), self.fresh("w")
        same = self.draw(st.booleans())
        found = [Precompute(t, (n,), (n if same else early,), w) for t in texts for n in over]
        legal = [command for command in found if followed(self.nest, command) is not None]
        options = legal if legal and not self.one_in(8) else found
        if not options:
            return False
        command = self.choose(options)
        for k, index in enumerate(n for n in over if n not in command.indices and self.one_in(4)):
            indices, names = (*command.indices, index), (*command.early, f"{early}{k}")
            command = replace(command, indices=indices, early=names)
        return self.add(command)

    def all_coordinates(self) -> None:
        """Go on to all coordinates where an operand may not lead."""
        for name in list(self.nest.stands):
            loop = self.loops_of(name)[0]
            if goes_through_positions(loop) and self.nest.led.get(loop.index) is not None:
                if not self.one_in(4) and self.split(name):
                    name = self.found[-1].makes[-1]
                self.add(Coord(name, self.fresh("c")))

    def vectors(self) -> None:
        """Make several turns of a loop at the same time."""
        names = list(self.nest.stands)
        inner = [n for n in names if not any(n == outer for outer, _ in self.pairs())]
        name, races = self.choose(names if self.one_in(4) else inner), self.draw(RACES)
        any(self.add(Parallelize(name, CPUVector, race)) for race in races)
