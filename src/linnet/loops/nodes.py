"""The loop language: in what order things are computed, whatever the formats.

    expr = Literal(value, dtype) | Index(name) | Name(name) | Access(tensor, indices)
         | Call(function, args) | Dimension(tensor, mode) | Parts(of, size) | Place(of, at)
         | Value(code)
    range = Extent(start, stop) | Positions(tensor, modes, given, within) | Product(ranges)
          | Part(of, number, size) | Coordinates(of) | Along(of, outer) | Bounded(of, kind, value)
    stmt = Loop(index, extent, body) | If(cond, then, orelse) | Let(name, value, body)
         | Assign(target, op, value) | Declare(tensor, init, dims) | Freeze(tensor) | Thaw(tensor)
         | Swap(a, b) | Break() | Block(stmts)

A program prints as the Python it was written in. `Value` and an access to a `Fiber` appear only
while a program is being lowered: they stand for what is already code.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from linnet import imp
from linnet.algebra.function import Function
from linnet.errors import Location
from linnet.formats.fiber import Fiber, Register
from linnet.formats.format import Format
from linnet.imp.how import PLAIN, How
from linnet.loops.commands import Command
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. `dtype` is None for a Python number, which takes the type of its company.

    A structural literal is the fill value at places where nothing is stored: it takes no part in
    arithmetic (0 times anything is 0), while a number that the user wrote follows IEEE.
    """

    value: bool | int | float | complex
    dtype: str | None = None
    structural: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """A loop index."""

    name: str


@dataclass(frozen=True, slots=True)
class Name:
    """A value that `Let` has named."""

    name: str


@dataclass(frozen=True, slots=True)
class Access:
    """`tensor[indices]`. `protocols` say how each index wants to be walked ("" for the default)."""

    tensor: str | Fiber | Register
    indices: tuple[Expr, ...]
    protocols: tuple[str, ...] = ()
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of values."""

    function: Function
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """An expression that is already code (only while lowering)."""

    code: imp.Expr


@dataclass(frozen=True, slots=True)
class Dimension:
    """The size of a tensor's mode (in extents and declarations, once dimensions are known)."""

    tensor: str
    mode: int


@dataclass(frozen=True, slots=True)
class Parts:
    """How many parts of `size` indices a range has: `ln.parts(range(n), 32)`."""

    of: Range
    size: Expr


@dataclass(frozen=True, slots=True)
class Place:
    """Which index of a range a loop is `at`, from 0: `ln.place(ln.part(range(n), t, 32), i)`.

    The loops go through the range, and stand around. Positions are told by their coordinates.
    """

    of: Range
    at: tuple[Expr, ...]


Expr: TypeAlias = Literal | Index | Name | Access | Call | Dimension | Parts | Place | Value


