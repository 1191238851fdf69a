"""The iteration spaces of a program: for every assignment and every loop around it, a region.

What lowering will do, as a value to look at: nothing is compiled from it. A leaf is an access, by
its text. An access to a dimension that is stored in full covers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from linnet import loops
from linnet.algebra.derive import Space, derive
from linnet.algebra.dtypes import Number, weak_dtype
from linnet.algebra.exact import same
from linnet.algebra.lattice import Lattice, lattice
from linnet.algebra.regions import EMPTY, UNIVERSE, Complement, Leaf, Region, leaves, substitute
from linnet.algebra.regions import show as show_region
from linnet.formats.format import Format
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.records import dataclass

Formats = Mapping[str, Format]


@dataclass(frozen=True, slots=True)
class LoopSpace:
    """What a loop visits for the sake of one assignment below it."""

    index: str
    stmt: loops.Assign
    lattice: Lattice


def spaces_of(program: loops.Program, formats: Formats) -> list[LoopSpace]:
    """For each assignment, the space of each loop around it, outermost first."""
    inits = {
        n.tensor: n.init.value
        for n in walk(program.body)
        if isinstance(n, loops.Declare) and isinstance(n.init, loops.Literal)
    }
    found = []
    for stmt, path in _assignments(program.body, ()):
        for index in path:
            space = space_of(stmt.value, formats, index, path)
            region = _visited(stmt, space, inits)
            read = tuple(_leaf(a) for a in _accesses(stmt.value, index, formats))
            found.append(LoopSpace(index, stmt, lattice(region, read)))
    return found


def describe(program: loops.Program, formats: Formats) -> str:
    """The spaces of all loops, as text: the region, and where it takes several tensors its lattice.

    A point with a cross is passed over; `U` stands for all coordinates.
    """
    lines: list[str] = []
    stmt: loops.Assign | None = None
    for found in spaces_of(program, formats):
        if found.stmt is not stmt:
            stmt = found.stmt
            lines.append(show(stmt))
        lines.append(f"    for {found.index}: {show_region(found.lattice.region)}")
        if len(found.lattice.points) > 1:
            lines += [f"        {line}" for line in str(found.lattice).splitlines()]
    return "\n".join(lines)


def _assignments(
    stmt: loops.Stmt, path: tuple[str, ...]
) -> Iterator[tuple[loops.Assign, tuple[str, ...]]]:
    match stmt:
        case loops.Assign():
            yield stmt, path
        case loops.Loop(index, _, body):
            yield from _assignments(body, (*path, index))
        case loops.Let(_, _, body):
            yield from _assignments(body, path)
        case loops.If(_, then, orelse):
            yield from _assignments(then, path)
            yield from _assignments(orelse, path)
        case loops.Block(stmts):
            for s in stmts:
                yield from _assignments(s, path)
        case _:
            return


def _visited(stmt: loops.Assign, space: Space, inits: Mapping[str, Number]) -> Region:
    """All of a loop, unless what an assignment does outside of its value's region is nothing."""
    if space.fill is None:
        return UNIVERSE
    if stmt.op is None:
        init = inits.get(str(stmt.target.tensor))
        return space.region if init is None or same(space.fill, init) else UNIVERSE
    idle = (stmt.op.identity, stmt.op.right_identity)
    neutral = any(same(space.fill, law(space.dtype)) for law in idle)
    return space.region if neutral else UNIVERSE


def space_of(
    expr: loops.Expr, formats: Formats, index: str | None = None, path: tuple[str, ...] = ()
) -> Space:
    """Where an expression may differ from its fill value, along one index or (None) along all."""
    match expr:
        case loops.Literal(value, dtype):
            return Space(EMPTY, value, dtype or weak_dtype(value))
        case loops.Access(str(name)):
            format = formats[name]
            region: Region = Leaf(_leaf(expr)) if _is_sparse(expr, format, index) else UNIVERSE
            return Space(region, format.fill_value, format.dtype or "float64")
        case loops.Call(function, args):
            found = derive(function, tuple([space_of(a, formats, index, path) for a in args]))
            return replace(found, region=_without_omitters(found.region, expr, index, path))
        case _:
            return Space(UNIVERSE, None, "int64")


def _without_omitters(
    region: Region, expr: loops.Expr, index: str | None, path: tuple[str, ...]
) -> Region:
    """Nothing can be left out on account of what is stored before the last loop is reached."""
    if index is None or not path or index == path[-1]:
        return region
    inner = set(path[path.index(index) + 1 :])
    later = {
        _leaf(n)
        for n in walk(expr)
        if isinstance(n, loops.Access)
        and any(i == loops.Index(p) for i in n.indices for p in inner)
    }
    return _positive(region, later)


def _positive(region: Region, later: set[str]) -> Region:
    match region:
        case Complement(Leaf(name)) if name in later:
            return UNIVERSE
        case Leaf() | Complement():
            return region
        case _:
            names = {name: Leaf(name) for name in leaves(region)}
            parts = getattr(region, "regions", None)
            if parts is None:
                return region
            joined = type(region)(tuple(_positive(p, later) for p in parts))  # type: ignore[call-arg]
            return substitute(joined, names)


def _leaf(access: loops.Access) -> str:
    return show(access)


def _accesses(expr: loops.Expr, index: str, formats: Formats) -> Iterator[loops.Access]:
    for node in walk(expr):
        if (
            isinstance(node, loops.Access)
            and isinstance(node.tensor, str)
            and _is_sparse(node, formats[node.tensor], index)
        ):
            yield node


def _is_sparse(access: loops.Access, format: Format, index: str | None) -> bool:
    """Whether not every place along the index is stored."""
    for number, level in enumerate(format.levels[:-1]):
        for mode in format.modes_of(number):
            mine = index is None or access.indices[mode] == loops.Index(index)
            if mine and not level.full:
                return True
    return False
