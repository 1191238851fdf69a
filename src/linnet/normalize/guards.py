"""Values that are chosen while running: what is known of a call where an argument is not stored.

Mostly the compiler writes one version of a body for what is stored and one for what is not. Where
that would double the code once too often, a value is computed with its fill value where nothing is
stored, and a condition goes along that says where something is. Calls keep such conditions, by the
laws by which they collapse: what is not stored takes no part in arithmetic, told late or early.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linnet import imp, loops
from linnet.algebra.function import Function
from linnet.algebra.table import logical_and, logical_or, where
from linnet.normalize.collapse import GUARD, annihilate

Simplify = Callable[[loops.Expr], loops.Expr]
"""The laws, for what a call becomes."""


def _held(args: tuple[imp.Expr, ...], dtype: str) -> imp.Expr:
    return args[1]


HELD = replace(where, emit=_held)
"""`where(stored, value, fill)` of a value that is its fill where it is not stored: no test."""


def held(stored: loops.Expr, value: loops.Expr, fill: loops.Literal) -> loops.Call:
    """A value, where it is stored, and the fill value that it is elsewhere."""
    return loops.Call(HELD, (stored, value, fill))


def is_guarded(expr: loops.Expr) -> bool:
    """Whether an expression says where it is stored."""
    return isinstance(expr, loops.Call) and (expr.function is GUARD or expr.function is HELD)


def keep_guards(call: loops.Call, types: dict[str, str], simplify: Simplify) -> loops.Expr | None:
    """`f(x if c else 0, y) -> f(x, y) if c else z`, where not c decides the call."""
    if is_guarded(call):
        return None
    guarded = [k for k, arg in enumerate(call.args) if is_guarded(arg)]
    for k in guarded:
        found = _decided(call, k, types, simplify)
        if found is not None:
            return found
    return _joined(call, guarded, simplify) if len(guarded) > 1 else None


def spread_guards(call: loops.Call, simplify: Simplify) -> loops.Expr | None:
    """The versions of a call that has a space: what is stored decides where it is computed."""
    guarded = [k for k, arg in enumerate(call.args) if is_guarded(arg)]
    if call.function.space is None or not guarded:
        return None
    stored, value, fill = _parts(call.args[guarded[0]])
    yes, no = (simplify(_with(call, guarded[0], x)) for x in (value, fill))
    if isinstance(no, loops.Literal):
        return loops.Call(GUARD, (stored, plain(yes), no))
    chosen = loops.Call(where, (stored, plain(yes), plain(no)))
    if not is_guarded(no):
        return chosen
    again, _, nowhere = _parts(no)
    return loops.Call(GUARD, (loops.Call(logical_or, (stored, again)), chosen, nowhere))


def _decided(
    call: loops.Call, k: int, types: dict[str, str], simplify: Simplify
) -> loops.Expr | None:
    """The call, if it is a constant wherever argument k is not stored."""
    stored, value, fill = _parts(call.args[k])
    otherwise = simplify(_with(call, k, fill))
    if not isinstance(otherwise, loops.Literal):
        return None
    computed = _with(call, k, value)
    # x * 0 is 0 for integers; for floats it may be NaN, and must not be computed
    exact = _is_exact(_with(call, k, replace(fill, structural=False)), otherwise, types, simplify)
    holds = exact and _holder(call.args[k]) is HELD
    inner = simplify(computed)
    if is_guarded(inner):
        again, value, last = _parts(inner)
        if last == otherwise:
            holds = holds and _holder(inner) is HELD
            both = loops.Call(logical_and, (stored, again))
            return loops.Call(HELD if holds else GUARD, (both, value, last))
    return loops.Call(HELD if holds else GUARD, (stored, inner, otherwise))


def _is_exact(
    call: loops.Call, otherwise: loops.Literal, types: dict[str, str], simplify: Simplify
) -> bool:
    """Whether the call gives the constant also when it is computed with the fill value."""
    found = annihilate(call, types) or simplify(call)
    return isinstance(found, loops.Literal) and repr(found.value) == repr(otherwise.value)


def _joined(call: loops.Call, guarded: list[int], simplify: Simplify) -> loops.Expr | None:
    """`f(x if c else 0, y if d else 0) -> f(x, y) if c or d else f(0, 0)`."""
    conds, args, nowhere = [], list(call.args), list(call.args)
    for k in guarded:
        stored, _, nowhere[k] = _parts(call.args[k])
        args[k] = plain(call.args[k])
        conds.append(stored)
    otherwise = simplify(loops.Call(call.function, tuple(nowhere)))
    if not isinstance(otherwise, loops.Literal):
        return None
    stored = conds[0]
    for cond in conds[1:]:
        stored = loops.Call(logical_or, (stored, cond))
    return held(stored, loops.Call(call.function, tuple(args)), otherwise)


def plain(expr: loops.Expr) -> loops.Expr:
    """A value, without what is known of where it is stored."""
    if not is_guarded(expr):
        return expr
    stored, value, fill = _parts(expr)
    return value if _holder(expr) is HELD else loops.Call(where, (stored, value, fill))


def _with(call: loops.Call, k: int, arg: loops.Expr) -> loops.Call:
    return loops.Call(call.function, (*call.args[:k], arg, *call.args[k + 1 :]))


def _holder(expr: loops.Expr) -> Function:
    assert isinstance(expr, loops.Call)
    return expr.function


def _parts(expr: loops.Expr) -> tuple[loops.Expr, loops.Expr, loops.Literal]:
    assert isinstance(expr, loops.Call)
    stored, value, fill = expr.args
    assert isinstance(fill, loops.Literal)
    return stored, value, fill