@dataclass(frozen=True, slots=True)
class Extent:
    """The half-open range `start <= i < stop`."""

    start: Expr
    stop: Expr

    @property
    def whole(self) -> Extent:
        """The range itself: it is no part of another."""
        return self


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a range with this `number`, from 0: `ln.part(range(n), t, 32)`.

    All parts have `size` indices but the last, which ends with the range. A part before the first
    or behind the last is empty. What holds of every index of the range holds in its parts.
    """

    of: Range
    number: Expr
    size: Expr

    @property
    def whole(self) -> Extent:
        """The range that this is a part of, or a part of a part."""
        return self.of.whole


class Several:
    """What may have several indices: each of them is one of a range."""

    __slots__ = ()

    def along(self, depth: int) -> Extent:
        """The coordinates that there may be in one of the modes."""
        raise NotImplementedError

    @property
    def whole(self) -> Extent:
        """Those that there may be in the outermost."""
        return self.along(0)


@dataclass(frozen=True, slots=True)
class Positions(Several):
    """Where a tensor stores something, in the order of storage: `ln.stored(A[i, :])`.

    The positions are those of a level; they have coordinates in the `modes` that lead there from
    where coordinates are `given`. What a level below the last of them stores is not looked at.
    No modes are all that there are: they are named once the format is known (`normalize.stored`).
    Coordinates, or the first of them, may be those `within` a range: `ln.stored(x, range(8))`.
    """

    tensor: str
    modes: tuple[int, ...]
    given: tuple[tuple[int, Expr], ...] = ()
    within: Range | None = None

    def along(self, depth: int) -> Extent:
        """The coordinates that there may be in one of the modes."""
        mode = self.modes[depth] if self.modes else depth
        return Extent(Literal(0), Dimension(self.tensor, mode))


@dataclass(frozen=True, slots=True)
class Coordinates(Several):
    """All coordinates from a part of positions on to the next: `ln.coordinates(ln.part(…))`.

    Those of part 0 begin, and those of the part that has the last position end, where coordinates
    do; so parts follow one another without gaps. Where there are no positions, part 0 has all.
    """

    of: Range

    def along(self, depth: int) -> Extent:
        """The coordinates that there may be in one of the modes."""
        positions = base_of(self.of)
        assert isinstance(positions, Positions)
        return positions.along(depth)


@dataclass(frozen=True, slots=True)
class Product(Several):
    """All pairs of the indices of some ranges, in order: `ln.product(range(n), range(m))`."""

    ranges: tuple[Extent, ...]

    def along(self, depth: int) -> Extent:
        """One of the ranges."""
        return self.ranges[depth]


@dataclass(frozen=True, slots=True)
class Along:
    """One coordinate where there are several: `for i, j in ln.stored(A):` are two loops.

    The loops stand directly inside one another; `outer` are the coordinates of those around.
    """

    of: Range
    outer: tuple[Expr, ...] = ()

    @property
    def depth(self) -> int:
        """How many of the loops are around this one."""
        return len(self.outer)

    @property
    def whole(self) -> Extent:
        """The coordinates that there may be."""
        several = base_of(self.of)
        assert isinstance(several, Positions | Product | Coordinates)
        return several.along(self.depth)


@dataclass(frozen=True, slots=True)
class Bounded:
    """A range of which something is known, and checked: `ln.bound(range(n), "MaxExact", 128)`.

    It begins or ends at a `value`, or not before or behind it, or the value divides its length.
    Parts and positions are counted from 0. The `command` that says so is for messages.
    """

    of: Range
    kind: str
    value: int
    command: str = field(default="", compare=False)
    at: Location | None = field(default=None, compare=False)

    @property
    def whole(self) -> Extent:
        """The range that this is, or is a part of."""
        return self.of.whole


Range: TypeAlias = Extent | Positions | Product | Part | Coordinates | Along | Bounded


def base_of(extent: Range) -> Extent | Positions | Product | Coordinates:
    """The coordinates or positions that a range is a part of."""
    while isinstance(extent, Part | Along | Bounded):
        extent = extent.of
    return extent


@dataclass(frozen=True, slots=True)
class Loop:
    """`for index in extent: body`; no extent means the dimension that the accesses imply.

    `how` it is run changes nothing of what it does.
    """

    index: str
    extent: Range | None
    body: Stmt
    at: Location | None = field(default=None, compare=False)
    how: How = PLAIN


@dataclass(frozen=True, slots=True)
class If:
    """`if cond: then else: orelse`."""

    cond: Expr
    then: Stmt
    orelse: Stmt
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Let:
    """`name = value`, for the statements in `body`."""

    name: str
    value: Expr
    body: Stmt
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`, or with a function `op` the update `target = op(target, value)`.

    An update that is `partial` is the beginning of a longer one, as in `y[i] = y[i] + a[i] + b[i]`:
    its result may not lose anything in the target.
    """

    target: Access
    op: Function | None
    value: Expr
    at: Location | None = field(default=None, compare=False)
    partial: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Declare:
    """`tensor[...] = init`: forget the contents and begin anew. Afterwards it may be updated.

    `dims` are the tensor's dimensions, one expression per mode, once they are known
    (`normalize.dimensions`); None before. `counts` names a tensor for how many entries each fiber
    will have, where that is counted first (`lower.counted`). `room` is how many entries are
    expected in all, where somebody knows: memory for so many is taken at once.
    """

    tensor: str
    init: Expr
    dims: tuple[Expr, ...] | None = None
    at: Location | None = field(default=None, compare=False)
    counts: str | None = None
    room: Dimension | None = None


@dataclass(frozen=True, slots=True)
class Freeze:
    """End of updates: afterwards the tensor may be read."""

    tensor: str
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Thaw:
    """End of reads: afterwards the tensor may be updated, keeping its contents."""

    tensor: str
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Swap:
    """`a, b = b, a`: two temporaries of one format and size exchange what they hold."""

    a: str
    b: str
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Break:
    """`break`: the loop around ends here, and those that go along with it.

    A loop that may be left counts, and walks no tensor but the one that it goes along.
    """

    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in order. `Block(())` does nothing."""

    stmts: tuple[Stmt, ...] = ()


Stmt: TypeAlias = Loop | If | Let | Assign | Declare | Freeze | Thaw | Swap | Break | Block
Node: TypeAlias = Expr | Stmt | Range

NOTHING = Block(())


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel: its parameters (tensors, in call order), its temporaries, its body, its results.

    A temporary's format is known when the program is written; a parameter's when it is called.
    `schedule` are the commands that are to be applied to it (`scheduling.apply`). Of one that is
    `led`, it is known that what leads its loops may do so (`normalize.leading`).
    """

    name: str
    params: tuple[str, ...]
    temporaries: tuple[tuple[str, Format], ...]
    body: Stmt
    results: tuple[str, ...]
    at: Location | None = field(default=None, compare=False)
    schedule: tuple[Command, ...] = ()
    led: bool = field(default=False, compare=False)
