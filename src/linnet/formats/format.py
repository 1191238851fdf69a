"""`Format`: how a tensor is stored — levels, the order of modes, fill value and dtype — as a value.

A format is static and hashable; shapes are not part of it. Dtype and fill value may be left open
(None), and then follow from the data.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import NoReturn

from linnet.algebra.dtypes import Number, canonical
from linnet.errors import ArgumentError, FormatError, Location
from linnet.formats.level import Level
from linnet.records import dataclass


@lru_cache(maxsize=1024)
def named(format: Format, name: str) -> Format:
    """The format under another name. Equal formats may have different ones: a band, ragged rows."""
    return Format(format.levels, format.order, name)


@dataclass(frozen=True)
class Format:
    """Storage levels, outermost first, over a leaf.

    `order[k]` is the mode (the position among the indices of an access) that the k-th stored
    dimension holds: CSC is `(1, 0)`.
    """

    levels: tuple[Level, ...]
    order: tuple[int, ...]
    name: str | None = None

    def __post_init__(self) -> None:
        stored = sum(level.width for level in self.levels if not level.leaf)
        if not self.levels or not self.levels[-1].leaf or any(l.leaf for l in self.levels[:-1]):
            raise FormatError("a format is a stack of levels over one leaf, such as Element(0.0)")
        if self.levels[-1].unstored and stored:
            raise FormatError("only a single element is known not to be stored")
        if any(level.outermost for level in self.levels[1:]):
            raise FormatError("a workspace stores all dimensions, and stands below no other level")
        if sorted(self.order) != list(range(stored)):
            raise FormatError(
                f"the mode order {self.order} is not a permutation of {stored} dimensions",
                why="the levels of this format store that many",
            )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Format) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Format, (self.levels, self.order, self.name)  # what is cached is this process's own

    @cached_property
    def _key(self) -> tuple[object, ...]:
        # repr tells -0.0 from 0.0 and makes NaN equal to itself
        return (self.levels[:-1], self.order, type(self.leaf), repr(self.fill_value), self.dtype)

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    @property
    def leaf(self) -> Level:
        """The level of values."""
        return self.levels[-1]

    @cached_property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.order)

    @property
    def dtype(self) -> str | None:
        """The type of the values, or None while it is open."""
        return getattr(self.leaf, "dtype", None)

    @property
    def fill_value(self) -> Number | None:
        """What is read where nothing is stored, or None while it is open."""
        return getattr(self.leaf, "fill", None)

    @cached_property
    def dense(self) -> bool:
        """Every element is stored, in the order of the format."""
        return all(level.full for level in self.levels[:-1]) and len(self.leaf.arrays) == 1

    @cached_property
    def _modes(self) -> tuple[tuple[int, ...], ...]:
        modes, k = [], 0
        for level in self.levels:
            width = 0 if level.leaf else level.width
            modes.append(self.order[k : k + width])
            k += width
        return tuple(modes)

    def modes_of(self, level: int) -> tuple[int, ...]:
        """The modes that a level stores."""
        return self._modes[level]

    @cached_property
    def written(self) -> Format:
        """The format that kernels write for one that is asked for: mostly the same."""
        levels: list[Level] = []
        for k, level in enumerate(self.levels):
            levels += level.written(self.levels[k + 1 :])
        return self if tuple(levels) == self.levels else Format(tuple(levels), self.order)

    def with_fill(self, fill: Number) -> Format:
        """The same format with another fill value."""
        return self._with_leaf(fill=fill)

    def with_dtype(self, dtype: object) -> Format:
        """The same format with another dtype; the fill value is converted."""
        return self._with_leaf(dtype=canonical(dtype))

    def _with_leaf(self, **changes: object) -> Format:
        return Format((*self.levels[:-1], self.leaf.with_(**changes)), self.order, self.name)  # type: ignore[attr-defined]

    def with_order(self, *order: int) -> Format:
        """The same levels storing the modes in another order."""
        return Format(self.levels, order, None)

    def __call__(self, *args: object, **named: object) -> NoReturn:
        """A format makes no arrays, as a class of SciPy's does; say what does."""
        name = f"ln.{self.name}" if self.name and self.name.isidentifier() else "this format"
        raise ArgumentError(
            f"{self!r} is a format, and is not called",
            at=Location.of_caller(),
            hint=f"an array is stored so by ln.asarray(x, format={name}), a tensor by x.to({name})",
        )

    def __repr__(self) -> str:
        return self.name or self.describe()

    def describe(self) -> str:
        """The levels in full: `Dense(SparseList(Element(0.0)))`."""
        text = repr(self.leaf)
        for level in reversed(self.levels[:-1]):
            text = level.label(text)  # type: ignore[attr-defined]
        if self.order != tuple(range(self.ndim)):
            text += f", order={self.order}"
        return text
