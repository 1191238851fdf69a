"""Formats for what a program needs besides the user's tensors: temporaries that take insertion."""

from __future__ import annotations

from dataclasses import replace

from linnet.algebra.dtypes import Number
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern, SparseScalar
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.formats.policies import Coord, Policy
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_hash import SparseHash
from linnet.formats.sparse_list import SparseList
from linnet.formats.sparse_workspace import SparseWorkspace

DENSE, COORD, MAP = "dense", "coord", "map"
"""Kinds of workspaces: flags and values for every element; components that are sorted and merged;
and a hash table of all elements, which takes updates of any kind."""
THOUSANDS, MILLIONS = "coord of thousands", "coord of millions"
"""Components that are sorted and merged, with room for more of them from the start."""
ARRAY = "array"
"""Values of all elements, and nothing that says which of them are written: all, or none."""
OPERAND = "operand"
"""Not updates are collected, but the values of an operand, by the first index of the result."""

CAPACITY = {THOUSANDS: 1 << 18, MILLIONS: 1 << 21}
"""How many components accumulate before they are merged for the first time, by kind."""
SEARCHED = {THOUSANDS: 1 << 12, MILLIONS: 1 << 15}
"""The same where each is looked for among them: of what is in a cache, and not in more memory."""


def workspace_format(format: Format, ndim: int, kind: str, policy: Policy | None = None) -> Format:
    """A format of random insertion with the values of another."""
    order = tuple(range(ndim))
    leaf = Element(False, "bool") if format.leaf.selective else format.leaf  # takes back, too
    levels = {ARRAY: Dense, DENSE: SparseByteMap, MAP: SparseHash}
    if kind in levels:
        level: Level = levels[kind](leaf)
        return Format((level,) * ndim + (leaf,), order)
    return Format((SparseWorkspace(ndim, with_room(policy or Coord(), kind), leaf), leaf), order)


def with_room(policy: Policy, kind: str) -> Policy:
    """The policy with the capacity that this kind has, unless it has one of its own."""
    appends = type(policy).insert is Policy.insert
    capacity = (CAPACITY if appends else SEARCHED).get(kind)
    if policy.capacity is not None or capacity is None:
        return policy
    return replace(policy, capacity=capacity)


def is_open(format: Format) -> bool:
    """Whether a tensor is a sparse workspace whose capacity is not given."""
    level = format.levels[0]
    return isinstance(level, SparseWorkspace) and level.policy.capacity is None


def with_room_for(format: Format, kind: str) -> Format:
    """A sparse workspace with the capacity that this kind has."""
    level = format.levels[0]
    assert isinstance(level, SparseWorkspace)
    made = SparseWorkspace(level.n, with_room(level.policy, kind), format.leaf)
    return Format((made, format.leaf), format.order, format.name)


def rows_format(format: Format) -> Format:
    """A matrix by rows with the values of another format."""
    leaf = Element(False, "bool") if format.leaf.selective else format.leaf
    below = SparseList(leaf)
    return Format((Dense(below), below, leaf), (0, 1))


def marks_format() -> Format:
    """A format in which elements along one dimension are marked, in any order."""
    return Format((SparseByteMap(Pattern()), Pattern()), (0,))


def flag_format() -> Format:
    """A format for whether something was done."""
    return Format((Element(False, "bool"),), ())


def counts_format(format: Format, ndim: int) -> Format:
    """A format for the number of entries of every fiber below the first `ndim` levels."""
    return Format((*format.levels[:ndim], Element(0, "int64")), tuple(range(ndim)))


def sum_format(format: Format, identity: Number) -> Format:
    """A scalar for what is added up for one element; unwritten, it adds nothing to a sparse one."""
    whole = all(level.full for level in format.levels[:-1])
    return Format(((Element if whole else SparseScalar)(identity, format.dtype),), ())
