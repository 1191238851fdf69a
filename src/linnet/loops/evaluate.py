"""Values and functions of values, for the reference interpreter: closures made once, run often.

A value is a NumPy scalar, or a Python number where it is a loop index or a literal. Where a tensor
stores nothing the value is `Structural`: it takes no part in arithmetic, and 0 times anything is
0, NaN included. What else is structural is said in docs/guide/functions_and_fill.md. Outside the
bounds of `A[~i]` it is `MISSING`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from linnet.algebra.derive import deciding, outside
from linnet.algebra.dtypes import as_python, concrete, kind
from linnet.algebra.exact import converter
from linnet.algebra.function import Function
from linnet.algebra.regions import holds, possible
from linnet.errors import IndexBoundsError
from linnet.records import dataclass

Env: TypeAlias = dict[str, object]
Run: TypeAlias = Callable[[Env], object]
Convert: TypeAlias = Callable[[object], object]


@dataclass(frozen=True, slots=True)
class Structural:
    """A value that is known without looking: nothing is stored there.

    It is not `sure` where a stored value has chosen it: who does not look there does not know it.
    """

    value: object
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Given:
    """A number that stands for what is missing: it is known where it does, as constants are."""

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
    return value.value if isinstance(value, Structural | Given) else value


def same(a: object, b: object) -> bool:
    """Equal, or both NaN."""
    return bool(a == b) or bool(a != a and b != b)


# -- calls -----------------------------------------------------------------------------------------


def call(function: Function, args: list[Code]) -> Code:
    """A function of values, with the types that the function asks for."""
    given, result = function.types(tuple([a.dtype for a in args]))
    runs = [converted(a, dtype) for a, dtype in zip(args, given, strict=True)]
    loose = any(a.loose for a in args)
    constant = all(a.constant for a in args)
    match function.name:
        case "logical_and" | "logical_or":
            run = _shortcut(runs, args, function.name == "logical_or")
        case "where" if args[0].constant:
            chosen = 1 if plain(runs[0]({})) else 2
            run, constant = runs[chosen], args[chosen].constant
        case "where" if _are_alike(args[1:], runs[1:]):
            run, constant = runs[1], True
        case "where":
            run, constant = _choice(runs, args), False
        case _ if loose or (function.space is not None and not constant):
            run, loose = _loose_call(function, args, runs, given, result), True
        case _:
            run = _plain_call(function, runs, result)
    return Code(result, run, loose, constant)


def positional(code: Code) -> Code:
    """A comparison of indices: what it is, is known without looking."""
    run = code.run
    return Code(code.dtype, lambda env: Structural(plain(run(env))), loose=True)


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
    whole = [kind(dtype) in "biu" for dtype in given]
    beyond = None if function.space is None else finish(outside(function, result))

    def call(env: Env) -> object:
        values = [run(env) for run in runs]
        present = [v for v in values if v is not MISSING]
        if function.name == "coalesce" and present:
            first = next(k for k, v in enumerate(values) if v is not MISSING)
            return Given(plain(values[first])) if args[first].constant else values[first]
        decided = [
            (outcome, value)
            for value, arg, exact, law in zip(values, args, whole, laws, strict=True)
            if type(value) is Structural or (exact and _is_number(value, arg))
            for z, outcome in law
            if same(z, plain(value))
        ]
        if decided and all(same(decided[0][0], other) for other, _ in decided):
            return _marked(finish(decided[0][0]), [value for _, value in decided])
        sure = None if function.space is None else _outside(function, values, args)
        if sure is not None:
            return Given(beyond) if _is_given(values) else Structural(beyond, sure)
        if len(present) < len(values):
            return MISSING
        return _known(finish(numpy(*[plain(v) for v in values])), values, args)

    return call


def _outside(function: Function, values: list[object], args: list[Code]) -> bool | None:
    """None if a function is computed; else whether that is known without looking at a value."""
    assert function.space is not None
    there = [not same(plain(v), fill) for v, fill in zip(values, function.fills, strict=True)]
    known = {
        name: differs
        for name, differs, value, arg in zip(function.params, there, values, args, strict=True)
        if type(value) is Structural or _is_number(value, arg)
    }
    if not possible(function.space, known):
        return all(_is_sure(v) for v in values)
    if MISSING in values or holds(function.space, lambda name: known.get(name, True)):
        return None
    by_value = dict(zip(function.params, there, strict=True))
    return None if holds(function.space, lambda name: by_value[name]) else False


def _is_number(value: object, arg: Code) -> bool:
    """Whether a value is one that the user wrote."""
    return arg.constant or type(value) is Given


def _is_sure(value: object) -> bool:
    return type(value) is not Structural or value.sure


def _marked(found: object, deciding: list[object]) -> object:
    """What is decided by what is not stored alone, and not by a number as well."""
    sure = [v.sure for v in deciding if type(v) is Structural]
    return Structural(found, any(sure)) if len(sure) == len(deciding) else found


def _is_given(values: list[object]) -> bool:
    """Whether something is known by where an index leads, and perhaps while the kernel runs."""
    return any(type(v) is Given for v in values)


def _known(found: object, values: list[object], args: list[Code]) -> object:
    """What a function makes of what is not stored, and of numbers, is known without looking."""
    sure = [v.sure for v in values if type(v) is Structural]
    known = [type(v) is Structural or _is_number(v, a) for v, a in zip(values, args, strict=True)]
    if not all(known):
        return found
    if _is_given(values):
        return Given(found)
    return Structural(found, all(sure)) if sure else found


def _shortcut(runs: list[Run], args: list[Code], decisive: bool) -> Run:
    """`a and b`, `a or b`: b is looked at only if a does not decide, but may be known anyway."""
    first, second = runs
    by_number = [
        a.constant and bool(plain(run({}))) is decisive for a, run in zip(args, runs, strict=True)
    ]

    def both(env: Env) -> object:
        value = first(env)
        if any(by_number):
            return np.bool_(decisive)
        decides = value is not MISSING and bool(plain(value)) is decisive
        if decides and type(value) is Structural and value.sure:
            return value
        other = _without_error(second, env) if decides else second(env)
        known = type(other) is Structural and (other.sure or not decides)
        if known and bool(plain(other)) is decisive:
            return other
        if decides or value is MISSING:
            return value
        return MISSING if other is MISSING else _known(plain(other), [value, other], args)

    return both


def _choice(runs: list[Run], args: list[Code]) -> Run:
    """`a if cond else b`: only one of them is computed, and it is what that is."""
    cond, yes, no = runs
    _, yes_code, no_code = args

    def choose(env: Env) -> object:
        test = cond(env)
        if test is MISSING:
            return MISSING
        value, number = (yes(env), yes_code) if plain(test) else (no(env), no_code)
        if type(test) is Given:
            return Given(value) if number.constant else value
        if type(test) is not Structural:
            return Structural(value.value, False) if type(value) is Structural else plain(value)
        # a number that is chosen by what is not stored is a function of it
        return Structural(value, test.sure) if number.constant else value

    return choose


def _are_alike(args: list[Code], runs: list[Run]) -> bool:
    """Whether expressions are one and the same number."""
    if not all(a.constant for a in args):
        return False
    first, *others = [plain(run({})) for run in runs]
    return all(repr(other) == repr(first) for other in others)


def _without_error(run: Run, env: Env) -> object:
    """A value that need not be there."""
    try:
        return run(env)
    except IndexBoundsError:
        return MISSING


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
        return Structural(convert(value.value), value.sure)
    if type(value) is Given:
        return Given(convert(value.value))
    return value if value is MISSING else convert(value)


def _unchanged(value: object) -> object:
    return value
