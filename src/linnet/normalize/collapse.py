"""What a call becomes where something is known of its arguments: the iteration algebra at work.

While looplets are lowered, an access is a fill value where nothing is stored. A call then collapses
to a fill value (outside the iteration space, or an annihilator decides), to one of its arguments
(the other is the identity), to a cheaper body (a case), or is computed. That a product is an
intersection and a sum a union follows from this, and is nowhere else said (ARRAY §5.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import prod

from linnet import loops
from linnet.algebra.derive import decides, deciding, outside
from linnet.algebra.dtypes import Number, as_python, concrete, kind
from linnet.algebra.exact import apply, same
from linnet.algebra.function import Function
from linnet.algebra.regions import Complement, Empty, Intersection, Leaf, Region, holds, possible
from linnet.algebra.regions import Union as UnionOf
from linnet.algebra.table import (
    astype,
    isnan,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
    where,
)
from linnet.errors import DTypeError
from linnet.formats.fiber import Fiber, Register
from linnet.loops.types import dtype_of
from linnet.normalize.known import data

GUARD = replace(where)
"""`where`, made here: beyond the condition there is nothing to compute, and nothing to store."""

Types = Mapping[str, str]

MANY_FILLS = 64
"""Beyond so many combinations of fill values, what a call may be is not worked out."""


def collapse(call: loops.Call, types: Types) -> loops.Expr | None:
    """The call where something is known of its arguments, or None: it is computed."""
    if call.function.space is None and not any(isinstance(a, loops.Literal) for a in call.args):
        return None
    for law in (leave_space, annihilate, drop_identity, take_case):
        changed = law(call, types)
        if changed is not None:
            return changed
    return None


# -- explicit iteration spaces ---------------------------------------------------------------------


def leave_space(call: loops.Call, types: Types) -> loops.Expr | None:
    """Outside its iteration space a function gives its fill value.

    Where all arguments are known to be stored, and the space leaves that out (an omitter point), it
    is computed after all if one of the values is the fill value.
    """
    function = call.function
    if function.space is None:
        return None
    given = zip(function.params, function.fills, call.args, strict=True)
    known = {p: not same(a.value, f) for p, f, a in given if isinstance(a, loops.Literal)}
    result = function.types(tuple([dtype_of(a, types) for a in call.args]))[1]
    if not possible(function.space, known):
        return _fill(function, result)
    if not all(is_resolved(a) for a in call.args):
        return None
    if holds(function.space, lambda name: known.get(name, True)):
        return None
    inside = _test(function.space, dict(zip(function.params, call.args, strict=True)), function)
    computed = loops.Call(_without_space(function), call.args)
    return loops.Call(GUARD, (inside, computed, _fill(function, result)))


def _fill(function: Function, dtype: str) -> loops.Literal:
    """What a function is outside its iteration space."""
    return loops.Literal(outside(function, dtype), concrete(dtype), structural=True)


@lru_cache(maxsize=256)
def _without_space(function: Function) -> Function:
    """The function where it has been decided that it is computed."""
    return replace(function, space=None)


def is_resolved(expr: loops.Expr) -> bool:
    """Whether an expression is a value here, with nothing left to be walked."""
    match expr:
        case loops.Access(Fiber() | Register(), indices):
            return not indices
        case loops.Access():
            return False
        case loops.Call(_, args):
            return all(is_resolved(a) for a in args)
        case _:
            return True


def _test(space: Region, args: Mapping[str, loops.Expr], function: Function) -> loops.Expr:
    """Whether the values that are stored here put this place inside the space."""
    match space:
        case Leaf(name):
            fill = function.fills[function.params.index(name)]
            return _defined(args[name], fill)
        case Complement(inner):
            return loops.Call(logical_not, (_test(inner, args, function),))
        case UnionOf(parts):
            return _joined(logical_or, parts, args, function)
        case Intersection(parts):
            return _joined(logical_and, parts, args, function)
        case _:
            return loops.Literal(not isinstance(space, Empty), "bool")


def _joined(
    op: Function, parts: tuple[Region, ...], args: Mapping[str, loops.Expr], function: Function
) -> loops.Expr:
    tests = [_test(part, args, function) for part in parts]
    result = tests[0]
    for test in tests[1:]:
        result = loops.Call(op, (result, test))
    return result


def _defined(arg: loops.Expr, fill: complex) -> loops.Expr:
    if isinstance(arg, loops.Literal):
        return loops.Literal(not same(arg.value, fill), "bool")
    if fill != fill:
        return loops.Call(logical_not, (loops.Call(isnan, (arg,)),))
    return loops.Call(not_equal, (arg, loops.Literal(fill)))


# -- laws ------------------------------------------------------------------------------------------


def annihilate(call: loops.Call, types: Types) -> loops.Expr | None:
    """`x * 0 -> 0`, `x ** 0 -> 1`: where the 0 is a place with nothing stored, or is exact."""
    function = call.function
    if not any(isinstance(a, loops.Literal) for a in call.args):
        return None
    given, result = function.types(tuple([dtype_of(a, types) for a in call.args]))
    found: list[tuple[Number, bool]] = []
    others: list[tuple[int, loops.Expr]] = []
    for k, arg in enumerate(call.args):
        outcome = None
        if isinstance(arg, loops.Literal) and (arg.structural or kind(given[k]) in "biu"):
            outcome = decides(function, k, arg.value, given[k])
        if outcome is None:
            others.append((k, arg))
        else:
            found.append((outcome, isinstance(arg, loops.Literal) and arg.structural))
    if not found or not all(same(found[0][0], outcome) for outcome, _ in found):
        return None
    decided, structural = found[0][0], all(structural for _, structural in found)
    if any(_may_disagree(function, k, arg, types, decided) for k, arg in others):
        return None
    literal = loops.Literal(as_python(decided, concrete(result)), concrete(result), structural)
    return literal if structural else data(literal)


def _may_disagree(
    function: Function, k: int, arg: loops.Expr, types: Types, decided: Number
) -> bool:
    """Whether an argument that is yet to be looked up may be the inf of `x - inf`, and disagree."""
    dtype = concrete(dtype_of(arg, types))
    against = [value for value, other in deciding(function, k, dtype) if not same(other, decided)]
    if not against or isinstance(arg, loops.Literal):
        return False
    fills = _fills(arg, types)
    return fills is None or any(same(f, value) for f in fills for value in against)


def _fills(expr: loops.Expr, types: Types) -> list[Number] | None:
    """What an expression may be where nothing is stored; None if that is not told here."""
    match expr:
        case loops.Literal(value):
            return [value]
        case loops.Access(Fiber(storage), indices):
            fill = storage.format.fill_value
            return [] if not indices or fill is None else [fill]
        case loops.Access(str(), indices):
            return None if indices else []  # a name without indices is a value that is stored
        case loops.Call(function, args):
            parts = [_fills(a, types) for a in args]
            told = [p for p in parts if p is not None]
            return None if len(told) < len(args) else _fills_of(function, args, told, types)
        case _:
            return []


def _fills_of(
    function: Function, args: tuple[loops.Expr, ...], fills: list[list[Number]], types: Types
) -> list[Number] | None:
    """What a call may be where some arguments, or all of them, are not stored."""
    if function.name == "where":
        return [*fills[1], *fills[2]]
    if prod(len(f) for f in fills) > MANY_FILLS:
        return None
    dtypes = tuple([dtype_of(a, types) for a in args])
    given = function.types(dtypes)[0]
    alone = [decides(function, k, f, given[k]) for k, part in enumerate(fills) for f in part]
    together = [apply(function, chosen, dtypes) for chosen in product(*fills)]
    return [*(f for f in alone if f is not None), *together]


def drop_identity(call: loops.Call, types: Types) -> loops.Expr | None:
    """`x + 0 -> x`, if x has the type of the sum."""
    function = call.function
    if len(call.args) != 2:
        return None
    given, result = function.types(tuple([dtype_of(a, types) for a in call.args]))
    left, right = call.args
    if isinstance(right, loops.Literal):
        laws = (function.identity(given[1]), function.right_identity(given[1]))
        if any(same(right.value, e) for e in laws):
            return typed(left, result, types)
    if isinstance(left, loops.Literal):
        laws = (function.identity(given[0]), function.left_identity(given[0]))
        if any(same(left.value, e) for e in laws):
            return typed(right, result, types)
    return None


def take_case(call: loops.Call, types: Types) -> loops.Expr | None:
    """The body that the user has given for such arguments; the one that knows most of them."""
    known = {k: a.value for k, a in enumerate(call.args) if isinstance(a, loops.Literal)}
    for case in sorted(call.function.cases, key=lambda case: -len(case.values)):
        if all(k in known and same(known[k], value) for k, value in case.values):
            found = loops.Call(case.function, tuple([call.args[k] for k in case.order]))
            return converted(found, concrete(dtype_of(call, types)), types)
    return None


def converted(expr: loops.Expr, dtype: str, types: Types) -> loops.Expr:
    """`expr` as a value of type `dtype`; a number that takes the type of its company is one."""
    if dtype.startswith("weak_"):
        return expr
    known = typed(expr, dtype, types)
    return loops.Call(astype[dtype], (expr,)) if known is None else known


def typed(expr: loops.Expr, dtype: str, types: Types) -> loops.Expr | None:
    """`expr`, if it can stand where a value of type `dtype` is wanted."""
    found = dtype_of(expr, types)
    if found == dtype:
        return expr
    if isinstance(expr, loops.Literal):
        try:
            value = as_python(expr.value, concrete(dtype))
        except DTypeError:
            return None
        return loops.Literal(value, concrete(dtype), expr.structural)
    return None
