"""How many dimensions of a result are to be written in order, and in how many are they?

    for t in range(ln.parts(ln.stored(A), 32)):
        for i, j in ln.part(ln.stored(A), t, 32):
            C[i, j] = …

Coordinates come in order, but a part may end within a row: the next one goes on with it. The levels
of the result say whether they can do that (`Level.reopens`, `Level.resumes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.loops.parts import counted, counted_together, written_in_parts
from linnet.loops.rewrite import block, walk
from linnet.normalize.updates import paths

Path = tuple[str, ...]


def last_in_order(body: loops.Stmt, tensor: str, format: Format) -> int:
    """How many dimensions are subject to an order of writing, in this program.

    What a selective leaf stores cannot be taken back: all of it, where a later write might.
    """
    if format.leaf.selective and not all(_only_adds(w) for w, _ in paths(body, tensor, ())):
        return format.ndim
    return _last_sequential(format)


def last_in_vectors(body: loops.Stmt, tensor: str, format: Format) -> int:
    """How many dimensions have no known places, if a tensor is written in vectors; else 0."""
    vectors = (n for n in walk(body) if isinstance(n, loops.Loop) and n.how.race)
    if not any(paths(loop, tensor, ()) for loop in vectors):
        return 0
    ends = accumulate(level.width for level in format.levels[:-1])
    return max((end for end, k in zip(ends, format.levels, strict=False) if not k.full), default=0)


def _only_adds(write: loops.Assign) -> bool:
    """Whether an update of a boolean leaves it true where it is."""
    if write.op is None:
        return isinstance(write.value, loops.Literal) and bool(write.value.value)
    return write.op.name in ("logical_or", "bitwise_or", "maximum", "add")


def _last_sequential(format: Format) -> int:
    """How many dimensions, from the outermost on, are subject to an order of writing."""
    last = stored = 0
    for level in format.levels[:-1]:
        stored += level.width
        if level.sequential:
            last = stored
    return last


def in_parts(
    agreed: int, stmts: Sequence[loops.Stmt], tensor: str, format: Format, last: int
) -> int:
    """In how many dimensions loops and storage agree, where loops go through parts together.

    Without the parts it would be `agreed`; the first `last` of them are subject to an order.
    """
    written = paths(block(stmts), tensor, ())
    for indices, opened in _in_parts(stmts, tensor):
        for _, path in written:
            if indices[0] in path:
                first = path.index(indices[0])
                stop = first + len(indices)
                whole = agreed >= min(stop, last)
                if agreed > first and not (whole and resumes(format, first, stop, opened)):
                    agreed = first
    return agreed


def _in_parts(stmts: Sequence[loops.Stmt], tensor: str) -> Iterator[tuple[Path, bool]]:
    """The indices of loops through parts, which are written one after the other.

    One fiber is opened around all parts, if nothing stands between.
    """
    for head in (n for s in stmts for n in walk(s) if isinstance(n, loops.Loop)):
        if counted(head) is None:
            together = counted_together(head)
            found = together or written_in_parts(head, tensor)
            if found:
                yield tuple(loop.index for loop in found), together != ()


def resumes(format: Format, first: int, stop: int, opened: bool) -> bool:
    """Whether a format can go on within these dimensions as the next part begins.

    If the fiber in which they begin is `opened` once, that goes for those below it.
    """
    begin, above = 0, format.levels[0]
    for level in format.levels:
        again = first < begin < stop
        if again and not _can(above, above.resumes):
            return False
        if (again or (begin == first < stop and not opened)) and not _can(level, level.reopens):
            return False
        begin, above = begin + level.width, level
    return True


def _can(level: Level, in_order: bool) -> bool:
    """Whether a level can go on with what it has: in any order, or, as it says, with the last."""
    return not level.selective and (in_order or not level.sequential)
