"""What a loop can walk: accesses and comparisons that are solved for its index.

An access walks along a multiple of the index, of either sign, plus what is known before the loop. A
comparison holds from one index on, or up to one, or between two; on which side the index stands,
how often, with which factor and sign, makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from linnet.algebra.table import remainder
from linnet.imp.linear import Atom, Linear, atom
from linnet.loops.linear import as_expr, is_far, linear, type_of
from linnet.loops.nodes import Access, Call, Dimension, Expr, Index, Literal, Name, Value
from linnet.loops.types import Types
from linnet.records import dataclass

MIRRORED = {
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
    "equal": "equal",
    "not_equal": "not_equal",
}
_INTEGERS = frozenset("int8 int16 int32 int64 uint8 uint16 uint32 bool weak_int weak_bool".split())
_LARGEST = 1 << 31  # of factors and divisors: times what is counted, that fits


@dataclass(frozen=True, slots=True)
class Scope:
    """The index of a loop, the names that are bound inside it, and the types of all others.

    An element that is read `early` has its value before the loop, as its indices have.
    """

    index: str
    inner: Collection[str]
    types: Types
    early: Callable[[Access], bool] = lambda access: False

    def knows(self, expr: Atom) -> bool:
        """Whether an integer has a value before the loop begins."""
        match expr:
            case Index(name):
                return name != self.index and name not in self.inner
            case Name(name):
                return name not in self.inner and type_of(expr, self.types) in _INTEGERS
            case Call(_, args):
                return type_of(expr, self.types) in _INTEGERS and all(map(self._has, args))
            case Literal(value):
                return isinstance(value, int)
            case Value(code):
                return code.dtype in _INTEGERS
            case Dimension():
                return True
            case Access(_, indices):
                whole = type_of(expr, self.types) in _INTEGERS
                return whole and self.early(expr) and all(map(self.knows, indices))
            case _:
                return False

    def _has(self, expr: Expr) -> bool:
        """Whether a part of a value is known, whatever its type."""
        match expr:
            case Literal() | Value():
                return True
            case Name(name):
                return name not in self.inner
            case Call(_, args):
                return all(map(self._has, args))
            case _:
                return self.knows(expr)

    def solved(self, expr: Expr) -> tuple[int, Linear] | None:
        """An integer as a factor of the index, and the rest, which is known."""
        form = linear(expr, self.types)
        mine = Index(self.index)
        factor, rest = form.terms.get(mine, 0), form.without(mine)
        known = abs(factor) < _LARGEST and all(map(self.knows, rest.terms))
        return (factor, rest) if known else None


def walk_of(expr: Expr, scope: Scope) -> tuple[int, Linear] | None:
    """The factor and the shift by which a loop walks along an index; None if it cannot."""
    if type(expr) is Index:  # most are
        return (1, Linear({})) if expr.name == scope.index else None
    found = scope.solved(expr)
    return found if found is not None and found[0] else None


@dataclass(frozen=True, slots=True)
class End:
    """The index `(value - shift - less) // factor + more`; the value and the shift are known."""

    value: Linear
    shift: Linear
    factor: int = 1
    less: int = 0
    more: int = 0

    @property
    def far(self) -> bool:
        """Whether something in it may be any number at all."""
        return any(map(is_far, (*self.value.terms, *self.shift.terms)))


@dataclass(frozen=True, slots=True)
class Range:
    """The indices from `first` on and before `stop`; None is no end at all."""

    first: End | None = None
    stop: End | None = None


@dataclass(frozen=True, slots=True)
class _Sides:
    """`factor * index + shift` on one side of a comparison, and a value on the other."""

    factor: int
    shift: Linear
    value: Linear

    def more(self, number: int) -> _Sides:
        return replace(self, value=self.value.more(number))


def range_of(call: Call, scope: Scope) -> Range | None:
    """Where a comparison holds: in a range, or, of `not_equal`, beside it. None if unknown."""
    relation = call.function.name
    if relation not in MIRRORED or type(call) is not Call:
        return None
    a, b = call.args
    for one, other, name in ((a, b, relation), (b, a, MIRRORED[relation])):
        found = _of_quotient(name, one, other, scope)
        if found is not None:
            return found
    left, right = scope.solved(a), scope.solved(b)
    if left is None or right is None or left[0] == right[0]:
        return None
    if left[0] < right[0]:
        left, right, relation = right, left, MIRRORED[relation]
    return _range(relation, _Sides(left[0] - right[0], left[1], right[1]))


def _of_quotient(relation: str, a: Expr, b: Expr, scope: Scope) -> Range | None:
    """`x // m` compared with what is known: x is compared with multiples of m."""
    match a:
        case Call(function, (x, Literal(int(m)))) if function.name == "floor_divide":
            left, right = scope.solved(x), scope.solved(b)
            if left is None or right is None or not left[0] or right[0] or not 0 < m < _LARGEST:
                return None
            if type_of(a, scope.types) != "int64" or any(map(is_far, right[1].terms)):
                return None
            sides = _Sides(left[0], left[1], right[1].times(int(m)))
            return _of_multiple(relation, sides, int(m))
    return None


def _of_multiple(relation: str, sides: _Sides, m: int) -> Range | None:
    """`x // m rel v` for `sides` of x and `m * v`."""
    match relation:
        case "less" | "greater_equal":
            return _range(relation, sides)
        case "less_equal":
            return _range("less", sides.more(m))
        case "greater":
            return _range("greater_equal", sides.more(m))
    one, other = _range("greater_equal", sides), _range("less", sides.more(m))
    return Range(one.first or other.first, one.stop or other.stop)


def _range(relation: str, sides: _Sides) -> Range:
    """Where `factor * index + shift rel value`."""
    factor, value, shift = sides.factor, sides.value, sides.shift
    if factor < 0:
        return _range(MIRRORED[relation], _Sides(-factor, value, shift))
    behind = End(value, shift, factor, more=1)
    here = End(value, shift) if factor == 1 else End(value, shift, factor, less=1, more=1)
    match relation:
        case "less":
            return Range(stop=here)
        case "less_equal":
            return Range(stop=behind)
        case "greater":
            return Range(first=behind)
        case "greater_equal":
            return Range(first=here)
        case _:
            return Range(here, behind)


@dataclass(frozen=True, slots=True)
class Residue:
    """Every `step`-th index: those that are `first` modulo the step, which is a form; or none."""

    step: int
    first: Linear | None


def residue_of(call: Call, scope: Scope) -> Residue | None:
    """`x % m == r`, on either side, where x is the index, or its opposite, plus something known."""
    if call.function.name != "equal":
        return None
    for a, b in (call.args, call.args[::-1]):
        match a, b:
            case Call(rest, (x, Literal(m))), Literal(r) if rest.name == "remainder":
                found = walk_of(x, scope)
                if found is None or abs(found[0]) != 1 or not (type(m) is int and type(r) is int):
                    continue
                if not 0 < m < _LARGEST or type_of(a, scope.types) != "int64":
                    continue
                if not 0 <= r < m:
                    return Residue(m, None)
                factor, shift = found  # the index is r less the shift, or the other way round
                if any(map(is_far, shift.terms)):
                    shift = atom(Call(remainder, (as_expr(shift, scope.types), Literal(m))))
                return Residue(m, shift.times(-factor).more(factor * r))
    return None


def is_mask(call: Call, scope: Scope) -> bool:
    """Whether it is known before the loop where a comparison of its index holds."""
    if call.function.name not in MIRRORED:
        return False
    return residue_of(call, scope) is not None or range_of(call, scope) is not None
