"""The imperative IR: typed code, one C statement per node. What back ends print.

    expr  = Const(value, dtype) | Var(name, dtype) | Load(buffer, index)
          | Unary(op, x, dtype) | Binary(op, a, b, dtype) | Select(cond, a, b)
          | Cast(x, dtype) | Call(function, args, dtype) | Address(buffer)
    stmt  = Let(var, value) | Assign(var, value) | Accumulate(var, op, value)
          | Store(buffer, index, value) | Fill(buffer, start, stop, value)
          | For(var, start, stop, body) | While(cond, body) | If(cond, then, orelse)
          | Block(stmts) | Break() | Return(value) | Do(call) | Comment(text)
          | Grow(buffer, count, done, whole) | SetLength(buffer, count) | Swap(a, b)
          | Spawn(task, call) | Join(task, lent) | Prefetch(buffer, index)

Expressions are pure values: reading one twice is the same as reading it once. Types are dtype
names (`"int64"`, `"float64"`, `"bool"`, …). Two buffers never overlap. A `For` counts up by one,
and its variable is constant in the body. `Let` introduces a variable for the rest of its block;
only a variable that was introduced by `Let` may be assigned. Operators build expressions (`a + b`,
`a < b`, `buffer[i]`); `==` compares structure, `eq(a, b)` builds a comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import TypeAlias

from linnet.imp.how import PLAIN, How
from linnet.imp.values import ONE, TWO, Address, Buffer, Call, Expr, Var
from linnet.records import dataclass


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
class Span:
    """Positions that a loop goes through: those of a level of a tensor, of some of its fibers.

    The fibers are those from `first` to `last`. Without a tensor these are indices of a dimension,
    from the first to the one behind the last. A `part` is some of the positions, in their order;
    else a loop that is not left goes through all of them. In a `while`, `position` says where
    it stands.
    """

    tensor: str
    level: int
    first: Expr
    last: Expr
    part: bool = False
    position: Expr | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """What a loop goes through, as lowering knows it; `text` says it to who reads the code.

    The range of one that is `ordered` does not end before it begins, and lies within its spans even
    if it is empty. Nothing is computed for the sake of this knowledge, but the interpreter checks
    it. An `index` is that of the program's loop which it is, or a piece of. A `counter` has the
    index of loops directly inside, and goes from part to part of what these go through, in order:
    they may be as long as if they stood alone. The last index of a part, at most, comes again with
    the next. A loop goes through a `tile`, of up to so many indices; elsewhere that is 0.
    """

    text: str = ""
    spans: tuple[Span, ...] = ()
    ordered: bool = False
    index: str = ""
    counter: str = ""
    tile: int = 0

    def map(self, change: Callable[[Expr], Expr]) -> Over:
        """The same, in other words: its expressions are changed as those of the loop are."""
        new = tuple(_in_other_words(span, change) for span in self.spans)
        return self if new == self.spans else replace(self, spans=new)


def _in_other_words(span: Span, change: Callable[[Expr], Expr]) -> Span:
    first, last, at = change(span.first), change(span.last), span.position
    at = None if at is None else change(at)
    same = first is span.first and last is span.last and at is span.position
    return span if same else replace(span, first=first, last=last, position=at)


NOWHERE = Over()


def as_part(over: Over, position: Expr | None = None) -> Over:
    """What a loop goes through that goes through some of it only, or moves its position itself."""
    spans = tuple(replace(span, part=True, position=position) for span in over.spans)
    return replace(over, spans=spans, ordered=False)


@dataclass(frozen=True, slots=True)
class For:
    """`for (var = start; var < stop; var++) body`, where the stop is read once.

    Knowing what it is `over` changes nothing; `how` it is run is for the compiler that comes next.
    """

    var: Var
    start: Expr
    stop: Expr
    body: Block
    over: Over = field(default=NOWHERE, compare=False)
    how: How = PLAIN


@dataclass(frozen=True, slots=True)
class While:
    """`while (cond) body`."""

    cond: Expr
    body: Block
    over: Over = field(default=NOWHERE, compare=False)


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
    """Make room for `count` elements, keeping what is there; else return OUT_OF_MEMORY.

    They may be what is appended in `done` steps of a `whole` loop. How much room is made for the
    next ones depends on that, and nothing else; nobody computes it while there is room.
    """

    buffer: Buffer
    count: Expr
    done: Expr = field(default=ONE, compare=False)
    whole: Expr = field(default=TWO, compare=False)


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
class Prefetch:
    """Say that `buffer[index]` will be read soon. It does nothing else, wherever that is."""

    buffer: Buffer
    index: Expr


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
    | Prefetch
    | Block
)
Node: TypeAlias = Expr | Address | Buffer | Stmt


@dataclass(frozen=True, slots=True)
class Function:
    """A codelet: parameters are variables and buffers, in the order of the call.

    A `rare` one is hardly ever called, and need not be fast.
    """

    name: str
    params: tuple[Var | Buffer, ...]
    body: Block
    dtype: str | None
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Entries:
    """Where what the fibers of a level store is listed: from fiber `FIRST` on, before `LAST`.

    Both ends are told by these two variables, and by dimensions and buffers of the kernel.
    """

    begin: Expr
    end: Expr


FIRST, LAST = Var("first"), Var("last")


@dataclass(frozen=True, slots=True)
class Argument:
    """One tensor as a kernel sees it: its dimensions, then its buffers.

    In the argument block, which is an array of int64, a tensor takes one slot per dimension and
    three per buffer: address, capacity and length (in elements). Spans of loops mean its `entries`,
    level by level; there are levels that have no list of them.
    """

    name: str
    dims: tuple[Var, ...]
    buffers: tuple[Buffer, ...]
    entries: tuple[Entries | None, ...] = field(default=(), compare=False, repr=False)


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
UNBOUND = 7

EMPTY = Block(())
