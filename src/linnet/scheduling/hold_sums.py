"""Sums over the elements of a part are held until all of their terms are there.

    for j:                                   w[...] = 0
        for k in ln.part(range(n), t, 32):   for j:
            A[i, k] += …                         for k in …: w[place] += …
                                             for k in …: A[i, k] = w[place]

Otherwise every term is added in memory, at another place for each element. It is the workspace
that `precompute` makes on request, of a few elements, for sums that begin with what changes nothing
and are complete when the loops end: so each is the same sum of the same terms, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from linnet import loops
from linnet.formats.named import DENSE, SCALAR
from linnet.loops.bases import gone_through, unbound
from linnet.loops.nodes import base_of
from linnet.loops.rewrite import accesses, changes, walk
from linnet.loops.told import ranges_in, told_by
from linnet.normalize.part_arrays import through_array
from linnet.normalize.whole import with_flag
from linnet.records import dataclass
from linnet.scheduling.chains import chains, updates_in
from linnet.scheduling.nest import Nest

MOST, _MOST_POSITIONS = 64, 16
"""Elements of a workspace that registers hold (`optimize.parts`), in vectors and one by one."""


@dataclass(frozen=True, slots=True)
class _Sums:
    """Loops over `terms` around those `through` the elements of a part, which update results."""

    terms: tuple[loops.Loop, ...]
    through: tuple[loops.Loop, ...]
    updates: tuple[loops.Assign, ...]


def hold_sums(nest: Nest) -> bool:
    """Add up in a workspace what would be added in memory, term by term; say if there is any."""
    held = False
    for sums in list(_sums_in(nest)):
        begins = [_begin_of(nest, sums, update) for update in sums.updates]
        known = [begin for begin in begins if begin is not None]
        if len(known) == len(begins):
            nest.replaced(sums.terms[0], _held(nest, sums, known))
            held = True
    return held


def _sums_in(nest: Nest) -> Iterator[_Sums]:
    """Sums of which another term of each comes in every turn of the loops around."""
    for path in chains(nest.program.body):
        found = _at_end(path)
        if found is None or not all(_is_in_memory(nest, found, u) for u in found.updates):
            continue
        if len(found.updates) == 1 or all(_is_dense(nest, u) for u in found.updates):
            yield found


def _at_end(path: list[loops.Loop]) -> _Sums | None:
    """The sums that the innermost loops of a nest make."""
    updates, extent = updates_in(path[-1].body), path[-1].extent
    if extent is None or not updates:
        return None
    of = gone_through(extent)
    part = unbound(of)
    if not isinstance(part, loops.Part) or not _fits(part, isinstance(base_of(of), loops.Extent)):
        return None
    depth = extent.depth + 1 if isinstance(extent, loops.Along) else 1
    around, through = path[:-depth], path[-depth:]
    used = _names([of, *(i for update in updates for i in update.target.indices)])
    terms: list[loops.Loop] = []
    while around and around[-1].index not in used and isinstance(around[-1].extent, loops.Extent):
        terms.insert(0, around.pop())
    return _Sums(tuple(terms), tuple(through), updates) if terms else None


def _fits(part: loops.Part, neighbours: bool) -> bool:
    """Whether registers hold an element for each index of a part."""
    match part.size:
        case loops.Literal(int(size)):
            return 1 < size <= (MOST if neighbours else _MOST_POSITIONS)
        case _:
            return False


def _names(nodes: Iterable[loops.Node]) -> set[str]:
    found = (n for node in nodes for n in walk(node))
    return {n.name for n in found if isinstance(n, loops.Index | loops.Name)}


def _is_in_memory(nest: Nest, sums: _Sums, update: loops.Assign) -> bool:
    """Whether every update would load and store an element of an array."""
    format = nest.formats.get(str(update.target.tensor))
    if format is None or format.dtype is None or not format.leaf.arrays:
        return False
    last = sums.through[-1].index
    apart = last in _names(update.target.indices)
    return apart and format.levels[-2].full and not format.leaf.selective


def _begin_of(nest: Nest, sums: _Sums, update: loops.Assign) -> loops.Literal | None:
    """What each sum begins with, if that changes nothing, and all of its terms are there."""
    body = nest.program.body
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
    complete = turns <= told_by(update.target.indices, ranges_in(body))
    read = any(a.tensor == name for a, writes in accesses(sums.through[-1].body) if not writes)
    return begin if complete and not read else None


def _holds(loop: loops.Loop, stmt: loops.Stmt) -> bool:
    return any(n is stmt for n in walk(loop.body))


def _held(nest: Nest, sums: _Sums, begins: list[loops.Literal]) -> loops.Stmt:
    """The loops around arrays, and those that write the sums.

    Of a result that stores some rows only those are written that have a term.
    """
    declares: list[loops.Declare] = []
    for update, begin in zip(sums.updates, begins, strict=True):
        target = str(update.target.tensor)
        dtype = nest.formats[target].dtype
        assert dtype is not None
        name = nest.temporary(f"{target}_w", DENSE(1).with_dtype(dtype).with_fill(begin.value))
        declares.append(loops.Declare(name, begin, (), update.at))
    held = through_array(sums.terms[0], sums.updates, sums.through, declares, nest.names())
    if all(_is_dense(nest, update) for update in sums.updates):
        return held
    some = nest.temporary(f"{target}_some", SCALAR.with_dtype("bool").with_fill(False))
    return with_flag(held, name, some, dtype or "")


def _is_dense(nest: Nest, update: loops.Assign) -> bool:
    return nest.formats[str(update.target.tensor)].dense
