"""The imperative IR: typed code, one C statement per node. What back ends print.

    expr  = Const(value, dtype) | Var(name, dtype) | Load(buffer, index)
          | Unary(op, x, dtype) | Binary(op, a, b, dtype) | Select(cond, a, b)
          | Cast(x, dtype) | Call(function, args, dtype) | Address(buffer)
    stmt  = Let(var, value) | Assign(var, value) | Accumulate(var, op, value)
          | Store(buffer, index, value) | Fill(buffer, start, stop, value)
          | For(var, start, stop, body) | While(cond, body) | If(cond, then, orelse)
          | Block(stmts) | Break() | Return(value) | Do(call) | Comment(text)
          | Grow(buffer, count) | SetLength(buffer, count) | Swap(a, b)
          | Spawn(task, call) | Join(task, lent)

Expressions are pure values: reading one twice is the same as reading it once. Types are dtype
names (`"int64"`, `"float64"`, `"bool"`, …). Two buffers never overlap. A `For` counts up by one,
and its variable is constant in the body. `Let` introduces a variable for the rest of its block;
only a variable that was introduced by `Let` may be assigned. Operators build expressions (`a + b`,
`a < b`, `buffer[i]`); `==` compares structure, `eq(a, b)` builds a comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

INT = "int64"  # positions and coordinates while they are in registers
BOOL = "bool"

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
LOGICAL = frozenset({"and", "or"})
# The other binary operators: + - * / (true division, floats and complex)
#   div rem (integers, toward zero; by zero they give 0, and the least over -1 wraps around)
#   & | ^ << >> (past the width: 0, or the sign) min max (of floats: NaN if one is)
# Integers wrap around. `and` and `or` look at their second side only if the first leaves it open.
# The stop of a `For` is read once.
# The unary ones: - ~ not
# Called by name: the functions of C's math.h (`sqrt`, `pow`, …), in double or single by dtype;
#   `fma`; complex: `real imag conj abs complex`; and codelets, which a module carries along.


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
class Buffer:
    """An array in memory. A growable one belongs to the kernel, and can be enlarged."""

    name: str
    dtype: str
    growable: bool = False

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


@dataclass(frozen=True, slots=True)
class Let:
    """Introduce a variable, for the rest of the enclosing block."""

    var: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Assign:
    """Give a variable another value."""

    var: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Accumulate:
    """`var = var op value`, where the order of accumulation may be changed (reassociation)."""

    var: Var
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Store:
    """`buffer[index] = value`."""

    buffer: Buffer
    index: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Fill:
    """`buffer[start:stop] = value`."""

    buffer: Buffer
    start: Expr
    stop: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class For:
    """`for (var = start; var < stop; var++) body`. A `note` tells its reader what it walks."""

    var: Var
    start: Expr
    stop: Expr
    body: Block
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """`while (cond) body`. A `note` tells its reader what it walks."""

    cond: Expr
    body: Block
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """`if (cond) then else orelse`."""

    cond: Expr
    then: Block
    orelse: Block


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the innermost loop."""


@dataclass(frozen=True, slots=True)
class Return:
    """Leave the function. A kernel returns its status."""

    value: Expr | None


@dataclass(frozen=True, slots=True)
class Do:
    """Call a codelet for its effect."""

    call: Call


@dataclass(frozen=True, slots=True)
class Comment:
    """A line for the reader of the generated code."""

    text: str


@dataclass(frozen=True, slots=True)
class Grow:
    """Make room for `count` elements, keeping what is there; else return OUT_OF_MEMORY."""

    buffer: Buffer
    count: Expr


@dataclass(frozen=True, slots=True)
class SetLength:
    """Say how many elements of a growable buffer are in use when the kernel returns."""

    buffer: Buffer
    count: Expr


@dataclass(frozen=True, slots=True)
class Swap:
    """Let two growable buffers exchange their memory; lengths stay as they were set."""

    a: Buffer
    b: Buffer


@dataclass(frozen=True, slots=True)
class Spawn:
    """Call a codelet for its effect, on a thread of its own where there is one to be had.

    Until the task is joined nobody else touches the buffers that are passed. A task has one
    codelet, and is joined before it is spawned again; when a kernel returns, it has ended.
    """

    task: str
    call: Call


@dataclass(frozen=True, slots=True)
class Join:
    """Wait until a task has ended, if it was spawned; what it was `lent` may be touched again."""

    task: str
    lent: tuple[Buffer, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in order. `Block(())` does nothing."""

    stmts: tuple[Stmt, ...] = ()


Stmt: TypeAlias = (
    Let
    | Assign
    | Accumulate
    | Store
    | Fill
    | For
    | While
    | If
    | Break
    | Return
    | Do
    | Comment
    | Grow
    | SetLength
    | Swap
    | Spawn
    | Join
    | Block
)
Node: TypeAlias = Expr | Address | Buffer | Stmt


@dataclass(frozen=True, slots=True)
class Function:
    """A codelet: parameters are variables and buffers, in the order of the call."""

    name: str
    params: tuple[Var | Buffer, ...]
    body: Block
    dtype: str | None


@dataclass(frozen=True, slots=True)
class Argument:
    """One tensor as a kernel sees it: its dimensions, then its buffers.

    In the argument block, which is an array of int64, a tensor takes one slot per dimension and
    three per buffer: address, capacity and length (in elements).
    """

    name: str
    dims: tuple[Var, ...]
    buffers: tuple[Buffer, ...]


@dataclass(frozen=True, slots=True)
class Scratch:
    """A buffer of a few elements, with no values at first, that lasts as long as a call."""

    buffer: Buffer
    size: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled program in imperative form: `int64 name(int64 *args)`, returning a status.

    In a `narrow` one, positions of results have 32 bits, and no buffer grows beyond what they tell.
    """

    name: str
    arguments: tuple[Argument, ...]
    body: Block
    codelets: tuple[Function, ...] = ()
    narrow: bool = False
    scratch: tuple[Scratch, ...] = ()


MOST_NARROW = 2**31 - 1  # elements of a buffer of a narrow kernel

# The status a kernel returns: a kind in the low byte, and above it the number of the access.
OK, OUT_OF_MEMORY, OUT_OF_BOUNDS, OVERFLOW, NO_PLACE, UNSORTED, ASTRAY = 0, 1, 2, 3, 4, 5, 6


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
EMPTY = Block(())
