"""Random formats, and random arrays to put into them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from linnet.algebra.dtypes import DTYPES
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.format import Format
from linnet.formats.named import stack
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_hash import SparseHash
from linnet.formats.sparse_list import SparseList

SINGLE = (Dense, SparseList, SparseByteMap, SparseHash)
FLOATS = (0.0, -0.0, 1.0, -2.5, math.nan, math.inf, -math.inf)


def values_of(dtype: str) -> st.SearchStrategy:
    """Values of a dtype, from few, so that fills and duplicates are common."""
    match dtype[0]:
        case "b":
            return st.booleans()
        case "f":
            return st.sampled_from(FLOATS)
        case "c":
            return st.builds(complex, st.sampled_from(FLOATS), st.sampled_from(FLOATS))
    limits = np.iinfo(dtype)
    return st.sampled_from([0, 1, 2, int(limits.min), int(limits.max)])


@st.composite
def formats(draw, max_ndim: int = 5, pattern: bool = True) -> Format:
    """Any nest of levels over any leaf, in any order of modes, with dtype and fill value."""
    widths, ndim = [], draw(st.integers(0, max_ndim))
    while sum(widths) < ndim:
        widths.append(draw(st.integers(1, ndim - sum(widths))) if draw(st.booleans()) else 1)
    dtype = draw(st.sampled_from(DTYPES))
    tree = Element(draw(values_of(dtype)), dtype)
    if pattern and widths and draw(st.integers(0, 5)) == 0:
        tree = Pattern()
    for width in reversed(widths):
        kinds = [kind for kind in SINGLE if not (kind is Dense and tree == Pattern())]
        coo = width > 1 or draw(st.integers(0, 4)) == 0
        tree = SparseCOO(width, tree) if coo else draw(st.sampled_from(kinds))(tree)
    return stack(tree, tuple(draw(st.permutations(range(ndim)))))


@st.composite
def arrays_for(draw, format: Format, max_side: int = 4) -> np.ndarray:
    """A NumPy array of the format's dtype, in which the fill value is common."""
    side = st.integers(0, max_side if format.ndim < 4 else 3)
    shape = tuple(draw(side) for _ in range(format.ndim))
    value = st.one_of(st.just(format.fill_value), values_of(format.dtype))
    size = math.prod(shape)
    flat = draw(st.lists(value, min_size=size, max_size=size))
    return np.array(flat, dtype=format.dtype).reshape(shape)


@st.composite
def cases(draw, **options) -> tuple[Format, np.ndarray]:
    """A format and an array to store in it."""
    format = draw(formats(**options))
    return format, draw(arrays_for(format))


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal, with NaN equal to NaN and 0.0 different from -0.0."""
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    if a.dtype.kind != "f":
        return bool((a == b).all())
    nan = np.isnan(a) & np.isnan(b)
    return bool((nan | ((a == b) & (np.signbit(a) == np.signbit(b)))).all())
