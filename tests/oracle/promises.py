"""What a schedule says of operands, and what its user vouches for: whether it is so.

`bound` says where ranges end, and `IgnoreRaces` that no two turns of a loop come by a place to
which one of them writes. The reference interpreter runs the scheduled program, and looks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from unittest import mock

from tests.oracle.check import Subject
from tests.oracle.meaning import Arguments, cells

from linnet import loops
from linnet.compiler import under_schedule
from linnet.errors import ScheduleError
from linnet.imp.how import IGNORE_RACES
from linnet.loops import interpret
from linnet.loops.cells import Cell
from linnet.loops.rewrite import accesses, block, walk
from linnet.runtime.specialize import formats_of

BOUND, RACE = "a bound does not hold", "turns race"


def broken_promise(subject: Subject, args: Arguments) -> str:
    """What does not hold of the loops of a program for these arguments; nothing if all does."""
    program = subject.kernel.program
    formats = formats_of(subject.kernel, [args[p] for p in program.params])
    tiled, formats, *_ = under_schedule(program, formats)
    nodes = list(walk(tiled.body))
    vouched = [n for n in nodes if isinstance(n, loops.Loop) and n.how.race == IGNORE_RACES]
    if not vouched and not any(isinstance(n, loops.Bounded) for n in nodes):
        return ""
    turns, formats = Turns.of(vouched), formats | dict(tiled.temporaries)

    def watching(cells: dict[str, Cell], strict: bool) -> Watching:
        return Watching(cells, strict, turns=turns)

    with mock.patch.object(interpret, "_Compiler", watching):
        try:
            interpret.run(at_the_call(tiled), cells(subject.kernel, args, formats))
        except ScheduleError:
            return BOUND
    return RACE if turns.race else ""


def at_the_call(program: loops.Program) -> loops.Program:
    """The program, before which all is checked that is said of ranges and known from the start."""
    found: dict[loops.Range, None] = {}
    for bound in (n for n in walk(program.body) if isinstance(n, loops.Bounded)):
        if not any(isinstance(n, _CHANGES) for n in walk(bound)):
            found[bound] = None
    checks = [loops.Loop(f"check {k}", bound, loops.NOTHING) for k, bound in enumerate(found)]
    return replace(program, body=block([*checks, program.body]))


_CHANGES = (loops.Index, loops.Name, loops.Access, loops.Positions)


@dataclass
class Turns:
    """Which turns of some loops come by which places of what is written in them."""

    loops: dict[int, str]  # by their bodies
    written: dict[str, set[str]]
    race: bool = False
    now: dict[str, int] = field(default_factory=dict)
    seen: dict[str, dict[tuple[str, tuple[int, ...]], int]] = field(default_factory=dict)

    @staticmethod
    def of(found: list[loops.Loop]) -> Turns:
        """Before any turn. What is begun anew in every turn is one place for all of them."""
        written = {n.index: {str(a.tensor) for a, t in accesses(n.body) if t} for n in found}
        declares = any(isinstance(s, loops.Declare) for n in found for s in walk(n.body))
        return Turns({id(n.body): n.index for n in found}, written, declares)

    def begin(self, index: str) -> None:
        """A loop begins."""
        self.now.pop(index, None)
        self.seen[index] = {}

    def come_by(self, tensor: str, place: tuple[int, ...]) -> None:
        """The turns that are made now come by a place."""
        for index, turn in self.now.items():
            if tensor in self.written[index]:
                first = self.seen[index].setdefault((tensor, place), turn)
                self.race = self.race or first != turn


@dataclass
class Watching(interpret._Compiler):
    """The interpreter, which tells who comes by where."""

    turns: Turns = field(kw_only=True)

    def stmt(self, stmt: loops.Stmt) -> interpret.Do:
        """What a statement does; the body of a loop begins by saying which turn this is."""
        do, turns, index = super().stmt(stmt), self.turns, self.turns.loops.get(id(stmt))
        if index is not None:

            def turn(env: interpret.Env) -> None:
                turns.now[index] = env[index]  # type: ignore[assignment]
                do(env)
                del turns.now[index]

            return turn
        return do

    def _loop(self, stmt: loops.Loop) -> interpret.Do:
        do, turns = super()._loop(stmt), self.turns
        if stmt.index not in turns.written:
            return do

        def loop(env: interpret.Env) -> None:
            turns.begin(stmt.index)
            do(env)

        return loop

    def _place(self, access: loops.Access) -> interpret.Where:
        where, turns, tensor = super()._place(access), self.turns, str(access.tensor)

        def place(env: interpret.Env) -> tuple[int, ...] | interpret.Beyond:
            found = where(env)
            if isinstance(found, tuple):
                turns.come_by(tensor, found)
            return found

        return place
