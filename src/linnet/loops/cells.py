"""Tensors in the reference interpreter: all values as an array, and which of them are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import Number
from linnet.formats.format import Format
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class DenseTensor:
    """All values of a tensor, stored or not.

    `format` says how it is stored, and `stored` which elements are; without them, all. They matter
    only to values like NaN, which an element that is not stored never meets.
    """

    values: NDArray[Any]
    fill: Number = 0
    format: Format | None = None
    stored: NDArray[np.bool_] | None = None


@dataclass(slots=True)
class Cell:
    """A tensor while the program runs."""

    name: str
    values: NDArray[Any]
    fill: Number
    format: Format | None
    stored: NDArray[np.bool_] | None
    together: frozenset[int]  # modes that are stored as a whole, or not at all
    spanned: int | None  # the mode above these, if all between two stored indices is stored

    @staticmethod
    def of(tensor: DenseTensor, name: str) -> Cell:
        """The state of a tensor, which is copied."""
        stored = None if tensor.stored is None else tensor.stored.copy()
        together, spanned = _stored_together(tensor.format)
        values = tensor.values.copy()
        return Cell(name, values, tensor.fill, tensor.format, stored, together, spanned)

    def tensor(self) -> DenseTensor:
        """The state as a value."""
        return DenseTensor(self.values, self.fill, self.format, self.stored)

    @property
    def sparse(self) -> bool:
        """Whether there may be elements that are not stored."""
        whole = self.format is None or len(self.together) == self.format.ndim
        return self.stored is not None or not whole

    def declare(self, shape: tuple[int, ...], init: object) -> None:
        """Begin anew."""
        self.stored = np.zeros(shape, np.bool_) if self.sparse else None
        self.values = np.full(shape, init, self.values.dtype)

    def swap(self, other: Cell) -> None:
        """Exchange contents."""
        self.values, other.values = other.values, self.values
        self.stored, other.stored = other.stored, self.stored

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

    def write(self, place: tuple[int, ...], value: object) -> None:
        """Store a value, and with it those elements that are stored together."""
        self.values[place] = value
        if self.stored is not None:
            whole: list[slice | int] = [
                slice(None) if m in self.together else p for m, p in enumerate(place)
            ]
            self.stored[tuple(whole)] = True
            if self.spanned is not None:
                line: list[slice | int] = list(place)
                line[self.spanned] = slice(None)
                between = np.flatnonzero(self.stored[tuple(line)])
                whole[self.spanned] = slice(between[0], between[-1] + 1)
                self.stored[tuple(whole)] = True


def _stored_together(format: Format | None) -> tuple[frozenset[int], int | None]:
    """The modes of which one stored element implies all others; one that implies those between."""
    modes: set[int] = set()
    if format is not None:
        for k in reversed(range(len(format.levels))):
            level = format.levels[k]
            if not (level.full or level.covers or level.leaf):
                return frozenset(modes), format.modes_of(k)[0] if level.spans else None
            modes.update(format.modes_of(k))
    return frozenset(modes), None
