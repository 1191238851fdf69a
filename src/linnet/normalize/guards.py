"""Values that are chosen while running: what is known of a call where an argument is not stored.

Mostly the compiler writes one version of a body for what is stored and one for what is not. Where
that would double the code once too often, a value is computed with its fill value where nothing is
stored, and a condition goes along that says where something is; the same is true of what a program
chooses by a test. Calls keep such conditions, by the laws by which they collapse: what is not
stored takes no part in arithmetic, told late or early.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import product

from linnet import loops
from linnet.algebra.function import Function
from linnet.algebra.table import logical_or, where
from linnet.loops.types import dtype_of
from linnet.normalize.collapse import GUARD, annihilate, converted, is_resolved, typed
from linnet.normalize.known import (
    ALWAYS,
    HELD,
    INSIDE,
    JUNCTIONS,
    PLAIN,
    Known,
    as_number,
    elsewhere,
    is_safe,
    is_structural,
    joined,
    known,
    negated,
    number,
    plain,
)

Simplify = Callable[[loops.Expr], loops.Expr]
"""The laws, for what a call becomes."""


def held(stored: loops.Expr, value: loops.Expr, fill: loops.Literal) -> loops.Call:
    """A value, where it is stored, and the fill value that it is elsewhere."""
    return loops.Call(HELD, (stored, value, fill))


def is_guarded(expr: loops.Expr) -> bool:
    """Whether an expression says where it is stored."""
    return isinstance(expr, loops.Call) and (expr.function is GUARD or expr.function is HELD)


def keep_guards(call: loops.Call, types: dict[str, str], simplify: Simplify) -> loops.Expr | None:
    """`f(x if c else 0, y) -> f(x, y) if c else z`, where not c decides the call.

    Of a choice only the test is an argument that is looked at here: what it chooses, it is. So are
    conditions that are joined: they stay as they were written, and say themselves what is known.
    """
    if is_guarded(call) or call.function is PLAIN or call.function is INSIDE:
        return None
    if call.function.name in JUNCTIONS and not _are_held(call.args):
        return None
    places = [[] if isinstance(a, loops.Literal) else known(a) for a in call.args]
    if not any(places):
        return None
    chooses = call.function.name == "where"
    for k, found in enumerate(places[:1] if chooses else places):
        decided = _decided(call, k, found, types, simplify)
        if decided is not None:
            return decided
    return None if chooses else _joined(call, places, types, simplify)


def _are_held(args: tuple[loops.Expr, ...]) -> bool:
    """Whether some arguments may not be stored, and it is at hand where they are."""
    conds = [_parts(a)[0] for a in args if is_guarded(a)]
    return bool(conds) and all(is_safe(cond) for cond in conds)


def spread_guards(call: loops.Call, simplify: Simplify) -> loops.Expr | None:
    """The versions of a call that has a space: what is stored decides where it is computed."""
    guarded = [k for k, arg in enumerate(call.args) if is_guarded(arg)]
    if call.function.space is None or not guarded:
        return None
    stored, value, fill = _parts(call.args[guarded[0]])
    yes, no = (simplify(_with(call, guarded[0], x)) for x in (value, fill))
    if isinstance(no, loops.Literal):
        return loops.Call(GUARD, (stored, _computed(yes), no))
    chosen = loops.Call(where, (stored, _computed(yes), _computed(no)))
    if not is_guarded(no):
        return chosen
    again, _, nowhere = _parts(no)
    return loops.Call(GUARD, (loops.Call(logical_or, (stored, again)), chosen, nowhere))


def _decided(
    call: loops.Call, k: int, found: list[Known], types: dict[str, str], simplify: Simplify
) -> loops.Expr | None:
    """The call, if it is a constant wherever argument k is known to be some value."""
    arg = call.args[k]
    decided = [(cond, fill, simplify(_at(call, k, fill, types))) for cond, fill in found]
    told = [(c, fill, z) for c, fill, z in decided if is_structural(z)]
    if not told:
        return None
    # x * 0 is 0 for integers; for floats it may be NaN, and must not be computed
    exact = [_is_exact(_at(call, k, fill, types), z, types, simplify) for _, fill, z in told]
    if all(exact) and not _is_lazy(arg) and is_resolved(arg):  # all is known that will be
        result = simplify(_with(call, k, plain(arg)))
        for cond, _, otherwise in told:
            result = _guarded(HELD, negated(cond), result, otherwise)
        return result
    cond, fill, otherwise = told[0 if all(exact) else exact.index(False)]
    rest = converted(elsewhere(arg, fill), dtype_of(arg, types), types)
    inner = simplify(_with(call, k, rest))
    return _guarded(GUARD, negated(cond), inner, otherwise)


def _guarded(
    function: Function, stored: loops.Expr, value: loops.Expr, otherwise: loops.Literal
) -> loops.Call:
    """A value where it is stored, which may itself be said to be stored there or not."""
    if is_guarded(value):
        again, inner, last = _parts(value)
        if last == otherwise:
            function = HELD if function is HELD and _holder(value) is HELD else GUARD
            return loops.Call(function, (joined(stored, again), inner, last))
    return loops.Call(function, (stored, value, otherwise))


def _is_lazy(expr: loops.Expr) -> bool:
    """Whether a value is not to be computed where it is not stored."""
    return isinstance(expr, loops.Call) and expr.function is GUARD


def _is_exact(
    call: loops.Call, otherwise: loops.Literal, types: dict[str, str], simplify: Simplify
) -> bool:
    """Whether the call gives the constant also when it is computed with the fill value."""
    if call.function.asks_storage:
        return False
    computed = loops.Call(call.function, tuple([as_number(a) for a in call.args]))
    found = number(annihilate(computed, types) or simplify(computed))
    return isinstance(found, loops.Literal) and repr(found.value) == repr(otherwise.value)


def _joined(
    call: loops.Call, places: list[list[Known]], types: dict[str, str], simplify: Simplify
) -> loops.Expr | None:
    """`f(x if c else 0, y if d else 0) -> f(x, y) if c or d else f(0, 0)`."""
    told = [
        [(ALWAYS, a)] if isinstance(a, loops.Literal) else found
        for a, found in zip(call.args, places, strict=True)
    ]
    if not all(told) or not all(is_resolved(a) for a in call.args):
        return None
    result: loops.Expr = loops.Call(call.function, tuple([plain(a) for a in call.args]))
    before = result
    for chosen in product(*told):
        there = call
        for k, (_, z) in enumerate(chosen):
            there = _at(there, k, z, types)
        otherwise = simplify(there)
        if is_structural(otherwise):
            result = held(negated(reduce(joined, [cond for cond, _ in chosen])), result, otherwise)
    return None if result is before else result


def _computed(expr: loops.Expr) -> loops.Expr:
    """A value, without what is said of where it is stored."""
    if not is_guarded(expr):
        return expr
    stored, value, fill = _parts(expr)
    return value if _holder(expr) is HELD else loops.Call(where, (stored, value, fill))


def _with(call: loops.Call, k: int, arg: loops.Expr) -> loops.Call:
    return loops.Call(call.function, (*call.args[:k], arg, *call.args[k + 1 :]))


def _at(call: loops.Call, k: int, known: loops.Literal, types: dict[str, str]) -> loops.Call:
    """The call where argument k is known: a number of the type that the argument has."""
    wanted = typed(known, dtype_of(call.args[k], types), types)
    return _with(call, k, known if wanted is None else wanted)


def _holder(expr: loops.Expr) -> Function:
    assert isinstance(expr, loops.Call)
    return expr.function


def _parts(expr: loops.Expr) -> tuple[loops.Expr, loops.Expr, loops.Literal]:
    assert isinstance(expr, loops.Call)
    stored, value, fill = expr.args
    assert isinstance(fill, loops.Literal)
    return stored, value, fill
