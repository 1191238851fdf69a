"""Which types a function takes, and which it gives: NumPy 2's rules, as a few families of rules.

A rule is made for a function's name, which its errors mention, and the *kinds* of values that it
accepts: b, i, u, f, c as in NumPy, and B for booleans that are computed as int8. There is no
float16 here, so that functions of floats take every integer as a float64. Complex numbers have no
order. If all arguments are weak (Python numbers), so is the result.
"""

from __future__ import annotations

from linnet.algebra.dtypes import concrete, kind, promote
from linnet.algebra.function import Types
from linnet.errors import DTypeError

Typing = tuple[tuple[str, ...], str]

_PART = {"complex64": "float32", "complex128": "float64", "weak_complex": "weak_float"}
_KINDS = {"b": "booleans", "i": "integers", "u": "", "f": "floats", "c": "complex numbers"}


def alike(name: str, accepts: str) -> Types:
    """All arguments meet in one type, which is the result's too."""

    def rule(dtypes: tuple[str, ...]) -> Typing:
        meet = promote(*dtypes)
        if kind(meet) == "b" and "B" in accepts:
            meet = "int8" if meet == "bool" else "weak_int"
        _check(name, dtypes, meet, accepts)
        return (meet,) * len(dtypes), meet

    return rule


def floating(name: str, accepts: str = "f") -> Types:
    """All arguments meet in a float type, and the result has it."""

    def rule(dtypes: tuple[str, ...]) -> Typing:
        meet = _float(promote(*dtypes))
        _check(name, dtypes, meet, accepts)
        return (meet,) * len(dtypes), meet

    return rule


def double(dtypes: tuple[str, ...]) -> Typing:
    """As `floating`, always in double precision."""
    meet = promote(*dtypes, "float64")
    return (meet,) * len(dtypes), meet


def comparison(name: str, accepts: str) -> Types:
    """Both arguments meet in a type that holds their values exactly where there is one."""

    def rule(dtypes: tuple[str, ...]) -> Typing:
        a, b = dtypes
        if {"uint64"} < {a, b} and "i" in kind(a) + kind(b) and "weak_int" not in dtypes:
            # no integer type holds both; the code compares them part by part
            return tuple("uint64" if d == "uint64" else "int64" for d in dtypes), "bool"
        meet = promote(a, b)
        if "weak_int" in dtypes and kind(meet) in "iu" and meet not in ("weak_int", "uint64"):
            meet = "int64"  # `x < 300` is true of an int8
        _check(name, dtypes, meet, accepts)
        return (meet, meet), "bool"

    return rule


def logical(dtypes: tuple[str, ...]) -> Typing:
    """Truth values from truth values: a number is true if it is not zero."""
    return ("bool",) * len(dtypes), "bool"


def predicate(name: str, accepts: str) -> Types:
    """A truth value from a number of any type."""

    def rule(dtypes: tuple[str, ...]) -> Typing:
        _check(name, dtypes, dtypes[0], accepts)
        return dtypes, "bool"

    return rule


def counting(name: str, accepts: str) -> Types:
    """A small number from a number of any type."""

    def rule(dtypes: tuple[str, ...]) -> Typing:
        given = "int8" if dtypes[0] == "bool" else concrete(dtypes[0])
        _check(name, dtypes, given, accepts)
        return (given,), "uint8"

    return rule


def exponent(name: str) -> Types:
    """An int32 from a float."""
    rule = floating(name)
    return lambda dtypes: ((concrete(rule(dtypes)[1]),), "int32")


def part(dtypes: tuple[str, ...]) -> Typing:
    """A real number of the argument's precision."""
    return dtypes, _PART.get(dtypes[0], dtypes[0])


def choice(dtypes: tuple[str, ...]) -> Typing:
    """A truth value, and two values that meet."""
    meet = promote(*dtypes[1:])
    return ("bool", meet, meet), meet


def scaling(name: str) -> Types:
    """A float, and an integer that leaves its type alone."""

    def rule(dtypes: tuple[str, ...]) -> Typing:
        x, n = _float(dtypes[0]), dtypes[1]
        _check(name, dtypes, x, "f")
        if promote(n, "int64") != "int64":
            raise _refusal(name, dtypes, "the second argument is an integer of at most 64 bits")
        return (x, "int64"), x

    return rule


def conversion(target: str) -> Types:
    """From any type to `target`. A Python number goes there directly, if that loses nothing."""

    def rule(dtypes: tuple[str, ...]) -> Typing:
        (source,) = dtypes
        if source.startswith("weak_") and "biufc".index(kind(source)) <= _rank(target):
            return (target,), target
        return (concrete(source),), target

    return rule


def taken(position: int) -> Types:
    """The type of one of the arguments, whatever the others are."""

    def rule(dtypes: tuple[str, ...]) -> Typing:
        return dtypes, dtypes[position]

    return rule


def _rank(target: str) -> int:
    """How far up the kinds are those whose numbers `target` may hold; no number is a bool."""
    return {"b": 0, "i": 2, "u": 2, "f": 3, "c": 4}[kind(target)]


def _float(dtype: str) -> str:
    if kind(dtype) in "fc":
        return dtype
    return "weak_float" if dtype.startswith("weak_") else "float64"


def _check(name: str, dtypes: tuple[str, ...], meet: str, accepts: str) -> None:
    if kind(meet) in accepts:
        return
    allowed = [text for k, text in _KINDS.items() if k in accepts.lower() and text]
    why = f"it takes {', '.join(allowed)}"
    if meet not in dtypes and len(dtypes) > 1:
        why += f", and these meet in {concrete(meet)}"
    raise _refusal(name, dtypes, why)


def _refusal(name: str, dtypes: tuple[str, ...], why: str) -> DTypeError:
    given = " and ".join(concrete(d) for d in dtypes)
    hint = "convert the arguments, for example with float(x) or int(x)"
    return DTypeError(f"{name} is not defined for {given}", why=why, hint=hint)
