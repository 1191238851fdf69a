"""`plan.provenance`: which loops a schedule has made of which, as a text and as a picture.

i, j -> f      collapse       i = f // A.shape[1], j = f % A.shape[1]
f -> p         pos A[i, j]    i = A.crd_i[parent(A.pos_j, p)], j = A.crd_j[p]
p -> p0, p1    split 16       p = p0 * 16 + p1
loops: p0, p1
"""

from __future__ import annotations

from collections.abc import Sequence

from linnet import loops
from linnet.handed import Above
from linnet.loops.commands import Bound, Command, Pos, Reorder, Split
from linnet.loops.printer import show
from linnet.loops.rewrite import accesses, walk
from linnet.normalize.scopes import name_scopes
from linnet.records import dataclass
from linnet.scheduling.nest import loops_of, names_of
from linnet.scheduling.provenance import (
    Relation,
    child_bounds,
    recover_original,
    relations_of,
    sources,
)

_above = Above("scheduling")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the loops of a program come from: those that it was written with, and its commands."""

    program: loops.Program

    @property
    def roots(self) -> tuple[str, ...]:
        """The loops as they were written."""
        scoped = name_scopes(self.program)
        return tuple(names_of(loops_of(self.program), loops_of(scoped)))

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What derives an index from others."""
        return relations_of(self.program.schedule)

    @property
    def order(self) -> tuple[str, ...]:
        """The names that stand for loops by now, the outermost first."""
        found = list(self.roots)
        for command in self.program.schedule:
            found = after(found, command)
        return tuple(found)

    def bounds(self) -> dict[str, loops.Extent]:
        """How far all of them run."""
        found = {root: _extent(self.program, root) for root in self.roots}
        for relation in self.relations:
            found |= child_bounds(relation, found, self.relations)
        return found

    def rows(self) -> list[tuple[str, str, str]]:
        """Every relation: what it derives from what, by which command, and what that means."""
        bounds, found = self.bounds(), []
        for relation in self.relations:
            originals = recover_original(relation, bounds, self.relations)
            meaning = ", ".join(f"{i} = {_text(e)}" for i, e in sorted(originals.items()))
            made = f"{', '.join(sources(relation))} -> {', '.join(relation.makes)}"
            made = made if relation.makes else ", ".join(relation.uses)
            found.append((made, label(relation), meaning))
        return found

    def __str__(self) -> str:
        rows = self.rows()
        first, second = (max([len(row[k]) for row in rows], default=0) for k in (0, 1))
        lines = [f"{a:{first}}    {b:{second}}    {c}".rstrip() for a, b, c in rows]
        return "\n".join([*lines, f"loops: {', '.join(self.order)}"])

    def __repr__(self) -> str:
        return str(self)

    def _repr_svg_(self) -> str:
        svg: str = _above.derived(self).svg
        return svg


def label(relation: Relation) -> str:
    """What a relation does, in few words."""
    match relation:
        case Split(size=size, up=up):
            return f"split {'up ' if up else ''}{size}"
        case Pos(access=access):
            return f"pos {show(access)}" if access.indices else f"pos {access.tensor}"
        case Bound(value=value, kind=kind):
            return f"bound {kind} {value}"
    return str(relation).partition("(")[0]


def after(names: Sequence[str], command: Command) -> list[str]:
    """The names of loops, the outermost first, after a command."""
    names = list(names)
    if isinstance(command, Reorder):
        places = sorted(names.index(name) for name in command.order)
        for place, name in zip(places, command.order, strict=True):
            names[place] = name
        return names
    at = min((names.index(name) for name in command.ends or command.uses), default=0)
    left = [name for name in names if name not in command.ends]
    return [*left[:at], *command.makes, *left[at:]]


def _extent(program: loops.Program, root: str) -> loops.Extent:
    """How far a loop runs as it was written: over a dimension, unless it says something else."""
    index, _, number = root.partition(":")
    found = [n for n in walk(program.body) if isinstance(n, loops.Loop) and n.index == index]
    loop = found[int(number or 1) - 1]
    if isinstance(loop.extent, loops.Extent):
        return loop.extent
    for access, _ in accesses(loop.body):
        if loops.Index(index) in access.indices:
            mode = access.indices.index(loops.Index(index))
            return loops.Extent(loops.Literal(0), loops.Dimension(str(access.tensor), mode))
    return loops.Extent(loops.Literal(0), loops.Name(f"n_{index}"))


def _text(expr: loops.Expr) -> str:
    return show(expr).replace("ln.", "")
