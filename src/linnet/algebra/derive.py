"""The iteration space of a call, from what is known of the function (ARRAY §5.2).

The cases are tried in the paper's order: a space that is given, annihilators, an idempotent
function of equal fill values, identities; else the union, and the fill value is what the function
makes of those of its arguments. `normalize.collapse` does, place by place, what is said here.
"""

from __future__ import annotations

from linnet.algebra.dtypes import Number, as_python, concrete, kind
from linnet.algebra.exact import apply, same
from linnet.algebra.function import Function
from linnet.algebra.regions import UNIVERSE, Region, intersection, substitute, union
from linnet.errors import DTypeError
from linnet.records import dataclass

# functions of integers whose lower bits are those of the arguments' lower bits
_WRAPPING = frozenset(
    ("add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor", "first", "last")
)


@dataclass(frozen=True, slots=True)
class Space:
    """Where an expression may differ from its fill value, and which case of the paper says so.

    The fill value is None where none is known.
    """

    region: Region
    fill: Number | None
    dtype: str
    case: str = ""


def derive(function: Function, args: tuple[Space, ...]) -> Space:
    """The space of a call whose arguments have these."""
    given, result = function.types(tuple([a.dtype for a in args]))
    given = tuple([concrete(t) for t in given])
    fill = _fill(function, args)
    if function.space is not None:
        leaves = {p: _by_value(a, f) for p, f, a in _named(function, args)}
        fill = fill if function.outside is None else function.outside
        return Space(substitute(function.space, leaves), fill, result, "given")
    found = _annihilated(function, args, given)
    if found is not None:
        return Space(intersection(*found[0]), found[1], result, "annihilator")
    region = union(*(a.region for a in args))
    if fill is None:
        return Space(UNIVERSE, None, result, "unknown")
    return Space(region, fill, result, _case(function, args, given))


def _named(function: Function, args: tuple[Space, ...]) -> list[tuple[str, Number, Space]]:
    return list(zip(function.params, function.fills, args, strict=True))


def _by_value(arg: Space, fill: Number) -> Region:
    """Where an argument differs from the value that a given space speaks of."""
    return arg.region if arg.fill is not None and same(arg.fill, fill) else UNIVERSE


def _fill(function: Function, args: tuple[Space, ...]) -> Number | None:
    """What the function makes of the fill values."""
    fills = [a.fill for a in args if a.fill is not None]
    if len(fills) < len(args):
        return None
    return apply(function, tuple(fills), tuple([a.dtype for a in args]))


def _annihilated(
    function: Function, args: tuple[Space, ...], given: tuple[str, ...]
) -> tuple[list[Region], Number] | None:
    """The regions of the arguments whose fill value decides alone, and what it decides."""
    found: list[Region] = []
    decided: Number | None = None
    for k, (arg, dtype) in enumerate(zip(args, given, strict=True)):
        value = None if arg.fill is None else decides(function, k, arg.fill, dtype)
        if value is None:
            continue
        if decided is not None and not same(value, decided):
            return None  # inf - inf: each would decide otherwise
        decided = value
        found.append(arg.region)
    return None if decided is None else (found, decided)


def outside(function: Function, dtype: str) -> Number:
    """What a function with a given space is outside of it, in the type of its result."""
    held = concrete(dtype)
    if function.outside is not None:
        return as_python(function.outside, held)
    types = tuple([_holding(value, held) for value in function.fills])
    return as_python(apply(function, function.fills, types), held)


def _holding(value: Number, dtype: str) -> str:
    """A type for a fill value: that of the result, if it can be."""
    try:
        as_python(value, dtype)
    except DTypeError:
        return "float64" if not isinstance(value, complex) else "complex128"
    return dtype


def decides(function: Function, k: int, value: Number, dtype: str) -> Number | None:
    """The result, if argument k alone decides it by being this value in the type it is given in."""
    value = bool(value) if dtype == "bool" else value
    for known, result in deciding(function, k, dtype):
        if same(value, known):
            return result
    return None


def deciding(function: Function, k: int, dtype: str) -> list[tuple[Number, Number]]:
    """The values of argument k that decide the result alone, and what they decide."""
    laws = [function.annihilator] + ([function.left_annihilator] if k == 0 else [])
    found = [(z, z) for z in [law(dtype) for law in laws] if z is not None]
    return found + [(v, result) for v, p, result in function.constants if p in (None, k)]


def _case(function: Function, args: tuple[Space, ...], given: tuple[str, ...]) -> str:
    """Which case a union is."""
    fills = [a.fill for a in args if a.fill is not None]
    if function.idempotent and all(same(f, fills[0]) for f in fills):
        return "idempotent"
    if len(args) == 2:
        left, right = fills
        if same(right, function.identity(given[1])) or same(left, function.identity(given[0])):
            return "identity"
        if same(right, function.right_identity(given[1])):
            return "identity"
        if same(left, function.left_identity(given[0])):
            return "identity"
    return "inferred"


def is_lawful(function: Function, dtype: str, found: str) -> bool:
    """Whether the laws of a function hold between updates of a target of this dtype by such values.

    What is computed in more bits than the target has is cut after every update. Sums, products and
    bits do not tell; but the minimum of 32767 and 40000 is no identity any more once it is cut.
    """
    wanted, result = function.types((dtype, found))
    wider = [t for t in (*wanted, result) if kind(t) in "iu" and concrete(t) != dtype]
    wraps = function.body is None and function.name in _WRAPPING
    return wraps or not wider or kind(dtype) not in "iu"


def final(function: Function, dtype: str, claimed: bool = False) -> Number | None:
    """The value that updates by a function leave as it is, whatever comes.

    0 times NaN is NaN, and so is the minimum: of floats there is none, unless that is `claimed`.
    What a user says of a function holds.
    """
    exact = kind(dtype) in "biu" or function.body is not None or function.name in ("fmin", "fmax")
    if not exact and not claimed:
        return None
    value = function.annihilator(dtype)
    return function.left_annihilator(dtype) if value is None else value
