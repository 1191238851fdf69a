"""Leaves: `Element`, a value at every position, and `Pattern`, true where something is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from linnet import imp
from linnet.algebra.dtypes import Number, as_python, canonical
from linnet.errors import DTypeError, FormatError, Location
from linnet.formats.alike import same_value
from linnet.formats.level import Array, Level
from linnet.formats.validate import check_length
from linnet.records import dataclass

if TYPE_CHECKING:
    import numpy as np

    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class Leaf(Level):
    """A level without dimensions: where values are."""

    leaf: ClassVar[bool] = True
    width: ClassVar[int] = 0

    constant: ClassVar[Number | None] = None  # what every stored value is, if it is the same

    def read(self, fiber: Fiber) -> imp.Expr:
        """The value at the fiber's position."""
        raise NotImplementedError

    def write(self, b: Builder, fiber: Fiber, value: imp.Expr) -> None:
        """Give the value at the fiber's position another value."""
        raise NotImplementedError


@dataclass(frozen=True)
class Element(Leaf):
    """A value per position: `val[p]`. Dtype and fill value may be left to the data."""

    fill: Number | None = None
    dtype: str | None = None

    arrays: ClassVar[tuple[Array, ...]] = (Array("val", "value"),)

    def __post_init__(self) -> None:
        fill = self.fill
        if not isinstance(fill, complex | None) and not hasattr(fill, "__float__"):
            raise DTypeError(
                f"the fill value {fill!r} does not fit: it is no number", at=Location.of_caller()
            )
        if self.dtype is not None:
            object.__setattr__(self, "dtype", canonical(self.dtype))
            if self.fill is not None:
                object.__setattr__(self, "fill", as_python(self.fill, self.dtype))

    def with_(self, **changes: object) -> Element:
        """A leaf with another fill value or dtype."""
        values = {"fill": self.fill, "dtype": self.dtype} | changes
        return type(self)(**values)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        parts = [] if self.fill is None else [repr(self.fill)]
        if self.dtype is not None:
            parts.append(repr(self.dtype) if parts else f"dtype={self.dtype!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def read(self, fiber: Fiber) -> imp.Expr:
        return fiber.buffer("val")[fiber.pos]

    def write(self, b: Builder, fiber: Fiber, value: imp.Expr) -> None:
        b.emit(imp.Store(fiber.buffer("val"), fiber.pos, value))

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        b.emit(imp.Grow(storage.buffers[level]["val"], stop))

    def initialize(
        self, b: Builder, storage: Storage, level: int, start: imp.Expr, stop: imp.Expr
    ) -> None:
        val, init = storage.buffers[level]["val"], storage.init
        if stop == start + 1:
            b.emit(imp.Store(val, start, init))
        else:
            b.emit(imp.Fill(val, start, stop, init))

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        b.emit(imp.SetLength(storage.buffers[level]["val"], count))

    def thaw(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        pass

    def alike(
        self, b: Builder, storage: Storage, level: int, p: imp.Expr, q: imp.Expr
    ) -> imp.Expr | None:
        val = storage.buffers[level]["val"]
        return same_value(b, val[p], val[q])

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        check_length(arrays["val"], count, f"{label}.val")
        return 0


@dataclass(frozen=True, repr=False)
class ShortCircuit(Element):
    """A value that ends the loops which update it once it is annihilated: `True` under `or`."""

    short_circuit: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class SparseScalar(Element):
    """A scalar that is often its fill value: code that reads it has a version for that case."""

    specialized: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class Unstored(SparseScalar):
    """A scalar of which nothing was ever written: what is read where an array stores nothing.

    FINCH has it as the state of a sparse scalar. Here it is known while a kernel is compiled, and
    the memory holds the fill value, for those who read a number.
    """

    unstored: ClassVar[bool] = True

    def written(self, below: tuple[Level, ...]) -> tuple[Level, ...]:
        return (Element(self.fill, self.dtype),)


@dataclass(frozen=True)
class Pattern(Leaf):
    """True at every stored position, false elsewhere; nothing is kept."""

    fill: ClassVar[bool] = False
    dtype: ClassVar[str] = "bool"
    selective: ClassVar[bool] = True
    constant: ClassVar[Number | None] = True

    def with_(self, **changes: object) -> Self:
        """Only what a pattern already is."""
        if bool(changes.get("fill", False)) or changes.get("dtype", "bool") != "bool":
            raise FormatError(
                "a Pattern holds booleans with fill False", hint="use Element(fill, dtype)"
            )
        return self

    def __repr__(self) -> str:
        return "Pattern()"

    def read(self, fiber: Fiber) -> imp.Expr:
        if fiber.fresh:
            return imp.FALSE
        return imp.TRUE if fiber.dirty is None else fiber.dirty  # what has been written so far

    def write(self, b: Builder, fiber: Fiber, value: imp.Expr) -> None:
        if fiber.dirty is not None:
            b.emit(imp.Assign(fiber.dirty, value))

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        pass

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        pass

    def thaw(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        pass

    def alike(
        self, b: Builder, storage: Storage, level: int, p: imp.Expr, q: imp.Expr
    ) -> imp.Expr | None:
        return imp.TRUE

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        return 0
