"""What comes out of order is put in order before it is multiplied, where that is less (WORK §6).

`for k, i, j: C[i, j] += A[i, k] * B[k, j]` scatters a product for every pair of values that meet.
All products of `A[i, k]` go to row i, so that it is enough to collect the values of A by rows: then
those of C come one after the other. Each element is updated in the same order as before. Whether
that pays depends on sizes (`normalize.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.insertion import rows_format
from linnet.formats.level import Level
from linnet.loops.rewrite import accesses, rewrite_stmt, walk
from linnet.names import Names
from linnet.normalize.counting import Counted, count_first
from linnet.records import dataclass

Formats = Mapping[str, Format]


@dataclass(frozen=True, slots=True)
class Regrouping:
    """A nest of loops, the outermost first, around an update, and what is to be collected instead.

    `moved` is the index by which the result is stored, `operand` the only access that keeps it from
    being the outermost.
    """

    nest: tuple[loops.Loop, ...]
    update: loops.Assign
    moved: str
    operand: loops.Access

    def collected(self, name: str, format: Format, names: Names) -> Counted:
        """Statements that put the values of the operand, in this format, in order."""
        own = [loop for loop in self.nest if loops.Index(loop.index) in self.operand.indices]
        new = {loop.index: loops.Index(names.fresh(loop.index)) for loop in own}
        at, indices = self.operand.at, self.operand.indices
        assert format.fill_value is not None
        value = loops.Access(self.operand.tensor, tuple(new[_name(i)] for i in indices), at=at)
        order = [_name(i) for i in self._in_order(name).indices]
        place = loops.Access(name, tuple(new[i] for i in order), at=at)
        write = loops.Assign(place, None, value, self.update.at)
        stmt: loops.Stmt = write
        for loop in reversed(own):
            stmt = replace(loop, index=new[loop.index].name, body=stmt)
        ends = {loop.index: loop.extent.whole.stop for loop in own if loop.extent is not None}
        fill = loops.Literal(format.fill_value, format.dtype)
        begin = loops.Declare(name, fill, tuple(ends[i] for i in order), at)
        path = tuple(new[loop.index].name for loop in own)
        counted = count_first(begin, stmt, write, path, format, names)
        assert counted is not None  # every element is written once, below a dimension that is full
        return counted

    def in_order(self, name: str) -> loops.Stmt:
        """The nest as the result is stored, with the temporary for the operand."""
        here = self._in_order(name)

        def replaced(e: loops.Expr) -> loops.Expr | None:
            return here if e == self.operand else None

        stmt = rewrite_stmt(self.update, on_expr=replaced)
        outermost = [loop for loop in self.nest if loop.index == self.moved]
        rest = [loop for loop in self.nest if loop.index != self.moved]
        for loop in reversed(outermost + rest):
            stmt = replace(loop, body=stmt)
        return stmt

    def _in_order(self, name: str) -> loops.Access:
        """An element of the temporary, whose first dimension is that of the index that moves."""
        rest = [i for i in self.operand.indices if _name(i) != self.moved]
        return loops.Access(name, (loops.Index(self.moved), *rest), at=self.operand.at)


def regrouping(stmt: loops.Stmt, format: Format, formats: Formats) -> Regrouping | None:
    """How a nest around one update of a tensor of this format can be put in order, if it can.

    Needs: loops whose extents are sizes. One operand, a matrix, is stored by the outermost index
    and then the first one of the result. Others that have that one are stored by it, and what has
    the outermost index, which is now met in every row, is looked up there.
    """
    nest = []
    while isinstance(stmt, loops.Loop):
        nest.append(stmt)
        stmt = stmt.body
    if not isinstance(stmt, loops.Assign) or not all(_stands_alone(loop) for loop in nest):
        return None
    moved, path = stmt.target.indices[format.order[0]], [loop.index for loop in nest]
    if not isinstance(moved, loops.Index) or moved.name not in path:
        return None
    read = dict.fromkeys(a for a, writes in accesses(stmt) if not writes)
    found = [a for a in read if _leads(a, (path[0], moved.name), formats)]
    if len(found) != 1 or not all(
        _stays(a, moved.name, path, formats) for a in read if a not in found
    ):
        return None
    return Regrouping(tuple(nest), stmt, moved.name, found[0])


def format_of(regrouping: Regrouping, formats: Formats) -> Format:
    """The format in which the operand is collected."""
    return rows_format(formats[str(regrouping.operand.tensor)])


def _name(index: loops.Expr) -> str:
    assert isinstance(index, loops.Index)
    return index.name


def _stands_alone(loop: loops.Loop) -> bool:
    """Whether a loop runs over the same indices wherever it stands."""
    extent = loop.extent
    return isinstance(extent, loops.Extent) and _is_size(extent.start) and _is_size(extent.stop)


def _is_size(expr: loops.Expr) -> bool:
    match expr:
        case loops.Literal(int() as value):
            return value >= 0
        case _:
            return isinstance(expr, loops.Dimension)


def _leads(access: loops.Access, by: tuple[str, str], formats: Formats) -> bool:
    """Whether an access is to a matrix whose stored values come by these two indices."""
    format = formats.get(str(access.tensor))
    if format is None or format.ndim != 2 or any(access.protocols) or format.fill_value is None:
        return False
    sparse = any(not level.full for level in format.levels[:-1])
    alone = all(_is_one_by_one(level) for level in format.levels)
    return sparse and alone and [access.indices[m] for m in format.order] == [*map(loops.Index, by)]


def _is_one_by_one(level: Level) -> bool:
    """Whether every stored value is that of one element."""
    return not (level.runs or level.spans or level.pads or level.covers or level.mirrored)


def _stays(access: loops.Access, moved: str, path: Sequence[str], formats: Formats) -> bool:
    """Whether an access is as good when the moved index comes first."""
    format = formats.get(str(access.tensor))
    if format is None:
        return False
    stored = [(access.indices[m], k) for k in range(len(format.levels)) for m in format.modes_of(k)]
    if any(_mentions(index, moved) for index, _ in stored):
        plain = [index.name for index, _ in stored if isinstance(index, loops.Index)]
        order = [moved, *(i for i in path if i != moved)]
        if len(plain) == len(stored) and plain == [i for i in order if i in plain]:
            return True
        return all(level.full for level in format.levels[:-1])
    again = [format.levels[k] for index, k in stored if _mentions(index, path[0])]
    return all(level.full or level.located for level in again)


def _mentions(index: loops.Expr, name: str) -> bool:
    return loops.Index(name) in walk(index)
