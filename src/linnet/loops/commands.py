"""Schedules: commands that say which iterations of a program run, and in which order (SCHED §4).

    command = Split(index, outer, inner, size, up) | Reorder(order)
            | Collapse(outer, inner, fused) | Pos(index, position, access, flat)
            | Coord(position, index)
            | Bound(index, bounded, value, kind)
            | Precompute(expr, indices, early, workspace)
            | Unroll(index, factor) | Parallelize(index, unit, race)

A program carries its commands as data. They name loops by their indices; where several loops have
one index, `j:2` is the second of them. A command that derives an index names it: it stands for a
loop from then on, and the index that it is derived from does not.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from linnet.errors import Location
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.loops.nodes import Access

# Units of a machine, and strategies for what several turns of a loop write to one place: none is
# needed, the user vouches for it, or a sum is taken in another order.
CPUVector = "CPUVector"
NoRaces, IgnoreRaces, ParallelReduction = "NoRaces", "IgnoreRaces", "ParallelReduction"
UNITS = (CPUVector,)
# What a number is to a range: where it begins or ends, at least or at most, what divides it.
MinExact, MaxExact = "MinExact", "MaxExact"
MinConstraint, MaxConstraint = "MinConstraint", "MaxConstraint"
Divisible = "Divisible"


class Naming:
    """What a command says of the names of loops: which of its fields have them.

    A field has a name, or several, or an empty one for none. Where nothing new is named, the loops
    keep their names.
    """

    __slots__ = ()
    _uses: ClassVar[tuple[str, ...]] = ()
    _ends: ClassVar[tuple[str, ...]] = ()
    _makes: ClassVar[tuple[str, ...]] = ()

    @property
    def uses(self) -> tuple[str, ...]:
        """The loops that are named."""
        return self._named(self._uses)

    @property
    def ends(self) -> tuple[str, ...]:
        """The names that stand for a loop no more."""
        return self._named(self._ends) if self.makes else ()

    @property
    def makes(self) -> tuple[str, ...]:
        """The names that are new."""
        return self._named(self._makes)

    @property
    def given(self) -> tuple[str, ...]:
        """The names that somebody thought of; others are made of these."""
        return self.makes

    def _named(self, fields: tuple[str, ...]) -> tuple[str, ...]:
        values = [getattr(self, name) for name in fields]
        several = [(value,) if isinstance(value, str) else value for value in values]
        return tuple([name for names in several for name in names if name])


@dataclass(frozen=True, slots=True)
class Split(Naming):
    """The loop over `index` becomes two: `outer` over parts of it, and `inner` within a part.

    Parts have `size` indices; split `up`, there are `size` parts.
    """

    _uses = ("index",)
    _ends = ("index",)
    _makes = ("outer", "inner")

    index: str
    outer: str
    inner: str
    size: int
    up: bool = False
    at: Location | None = field(default=None, compare=False)

    def __str__(self) -> str:
        how = ", up" if self.up else ""
        return f"split({self.index}, {self.outer}, {self.inner}, {self.size}{how})"


@dataclass(frozen=True, slots=True)
class Reorder(Naming):
    """Loops directly inside one another are put into this order; two are swapped."""

    _uses = ("order",)

    order: tuple[str, ...]
    at: Location | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"reorder({', '.join(self.order)})"


@dataclass(frozen=True, slots=True)
class Collapse(Naming):
    """One name, `fused`, for two loops of which one is directly inside the other."""

    _uses = ("outer", "inner")
    _ends = ("outer", "inner")
    _makes = ("fused",)

    outer: str
    inner: str
    fused: str
    at: Location | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"collapse({self.outer}, {self.inner}, {self.fused})"


@dataclass(frozen=True, slots=True)
class Pos(Naming):
    """The loop over `index` goes through the positions of what an operand stores.

    Several coordinates are those of loops in one another, or of one `flat` loop that tracks them.
    """

    _uses = ("index",)
    _ends = ("index",)
    _makes = ("position",)

    index: str
    position: str
    access: Access
    flat: bool = False
    at: Location | None = field(default=None, compare=False)

    def __str__(self) -> str:
        indices = ", ".join(getattr(i, "name", "?") for i in self.access.indices)
        operand = f"{self.access.tensor}[{indices}]" if indices else self.access.tensor
        how = ", flat" if self.flat else ""
        return f"pos({self.index}, {self.position}, {operand}{how})"


@dataclass(frozen=True, slots=True)
class Coord(Naming):
    """The loop over positions goes through all coordinates from these positions on."""

    _uses = ("position",)
    _ends = ("position",)
    _makes = ("index",)

    position: str
    index: str
    at: Location | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"coord({self.position}, {self.index})"


@dataclass(frozen=True, slots=True)
class Bound(Naming):
    """Something is known of the range of a loop, which is called `bounded` then, if that is given.

    The `kind` of it says what a value is to the range: see `loops.bounds`.
    """

    _uses = ("index",)
    _ends = ("index",)
    _makes = ("bounded",)

    index: str
    bounded: str
    value: int
    kind: str
    at: Location | None = field(default=None, compare=False)

    def __str__(self) -> str:
        if self.bounded:
            return f"bound({self.index}, {self.bounded}, {self.value}, {self.kind})"
        return f"bound({self.index}, {self.kind}, {self.value})"


@dataclass(frozen=True, slots=True)
class Precompute(Naming):
    """A part of an update is computed before the rest, for all `indices`, into a workspace.

    The loops that do so are called `early`. Where these are the same names, `j:1` is the loop over
    `j` that computes the workspace, and `j:2` the one that uses it.
    """

    _uses = ("indices",)

    expr: str
    indices: tuple[str, ...]
    early: tuple[str, ...]
    workspace: str
    at: Location | None = field(default=None, compare=False)

    @property
    def ends(self) -> tuple[str, ...]:
        """The names that stand for a loop no more."""
        pairs = zip(self.indices, self.early, strict=False)
        return tuple([index for index, early in pairs if index == early])

    @property
    def makes(self) -> tuple[str, ...]:
        """The names that are new."""
        both = [name for index in self.ends for name in (f"{index}:1", f"{index}:2")]
        return (*(name for name in self.early if name not in self.ends), *both)

    @property
    def given(self) -> tuple[str, ...]:
        """The names that somebody thought of: those of new loops, and of the workspace."""
        return (*(name for name in self.early if name not in self.indices), self.workspace)

    def __str__(self) -> str:
        indices, early = (
            names[0] if len(names) == 1 else f"({', '.join(names)})"
            for names in (self.indices, self.early)
        )
        return f"precompute({self.expr}, {indices}, {early}, {self.workspace})"


@dataclass(frozen=True, slots=True)
class Unroll(Naming):
    """The body of a loop is written out `factor` times, for as many turns at once."""

    _uses = ("index",)

    index: str
    factor: int
    at: Location | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"unroll({self.index}, {self.factor})"


@dataclass(frozen=True, slots=True)
class Parallelize(Naming):
    """Several turns of a loop are made at the same time, by a `unit` of the machine.

    The strategy for a `race` says what happens where they write to one place.
    """

    _uses = ("index",)

    index: str
    unit: str
    race: str
    at: Location | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"parallelize({self.index}, {self.unit}, {self.race})"


Command: TypeAlias = (
    Split | Reorder | Collapse | Pos | Coord | Bound | Precompute | Unroll | Parallelize
)
