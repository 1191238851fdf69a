"""Tensors in the reference interpreter: all values as an array, and which of them are stored."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import Number
from linnet.formats.format import Format
from linnet.loops.evaluate import Structural
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class DenseTensor:
    """All values of a tensor, stored or not.

    `format` says how it is stored, and `stored` which elements are; without them, all. They matter
    only to values like NaN, which an element that is not stored never meets. `perhaps` are elements
    that need not be stored, and may be by who does not look at the values that tell.
    """

    values: NDArray[Any]
    fill: Number = 0
    format: Format | None = None
    stored: NDArray[np.bool_] | None = None
    perhaps: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class Tiles:
    """A mode that is stored in tiles, and the modes above it whose fibers are their rows."""

    mode: int
    above: tuple[int, ...]
    rows: int
    columns: int

    @staticmethod
    def of(format: Format, k: int) -> Tiles:
        """The tiles of a level; below sparse levels rows meet as they come, which nobody tells."""
        above = tuple(m for level in range(k) for m in format.modes_of(level))
        rows, columns = format.levels[k].tile
        told = all(level.full for level in format.levels[:k])
        return Tiles(format.modes_of(k)[0], above, rows if told else 1, columns)

    def around(
        self, place: tuple[int, ...], shape: tuple[int, ...]
    ) -> Iterator[dict[int, slice | int]]:
        """Where the tile of an element lies in the modes that it extends over, row by row."""
        first = place[self.mode] // self.columns * self.columns
        across: dict[int, slice | int] = {self.mode: slice(first, first + self.columns)}
        outer = tuple(shape[m] for m in self.above)
        row = int(np.ravel_multi_index(tuple(place[m] for m in self.above), outer)) if outer else 0
        top = row // self.rows * self.rows
        for r in range(top, min(top + self.rows, math.prod(outer))):
            where = np.unravel_index(r, outer) if outer else ()
            yield across | {m: int(w) for m, w in zip(self.above, where, strict=True)}


@dataclass(slots=True)
class Cell:
    """A tensor while the program runs."""

    name: str
    values: NDArray[Any]
    fill: Number
    format: Format | None
    stored: NDArray[np.bool_] | None
    perhaps: NDArray[np.bool_] | None
    together: frozenset[int]  # modes that are stored as a whole, or not at all
    spanned: int | None  # the mode above these, if all between two stored indices is stored
    tiles: Tiles | None  # or if others beside a stored index are

    @staticmethod
    def of(tensor: DenseTensor, name: str) -> Cell:
        """The state of a tensor, which is copied."""
        stored = None if tensor.stored is None else tensor.stored.copy()
        together, spanned, tiles = _stored_together(tensor.format)
        values = tensor.values.copy()
        perhaps = None if stored is None else np.zeros_like(stored)
        format = tensor.format
        return Cell(name, values, tensor.fill, format, stored, perhaps, together, spanned, tiles)

    def tensor(self) -> DenseTensor:
        """The state as a value."""
        return DenseTensor(self.values, self.fill, self.format, self.stored, self.perhaps)

    @property
    def sparse(self) -> bool:
        """Whether there may be elements that are not stored."""
        whole = self.format is None or len(self.together) == self.format.ndim
        return self.stored is not None or not whole

    def declare(self, shape: tuple[int, ...], init: object) -> None:
        """Begin anew."""
        self.stored = np.zeros(shape, np.bool_) if self.sparse else None
        self.perhaps = None if self.stored is None else np.zeros_like(self.stored)
        self.values = np.full(shape, init, self.values.dtype)

    def swap(self, other: Cell) -> None:
        """Exchange contents."""
        self.values, other.values = other.values, self.values
        self.stored, other.stored = other.stored, self.stored
        self.perhaps, other.perhaps = other.perhaps, self.perhaps

    def is_stored(self, place: tuple[int, ...]) -> bool:
        """Whether an element is stored."""
        return self.stored is None or bool(self.stored[place])

    def has_nothing(self, place: tuple[int, ...]) -> bool:
        """Whether nothing is stored where the indices before one out of bounds lead."""
        if self.stored is None or self.format is None:
            return False
        inside: list[slice | int] = [slice(None)] * len(place)
        for k, mode in enumerate(self.format.order):
            if not 0 <= place[mode] < self.values.shape[mode]:
                return k > 0 and not self.stored[tuple(inside)].any()
            inside[mode] = place[mode]
        return False

    def coordinates(
        self, modes: tuple[int, ...], given: Mapping[int, int]
    ) -> list[int] | list[tuple[int, ...]]:
        """Where something is stored, by some of its coordinates: numbers, or tuples if several."""
        stored = np.ones(self.values.shape, np.bool_) if self.stored is None else self.stored
        for mode, index in given.items():
            stored = stored.take([index], axis=mode)
        places = np.argwhere(stored)[:, list(modes)]
        found = sorted({tuple(map(int, place)) for place in places})
        return found if len(modes) > 1 else [place[0] for place in found]

    def read(self, place: tuple[int, ...]) -> object:
        """The value of an element, known without looking if it is not stored."""
        value = self.values[place]
        if self.stored is None or self.perhaps is None or self.stored[place]:
            return value
        return Structural(value, not self.perhaps[place])

    def write(self, place: tuple[int, ...], value: object) -> None:
        """Store a value, and with it those elements that are stored together."""
        self.values[place] = value
        if self.stored is not None:
            self._mark(self.stored, place)

    def pass_by(self, place: tuple[int, ...]) -> None:
        """Leave an element that some would store."""
        if self.perhaps is not None:
            self._mark(self.perhaps, place)

    def _mark(self, stored: NDArray[np.bool_], place: tuple[int, ...]) -> None:
        whole: list[slice | int] = [
            slice(None) if m in self.together else p for m, p in enumerate(place)
        ]
        stored[tuple(whole)] = True
        if self.spanned is not None:
            line: list[slice | int] = list(place)
            line[self.spanned] = slice(None)
            between = np.flatnonzero(stored[tuple(line)])
            whole[self.spanned] = slice(between[0], between[-1] + 1)
            stored[tuple(whole)] = True
        if self.tiles is not None:
            for beside in self.tiles.around(place, self.values.shape):
                stored[tuple(beside.get(m, s) for m, s in enumerate(whole))] = True


def _stored_together(
    format: Format | None,
) -> tuple[frozenset[int], int | None, Tiles | None]:
    """The modes of which one stored element implies all others, and what the one above implies."""
    modes: set[int] = set()
    if format is not None:
        for k in reversed(range(len(format.levels))):
            level = format.levels[k]
            if not (level.full or level.covers or level.leaf):
                mode = format.modes_of(k)[0]
                spanned = mode if level.spans else None
                tiles = Tiles.of(format, k) if level.pads else None
                return frozenset(modes), spanned, tiles
            modes.update(format.modes_of(k))
    return frozenset(modes), None, None
