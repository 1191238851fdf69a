"""A program under a schedule: what its commands have made of it, and what names stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import NoReturn

from linnet import loops
from linnet.errors import Location, ScheduleError
from linnet.formats.format import Format
from linnet.loops.bases import coordinates
from linnet.loops.commands import Command
from linnet.loops.printer import show, show_range
from linnet.loops.rewrite import (
    is_left,
    names_in,
    replaced,
    rewrite_stmt,
    substitute_expr,
    walk,
)
from linnet.names import Names
from linnet.normalize.agreed import Equal, equal_modes, is_whole
from linnet.normalize.shape_checks import Check
from linnet.records import dataclass

Formats = dict[str, Format]
_FIXED = (loops.Literal, loops.Dimension)


@dataclass(slots=True)
class Nest:
    """The program so far; `stands` says which loops each name of the schedule stands for.

    It is one loop, or those that have been collapsed: directly inside one another, outermost first.
    """

    program: loops.Program
    formats: Formats
    stands: dict[str, tuple[str, ...]]
    command: Command | None = None  # the one that is being applied
    derived: set[str] = field(default_factory=set)  # names that stand for a loop no more
    led: dict[str, ScheduleError | None] = field(default_factory=dict)  # why not, if it may not
    early: dict[str, tuple[Command, bool]] = field(
        default_factory=dict
    )  # workspaces; are they sums?
    equal: Equal = field(default_factory=dict)  # dimensions that are one size
    written: dict[str, str] = field(default_factory=dict)  # as the program has its loops

    @staticmethod
    def of(
        program: loops.Program, formats: Formats, written: loops.Program, checks: Iterable[Check]
    ) -> Nest:
        """A program whose loops have the names that they were `written` with."""
        before, after = loops_of(written), loops_of(program)
        body = rewrite_stmt(program.body, _apart)
        nest = Nest(replace(program, body=body), dict(formats), names_of(before, after))
        nest.equal = equal_modes(checks, nest.formats)
        nest.written = dict(zip(after, before, strict=True))
        return nest

    def copy(self) -> Nest:
        """The same, to be changed by itself."""
        formats, stands, led = dict(self.formats), dict(self.stands), dict(self.led)
        return replace(
            self,
            formats=formats,
            stands=stands,
            derived=set(self.derived),
            led=led,
            early=dict(self.early),
        )

    def named(self, name: str) -> tuple[loops.Loop, ...]:
        """The loops that a name stands for."""
        if name not in self.stands:
            self._unknown(name)
        nodes = [n for n in walk(self.program.body) if isinstance(n, loops.Loop)]
        found = {n.index: n for n in nodes}
        named = tuple([found[index] for index in self.stands[name]])
        extent = named[0].extent
        if isinstance(extent, loops.Along) and not 0 < coordinates(extent.of) <= len(named):
            self.refuse(
                f"`{name}` is one of the indices that `{show_range(extent.of)}` has",
                hint="write loops over coordinates, which commands can change",
            )
        return named

    def loop(self, name: str) -> loops.Loop:
        """The only loop that a name stands for."""
        found = self.named(name)
        if len(found) > 1:
            problem = f"`{name}` are {len(found)} loops that have been collapsed"
            self.refuse(problem, hint="do so with one of them before, or with the parts of both")
        return found[0]

    def name_of(self, loop: loops.Loop) -> str:
        """The name by which the schedule knows a loop."""
        return next((n for n, found in self.stands.items() if loop.index in found), loop.index)

    def is_whole(self, extent: loops.Range | None, tensor: str, mode: int) -> bool:
        """Whether a range is a whole dimension of a tensor."""
        return is_whole(extent, loops.Dimension(tensor, mode), self.equal)

    def _unknown(self, name: str) -> NoReturn:
        several = [n for n in self.stands if n.partition(":")[0] == name]
        if several:
            hint = f"`{several[0]}`, if it is the first of them"
            self.refuse(f"there are several loops over `{name}`: {', '.join(several)}", hint=hint)
        if name in self.derived:
            problem = f"the loop over `{name}` has been replaced by {', '.join(self.stands)}"
            self.refuse(problem, hint="name one of these")
        problem = f"there is no loop over `{name}` among {', '.join(self.stands)}"
        self.refuse(problem, hint="name one of these")

    def replaced(self, old: loops.Loop, new: loops.Stmt) -> None:
        """Put a statement in the place of a loop."""
        body = replaced(self.program.body, old, new)
        self.program = replace(self.program, body=body)

    @property
    def taken(self) -> set[str]:
        """The names that tensors, loops and values of the program have."""
        return {*self.formats, *self.program.params, *names_in(self.program.body)}

    def names(self) -> Names:
        """Names that are not taken."""
        return Names(self.taken)

    def introduce(self, name: str, *indices: str) -> str:
        """A new name, for loops that are there or for one to come; gives the first of them.

        The index of a new loop is called as the schedule calls it, if nothing else is.
        """
        if name in self.stands:
            self.refuse(f"there is a loop over `{name}` already", hint="another name")
        if not indices:
            called = name.partition(":")[0]
            indices = (self.names().fresh(called) if called in self.taken else called,)
        self.stands[name] = indices
        return indices[0]

    def refuse_left(self, name: str, hint: str) -> None:
        """Refuse to take several loops for one if only the innermost of them may be left."""
        *around, inner = self.named(name)
        if around and is_left(inner) and not is_left(around[0]):
            why = "as one loop, all of them would be left"
            self.refuse(f"the innermost of `{name}` may be left by `break`", why=why, hint=hint)

    def temporary(self, hint: str, format: Format) -> str:
        """A tensor of a new name, for what a command needs."""
        name = Names({*self.taken, *self.stands}).fresh(hint)
        temporaries = (*self.program.temporaries, (name, format))
        self.program = replace(self.program, temporaries=temporaries)
        self.formats[name] = format
        return name

    def introduce_like(self, name: str, own: Sequence[str]) -> tuple[str, ...]:
        """A new name for loops to come, as many as others; several are called as those are."""
        if len(own) == 1:
            return (self.introduce(name),)
        names = self.names()
        indices = tuple([names.fresh(index) for index in own])
        self.introduce(name, *indices)
        return indices

    def forget(self, name: str) -> tuple[str, ...]:
        """A name that stands for a loop no more; gives what it stood for."""
        self.derived.add(name)
        return self.stands.pop(name)

    def as_written(self, expr: loops.Expr) -> str:
        """An expression with the names of loops that the user gave them."""
        names: dict[str, loops.Expr] = {own: loops.Index(n) for own, n in self.written.items()}
        return show(substitute_expr(expr, names))

    def refusal(self, problem: str, hint: str, why: str | None = None) -> ScheduleError:
        """Why the command is not applied, and what to write instead."""
        at: Location | None = None if self.command is None else self.command.at
        return ScheduleError(f"`{self.command}`: {problem}", at=at, why=why, hint=hint)

    def refuse(self, problem: str, hint: str, why: str | None = None) -> NoReturn:
        """The command is not applied."""
        raise self.refusal(problem, hint, why)


def loops_of(program: loops.Program) -> list[str]:
    """The indices of a program's loops, in its order."""
    return [n.index for n in walk(program.body) if isinstance(n, loops.Loop)]


def names_of(before: Sequence[str], after: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What the names of a program's loops stand for, once every loop has a name of its own.

    >>> names_of(["i", "j", "j"], ["i", "j", "j_2"])
    {'i': ('i',), 'j:1': ('j',), 'j:2': ('j_2',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for k, (name, own) in enumerate(zip(before, after, strict=True)):
        if before.count(name) > 1:
            name = f"{name}:{before[:k].count(name) + 1}"
        found[name] = (own,)
    return found


def _apart(stmt: loops.Stmt) -> loops.Stmt | None:
    """A loop over a product of ranges that nothing changes, as one over its own range.

    Those that a `break` ends together go along together.
    """
    match stmt:
        case loops.Loop(_, loops.Along(loops.Product(ranges), outer)) if not is_left(stmt):
            fixed = all(isinstance(end, _FIXED) for r in ranges for end in (r.start, r.stop))
            return replace(stmt, extent=ranges[len(outer)]) if fixed else None
    return None
