"""Values and functions of values, for the reference interpreter: closures made once, run often.

A value is a NumPy scalar, or a Python number where it is a loop index or a literal. Where a tensor
stores nothing the value is `Structural`: it takes no part in arithmetic, and 0 times anything is
0, NaN included. Outside the bounds of `A[~i]` it is `MISSING`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from linnet.algebra.derive import deciding
from linnet.algebra.dtypes import as_python, concrete, kind
from linnet.algebra.exact import converter
from linnet.algebra.function import Function
from linnet.errors import IndexBoundsError

Env: TypeAlias = dict[str, object]
Run: TypeAlias = Callable[[Env], object]
Convert: TypeAlias = Callable[[object], object]


@dataclass(frozen=True, slots=True)
class Structural:
    """A value that is known without looking: nothing is stored there."""

    value: object


class Missing:
    """What `A[~i]` is outside its bounds."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Code:
    """An expression: its type and its closure.

    `loose` if the value may be `Structural` or `MISSING`; `constant` if it is the same every time.
    """

    dtype: str
    run: Run
    loose: bool = False
    constant: bool = False


def plain(value: object) -> object:
    """The number, whether stored or not."""
    return value.value if type(value) is Structural else value


def same(a: object, b: object) -> bool:
    """Equal, or both NaN."""
    return bool(a == b) or bool(a != a and b != b)


# -- calls -----------------------------------------------------------------------------------------


def call(function: Function, args: list[Code]) -> Code:
    """A function of values, with the types that the function asks for."""
    given, result = function.types(tuple([a.dtype for a in args]))
    runs = [converted(a, dtype) for a, dtype in zip(args, given, strict=True)]
    loose = any(a.loose for a in args)
    match function.name:
        case "logical_and" | "logical_or":
            run = _shortcut(runs, function.name == "logical_or")
        case "where":
            run = _choice(runs, args[0].constant)
        case _ if loose:
            run = _loose_call(function, args, runs, given, result)
        case _:
            run = _plain_call(function, runs, result)
    return Code(result, run, loose, all(a.constant for a in args))


def _plain_call(function: Function, runs: list[Run], result: str) -> Run:
    """A call whose arguments are all ordinary values."""
    numpy, finish = function.numpy, to(result)
    return lambda env: finish(numpy(*[run(env) for run in runs]))


def _loose_call(
    function: Function, args: list[Code], runs: list[Run], given: tuple[str, ...], result: str
) -> Run:
    """A call with arguments that may be missing, or not stored."""
    numpy, finish = function.numpy, to(result)
    laws = [deciding(function, k, dtype) for k, dtype in enumerate(given)]
    constants = [a.constant and kind(t) in "biu" for a, t in zip(args, given, strict=True)]

    def call(env: Env) -> object:
        values = [run(env) for run in runs]
        present = [v for v in values if v is not MISSING]
        if function.name == "coalesce" and present:
            return present[0]
        outcomes = [
            outcome
            for value, exact, decided in zip(values, constants, laws, strict=True)
            if exact or type(value) is Structural
            for z, outcome in decided
            if same(z, plain(value))
        ]
        if outcomes and all(same(outcomes[0], other) for other in outcomes):
            return Structural(finish(outcomes[0]))
        if len(present) < len(values):
            return MISSING
        computed = finish(numpy(*[plain(v) for v in values]))
        known = [type(v) is Structural or a.constant for v, a in zip(values, args, strict=True)]
        return Structural(computed) if all(known) else computed

    return call


def _shortcut(runs: list[Run], decisive: bool) -> Run:
    """`a and b`, `a or b`: b is computed only if a does not decide."""
    first, second = runs

    def both(env: Env) -> object:
        value = first(env)
        if value is MISSING:
            other = second(env)
            decides = type(other) is Structural and bool(other.value) is decisive
            return other if decides else MISSING
        return value if bool(plain(value)) is decisive else second(env)

    return both


def _choice(runs: list[Run], constant: bool) -> Run:
    """`a if cond else b`: only one of them is computed."""
    cond, yes, no = runs

    def choose(env: Env) -> object:
        test = cond(env)
        if test is MISSING:
            return MISSING
        chosen, other = (yes, no) if plain(test) else (no, yes)
        value = chosen(env)
        if constant or type(test) is Structural or type(value) is not Structural:
            return value
        # what a test at run time has chosen could have been the other one
        return value if _alike(value, other, env) else plain(value)

    return choose


def _alike(value: Structural, other: Run, env: Env) -> bool:
    """Whether another expression is structural, too, and the same."""
    try:
        found = other(env)
    except IndexBoundsError:
        return False
    return type(found) is Structural and same(found.value, value.value)


# -- conversions -----------------------------------------------------------------------------------


def to(dtype: str) -> Convert:
    """Conversion to a type, which costs nothing for values that have it."""
    wanted, convert = np.dtype(concrete(dtype)).type, converter(concrete(dtype))
    return lambda value: value if type(value) is wanted else convert(value)


def converted(code: Code, dtype: str) -> Run:
    """The value of an expression, converted to a type."""
    run, convert = code.run, conversion(code, dtype)
    if convert is _unchanged:
        return run
    if code.constant:
        known = convert(run({}))
        return lambda env: known
    return lambda env: convert(run(env))


def conversion(code: Code, dtype: str) -> Convert:
    """How a value of an expression becomes one of a type."""
    dtype = concrete(dtype)
    if code.dtype == dtype and not code.constant and dtype != "int64":
        return _unchanged  # indices are Python integers, all others are what their types say
    convert = to(dtype)
    if code.constant and code.dtype.startswith("weak_") and dtype != "bool":
        # a number that the user wrote must fit the type of its company
        return lambda value: _inside(value, lambda v: convert(as_python(v, dtype)))
    return (lambda value: _inside(value, convert)) if code.loose else convert


def _inside(value: object, convert: Convert) -> object:
    """Convert a value, whether stored or not."""
    if type(value) is Structural:
        return Structural(convert(value.value))
    return value if value is MISSING else convert(value)


def _unchanged(value: object) -> object:
    return value
