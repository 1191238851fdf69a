"""Symmetric operands: every stored entry is read once, for both its places (FINCH Fig. 19).

    for i, j: S(i, j)     ->     for i, j:
                                     if j < i:    S(i, j); S(j, i)
                                     elif j == i: S(i, j)

That is a change of order, and done where the order of the updates does not matter. Elsewhere the
half that is not stored is searched for. What S adds up for i gets a scalar around the loop over j.
"""

from __future__ import annotations

from dataclasses import field, replace

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.table import equal, less
from linnet.errors import FormatError
from linnet.formats.format import Format
from linnet.formats.insertion import sum_format
from linnet.formats.level import STORED
from linnet.loops.parts import counted, covered
from linnet.loops.rewrite import accesses, block, map_stmts, rewrite_stmt, substitute, walk
from linnet.names import Names
from linnet.normalize.shape_checks import Check
from linnet.normalize.words import both_places, by_words, grid_of, lasting, renamed, tiles_of
from linnet.records import dataclass

Formats = dict[str, Format]
Mode = tuple[str, int]


def split_symmetric(
    program: loops.Program, formats: Formats, checks: tuple[Check, ...]
) -> tuple[loops.Program, Formats]:
    """Read symmetric operands by their stored half, where the loops around an access allow it.

    Needs: dimensions known, names unique. Gives: the same, and no symmetric tensor is written.
    """
    mirrored = {name for name, f in formats.items() if any(x.mirrored for x in f.levels)}
    if not mirrored:
        return program, formats
    _refuse_writes(program, mirrored)
    bound = {n.index if isinstance(n, loops.Loop) else n.name
             for n in walk(program.body) if isinstance(n, loops.Loop | loops.Let)}  # fmt: skip
    names = Names({*formats, *bound})
    split = _Split(program, mirrored, _squares(mirrored, checks), formats, names)
    body = split.stmt(program.body)
    temporaries = (*program.temporaries, *split.made.items())
    return replace(program, body=body, temporaries=temporaries), formats | split.made


def _refuse_writes(program: loops.Program, mirrored: set[str]) -> None:
    for node in walk(program.body):
        if isinstance(node, loops.Assign | loops.Declare):
            name = node.target.tensor if isinstance(node, loops.Assign) else node.tensor
            if name in mirrored:
                raise FormatError(
                    f"`{name}` is written here, and a symmetric format is made when a kernel ends",
                    at=node.at,
                    why="nothing says that what is written is symmetric before all of it is there",
                    hint="use another format for a temporary, such as CSR",
                )


def _squares(mirrored: set[str], checks: tuple[Check, ...]) -> dict[str, set[Mode]]:
    """For each symmetric tensor the dimensions that are as long as its own."""
    equal = [
        {(c.a.tensor, c.a.mode), (c.b.tensor, c.b.mode)}
        for c in checks
        if c.relation == "=="
        and isinstance(c.a, loops.Dimension)
        and isinstance(c.b, loops.Dimension)
    ]
    found = {}
    for name in mirrored:
        modes: set[Mode] = {(name, 0), (name, 1)}
        while more := [pair for pair in equal if pair & modes and not pair <= modes]:
            modes.update(*more)
        found[name] = modes
    return found


