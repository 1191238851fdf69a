"""What is known of a value: the law of structural values (docs/guide/functions_and_fill.md).

A value is *structural* if it is known without looking at anything that is stored (a structural
literal, a test of indices), and *computed* if it is what stored values and numbers make (`DATA`
where the compiler knows it early). A choice may be structural in places: `known` says in which, and
`normalize.guards` tells the calls around it, for what is not stored takes no part in arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeGuard

from linnet import imp, loops
from linnet.algebra.function import Function
from linnet.algebra.table import equal, logical_and, logical_not, logical_or, not_equal, where
from linnet.loops.positions import is_positional
from linnet.loops.rewrite import map_args, walk

Known = tuple[loops.Expr, loops.Literal]
"""A condition, and what a value is known to be where it holds."""

IsThis = Callable[[loops.Literal], bool]
"""Whether a known value is one of those that are left out."""

ALWAYS = loops.Literal(True, "bool")
"""The condition of what is known everywhere."""

JUNCTIONS = ("logical_and", "logical_or", "logical_not")


# -- what a value counts as ------------------------------------------------------------------------


def _held(args: tuple[imp.Expr, ...], dtype: str) -> imp.Expr:
    return args[1]


HELD = replace(where, emit=_held)
"""`where(stored, value, fill)` of a value that is its fill where it is not stored: no test."""


INSIDE = replace(where)
"""`where(inside, value, number)` of a value that may be beyond the bounds of its tensor.

What is chosen there is as it was: a number that `coalesce` names is one of the program.
"""


def _itself(args: tuple[imp.Expr, ...], dtype: str) -> imp.Expr:
    return args[0]


PLAIN = Function("plain", 1, lambda given: (given, given[0]), _itself, lambda x: x)
"""A test of which all that is known has been said around it."""

DATA = replace(PLAIN)
"""A number that is what a stored value, or a number of the program, has made of others.

