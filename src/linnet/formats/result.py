"""The format of a result that the user leaves to Linnet."""

from __future__ import annotations

from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.formats.named import recognize
from linnet.formats.sparse_list import SparseList


def result_format(sparse: list[bool], order: tuple[int, ...]) -> Format:
    """A list for each dimension that is sparse, in storage order; the others are dense."""
    leaf = Element()
    levels: list[Level] = [SparseList(leaf) if is_sparse else Dense(leaf) for is_sparse in sparse]
    return recognize(Format((*levels, leaf), order))