@dataclass(slots=True)
class _Split:
    """Finds pairs of loops around symmetric accesses."""

    program: loops.Program
    mirrored: set[str]
    squares: dict[str, set[Mode]]
    formats: Formats
    names: Names
    made: Formats = field(default_factory=dict)
    wholes: dict[str, loops.Extent] = field(default_factory=dict)  # gone through part by part

    def stmt(self, stmt: loops.Stmt) -> loops.Stmt:
        """Split the pairs of loops in a statement, the outermost first."""
        if isinstance(stmt, loops.Loop) and (parts := counted(stmt)) is not None:
            range_of_all = covered(stmt)
            if isinstance(range_of_all, loops.Extent):
                self.wholes[parts.index] = range_of_all
        match stmt:
            case loops.Loop(i, outer, loops.Loop(j, inner, body) as below):
                read = sorted(self._read(body, i, j))
                rows_of = self.wholes.get(i, outer)
                whole = [x for x in read if self._covers(x, rows_of) and self._covers(x, inner)]
                scattered = _in_any_order(body, i, j, self.formats, sparse=True)
                scattered = scattered and i not in self.wholes
                tiles = tiles_of(stmt, whole, self.program, self.formats) if scattered else None
                if tiles is not None:
                    inside = lasting(self.program.body, self.squares[tiles.tensors[0]])
                    return by_words(stmt, tiles, self.formats, inside, self.names)
                rows = any(grid_of(self.formats[x]) is None for x in whole)
                if rows and _in_any_order(body, i, j, self.formats):
                    sums = _Sums(self.formats, self.names, self.made)
                    near = sums.collected(body, i, j)
                    twice = self._twice(near, body, i, j)
                    pair = replace(below, extent=rows_of, body=twice)
                    return replace(stmt, body=block([*sums.before, pair, *sums.after]))
        return map_stmts(stmt, self.stmt)

    def _read(self, body: loops.Stmt, i: str, j: str) -> set[str]:
        """The symmetric tensors that are read at [i, j] or [j, i]."""
        places = both_places(i, j)
        return {
            str(a.tensor)
            for a, is_target in accesses(body)
            if a.tensor in self.mirrored and a.indices in places and not any(a.protocols)
        }

    def _covers(self, name: str, extent: loops.Range | None) -> bool:
        """Whether a loop runs over a whole side of the matrix."""
        match extent:
            case loops.Extent(loops.Literal(0), loops.Dimension(tensor, mode)):
                return (tensor, mode) in self.squares[name]
        return False

    def _twice(self, near: loops.Stmt, body: loops.Stmt, i: str, j: str) -> loops.Stmt:
        """Both places of an entry below the diagonal, and the one of an entry on it."""
        here, there = loops.Index(i), loops.Index(j)
        first = self._stored(near, i, j)
        mirror = self._stored(substitute(body, {i: there, j: here}), i, j)
        below, at = (loops.Call(f, (there, here)) for f in (less, equal))
        both = loops.Block((first, renamed(mirror, self.names)))
        diagonal = loops.If(at, renamed(first, self.names), loops.NOTHING)
        return loops.If(below, both, diagonal)

    def _stored(self, body: loops.Stmt, i: str, j: str) -> loops.Stmt:
        """The accesses at [i, j] and [j, i] as accesses to the stored half."""
        read = {x for x in self._read(body, i, j) if grid_of(self.formats[x]) is None}

        def rule(e: loops.Expr) -> loops.Expr | None:
            if not isinstance(e, loops.Access) or e.tensor not in read or any(e.protocols):
                return None
            if {x.name for x in e.indices if isinstance(x, loops.Index)} != {i, j}:
                return None
            # the outer loop is over what is stored outside
            turned = self.formats[str(e.tensor)].order == (1, 0)
            indices, protocols = (loops.Index(i), loops.Index(j)), ("", STORED)
            if turned:
                indices, protocols = indices[::-1], protocols[::-1]
            return replace(e, indices=indices, protocols=protocols)

        return rewrite_stmt(body, on_expr=rule)


@dataclass(slots=True)
class _Sums:
    """Scalars for what is updated at one place in the loop over j, and in others by its mirror."""

    formats: Formats
    names: Names
    made: Formats
    before: list[loops.Stmt] = field(default_factory=list)
    after: list[loops.Stmt] = field(default_factory=list)

    def collected(self, body: loops.Stmt, i: str, j: str) -> loops.Stmt:
        """The body with updates of scalars, declared before the loop and written back after it."""
        match body:
            case loops.Block(stmts):
                return block([self.collected(s, i, j) for s in stmts])
            case loops.Let(name, value, inner, at):
                return loops.Let(name, value, self.collected(inner, i, j), at)
            case loops.Assign(target, op, value, at) if op is not None:
                plain = {x.name for x in target.indices if isinstance(x, loops.Index)}
                format = self.formats[str(target.tensor)]
                assert format.dtype is not None
                identity = op.identity(format.dtype)
                if plain == {i} and len(target.indices) == 1 and identity is not None:
                    return self._sum(body, format, identity)
        return body

    def _sum(self, stmt: loops.Assign, format: Format, identity: Number) -> loops.Stmt:
        name = self.names.fresh(f"{stmt.target.tensor}_sum")
        self.made[name] = sum_format(format, identity)
        total = loops.Access(name, ())
        self.before.append(loops.Declare(name, loops.Literal(identity, format.dtype), (), stmt.at))
        self.after.append(loops.Assign(stmt.target, stmt.op, total, stmt.at))
        return replace(stmt, target=total)


def _in_any_order(body: loops.Stmt, i: str, j: str, formats: Formats, sparse: bool = False) -> bool:
    """Whether iterations of the two loops may be run in any order, with i and j exchanged.

    A sparse result of assignments is left alone, unless it is said to be `sparse`: one that is
    written in several places does not know which elements need not be stored.
    """
    written = {a.tensor for a, is_target in accesses(body) if is_target}
    if any(a.tensor in written for a, is_target in accesses(body) if not is_target):
        return False
    for node in walk(body):
        match node:
            case loops.Declare() | loops.Freeze() | loops.Thaw() | loops.Swap() | loops.Break():
                return False
            case loops.Assign(target, op):
                plain = {x.name for x in target.indices if isinstance(x, loops.Index)}
                levels = formats[str(target.tensor)].levels[:-1]
                full = sparse or all(level.full for level in levels)
                once = op is None and {i, j} <= plain and full
                if not once and (op is None or not (op.commutative and op.associative)):
                    return False
    return True
