"""Random formats: any nest of levels over any leaf, any order of modes, any dtype and fill value."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from linnet.algebra.dtypes import DTYPES, Number, highest, kind
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.format import Format
from linnet.formats.named import stack
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_hash import SparseHash
from linnet.formats.sparse_list import SparseList

ANY = (Dense, SparseList, SparseByteMap, SparseHash, SparseCOO)
INSERTING = (Dense, SparseByteMap, SparseHash)  # these can be updated again after they were read
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
    draw: st.DrawFn,
    ndim: int,
    dtype: str | None = None,
    kinds: tuple[type, ...] = ANY,
    pattern: bool = True,
) -> Format:
    """A format of this many dimensions."""
    dtype = draw(st.sampled_from(COMMON)) if dtype is None else dtype
    levels = draw(_levels(ndim, kinds))
    pattern = pattern and dtype == "bool" and bool(levels) and levels[-1][0] is not Dense
    tree: Pattern | Element = Element(draw(fills(dtype)), dtype)
    if pattern and draw(st.booleans()):
        tree = Pattern()
    for level, width in reversed(levels):
        tree = level(width, tree) if level is SparseCOO else level(tree)
    order = draw(st.permutations(range(ndim))) if draw(st.integers(0, 3)) == 3 else range(ndim)
    return stack(tree, tuple(order))


@st.composite
def _levels(draw: st.DrawFn, ndim: int, kinds: tuple[type, ...]) -> list[tuple[type, int]]:
    """Levels and how many dimensions each stores, outermost first."""
    found: list[tuple[type, int]] = []
    left = ndim
    while left:
        level = draw(st.sampled_from(kinds))
        width = draw(st.integers(1, left)) if level is SparseCOO else 1
        found.append((level, width))
        left -= width
    return found