It is not put together with what is not stored: what a program means does not depend on when the
compiler comes to know a value.
"""


def data(literal: loops.Literal) -> loops.Call:
    """A number that counts as if it were computed while running."""
    return loops.Call(DATA, (replace(literal, structural=False),))


def number(expr: loops.Expr) -> loops.Expr:
    """The number that an expression is, if it is one, whatever it counts as."""
    match expr:
        case loops.Call(function, (literal,)) if function is DATA:
            return literal
        case _:
            return expr


def as_number(expr: loops.Expr) -> loops.Expr:
    """A number as it would be if it were stored; anything else as it is."""
    return replace(expr, structural=False) if isinstance(expr, loops.Literal) else expr


def is_structural(expr: loops.Expr) -> TypeGuard[loops.Literal]:
    """Whether an expression is a number that is known without looking at what is stored."""
    return isinstance(expr, loops.Literal) and expr.structural


def plain(expr: loops.Expr) -> loops.Expr:
    """A value, without what is known of it."""
    match expr:
        case loops.Literal():
            return replace(expr, structural=False)
        case loops.Call(function, (_, value, _)) if function is HELD:
            return plain(value)
        case loops.Call(function, (cond, yes, no)) if function.name == "where":
            return loops.Call(where, (plain(cond), plain(yes), plain(no)))
        case loops.Call() if is_positional(expr):
            return loops.Call(PLAIN, (expr,))
        case loops.Call(function, args) if function.name in JUNCTIONS:
            return loops.Call(function, tuple([plain(a) for a in args]))
        case _:
            return expr


def settled(expr: loops.Expr) -> loops.Expr:
    """`0 if c else 0`, of which one is not stored, is 0 where that does not matter."""
    match expr:
        case loops.Call(function, (_, yes, no)) if function.name == "where":
            one, other = number(yes), number(no)
            if isinstance(one, loops.Literal) and isinstance(other, loops.Literal):
                return replace(one, structural=False) if _is_number(one, other) else expr
    return number(expr)


def _is_number(a: loops.Literal, b: loops.Literal) -> bool:
    return (repr(a.value), a.dtype) == (repr(b.value), b.dtype)


def as_test(expr: loops.Expr) -> loops.Expr:
    """A condition, of which it does not matter how its parts come to be true."""
    match settled(expr):
        case loops.Call(function) as call if function.name in (*JUNCTIONS, "where"):
            return map_args(call, as_test)
        case found:
            return found


# -- where it is structural ------------------------------------------------------------------------


def known(expr: loops.Expr) -> list[Known]:
    """What an expression is known to be, and where; an empty list for most."""
    match expr:
        case loops.Literal(structural=True):
            return [(ALWAYS, expr)]
        case loops.Call(function, (stored, value, loops.Literal() as fill)) if function is HELD:
            return _merged([(negated(stored), fill), *_within(stored, known(value))])
        case loops.Call(function, (cond, yes, no)) if function.name == "where":
            return _merged([*_within(cond, known(yes)), *_within(negated(cond), known(no))])
        case loops.Call() if is_of_indices(expr):
            return [(expr, _truth(True)), (negated(expr), _truth(False))]
        case loops.Call(function, (arg,)) if function.name == "logical_not":
            return _merged([(cond, _opposite(literal)) for cond, literal in known(arg)])
        case loops.Call(function, (a, b)) if function.name in JUNCTIONS:
            return _of_both(a, b, function.name == "logical_or")
        case _:
            return []


def _of_both(a: loops.Expr, b: loops.Expr, decisive: bool) -> list[Known]:
    """What is known of `a and b`, `a or b`: b is looked at only if a does not decide."""
    left, right = known(a), known(b)
    goes_on = negated(a) if decisive else a
    found = [(cond, z) for cond, z in left if bool(z.value) is decisive]
    for cond, z in right:
        if bool(z.value) is decisive:
            found.append((cond if is_safe(cond) else joined(goes_on, cond), z))
    both = [
        (joined(one, other), _truth(not decisive))
        for one, y in left
        for other, z in right
        if bool(y.value) is not decisive and bool(z.value) is not decisive
    ]
    return _merged([*((cond, _truth(decisive)) for cond, _ in found), *both])


def _within(cond: loops.Expr, found: list[Known]) -> list[Known]:
    return [(joined(cond, inner), literal) for inner, literal in found]


def _merged(found: list[Known]) -> list[Known]:
    """One condition for each value."""
    by_value: dict[str, Known] = {}
    for cond, literal in found:
        key = repr(literal.value)
        if key in by_value:
            cond = loops.Call(logical_or, (by_value[key][0], cond))
        by_value[key] = cond, literal
    return list(by_value.values())


def elsewhere(expr: loops.Expr, literal: loops.Literal) -> loops.Expr:
    """An expression, where it is not known to be this value: that is not chosen there."""
    return _unlike(expr, lambda z: repr(z.value) == repr(literal.value))


def _unlike(expr: loops.Expr, is_this: IsThis) -> loops.Expr:
    """An expression where it is known to be none of these values; what else is known stays so."""
    match expr:
        case loops.Call(function, (cond, yes, no)) if function.name == "where":
            if is_structural(no) and is_this(no):
                return _unlike(yes, is_this)
            if is_structural(yes) and is_this(yes):
                return _unlike(no, is_this)
            return loops.Call(function, (cond, _unlike(yes, is_this), _unlike(no, is_this)))
        case loops.Call() if is_of_indices(expr):
            return _other_truth(expr, is_this)
        case loops.Call(function, (arg,)) if function.name == "logical_not":
            return loops.Call(function, (_unlike(arg, lambda z: is_this(_opposite(z))),))
        case loops.Call(function, args) if function.name in JUNCTIONS:
            decisive = function.name == "logical_or"
            if is_this(_truth(decisive)):
                told = [_unlike(a, lambda z: bool(z.value) is decisive) for a in args]
                expr = loops.Call(function, tuple(told))
            return _undecided(expr, decisive) if is_this(_truth(not decisive)) else expr
        case _:
            return expr


def _opposite(literal: loops.Literal) -> loops.Literal:
    return _truth(not literal.value)


def _other_truth(test: loops.Expr, is_this: IsThis) -> loops.Expr:
    """What a test of indices is, where it is not one of these values."""
    left = [z for z in (_truth(True), _truth(False)) if not is_this(z)]
    return left[0] if len(left) == 1 else test


def _undecided(expr: loops.Expr, decisive: bool) -> loops.Expr:
    """`a and b` where not both are known to be true: one of them may be known to be false."""
    result = plain(expr)
    for cond, literal in known(expr):
        if bool(literal.value) is decisive:
            result = loops.Call(HELD, (negated(cond), result, literal))
    return result


def _truth(value: bool) -> loops.Literal:
    return loops.Literal(value, "bool", structural=True)


# -- conditions ------------------------------------------------------------------------------------


def joined(a: loops.Expr, b: loops.Expr) -> loops.Expr:
    """`a and b`."""
    if a == ALWAYS:
        return b
    return a if b == ALWAYS else loops.Call(logical_and, (a, b))


def negated(cond: loops.Expr) -> loops.Expr:
    """`not cond`, as a reader would write it."""
    match cond:
        case loops.Literal(value):
            return replace(cond, value=not value)
        case loops.Call(function, (arg,)) if function is logical_not:
            return arg
        case loops.Call(function, args) if function is equal or function is not_equal:
            return loops.Call(not_equal if function is equal else equal, args)
        case loops.Call(function, args) if function is logical_and:
            return loops.Call(logical_or, tuple([negated(a) for a in args]))
        case _:
            return loops.Call(logical_not, (cond,))


def is_safe(cond: loops.Expr) -> bool:
    """Whether a condition can be asked for anywhere: it reads nothing."""
    allowed = loops.Call | loops.Index | loops.Literal | loops.Dimension | loops.Name
    return all(isinstance(node, allowed) or _is_variable(node) for node in walk(cond))


def _is_variable(node: loops.Node) -> bool:
    return isinstance(node, loops.Value) and isinstance(node.code, imp.Var)


def of_itself(call: loops.Call, facts: object) -> loops.Literal | None:
    """`i <= i` is known to be true, and `i < i` to be false."""
    if not is_positional(call) or call.args[0] != call.args[1]:
        return None
    return _truth(call.function.name in ("less_equal", "greater_equal", "equal"))


def is_of_indices(cond: loops.Expr) -> bool:
    """Whether a test is made of comparisons of indices alone."""
    match cond:
        case loops.Call(function, args) if function.name in JUNCTIONS:
            return all(is_of_indices(a) for a in args)
        case _:
            return is_positional(cond)
