"""Choices that are known: `a if cond else b` where the test is, or where a and b are the same.

A choice is what it chooses. A number that is chosen by a test that is known without looking is
known so, too; one that a stored value chooses is computed (docs/guide/functions_and_fill.md).
"""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.algebra.exact import identical
from linnet.loops.types import Types, dtype_of
from linnet.normalize.collapse import typed
from linnet.normalize.known import INSIDE, data, is_of_indices, number


def choose_branch(call: loops.Call, types: Types) -> loops.Expr | None:
    """`where(True, x, y) -> x` and `where(c, x, x) -> x`, if that has the type of the whole."""
    if call.function.name != "where":
        return None
    cond, yes, no = call.args
    told = number(cond)
    if isinstance(told, loops.Literal):
        chosen = typed(yes if told.value else no, dtype_of(call, types), types)
        if not isinstance(chosen, loops.Literal) or chosen.structural or call.function is INSIDE:
            return chosen
        return replace(chosen, structural=told.structural) if told is cond else data(chosen)
    if yes == no or _are_one_number(yes, no):
        return typed(yes, dtype_of(call, types), types)
    return _choice_of_indices(call)


def _are_one_number(a: loops.Expr, b: loops.Expr) -> bool:
    """Whether two literals are alike, but for their types."""
    match a, b:
        case loops.Literal(), loops.Literal():
            return a.structural is b.structural and identical(a.value, b.value)
    return False


def _choice_of_indices(call: loops.Call) -> loops.Expr | None:
    """`where(i < 2, 0, x)`: a number that is chosen by what is known is known as well."""
    cond, *parts = call.args
    chosen = [replace(a, structural=True) if isinstance(a, loops.Literal) else a for a in parts]
    if chosen == parts or call.function is INSIDE or not is_of_indices(cond):
        return None
    return loops.Call(call.function, (cond, *chosen))
