"""Expressions of the imperative IR, and the operators that build them. `nodes` has the grammar."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from linnet.records import dataclass

INT = "int64"  # positions and coordinates while they are in registers
BOOL = "bool"

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
LOGICAL = frozenset({"and", "or"})
# The other binary operators: + - * / (true division, floats and complex)
#   div rem (integers, toward zero; by zero they give 0, and the least over -1 wraps around)
#   & | ^ << >> (past the width: 0, or the sign) min max (of floats: NaN if one is)
# Integers wrap around. `and` and `or` look at their second side only if the first leaves it open.
# The unary ones: - ~ not
# Called by name: the functions of C's math.h (`sqrt`, `pow`, …), in double or single by dtype;
#   `fma`; `bits from_bits count_bits lowest_bit`; complex: `real imag conj abs
#   complex`; and codelets, which a module carries along.


class Operators:
    """Arithmetic on expressions; both sides must already have one type, integers excepted."""

    __slots__ = ()

    def __add__(self, other: Expr | int) -> Expr:
        return binary("+", self, other)

    def __radd__(self, other: int) -> Expr:
        return binary("+", other, self)

    def __sub__(self, other: Expr | int) -> Expr:
        return binary("-", self, other)

    def __rsub__(self, other: int) -> Expr:
        return binary("-", other, self)

    def __mul__(self, other: Expr | int) -> Expr:
        return binary("*", self, other)

    def __rmul__(self, other: int) -> Expr:
        return binary("*", other, self)

    def __and__(self, other: Expr) -> Expr:
        return binary("and", self, other)

    def __or__(self, other: Expr) -> Expr:
        return binary("or", self, other)

    def __invert__(self) -> Expr:
        return Unary("not", self, BOOL)  # type: ignore[arg-type]

    def __lt__(self, other: Expr | int) -> Expr:
        return binary("<", self, other)

    def __le__(self, other: Expr | int) -> Expr:
        return binary("<=", self, other)

    def __gt__(self, other: Expr | int) -> Expr:
        return binary(">", self, other)

    def __ge__(self, other: Expr | int) -> Expr:
        return binary(">=", self, other)

    def __bool__(self) -> bool:
        raise TypeError("an expression of the generated program has no truth value here")


@dataclass(frozen=True, slots=True)
class Holds:
    """Which array of which level of a tensor a buffer is, and what its elements are.

    One that is per `fiber` has an element for each fiber, or one more; else there is one for each
    entry. Elements of one that `ascends` never decrease, and if they are `unique` no two are equal:
    of pointers all of them, of coordinates those of one fiber.
    """

    tensor: str
    level: int
    array: str
    role: str
    fiber: bool = False
    ascends: bool = False
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array in memory. A growable one belongs to the kernel, and can be enlarged.

    `holds` says what it is of a tensor; nothing else depends on that.
    """

    name: str
    dtype: str
    growable: bool = False
    holds: Holds | None = field(default=None, compare=False, repr=False)

    def __getitem__(self, index: Expr | int) -> Load:
        return Load(self, wrap(index))


@dataclass(frozen=True, slots=True)
class Const(Operators):
    """A constant. The value is a Python bool, int, float or complex."""

    value: bool | int | float | complex
    dtype: str


@dataclass(frozen=True, slots=True)
class Var(Operators):
    """A local variable or a parameter."""

    name: str
    dtype: str = INT


@dataclass(frozen=True, slots=True)
class Load(Operators):
    """`buffer[index]`, with the buffer's type."""

    buffer: Buffer
    index: Expr

    @property
    def dtype(self) -> str:
        """The element's."""
        return self.buffer.dtype


@dataclass(frozen=True, slots=True)
class Unary(Operators):
    """`- x`, `~ x` (bits), `not x`."""

    op: str
    x: Expr
    dtype: str


@dataclass(frozen=True, slots=True)
class Binary(Operators):
    """`a op b`; operands share a type, `dtype` is the result's."""

    op: str
    a: Expr
    b: Expr
    dtype: str


@dataclass(frozen=True, slots=True)
class Select(Operators):
    """`cond ? a : b`; both sides may be evaluated."""

    cond: Expr
    a: Expr
    b: Expr

    @property
    def dtype(self) -> str:
        """That of both sides."""
        return self.a.dtype


@dataclass(frozen=True, slots=True)
class Cast(Operators):
    """Conversion as in C; to bool it is `x != 0`; float to integer saturates (never undefined)."""

    x: Expr
    dtype: str


@dataclass(frozen=True, slots=True)
class Address:
    """A buffer handed to a codelet."""

    buffer: Buffer

    @property
    def dtype(self) -> str:
        """The element's, with a star."""
        return f"{self.buffer.dtype}*"


@dataclass(frozen=True, slots=True)
class Call(Operators):
    """A call of a math function or a codelet."""

    function: str
    args: tuple[Expr | Address, ...]
    dtype: str


Expr: TypeAlias = Const | Var | Load | Unary | Binary | Select | Cast | Call


def wrap(x: Expr | int | float | bool | Operators) -> Expr:
    """An expression for a Python number, or the expression itself."""
    match x:
        case bool():
            return Const(x, BOOL)
        case int():
            return Const(x, INT)
        case float():
            return Const(x, "float64")
        case _:
            return x  # type: ignore[return-value]


def widen(x: Expr) -> Expr:
    """`x` as a 64-bit integer, where it is a narrower one."""
    if x.dtype == INT or x.dtype == BOOL or x.dtype[0] not in "iu":
        return x
    if isinstance(x, Const):
        return Const(x.value, INT)
    return Cast(x, INT)


def cast(x: Expr | int, dtype: str) -> Expr:
    """`x` as a value of type `dtype`; constants are converted at once."""
    x = wrap(x)
    if x.dtype == dtype:
        return x
    if isinstance(x, Cast) and x.dtype == INT and x.x.dtype == dtype:
        return x.x  # an index that was widened
    if isinstance(x, Const) and x.dtype[0] in "iub" and dtype[0] in "iu":
        return Const(int(x.value), dtype)  # type: ignore[arg-type]
    return Cast(x, dtype)


def binary(op: str, a: Expr | int | Operators, b: Expr | int | Operators) -> Expr:
    """`a op b`; narrow indices are widened to 64 bits first, since positions are 64-bit."""
    a, b = wrap(a), wrap(b)
    if op not in LOGICAL and a.dtype != b.dtype:
        a, b = widen(a), widen(b)
    if a.dtype != b.dtype:
        raise TypeError(f"operands of {op} have types {a.dtype} and {b.dtype}")
    return Binary(op, a, b, BOOL if op in COMPARISONS or op in LOGICAL else a.dtype)


def eq(a: Expr | int, b: Expr | int) -> Expr:
    """`a == b`."""
    return binary("==", a, b)


def ne(a: Expr | int, b: Expr | int) -> Expr:
    """`a != b`."""
    return binary("!=", a, b)


def minimum(a: Expr | int, b: Expr | int) -> Expr:
    """The smaller of two integers."""
    return binary("min", a, b)


def maximum(a: Expr | int, b: Expr | int) -> Expr:
    """The larger of two integers."""
    return binary("max", a, b)


TRUE = Const(True, BOOL)
FALSE = Const(False, BOOL)
ZERO = Const(0, INT)
ONE = Const(1, INT)
TWO = Const(2, INT)
