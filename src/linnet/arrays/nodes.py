"""What is wanted, before it is said in what order: equations, and graphs of array operations.

    notation = Notation(target, op, value)        C[i, j] += A[i, k] * B[k, j]
    node     = Leaf(tensor) | Constant(value) | Map(function, args)
             | Reduce(function, axes, arg, initial) | View(arg, axes)
             | Position(axis) | Take(arg, indices)

The value of an equation is an expression of the loop language over accesses to operands. An index
of it that the target does not have is reduced over, by `op`; the sum, if the equation is an `=`.
"""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple, TypeAlias

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.errors import Location
from linnet.formats.tensor import Tensor
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Notation:
    """`target op= value`; without an `op`, `target = value`."""

    target: loops.Access
    op: Function | None
    value: loops.Expr
    at: Location | None = field(default=None, compare=False)

    @property
    def result(self) -> str:
        """The name of the tensor that is computed."""
        assert isinstance(self.target.tensor, str)
        return self.target.tensor

    @property
    def free(self) -> tuple[str, ...]:
        """The indices of the result."""
        return tuple(i.name for i in self.target.indices if isinstance(i, loops.Index))


# -- graphs of array operations --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A tensor; `name` is what the user calls it."""

    tensor: Tensor
    shape: tuple[int, ...]
    dtype: str
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A number; one of Python, without a dtype of its own, takes that of its company."""

    value: Number
    dtype: str
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """A function of elements. An argument has the shape of the result, or no dimensions.

    `fill` is what its fill value has been found to be, once somebody has asked (`scalars`).
    """

    function: Function
    args: tuple[Node, ...]
    shape: tuple[int, ...]
    dtype: str
    fill: tuple[loops.Literal | None, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Reduce:
    """The elements along `axes`, combined by a function, beginning with `initial`."""

    function: Function
    axes: tuple[int, ...]
    arg: Node
    initial: Number
    shape: tuple[int, ...]
    dtype: str


class Axis(NamedTuple):
    """Where an axis of a view's argument is read: at `start + step * (index of axis out)`.

    With no `out`, at `start`.
    """

    out: int | None
    start: int = 0
    step: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The elements of the argument at other indices: one `Axis` for each of its dimensions.

    Slices, integers, new axes, transposition, broadcasting and diagonals are all of them views.
    """

    arg: Node
    axes: tuple[Axis, ...]
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """The index along an axis, as a value."""

    axis: int
    shape: tuple[int, ...]
    dtype: str = "int64"


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """The elements of the argument at indices that are computed."""

    arg: Node
    indices: tuple[Node, ...]
    protocols: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str


Node: TypeAlias = Leaf | Constant | Map | Reduce | View | Position | Take


@dataclass(frozen=True, slots=True)
class Labels:
    """What the user calls a result, its indices, those that are reduced over, and the kernel."""

    result: str = "out"
    free: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()
    kernel: str = "array"
