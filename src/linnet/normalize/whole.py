"""Are all elements of a workspace written, or none of them? Then it is an array with one flag.

    w[...] = 0
    some[()] = False
    for j in range(m):
        for k in range(n):
            w[k] += A[i, j] * B[j, k]
            some[()] |= True  # where the update is made
    if some[()]:
        for k in range(n):
            C[i, k] = w[k]

Every element has a place that is known before: vectors can go along them, and nothing is listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from linnet import loops
from linnet.algebra import table
from linnet.algebra.stored import stored
from linnet.formats.format import Format
from linnet.formats.level import PERMISSIVE
from linnet.loops.bases import coordinates, gone_through, unbound
from linnet.loops.nodes import base_of
from linnet.loops.parts import counted, covered
from linnet.loops.rewrite import block, is_left, leaves, rewrite_stmt, walk
from linnet.normalize.in_order import resumes
from linnet.normalize.updates import begins, parts, paths, reads_between
from linnet.records import dataclass

Formats = dict[str, Format]
_SHORT = 64  # elements


@dataclass(slots=True)
class Path:
    """The only update of a tensor in a statement, and what stands around it."""

    update: loops.Assign
    around: list[loops.Loop] = field(default_factory=list)
    values: dict[str, loops.Expr] = field(default_factory=dict)  # what names stand for

    def depends(self, node: loops.Node, indices: set[str]) -> bool:
        """Whether a value or a range depends on one of some indices."""
        names = {n.name for n in walk(node) if isinstance(n, loops.Index | loops.Name)}
        inner = (self.values[name] for name in names & self.values.keys())
        return bool(names & indices) or any(self.depends(value, indices) for value in inner)


def path_to(stmt: loops.Stmt, tensor: str) -> Path | None:
    """The only update of a tensor, if nothing but loops decides whether it is made."""
    found = paths(stmt, tensor, ())
    if len(found) != 1 or leaves(stmt):
        return None
    path = Path(found[0][0])
    while stmt is not path.update:
        match stmt:
            case loops.Loop(_, _, body) if not is_left(stmt):
                path.around.append(stmt)
                stmt = body
            case loops.Let(name, value, body):
                path.values[name] = value
                stmt = body
            case loops.Block(stmts):
                stmt = next(s for s in stmts if paths(s, tensor, ()))
            case _:
                return None
    return path


@dataclass(frozen=True, slots=True)
class Whole:
    """What is written as a whole: all that a statement updates, or that and no more than a part.

    The parts are counted by a loop, and those `over` one of them go through its elements.
    """

    counter: loops.Loop | None = None
    over: tuple[loops.Loop, ...] = ()


def whole_of(
    stmt: loops.Stmt, declare: loops.Declare, format: Format, formats: Formats, agreed: int
) -> Whole | None:
    """Whether updates are collected in an array, as short parts of an order want.

    Loops and storage agree in the dimensions around the statement. An array of a part is copied
    before the next part begins, with which the format has to go on.
    """
    tensor, modes = declare.tensor, format.order[agreed:]
    if format.leaf.selective or begins(stmt, tensor) or reads_between(parts(stmt), tensor):
        return None
    if not resumes(format, agreed, format.ndim, opened=False):
        return None
    found = part_of(stmt, tensor, modes, formats)
    return None if found is None or not _is_short(found[1][0]) else Whole(*found)


def _is_short(loop: loops.Loop) -> bool:
    """Whether an array for a part may be cleared for each, however few elements that has."""
    assert loop.extent is not None
    match unbound(gone_through(loop.extent)):
        case loops.Part(_, _, loops.Literal(int(size))):
            return size <= _SHORT
        case _:
            return False


def is_whole(
    stmt: loops.Stmt,
    tensor: str,
    modes: Sequence[int],
    dims: Sequence[loops.Expr],
    formats: Formats,
) -> bool:
    """Whether a statement updates all elements of a tensor along some modes, or none."""
    path = path_to(stmt, tensor)
    if path is None:
        return False
    indices = [path.update.target.indices[mode] for mode in modes]
    extents = {loop.index: _covered(path, loop) for loop in path.around}
    whole = [loops.Extent(loops.Literal(0), dim) for dim in dims]
    names = [index.name for index in indices if isinstance(index, loops.Index)]
    if len({*names}) < len(modes) or [extents.get(name) for name in names] != whole:
        return False
    return is_alike(path, set(names), formats)


def part_of(
    stmt: loops.Stmt, tensor: str, modes: Sequence[int], formats: Formats
) -> tuple[loops.Loop, tuple[loops.Loop, ...]] | None:
    """A loop that counts parts, and those through a part: all elements there, or none, are updated.

    Before the next part, that is: what stands around the counter does nothing but count, too.
    """
    path = path_to(stmt, tensor)
    if path is None:
        return None
    indices = [path.update.target.indices[mode] for mode in modes]
    over = tuple(loop for loop in path.around if loops.Index(loop.index) in indices)
    counters = _counters(over)
    inside = path.around[len(counters) :]
    in_order = indices == [loops.Index(loop.index) for loop in over]
    if not counters or not in_order or path.around[: len(counters)] != _known(path, counters):
        return None
    within = Path(path.update, inside, path.values)
    extents = [loop.extent for loop in over if loop.extent is not None]
    between = {loop.index for loop in inside if loop not in over}
    if any(within.depends(extent, between | path.values.keys()) for extent in extents):
        return None
    own = {loop.index for loop in over}
    return (path.around[len(counters) - 1], over) if is_alike(within, own, formats) else None


def _counters(over: Sequence[loops.Loop]) -> list[str]:
    """The numbers of the parts that some loops go through together, those of the largest first."""
    if not over or over[0].extent is None:
        return []
    extent = over[0].extent
    if isinstance(extent, loops.Along) and len(over) != coordinates(extent.of):
        return []
    if not isinstance(extent, loops.Along) and len(over) > 1:
        return []
    of = unbound(gone_through(extent))
    found = list[str]()
    while isinstance(of, loops.Part) and isinstance(of.number, loops.Index):
        found.append(of.number.name)
        of = unbound(of.of)
    return found[::-1]


def _known(path: Path, counters: Sequence[str]) -> list[loops.Loop]:
    """The loops around that count, as far as they begin with the first part."""
    found = [loop for loop in path.around if loop.index in counters]
    ranges = (unbound(loop.extent) for loop in found)
    whole = all(isinstance(r, loops.Extent) and r.start == loops.Literal(0) for r in ranges)
    return found if whole and [loop.index for loop in found] == list(counters) else []


def counters_of(path: Path, indices: set[str]) -> set[str]:
    """The loops that count parts through which those over some indices go."""
    return {loop.index for loop in path.around if (i := counted(loop)) and i.index in indices}


def is_alike(path: Path, indices: set[str], formats: Formats) -> bool:
    """Whether an update is made for all values of some indices, if it is made for one of them.

    So it is if what is read at them is never missing, and the other loops know nothing of them.
    """
    counters = counters_of(path, indices)
    others = [loop for loop in path.around if loop.index not in indices | counters]
    ranges = [loop.extent for loop in others if loop.extent is not None]
    if any(path.depends(extent, indices | counters) for extent in ranges):
        return False
    return path.update.partial is False and _is_there(path, path.update.value, indices, formats)


def _covered(path: Path, loop: loops.Loop) -> loops.Range | None:
    """What a loop goes through, with those that count its parts."""
    counters = (c for c in path.around if (inner := counted(c)) and inner.index == loop.index)
    outermost = next(counters, None)
    return unbound(loop.extent) if outermost is None else covered(outermost)


def _is_there(path: Path, value: loops.Expr, indices: set[str], formats: Formats) -> bool:
    """Whether a value is something at all of some indices, or at none of them."""
    if not path.depends(value, indices):
        return True
    match value:
        case loops.Access(tensor, places, protocols):
            format = formats.get(str(tensor))
            if PERMISSIVE in protocols:
                return False  # nothing is there beyond its bounds
            plain = all(isinstance(i, loops.Index) or not path.depends(i, indices) for i in places)
            return plain and format is not None and (format.dense or _leads(path, value, format))
        case loops.Call(function, args) if function.space is None and not function.asks_storage:
            return all(_is_there(path, arg, indices, formats) for arg in args)
        case loops.Name(name) if name in path.values:
            return _is_there(path, path.values[name], indices, formats)
        case _:
            return False


def is_always_there(path: Path, value: loops.Expr, formats: Formats) -> bool:
    """Whether a value is something wherever it is asked for."""
    match value:
        case loops.Access(tensor, _, protocols):
            format = formats.get(str(tensor))
            if PERMISSIVE in protocols or format is None:
                return False
            return format.dense or _leads(path, value, format)
        case loops.Call(function, args) if function.space is None and not function.asks_storage:
            return all(is_always_there(path, arg, formats) for arg in args)
        case loops.Name(name):
            found = path.values.get(name)
            return found is not None and is_always_there(path, found, formats)
        case _:
            return True


def _leads(path: Path, access: loops.Access, format: Format) -> bool:
    """Whether loops go through what a tensor stores, so that it is stored wherever they are."""
    for loop in path.around:
        positions = None if loop.extent is None else base_of(loop.extent)
        if isinstance(positions, loops.Positions) and positions.tensor == access.tensor:
            places = dict(positions.given)
            together = (n.index for n in path.around if n.extent and base_of(n.extent) == positions)
            places |= zip(positions.modes, map(loops.Index, together), strict=False)
            known = [places.get(mode) for mode in range(format.ndim)]
            return known == list(access.indices)
    return False


def with_flag(collected: loops.Stmt, workspace: str, some: str, dtype: str) -> loops.Stmt:
    """Updates of a workspace and its copy, which is made only if `some` element was updated."""
    begin, *done, copy = parts(collected)
    assert isinstance(begin, loops.Declare)
    nothing = loops.Declare(some, loops.Literal(False, "bool"), (), begin.at)
    updates = raised(block(done), workspace, some, begin.init, dtype)
    flag = loops.Access(some, ())
    return block([nothing, begin, updates, loops.If(flag, copy, loops.NOTHING, begin.at)])


def raised(stmt: loops.Stmt, workspace: str, some: str, init: loops.Expr, dtype: str) -> loops.Stmt:
    """Updates of a workspace, which say that there is `some`."""
    flag = loops.Access(some, ())

    def rule(stmt: loops.Stmt) -> loops.Stmt | None:
        if isinstance(stmt, loops.Assign) and stmt.target.tensor == workspace:
            is_made = _is_made(stmt, init, dtype)
            return block([stmt, loops.Assign(flag, table.logical_or, is_made, stmt.at)])
        return None

    return rewrite_stmt(stmt, rule)


def _is_made(update: loops.Assign, init: loops.Expr, dtype: str) -> loops.Expr:
    """Whether an update is made: not where nothing is stored of its value, and that changes none.

    So the flag is simplified as the update is (`normalize.simplify`), and vanishes with it.
    """
    made: loops.Expr = loops.Literal(True, "bool")
    op = update.op
    idle = [] if op is None else [op.identity(dtype), op.right_identity(dtype)]
    same = op is None or (op.idempotent and op.associative and op.commutative)
    if same and isinstance(init, loops.Literal):
        idle.append(init.value)
    for value in dict.fromkeys(v for v in idle if v is not None):
        told = loops.Call(stored(value), (update.value,))
        made = (
            told if isinstance(made, loops.Literal) else loops.Call(table.logical_and, (made, told))
        )
    return made
