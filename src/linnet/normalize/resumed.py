"""Which fibers of a result are gone on with, as the next part of a range begins?

    for t in range(ln.parts(ln.stored(A), 32)):
        for i, j in ln.part(ln.stored(A), t, 32):
            C[i, j] = …

Coordinates come in order, but a part may end within a row: the next one goes on with it. The levels
of the result say whether they can do that (`Level.resumes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.loops.parts import counted_together
from linnet.loops.rewrite import walk

Path = tuple[str, ...]


def in_parts(
    agreed: int,
    stmts: Sequence[loops.Stmt],
    writes: Iterable[tuple[loops.Assign, Path]],
    format: Format,
    last: int,
) -> int:
    """In how many dimensions loops and storage agree, where loops go through parts together.

    Without the parts it would be `agreed`; the first `last` of them are subject to an order.
    """
    for indices in _together(stmts):
        for _, path in writes:
            if indices[0] in path:
                first = path.index(indices[0])
                stop = first + len(indices)
                whole = agreed >= min(stop, last)
                if agreed > first and not (whole and _resume(format, range(first + 1, stop))):
                    agreed = first
    return agreed


def _together(stmts: Sequence[loops.Stmt]) -> set[Path]:
    """The indices of loops that go through parts together."""
    heads = (n for s in stmts for n in walk(s) if isinstance(n, loops.Loop))
    return {tuple(loop.index for loop in found) for h in heads if (found := counted_together(h))}


def _resume(format: Format, dims: range) -> bool:
    """Whether fibers that begin at these dimensions can be gone on with, where they are last."""
    begin, above = 0, format.levels[0]
    for level in format.levels:
        if begin in dims and not (_resumes(above) and _resumes(level)):
            return False
        begin, above = begin + level.width, level
    return True


def _resumes(level: Level) -> bool:
    """Whether a level can go on with what it has: in any order, or with what comes last."""
    return not level.selective and (level.resumes or not level.sequential)
