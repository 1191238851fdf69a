"""What each kind of workspace costs: a small model, in nanoseconds.

Only how costs compare matters, which is much the same on many machines: what all kinds do, such as
to go through the operands and to write the result, is left out. A workspace of several dimensions
differs from one of a single dimension by what it does for each fiber, and for numbers made of
coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from linnet.formats.insertion import CAPACITY, MILLIONS
from linnet.normalize.caches import Caches
from linnet.records import dataclass

FAR = 1 << 28  # bytes of a dense workspace that is never too large,
_AMPLE = 3  # and how many times the result's it may have otherwise
_LINE, _PAGE = 64, 4096  # bytes that come together: from memory, and from the system
_CROWDED = 4  # elements per place from which on places are sorted and not looked for

_BEGIN = 16.0  # for a dense workspace with few updates
_BEGIN_LIST, _BEGIN_NUMBERS = 24.0, 175.0  # for one that is listed, of one dimension and of several
_UPDATE = 2.0  # for each update
_SORTING = ((4, 0.5), (16, 1.5), (64, 8.5), (256, 13.0))  # by comparison, for each of so many
_FEW_FLAGS, _BY_BITS = 16, 4.5  # where more flags are listed, by bits
_BY_DIGITS, _DIGIT, _BITS = 64, 3.0, 11  # where there are more, by digits of so many bits,
_BEGIN_DIGITS = 100.0  # of which each has a table to be cleared and added up
_NUMBER = 1.6  # for a number that is made of coordinates, and taken apart again
_ANEW = 3.5  # for one of those that are listed, sorted and copied row by row
_MERGED = 9.0  # to merge again, whenever there are twice as many as fit
_FLAG, _SET = 0.5, 3.0  # to look at a flag, and at one that is set
_FIBER = 10.0  # to begin, list and copy a fiber of a dense workspace
_FRESH = 0.15  # for a byte of new memory
_COMPONENT = 40  # bytes of a component: as it came, sorted, and its place
_LINES = 0.25  # of operands that are waited for: rows of them have been asked for
_IN_ORDER = 5.0  # for a place whose updates come row by row
_BEGIN_ROWS = 2500.0  # to put an operand in order: a pass that counts, and one that copies
_ROW, _EMPTY_ROW = 3.0, 4.0  # for a row of it
_COUNTED = 12  # bytes of what counts and allots a row, and of an entry in it


@dataclass(frozen=True, slots=True)
class Group:
    """What becomes of a workspace between two declarations: so many updates of so many places.

    They lie in lines of memory of which `lines` are not touched the next time. There are `weight`
    workspaces like this one. All places, of the next time too, are among `reach` that follow each
    other; where there is but one workspace, those of steps that follow each other are.
    """

    updates: float
    places: float
    lines: float
    weight: float = 1.0
    reach: float = math.inf


@dataclass(frozen=True, slots=True)
class Sample:
    """Some of the times that a workspace is used in a call."""

    groups: tuple[Group, ...]

    @property
    def updates(self) -> float:
        """How many updates there are at a time: where most of them are made."""
        total = sum(g.updates * g.weight for g in self.groups)
        return sum(g.updates * g.updates * g.weight for g in self.groups) / max(total, 1.0)

    @property
    def places(self) -> float:
        """How many places they have, there."""
        total = sum(g.updates * g.weight for g in self.groups)
        return sum(g.places * g.updates * g.weight for g in self.groups) / max(total, 1.0)

    def scaled(self, updates: float | None) -> Sample:
        """The same of a workspace of which it is known how often it is updated."""
        if updates is None or len(self.groups) != 1 or self.groups[0].weight != 1:
            return self
        group = self.groups[0]
        share = updates / max(group.updates, 1.0)
        places, lines = group.places * share, group.lines * share
        return Sample((replace(group, updates=updates, places=places, lines=lines),))


@dataclass(frozen=True, slots=True)
class Costs:
    """Those of a workspace of these dimensions, beside so many bytes of operands."""

    dims: tuple[int, ...]
    itemsize: int
    operands: int
    at_hand: Caches

    @property
    def elements(self) -> int:
        """How many places a dense workspace has."""
        return math.prod(self.dims)

    @property
    def space(self) -> int:
        """The bytes of a dense workspace: values and flags."""
        return self.elements * (self.itemsize + 1)

    @property
    def fibers(self) -> int:
        """How many fibers a dense workspace has below its outermost level."""
        return sum(math.prod(self.dims[:k]) for k in range(1, len(self.dims)))

    def has_room(self, found: Sample) -> bool:
        """Whether a dense workspace is not much larger than the result."""
        result = max(g.places for g in found.groups) * (self.itemsize + 4)
        return self.space <= max(FAR, _AMPLE * result)

    def dense(self, found: Sample) -> float:
        """What flags and values for all elements cost, as far as they are touched."""
        lines = sum(self._lines(g) * g.weight for g in found.groups)
        fresh = _FRESH * min(self.space, self.elements + lines * _PAGE)
        return fresh + sum(self._dense(g) * g.weight for g in found.groups)

    def listed(self, found: Sample) -> float:
        """What it costs to list, sort and merge components."""
        fresh = _FRESH * _COMPONENT * max(g.updates for g in found.groups)
        return fresh + sum(self._listed(g) * g.weight for g in found.groups)

    def in_order(self, found: Sample, values: int) -> float:
        """What it costs to put so many values of an operand in order, before they cause updates.

        Then the rows of other operands are met in any order, as far as rows reach that follow each
        other: each is waited for.
        """
        group, rows = found.groups[0], self.dims[0]
        others = max(self.operands - values * (self.itemsize + 4), 0)
        near = others * min(group.reach / max(self.elements, 1), 1.0)
        in_rows = _BEGIN_ROWS + _EMPTY_ROW * rows + _ROW * min(rows, values)
        in_rows += 2 * values * self.at_hand.wait(_COUNTED * (rows + values))
        updates = _UPDATE * group.updates + _IN_ORDER * group.places
        return in_rows + updates + values * self.at_hand.latency(int(near))

    def _dense(self, group: Group) -> float:
        """Updates, waiting, the sorting of places, and fibers."""
        if group.places * _CROWDED > self.elements:
            sorting = _FLAG * self.elements + _SET * group.places
        else:
            few = group.places <= _FEW_FLAGS
            sorting = group.places * (_between(_SORTING, group.places) if few else _BY_BITS)
        if len(self.dims) > 1:
            sorting += group.places * _NUMBER
        left = self.at_hand.beside(self.operands)
        used = min(group.reach, self.elements)
        often = max(group.updates / max(self.elements, 1), 1.0)  # memory is gone through
        line = left.wait(int(used * (self.itemsize + 1))) + left.wait(int(used))  # and its flag
        waiting = often * self._lines(group) * line
        begin = _BEGIN * min(group.updates, 1.0)  # nothing, where there is nothing to collect
        return begin + group.updates * _UPDATE + waiting + sorting + _FIBER * self.fibers

    def _lines(self, group: Group) -> float:
        """The lines of memory that are new to a group: there are no more than all."""
        return min(group.lines, self.elements * self.itemsize / _LINE + 1)

    def _listed(self, group: Group) -> float:
        """Updates, and the sorting of all of them.

        How it goes on depends on them, so that their operands are waited for.
        """
        several = len(self.dims) > 1
        few = group.updates <= _BY_DIGITS
        each = _between(_SORTING, group.updates) if few else _DIGIT * self._digits
        each += _NUMBER if several else _ANEW
        each += _MERGED * max(math.log2(max(group.updates, 1) / CAPACITY[MILLIONS]), 0.0)
        waiting = _LINES * self.at_hand.wait(self.operands)
        begin = (_BEGIN_NUMBERS if several else _BEGIN_LIST) + waiting
        begin += 0.0 if few else _BEGIN_DIGITS
        return begin * min(group.updates, 1.0) + group.updates * (_UPDATE + each)

    @property
    def _digits(self) -> int:
        """How many digits the number of a place has."""
        return max(-(-max(self.elements - 1, 0).bit_length() // _BITS), 2)


def _between(table: Sequence[tuple[int, float]], x: float) -> float:
    """The value of a table at x; it rises evenly with the logarithm."""
    for (a, low), (b, high) in pairwise(table):
        if x <= b:
            return low + (high - low) * math.log(max(x, a) / a) / math.log(b / a)
    return table[-1][1]
