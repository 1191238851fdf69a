"""Formats for what a program needs besides the user's tensors: temporaries that take insertion."""

from __future__ import annotations

from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_hash import SparseHash


def workspace_format(format: Format, ndim: int) -> Format:
    """A format of random insertion with the values of another: dense memory for one dimension."""
    leaf = Element(False, "bool") if format.leaf.selective else format.leaf  # takes back, too
    level = SparseByteMap(leaf) if ndim == 1 else SparseHash(leaf)
    return Format((level,) * ndim + (leaf,), tuple(range(ndim)))


def counts_format(format: Format, ndim: int) -> Format:
    """A format for the number of entries of every fiber below the first `ndim` levels."""
    return Format((*format.levels[:ndim], Element(0, "int64")), tuple(range(ndim)))
