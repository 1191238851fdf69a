"""How many dimensions of a result are to be written in order, and in how many are they?

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
from linnet.normalize.updates import paths

Path = tuple[str, ...]


def last_in_order(body: loops.Stmt, tensor: str, format: Format) -> int:
    """How many dimensions are subject to an order of writing, in this program.

    What a selective leaf stores cannot be taken back: all of it, where a later write might.
    """
    if format.leaf.selective and not all(_only_adds(w) for w, _ in paths(body, tensor, ())):
        return format.ndim
    return _last_sequential(format)


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
