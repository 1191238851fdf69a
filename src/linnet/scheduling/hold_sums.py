"""Sums over the positions of a part are held until all of their terms are there.

    for j:                                     w[...] = 0
        for k in ln.part(ln.stored(B[i, :]):   for j:
            A[i, k] += …                           for k in …: w[place] += …
                                               for k in …: A[i, k] = w[place]

Otherwise every term is added in memory, at another place for each position. It is the workspace
that `precompute` makes on request, of a few elements, for sums that begin with what changes nothing
and are complete when the loops end: so each is the same sum of the same terms, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from linnet import loops
from linnet.formats.named import DENSE
from linnet.loops.bases import gone_through, unbound
from linnet.loops.nodes import base_of
from linnet.loops.rewrite import changes, walk
from linnet.loops.told import ranges_in, told_by
from linnet.normalize.part_arrays import through_array
from linnet.records import dataclass
from linnet.scheduling.nest import Nest
from linnet.scheduling.precompute import collected_by

_MOST = 16
"""Elements of a workspace that registers hold (`imp.whole_parts`)."""


@dataclass(frozen=True, slots=True)
class _Sums:
    """Loops over `terms` around those `through` the positions of a part, which update a result."""

    terms: tuple[loops.Loop, ...]
    through: tuple[loops.Loop, ...]
    update: loops.Assign


def hold_sums(nest: Nest) -> None:
    """Add up in a workspace what would be added in memory, term by term."""
    for sums in list(_sums_in(nest)):
        begin = _begin_of(nest, sums)
        if begin is not None:
            nest.replaced(sums.terms[0], _held(nest, sums, begin))


def _sums_in(nest: Nest) -> Iterator[_Sums]:
    """Sums of which another term of each comes in every turn of the loops around."""
    inside: set[int] = set()
    for node in walk(nest.program.body):
        if not isinstance(node, loops.Loop) or id(node) in inside:
            continue
        path = [node]
        while isinstance(path[-1].body, loops.Loop):
            path.append(path[-1].body)
        inside |= {id(loop) for loop in path}
        found = _at_end(path)
        if found is not None and _is_in_memory(nest, found):
            yield found


def _at_end(path: list[loops.Loop]) -> _Sums | None:
    """The sums that the innermost loops of a nest make."""
    update, extent = path[-1].body, path[-1].extent
    if extent is None or not isinstance(update, loops.Assign):
        return None
    of = gone_through(extent)
    part = unbound(of)
    if not isinstance(part, loops.Part):
        return None
    if not isinstance(base_of(of), loops.Positions) or collected_by(update) is None:
        return None
    match part.size:
        case loops.Literal(int(size)) if 1 < size <= _MOST:
            pass
        case _:
            return None
    depth = extent.depth + 1 if isinstance(extent, loops.Along) else 1
    around, through = path[:-depth], path[-depth:]
    used = _names((*update.target.indices, of))
    terms: list[loops.Loop] = []
    while around and around[-1].index not in used and isinstance(around[-1].extent, loops.Extent):
        terms.insert(0, around.pop())
    return _Sums(tuple(terms), tuple(through), update) if terms else None


def _names(nodes: Iterable[loops.Node]) -> set[str]:
    found = (n for node in nodes for n in walk(node))
    return {n.name for n in found if isinstance(n, loops.Index | loops.Name)}


def _is_in_memory(nest: Nest, sums: _Sums) -> bool:
    """Whether every update would load and store an element of an array."""
    format = nest.formats.get(str(sums.update.target.tensor))
    if format is None or format.dtype is None or not format.leaf.arrays:
        return False
    last = sums.through[-1].index
    apart = last in _names(sums.update.target.indices)
    return apart and all(level.full for level in format.levels[:-1])


def _begin_of(nest: Nest, sums: _Sums) -> loops.Literal | None:
    """What each sum begins with, if that changes nothing, and all of its terms are there."""
    update, body = sums.update, nest.program.body
    name, op = str(update.target.tensor), update.op
    dtype = nest.formats[name].dtype
    assert op is not None
    assert dtype is not None
    identity = op.identity(dtype)
    match [n for n in walk(body) if changes(n, name) and not isinstance(n, loops.Freeze)]:
        case [loops.Declare(_, loops.Literal() as begin) as first, loops.Assign()]:
            if begin.value != identity:
                return None
        case _:
            return None
    path = [n.index for n in walk(body) if isinstance(n, loops.Loop) and _holds(n, update)]
    around = [n.index for n in walk(body) if isinstance(n, loops.Loop) and _holds(n, first)]
    turns = {*path} - {*around} - {loop.index for loop in sums.terms}
    reads = {str(n.tensor) for n in walk(update.value) if isinstance(n, loops.Access)}
    complete = turns <= told_by(update.target.indices, ranges_in(body))
    return begin if complete and name not in reads else None


def _holds(loop: loops.Loop, stmt: loops.Stmt) -> bool:
    return any(n is stmt for n in walk(loop.body))


def _held(nest: Nest, sums: _Sums, begin: loops.Literal) -> loops.Stmt:
    """The loops around an array, and those that write the sums."""
    update = sums.update
    target = str(update.target.tensor)
    dtype = nest.formats[target].dtype
    assert dtype is not None
    name = nest.temporary(f"{target}_w", DENSE(1).with_dtype(dtype).with_fill(begin.value))
    declare = loops.Declare(name, begin, (), update.at)
    return through_array(sums.terms[0], update, sums.through, declare, nest.names())
