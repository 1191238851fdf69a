"""Some steps of a nest of loops over operands, taken in NumPy: where each of them is.

A few steps of the outermost loop are taken, more likely those with much to do, and everything
inside them. They are always the same for the same operands: a call has one result, bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet import loops
from linnet.formats.contents import Contents
from linnet.formats.packing import Arrays, Entries, unpack_level
from linnet.records import dataclass

Ints: TypeAlias = NDArray[np.int64]

_PICKS = 16  # steps of the outermost loop
_BLOCKS, _BLOCK = 32, 512  # of so many are they picked, where there are more
_SOME, _FEW = 6, 2  # of which so many are left, whatever there is inside, and if that is much
_MOST = 1 << 13  # steps of inner loops that are looked at
_TOO_MANY = 1 << 17  # stored values that are too many to be listed
_LARGEST = 2**62


@dataclass(slots=True)
class Operand:
    """An operand, and the fiber that each step has come to in it."""

    contents: Contents
    levels: list[Arrays]
    names: list[tuple[str, ...]]  # the indices that each level stores
    plain: bool
    depth: int = 0
    at: Ints = field(default_factory=lambda: np.zeros(1, np.int64))

    @classmethod
    def of(cls, access: loops.Access, contents: Contents) -> Operand:
        """The operand at its root."""
        plain = all(isinstance(i, loops.Index) for i in access.indices)
        indices = [getattr(i, "name", "") for i in access.indices]
        format, names = contents.format, []
        for k in range(len(format.levels) - 1):
            names.append(tuple(indices[m] for m in format.modes_of(k)))
        return cls(contents, contents.levels(), names, plain and not _folds(contents))

    @property
    def dims(self) -> list[int]:
        """The sizes of the dimensions of the level that is next."""
        return [self.contents.shape[m] for m in self.contents.format.modes_of(self.depth)]

    @property
    def full(self) -> bool:
        """Whether the next level stores everything, and nothing about it."""
        return self.contents.format.levels[self.depth].full

    def waits_for(self, index: str) -> bool:
        """Whether an index is what the next level begins with."""
        return self.depth < len(self.names) and self.names[self.depth][0] == index

    def size(self, at: Ints) -> int:
        """How much the next level stores in these fibers: as pointers say, or at most."""
        ptr, level = self.levels[self.depth].get("ptr"), self.contents.format.levels[self.depth]
        one_by_one = (level.strided or level.width > 1) and not level.pads
        if ptr is None or not one_by_one:  # runs and blocks hold as much as there is room for
            return len(at) * math.prod(self.dims)
        return int((ptr[at + 1] - ptr[at]).sum())

    def entries(self, at: Ints) -> Entries:
        """What the next level stores in these fibers."""
        level = self.contents.format.levels[self.depth]
        return unpack_level(level, self.levels[self.depth], at, self.dims)


def _folds(contents: Contents) -> bool:
    """Whether what is stored once is read in several places."""
    return any(level.mirrored for level in contents.format.levels)


@dataclass(slots=True)
class Walk:
    """Steps of a nest of loops: where each is, and how many it stands for."""

    operands: list[Operand]
    bound: dict[str, Ints] = field(default_factory=dict)
    weight: NDArray[Any] = field(default_factory=lambda: np.ones(1))
    pair: Ints = field(default_factory=lambda: np.zeros(1, np.int64))  # neighbours stay together
    every: int = 1  # one of so many steps is left of those that were taken

    def run(self, indices: Sequence[str]) -> bool:
        """Take the loops one after the other; whether that could be done."""
        for depth, index in enumerate(indices):
            waiting = [o for o in self.operands if o.waits_for(index)]
            waiting.sort(key=lambda o: (o.full, o.contents.nnz))
            if not waiting and index not in self.bound:
                return False
            for operand in waiting:
                if depth == 0 and operand is waiting[0]:
                    done = self._begin(operand)
                elif operand.full:
                    done = self._follow(operand, index)
                else:
                    done = self._step(operand)
                if not done:
                    return False
        return len(self.weight) > 0

    def _begin(self, operand: Operand) -> bool:
        """Pick steps of the outermost loop, and those next to them, which count nothing."""
        share = 1.0
        if operand.full:
            n = operand.dims[0]
            near = _spread_out(n)
            entries, share = Entries(near, [near], near), n / max(len(near), 1)
        elif operand.size(operand.at) > _TOO_MANY:
            return False
        else:
            entries = operand.entries(operand.at)
        names, operand.depth = operand.names[operand.depth], operand.depth + 1
        first, work = entries.coordinates[0], _work(operand, entries.at)
        starts = np.arange(len(first))
        if len(names) > 1 and len(first):  # of what is stored together, all or nothing
            starts = np.flatnonzero(np.diff(first, prepend=-1))
            work = np.add.reduceat(work, starts)
        which, weight, self.pair = _picked(work)
        self.weight = weight * share
        self._keep_nothing(len(which))
        owner, e = self._spread(starts[which], np.append(starts, len(first))[which + 1])
        self._keep(owner)
        found = zip(names, entries.coordinates, strict=True)
        self.bound = {x: c[e].astype(np.int64) for x, c in found}
        operand.at = entries.at[e].astype(np.int64)
        return len(e) > 0

    def _keep_nothing(self, count: int) -> None:
        """So many steps, all of them at the root of all operands."""
        for operand in self.operands:
            operand.at = np.zeros(count, np.int64)

    def _follow(self, operand: Operand, index: str) -> bool:
        """Go on in a level that stores everything."""
        n = operand.dims[0]
        if index not in self.bound:
            start = np.zeros(len(self.weight), np.int64)
            owner, everything = self._spread(start, start + n)
            self._keep(owner)
            self.bound[index] = everything
        operand.at = operand.at * n + self.bound[index]
        operand.depth += 1
        return True

    def _step(self, operand: Operand) -> bool:
        """Go on to what a level stores, where that agrees with the indices that are known."""
        self._thin(self._fewer(-(-operand.size(np.unique(operand.at)) // _TOO_MANY), _FEW))
        fibers, mine = np.unique(operand.at, return_inverse=True)
        if operand.size(fibers) > 8 * _TOO_MANY:
            return False
        entries = operand.entries(fibers)
        names, n = operand.names[operand.depth], max(operand.dims[0], 1)
        known, keys = self.bound.get(names[0]), entries.owner
        if known is not None and n * (len(fibers) + 1) < _LARGEST:
            keys, mine = keys * n + entries.coordinates[0], mine * n + known
        lo, hi = (np.searchsorted(keys, mine, side) for side in ("left", "right"))
        owner, e = self._spread(lo, hi)
        found = {x: c[e].astype(np.int64) for x, c in zip(names, entries.coordinates, strict=True)}
        right = np.ones(len(e), bool)
        for x in names:
            if x in self.bound:
                right &= self.bound[x][owner] == found[x]
        self._keep(owner[right])
        self.bound |= {x: c[right] for x, c in found.items()}
        operand.at = entries.at[e[right]].astype(np.int64)
        operand.depth += 1
        return True

    def _spread(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """All numbers from lo to hi for each step, or some; and whose they are."""
        length = hi - lo
        fewer = self._fewer(-(-int(length.sum()) // _MOST), _SOME)
        length = np.where(self.pair % fewer == 0, length, 0)
        self.weight, self.pair = self.weight * fewer, self.pair // fewer
        ends = np.cumsum(length)
        total = int(ends[-1]) if len(ends) else 0
        every = max(-(-total // _MOST), 1)
        self.every *= every
        number = np.arange(0, total, every)
        if every > 1:  # at random, as what is stored may have a rhythm of its own
            chance = np.random.default_rng(0).integers(0, every, len(number))
            number = np.minimum(number + chance, total - 1)
        owner = np.searchsorted(ends, number, "right")
        return owner, number - (ends - length - lo)[owner]

    def _fewer(self, wanted: int, least: int) -> int:
        """One of how many first steps is left: of `wanted`, if that leaves some."""
        return max(min(wanted, (int(self.pair.max(initial=-1)) + 1) // least), 1)

    def _thin(self, fewer: int) -> None:
        """Leave out first steps, with all that is in them; the others stand for them."""
        if fewer > 1:
            self._keep(np.flatnonzero(self.pair % fewer == 0))
            self.weight, self.pair = self.weight * fewer, self.pair // fewer

    def _keep(self, which: Ints) -> None:
        """Go on with these steps."""
        self.bound = {x: c[which] for x, c in self.bound.items()}
        self.weight, self.pair = self.weight[which], self.pair[which]
        for operand in self.operands:
            operand.at = operand.at[which]


def _work(operand: Operand, at: Ints) -> NDArray[Any]:
    """How much there is in each of these fibers, roughly; nothing only where there is nothing."""
    ptr = operand.levels[operand.depth].get("ptr") if operand.depth < len(operand.names) else None
    return np.ones(len(at)) if ptr is None else (ptr[at + 1] - ptr[at]).astype(float)


def _spread_out(n: int) -> Ints:
    """All numbers up to n, or blocks of them that are spread over all."""
    if n <= _BLOCKS * _BLOCK:
        return np.arange(n)
    apart = n // _BLOCKS
    chance = np.random.default_rng(0).integers(0, apart - _BLOCK + 1, _BLOCKS)
    return ((np.arange(_BLOCKS) * apart + chance)[:, None] + np.arange(_BLOCK)).ravel()


def _picked(work: NDArray[Any]) -> tuple[Ints, NDArray[Any], Ints]:
    """Some places, the more likely the more work there is, what each stands for, and its pair.

    The place after each of them is picked, too, and stands for nothing.
    """
    ends = np.cumsum(work)
    total = float(ends[-1]) if len(ends) else 0.0
    if total == 0:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
    wanted = (np.arange(_PICKS) + 0.5) * (total / _PICKS)
    picks, times = np.unique(np.searchsorted(ends, wanted, "right"), return_counts=True)
    which = np.unique(np.concatenate([picks, np.minimum(picks + 1, len(work) - 1)]))
    pair = np.searchsorted(picks, which, "right") - 1
    weight = np.zeros(len(which))
    weight[np.searchsorted(which, picks)] = times * (total / _PICKS) / work[picks]
    return which, weight, pair
