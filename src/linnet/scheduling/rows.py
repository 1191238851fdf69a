"""Sums of rows: what lies side by side in memory is added side by side, and held in registers.

for i in range(n):                       for i in range(n):
    for k in range(m):                       for k0 in range(ln.parts(range(m), 32)):
        for j in range(l):          ->           for j in range(l):
            C[i, k] += A[i, j] * B[j, k]             for k in ln.part(range(m), k0, 32):
                                                         C[i, k] += A[i, j] * B[j, k]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from linnet import loops
from linnet.formats.format import Format
from linnet.loops.commands import Command, Pos, Reorder, Split
from linnet.loops.rewrite import accesses, walk
from linnet.names import Names
from linnet.scheduling.chains import updates_in
from linnet.scheduling.hold_sums import MOST
from linnet.scheduling.nest import Nest
from linnet.target import HELD

_PLAIN = frozenset({"+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "~"})
_CHOICES = ("minimum", "maximum", "absolute", "where")


def row_inside(nest: Nest, chain: Sequence[loops.Loop]) -> tuple[Command, ...]:
    """Sums whose terms lie a row apart are made for a whole row at once, which lies in memory.

    The loop over the elements of the row goes inside of those that add up.
    """
    updates = updates_in(chain[-1].body)
    around, terms = _apart(chain, updates)
    if not updates or not terms or not around:
        return ()
    row = around[-1].index
    if not _lies_along(nest, updates, row):
        return ()
    names = {loop.index for loop in terms}
    apart = any(row in _plain(a) and names & _plain(a) for u in updates for a in _read(u))
    return (Reorder((*map(nest.name_of, terms), nest.name_of(around[-1]))),) if apart else ()


def sums_of_rows(nest: Nest, chain: Sequence[loops.Loop]) -> tuple[Command, ...]:
    """Rows that are added to one: as many elements at a time as registers hold, with all terms.

    Loops around go through what is stored, so that nothing is held where nothing is added.
    """
    updates, row = updates_in(chain[-1].body), chain[-1]
    around, terms = _apart(chain[:-1], updates)
    if not updates or not terms or not _lies_along(nest, updates, row.index):
        return ()
    size = _held(nest, updates, row) if all(map(_is_whole, terms)) else 0
    if size < 2 or _is_cut(row.body, row.index) or not all(map(_is_plain, updates)):
        return ()
    leads = [list(_leads(nest, updates, loop.index)) for loop in chain[:-1]]
    if any(len(found) > 1 for found in leads) or not _come_again(nest, updates, around, chain):
        return ()
    names = Names({*nest.taken, *nest.stands})
    positions = [
        Pos(nest.name_of(loop), names.fresh(f"{_stem(nest, loop)}p"), _as_written(nest, found[0]))
        for loop, found in zip(around, leads, strict=False)
        if found and _is_whole(loop)
    ]
    outer, inner = (names.fresh(f"{_stem(nest, row)}{k}") for k in (0, 1))
    inside = terms if any(leads[len(around) :]) or positions else chain[:-1]
    order = Reorder((outer, *map(nest.name_of, inside)))
    return *positions, Split(nest.name_of(row), outer, inner, size), order


def _apart(
    chain: Sequence[loops.Loop], updates: Sequence[loops.Assign]
) -> tuple[Sequence[loops.Loop], Sequence[loops.Loop]]:
    """The loops, and of those the innermost ones that all add to the same elements, apart."""
    told = {n.name for u in updates for n in walk(u.target) if isinstance(n, loops.Index)}
    k = len(chain)
    while k > 0 and chain[k - 1].index not in told:
        k -= 1
    return chain[:k], chain[k:]


def _is_whole(loop: loops.Loop) -> bool:
    return isinstance(loop.extent, loops.Extent)


def _read(update: loops.Assign) -> Iterator[loops.Access]:
    return (access for access, _ in accesses(update.value))


def _plain(access: loops.Access) -> set[str]:
    return {i.name for i in access.indices if isinstance(i, loops.Index)}


def _lies_along(nest: Nest, updates: Sequence[loops.Assign], row: str) -> bool:
    """Whether all that there is at an index are neighbours along it, and dense ones are written."""
    for update in updates:
        format = nest.formats.get(str(update.target.tensor))
        if format is None or not (format.dense or len(updates) == 1):
            return False
        if not _is_last(update.target, row, format):
            return False
        for access in _read(update):
            read = nest.formats.get(str(access.tensor))
            if read is None or any(level.mirrored for level in read.levels):
                return False
            if _depends(access, row) and not _is_last(access, row, read):
                return False
    return True


def _depends(access: loops.Access, index: str) -> bool:
    return any(isinstance(n, loops.Index) and n.name == index for n in walk(access))


def _is_last(access: loops.Access, index: str, format: Format) -> bool:
    """Whether elements along an index are neighbours: it is the last that is stored, densely."""
    if len(format.levels) < 2 or not format.levels[-2].full or any(access.protocols):
        return False
    *others, last = (access.indices[mode] for mode in format.order)
    inside = any(isinstance(n, loops.Index) and n.name == index for o in others for n in walk(o))
    return last == loops.Index(index) and not inside


def _is_plain(update: loops.Assign) -> bool:
    """Whether nothing is called that wants registers, too."""
    calls = [n.function for n in walk(update.value) if isinstance(n, loops.Call)]
    return all(f.symbol in _PLAIN or f.name in _CHOICES for f in calls)


def _is_cut(body: loops.Stmt, row: str) -> bool:
    """Whether it depends on the place in a row whether something is added there."""
    conds = (n.cond for n in walk(body) if isinstance(n, loops.If))
    return any(isinstance(n, loops.Index) and n.name == row for cond in conds for n in walk(cond))


def _leads(nest: Nest, updates: Sequence[loops.Assign], index: str) -> Iterator[loops.Access]:
    """The operands that say at which values of an index there is something."""
    for access in dict.fromkeys(a for update in updates for a in _read(update)):
        format, place = nest.formats[str(access.tensor)], loops.Index(index)
        for k, level in enumerate(format.levels[:-1]):
            modes = format.modes_of(k)
            if not level.full and any(access.indices[mode] == place for mode in modes):
                yield access


def _come_again(
    nest: Nest,
    updates: Sequence[loops.Assign],
    around: Sequence[loops.Loop],
    chain: Sequence[loops.Loop],
) -> bool:
    """Whether rows are read from anywhere, or again and again: others are read from end to end."""
    *outside, row = (loop.index for loop in chain)
    if any(True for index in outside[len(around) :] for _ in _leads(nest, updates, index)):
        return True
    rows = [_plain(a) for update in updates for a in _read(update) if row in _plain(a)]
    return bool(around) and not any(found.issuperset(outside) for found in rows)


def _stem(nest: Nest, loop: loops.Loop) -> str:
    return nest.name_of(loop).partition(":")[0]


def _as_written(nest: Nest, access: loops.Access) -> loops.Access:
    """An access with the indices that the user gave it."""
    indices = (i.name if isinstance(i, loops.Index) else "" for i in access.indices)
    return replace(access, indices=tuple([loops.Index(nest.written.get(i, i)) for i in indices]))


def _held(nest: Nest, updates: Sequence[loops.Assign], row: loops.Loop) -> int:
    """How many elements of a row are held at once."""
    dtypes = [nest.formats[str(update.target.tensor)].dtype or "" for update in updates]
    if not all(dtype and np.dtype(dtype).kind in "fiu" for dtype in dtypes):
        return 0
    size = HELD // sum(np.dtype(dtype).itemsize for dtype in dtypes)
    size = 1 << size.bit_length() - 1 if size else 0
    match row.extent:
        case loops.Extent(loops.Literal(0), loops.Literal(int(stop))):
            return min(size, stop, MOST)
        case loops.Extent(loops.Literal(0), loops.Dimension()):
            return min(size, MOST)
        case _:
            return 0
