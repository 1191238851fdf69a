"""A sparse vector that is merged with every row of a matrix is unpacked once, before the rows.

`y[i] += A[i, j] * x[j]` walks x anew for each i, as long as x is stored in order. Where the entries
of A decide what is computed, x can be looked up instead, in a temporary that has a place for every
index. Whether that pays depends on sizes (`normalize.choice`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.insertion import DENSE, workspace_format
from linnet.loops.rewrite import accesses, block, rewrite_stmt, walk
from linnet.names import Names
from linnet.normalize.choice import UNPACKED, Unpacking
from linnet.normalize.facts import Facts, facts_of
from linnet.normalize.simplify import simplify
from linnet.normalize.workspaces import Decide, Inserted
from linnet.records import dataclass

Formats = dict[str, Format]


def unpack_vectors(inserted: Inserted, decide: Decide) -> Inserted:
    """Look vectors up that would be walked again and again, where that pays.

    Needs: dimensions known, names unique. Gives: the same program, with a temporary for each.
    """
    program, formats = inserted.program, inserted.formats
    lists = [p for p in program.params if _is_list(formats[p])]
    if not lists:
        return inserted
    state = _Unpack(program, formats, decide)
    body = program.body
    changed = {str(a.tensor) for a, writes in accesses(body) if writes}
    changed |= {n.tensor for n in walk(body) if isinstance(n, loops.Declare)}
    for vector in lists:
        if vector not in changed:
            body = state.apply(body, vector)
    return replace(
        inserted,
        program=replace(program, body=body, temporaries=(*program.temporaries, *state.made)),
        formats=formats | dict(state.made),
        choices=(*inserted.choices, *state.choices),
        notes=(*inserted.notes, *state.notes),
    )


def _is_list(format: Format) -> bool:
    """Whether a tensor is a vector that lists its entries in order."""
    return format.ndim == 1 and _is_listed(format)


def _is_listed(format: Format) -> bool:
    """Whether what lies along the last index is a list of entries, to be walked in order."""
    roles = [array.role for array in format.levels[-2].arrays] if format.ndim else []
    return roles[:1] == ["position"] and {*roles[1:]} == {"coordinate"}


@dataclass(frozen=True, slots=True)
class _Use:
    """An access to the vector: the update it is in, and the loops around that."""

    access: loops.Access
    update: loops.Assign
    path: tuple[loops.Loop, ...]


class _Unpack:
    """What was decided, for all vectors."""

    def __init__(self, program: loops.Program, formats: Formats, decide: Decide) -> None:
        self.formats, self.decide = formats, decide
        bound = {n.index for n in walk(program.body) if isinstance(n, loops.Loop)}
        bound |= {n.name for n in walk(program.body) if isinstance(n, loops.Let)}
        self.names = Names({*formats, *bound})
        self.facts: Facts = facts_of(program, {n: str(f.dtype) for n, f in formats.items()})
        self.made: list[tuple[str, Format]] = []
        self.choices: list[tuple[Unpacking, str]] = []
        self.notes: list[str] = []

    def apply(self, stmt: loops.Stmt, vector: str) -> loops.Stmt:
        """The statement, with what it needs before it."""
        if isinstance(stmt, loops.Block):
            return block([self.apply(s, vector) for s in stmt.stmts])
        uses = list(_uses(stmt, vector, ()))
        count = sum(1 for access, _ in accesses(stmt) if access.tensor == vector)
        leaders = [self.leader(use) for use in uses]
        if not uses or len(uses) < count or None in leaders:
            return stmt
        name, format = self.names.fresh(f"{vector}_w"), self.formats[vector]
        itemsize = np.dtype(format.dtype).itemsize
        repeats = _repeats(uses[0])
        extents = tuple(loop.extent.whole for loop in repeats if loop.extent is not None)
        choice = Unpacking(name, vector, str(leaders[0]), itemsize, extents)
        chosen = self.decide(choice)
        self.choices.append((choice, chosen.kind))
        if chosen.kind != UNPACKED:
            return stmt
        self.made.append((name, workspace_format(format, 1, DENSE)))
        outer = uses[0].path[0].index
        self.notes.append(f"{vector} is unpacked before the loop over {outer}: {chosen.why}")
        return block([*self.unpacked(name, vector, uses[0].access), _looked_up(stmt, vector, name)])

    def leader(self, use: _Use) -> str | None:
        """A tensor in the update without whose entries there is nothing to do, row after row."""
        (j,) = use.access.indices
        assert isinstance(j, loops.Index)
        outer = {loop.index for loop in _repeats(use)}
        for other, writes in accesses(use.update):
            format = self.formats.get(str(other.tensor))
            if writes or format is None or any(other.protocols) or not _is_listed(format):
                continue
            if other.indices[format.order[-1]] != j:
                continue
            rows = {i.name for i in other.indices if isinstance(i, loops.Index)}
            if rows & outer and self.leads(other, use):
                return str(other.tensor)
        return None

    def leads(self, access: loops.Access, use: _Use) -> bool:
        """Whether an update does nothing where an access has no entry, whatever the vector has."""
        return all(
            self.is_idle(use.update, {access: self.fill(access), use.access: vector})
            for vector in (loops.Name(str(use.access.tensor)), self.fill(use.access))
        )

    def fill(self, access: loops.Access) -> loops.Literal:
        """What an access is where nothing is stored."""
        format = self.formats[str(access.tensor)]
        assert format.fill_value is not None
        return loops.Literal(format.fill_value, format.dtype, structural=True)

    def is_idle(self, stmt: loops.Stmt, values: Mapping[loops.Expr, loops.Expr]) -> bool:
        """Whether an update does nothing with these values for accesses, and any for the others."""

        def value(e: loops.Expr) -> loops.Expr | None:
            return values.get(e, loops.Name(str(e.tensor))) if isinstance(e, loops.Access) else None

        return simplify(rewrite_stmt(stmt, on_expr=value), self.facts) == loops.NOTHING

    def unpacked(self, name: str, vector: str, access: loops.Access) -> list[loops.Stmt]:
        """`w[...] = fill; for j: w[j] = x[j]`."""
        format = self.formats[vector]
        assert format.fill_value is not None
        size = loops.Dimension(vector, 0)
        here = (loops.Index(self.names.fresh(f"{vector}_0")),)
        copy = loops.Assign(
            loops.Access(name, here, at=access.at), None, loops.Access(vector, here, at=access.at)
        )
        fill = loops.Literal(format.fill_value, format.dtype)
        extent = loops.Extent(loops.Literal(0), size)
        return [
            loops.Declare(name, fill, (size,), access.at),
            loops.Loop(here[0].name, extent, copy, access.at),
        ]


def _uses(stmt: loops.Stmt, vector: str, path: tuple[loops.Loop, ...]) -> Iterator[_Use]:
    """The reads `x[j]` in updates, for an index j of a loop inside others."""
    match stmt:
        case loops.Loop():
            yield from _uses(stmt.body, vector, (*path, stmt))
        case loops.Block(stmts):
            for s in stmts:
                yield from _uses(s, vector, path)
        case loops.Let(_, _, body):
            yield from _uses(body, vector, path)
        case loops.If(_, then, orelse):
            yield from _uses(then, vector, path)
            yield from _uses(orelse, vector, path)
        case loops.Assign():
            for access, writes in accesses(stmt):
                if access.tensor == vector and not writes and not any(access.protocols):
                    use = _Use(access, stmt, path)
                    if _repeats(use):
                        yield use


def _repeats(use: _Use) -> tuple[loops.Loop, ...]:
    """The loops outside that of an access's index: in each of their iterations it is walked."""
    (j,) = use.access.indices
    for depth, loop in enumerate(use.path):
        if j == loops.Index(loop.index):
            return use.path[:depth]
    return ()


def _looked_up(stmt: loops.Stmt, vector: str, name: str) -> loops.Stmt:
    """The same, with the temporary for the vector."""

    def look_up(e: loops.Expr) -> loops.Expr | None:
        if isinstance(e, loops.Access) and e.tensor == vector:
            return loops.Access(name, e.indices, ("follow",), e.at)
        return None

    return rewrite_stmt(stmt, on_expr=look_up)
