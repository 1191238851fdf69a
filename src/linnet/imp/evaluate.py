"""The meaning of expressions of imperative IR: each becomes a function of a frame, made once.

A frame has the values of one call by their names: variables, and memory under `x[]`. What is looked
up and is not there, or lies outside, is refused where it happens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

import numpy as np

from linnet import imp
from linnet.errors import InternalError
from linnet.imp.calculate import conversion, convert, converter, operation, unary
from linnet.imp.functions import BITS, MATH, TESTS, WORDS

Array: TypeAlias = np.ndarray


class Memory(Protocol):
    """Elements by their places: a view of an array that gives numbers of Python, or the array."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> Any: ...
    def __setitem__(self, at: int, value: Any, /) -> None: ...


class Frame(dict[str, Any]):
    """One call: its variables, and its memory under `x[]`."""

    __slots__ = ("lengths", "lent")
    lengths: dict[str, int]  # of what a kernel has in use of its buffers
    lent: dict[str, dict[str, Memory]]  # task: the memory that it has

    def __missing__(self, name: str) -> Any:
        if name.endswith("[]"):
            raise InternalError(f"there is no buffer {name[:-2]}")
        raise InternalError(f"the variable {name} has no value")


class Lent:
    """What is there of memory that a task has: what it finds would depend on who is faster."""

    def __init__(self, task: str, name: str) -> None:
        self.task, self.name = task, name

    def __len__(self) -> int:
        raise InternalError(f"the task {self.task} has {self.name}")


Value: TypeAlias = Callable[
    [Frame], Any
]  # a `calculate.Scalar`; of a codelet without a result None
Step: TypeAlias = Callable[[Frame], None]
Find: TypeAlias = Callable[[str], tuple[imp.Function, Value] | None]
"""A codelet by its name, with what runs it; None for the functions of mathematics."""


def slot(buffer: imp.Buffer) -> str:
    """The name of a buffer's memory in a frame."""
    return f"{buffer.name}[]"


def memory_of(array: Array) -> Memory:
    """An array as memory, which reads as the numbers of Python where those are the same."""
    plain = array.dtype.kind in "biu" or array.dtype == np.float64
    return array.data if plain else array


def outside(buffer: imp.Buffer, at: int, memory: Memory) -> InternalError:
    """That an access is refused."""
    return InternalError(f"{buffer.name}[{at}] is out of bounds: it has {len(memory)} elements")


def value(e: imp.Expr, find: Find) -> Value:
    """An expression as a function of a frame; it calls what it is able to `find`."""
    return _MAKE[type(e)](e, find)


def _constant(e: imp.Const, find: Find) -> Value:
    number = convert(e.value, e.dtype)
    return lambda f: number


def _variable(e: imp.Var, find: Find) -> Value:
    return itemgetter(e.name)


def _load(e: imp.Load, find: Find) -> Value:
    index, name, buffer = value(e.index, find), slot(e.buffer), e.buffer

    def load(f: Frame) -> Any:
        at, memory = index(f), f[name]
        if 0 <= at < len(memory):
            return memory[at]
        raise outside(buffer, int(at), memory)

    return load


def _binary(e: imp.Binary, find: Find) -> Value:
    a, b = value(e.a, find), value(e.b, find)
    match e.op:
        case "and":
            return lambda f: a(f) and b(f)
        case "or":
            return lambda f: a(f) or b(f)
    compute = operation(e.op, e.a.dtype)
    if isinstance(e.b, imp.Const):
        number = convert(e.b.value, e.b.dtype)
        return lambda f: compute(a(f), number)
    return lambda f: compute(a(f), b(f))


def _unary(e: imp.Unary, find: Find) -> Value:
    x, compute = value(e.x, find), unary(e.op, e.dtype)
    return lambda f: compute(x(f))


def _select(e: imp.Select, find: Find) -> Value:
    cond, a, b = value(e.cond, find), value(e.a, find), value(e.b, find)

    def select(f: Frame) -> Any:
        yes, no = a(f), b(f)  # both sides may be evaluated, so both must be safe
        return yes if cond(f) else no

    return select


def _cast(e: imp.Cast, find: Find) -> Value:
    x, change = value(e.x, find), conversion(e.x.dtype, e.dtype)
    return x if change is None else lambda f: change(x(f))


_MAKE: dict[type, Callable[[Any, Find], Value]] = {
    imp.Const: _constant,
    imp.Var: _variable,
    imp.Load: _load,
    imp.Binary: _binary,
    imp.Unary: _unary,
    imp.Select: _select,
    imp.Cast: _cast,
    imp.Call: lambda e, find: call(e, find),
}


# -- calls -----------------------------------------------------------------------------------------


def call(e: imp.Call, find: Find) -> Value:
    """A call of a codelet, in a frame of its own, or of a function of mathematics."""
    given = [_argument(a, find) for a in e.args]
    found = find(e.function)
    if found is None:
        return _mathematics(e, given)
    function, body = found
    names = [slot(p) if isinstance(p, imp.Buffer) else p.name for p in function.params]
    pairs = list(zip(names, given, strict=True))

    def run(f: Frame) -> Any:
        inner = Frame()
        for name, argument in pairs:
            inner[name] = argument(f)
        return body(inner)

    return run


def _argument(a: imp.Expr | imp.Address, find: Find) -> Callable[[Frame], Any]:
    if not isinstance(a, imp.Address):
        return value(a, find)
    name = slot(a.buffer)

    def memory(f: Frame) -> Memory:
        found: Memory = f[name]
        len(found)  # which is refused where a task has it
        return found

    return memory


def _mathematics(e: imp.Call, given: Sequence[Value]) -> Value:
    finish, meaning = converter(e.dtype), _meaning(e.function)
    if len(given) == 1:
        (x,) = given
        return lambda f: finish(meaning(x(f)))
    return lambda f: finish(meaning(*[argument(f) for argument in given]))


def _meaning(name: str) -> Callable[..., Any]:
    """What a function of mathematics gives, in any type."""
    match name:
        case "complex":
            return lambda a, b: complex(float(a.real), float(b.real))
        case "real":
            return lambda x: x.real
        case "imag":
            return lambda x: x.imag
        case "conj":
            return np.conj
        case "abs":
            return abs
        case "signbit":
            return lambda x: not isinstance(x, int) and TESTS["signbit"](x)
    functions = {**TESTS, **BITS, **WORDS, **{n: m.meaning for n, m in MATH.items()}}
    if name not in functions:
        raise InternalError(f"there is no function {name}")
    return functions[name]
