"""A program under a schedule: what its commands have made of it, and what names stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import NoReturn

from linnet import loops
from linnet.errors import Location, ScheduleError
from linnet.formats.format import Format
from linnet.loops.commands import Command
from linnet.loops.rewrite import rewrite_stmt, walk
from linnet.names import Names
from linnet.records import dataclass

Formats = dict[str, Format]


@dataclass(slots=True)
class Nest:
    """The program so far; `stands` says which loop each name of the schedule stands for."""

    program: loops.Program
    formats: Formats
    stands: dict[str, str]
    command: Command | None = None  # the one that is being applied
    derived: set[str] = field(default_factory=set)  # names that stand for a loop no more

    def loop(self, name: str) -> loops.Loop:
        """The loop that a name stands for."""
        found = self.stands.get(name)
        if found is None:
            self._unknown(name)
        return next(
            n for n in walk(self.program.body) if isinstance(n, loops.Loop) and n.index == found
        )

    def _unknown(self, name: str) -> NoReturn:
        several = [n for n in self.stands if n.partition(":")[0] == name]
        if several:
            self.refuse(f"there are several loops over `{name}`: {', '.join(several)}")
        if name in self.derived:
            self.refuse(f"the loop over `{name}` has been replaced by {', '.join(self.stands)}")
        self.refuse(f"there is no loop over `{name}` among {', '.join(self.stands)}")

    def replaced(self, loop: loops.Loop, new: loops.Stmt) -> None:
        """Put a statement in the place of a loop."""

        def rule(stmt: loops.Stmt) -> loops.Stmt | None:
            return new if stmt is loop else None

        self.program = replace(self.program, body=rewrite_stmt(self.program.body, rule))

    def introduce(self, name: str, index: str | None = None) -> str:
        """A new name for a loop; the index of a new loop is called so, if nothing else is."""
        if name in self.stands:
            self.refuse(f"there is a loop over `{name}` already")
        taken = {*self.formats, *self.program.params, *_bound(self.program.body)}
        if index is None:
            index = Names(taken).fresh(name) if name in taken else name
        self.stands[name] = index
        return index

    def forget(self, name: str) -> str:
        """A name that stands for a loop no more; gives the index that it stood for."""
        self.derived.add(name)
        return self.stands.pop(name)

    def refuse(self, problem: str, why: str | None = None, hint: str | None = None) -> NoReturn:
        """The command is not applied."""
        at: Location | None = None if self.command is None else self.command.at
        raise ScheduleError(f"`{self.command}`: {problem}", at=at, why=why, hint=hint)


def _bound(body: loops.Stmt) -> set[str]:
    """The names that loops and lets bind."""
    nodes = [n for n in walk(body) if isinstance(n, loops.Loop | loops.Let)]
    return {n.index if isinstance(n, loops.Loop) else n.name for n in nodes}


def loops_of(program: loops.Program) -> list[str]:
    """The indices of a program's loops, in its order."""
    return [n.index for n in walk(program.body) if isinstance(n, loops.Loop)]


def names_of(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """What the names of a program's loops stand for, once every loop has a name of its own.

    >>> names_of(["i", "j", "j"], ["i", "j", "j_2"])
    {'i': 'i', 'j:1': 'j', 'j:2': 'j_2'}
    """
    found: dict[str, str] = {}
    for k, (name, own) in enumerate(zip(before, after, strict=True)):
        if before.count(name) > 1:
            name = f"{name}:{before[:k].count(name) + 1}"
        found[name] = own
    return found
