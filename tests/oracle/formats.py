"""Random formats: any nest of levels over any leaf, any order of modes, any dtype and fill."""

from __future__ import annotations

import math

from hypothesis import strategies as st
from tests.papers.test_work_own_policies import Insertion

import linnet as ln
from linnet.algebra.dtypes import DTYPES, Number, highest, kind
from linnet.formats.format import Format
from linnet.formats.level import Inner, Level
from linnet.formats.named import stack

CORE = (ln.Dense, ln.SparseList, ln.SparseCOO, ln.SparseByteMap, ln.SparseHash)
INSERTING = (ln.Dense, ln.SparseByteMap, ln.SparseHash)  # can be updated again after reading
STRETCHES = (ln.SparseBand, ln.SparseBlockList, ln.RunList, ln.SparseRunList)
SINGLE = (ln.SparsePinpoint, ln.SparseInterval)  # writing a second element or run is an error
WRITTEN = (*CORE * 3, *STRETCHES, ln.SparseTiles)
RESULTS = (*WRITTEN * 2, *SINGLE)
ALL = (*CORE, *STRETCHES, *SINGLE, ln.SparseTiles, ln.SparseSymmetric)
READ = (*CORE * 2, *STRETCHES, *SINGLE, ln.SparseTiles, ln.SparseSymmetric)
LEADING = (  # mostly those that have positions
    *(ln.SparseList, ln.SparseList, ln.SparseCOO, ln.Dense) * 2,
    *(ln.SparseList, ln.SparseBand, ln.SparseHash, ln.SparseRunList, ln.SparseBlockList),
)
POLICIES = (
    *(ln.Coord(), ln.Bucket(), ln.Hash(), ln.Heap(), ln.Coord(capacity=2), ln.Hash(capacity=3)),
    *(ln.Heap(capacity=2), Insertion(capacity=3), ln.Coord(capacity=3, double_buffered=True)),
    ln.Hash(capacity=2, pipelined=True),
)

# The first is what examples shrink to; common ones are repeated.
COMMON = ("float64", "float64", "int64", "bool", *DTYPES)
_FLOATS = (0.0, 0.0, 1.0, math.inf, -math.inf, math.nan, -3.0)


def fills(dtype: str) -> st.SearchStrategy[Number]:
    """Fill values of a dtype: identities and annihilators of many functions, and odd numbers."""
    match kind(dtype):
        case "b":
            return st.booleans()
        case "f":
            return st.sampled_from(_FLOATS)
        case "c":  # infinite complex numbers have no agreed products
            return st.sampled_from((0j, 0j, 1 + 0j, 2 - 1j))
        case "i":
            return st.sampled_from((0, 0, 1, -1, 7, highest(dtype)))
        case _:
            return st.sampled_from((0, 0, 1, 7, highest(dtype)))


@st.composite
def formats(
    draw: st.DrawFn, ndim: int, kinds: tuple[type[Level], ...], dtype: str | None = None
) -> Format:
    """A format of this many dimensions, with levels of these kinds."""
    dtype = draw(st.sampled_from(COMMON)) if dtype is None else dtype
    levels = draw(_levels(ndim, kinds))
    leaf = ln.SparseScalar if ndim == 0 and draw(st.integers(0, 3)) == 3 else ln.Element
    tree: Level = leaf(draw(fills(dtype)), dtype)
    if dtype == "bool" and _exact(levels) and draw(st.booleans()):
        tree = ln.Pattern()
    for level, width in reversed(levels):
        tree = draw(_over(level, width, tree))
    order = draw(st.permutations(range(ndim))) if draw(st.integers(0, 3)) == 3 else range(ndim)
    return stack(tree, tuple(order))


@st.composite
def workspaces(draw: st.DrawFn, ndim: int) -> Format:
    """A workspace, with any policy; what it starts with is the identity of some function."""
    dtype = draw(st.sampled_from(COMMON))
    leaf = ln.Element(draw(fills(dtype)), dtype)
    return stack(ln.SparseWorkspace(ndim, draw(st.sampled_from(POLICIES)), leaf))


@st.composite
def _over(draw: st.DrawFn, level: type[Level], width: int, tree: Level) -> Level:
    """A level over others; one that cannot lie over them gives way to another."""
    if level is ln.SparseCOO:
        return ln.SparseCOO(width, tree)
    if level is ln.SparseSymmetric:  # or another way to store one half
        rows = draw(st.sampled_from((0, 2048, 2, 1)))
        return ln.SparseSymmetricTiles(tree, rows) if rows else ln.SparseSymmetric(tree)
    if level is not ln.SparseTiles:
        return level(tree)  # type: ignore[call-arg]
    below = tree
    while isinstance(below, Inner):
        if below.sequential:
            return ln.SparseHash(tree)
        below = below.child
    return ln.SparseTiles(draw(st.integers(1, 3)), draw(st.integers(1, 3)), tree)


@st.composite
def _levels(
    draw: st.DrawFn, ndim: int, kinds: tuple[type[Level], ...]
) -> list[tuple[type[Level], int]]:
    """Levels and how many dimensions each stores, outermost first."""
    found: list[tuple[type[Level], int]] = []
    left = ndim
    while left:
        level = draw(st.sampled_from(kinds))
        if level is ln.SparseSymmetric and left < 2:
            level = ln.SparseList
        width = draw(st.integers(1, left)) if level is ln.SparseCOO else level.width
        found.append((level, width))
        left -= width
    return found


def _exact(levels: list[tuple[type[Level], int]]) -> bool:
    """Whether the last level stores what is written and nothing else, as a pattern must."""
    if not levels:
        return False
    last = levels[-1][0]
    return not (last.full or last.covers or last.spans or last.pads)
