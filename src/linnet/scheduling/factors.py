"""A part of an update's value, found by how it is written: the whole, a factor, several of them.

`B[i, k, l] * D[l, j]` is a part of `B[i, k, l] * C[k, j] * D[l, j]`: factors have no order. So
it is with any function that is associative and commutative.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce

from linnet import loops
from linnet.algebra.function import Function
from linnet.errors import ScheduleError
from linnet.loops.printer import show
from linnet.loops.rewrite import rewrite_expr, walk
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """An update, a part of its value, and the value with something else in the place of that.

    Where it `distributes`, updating by the value is as good as updating a sum of parts.
    """

    update: loops.Assign
    part: loops.Expr
    rest: Callable[[loops.Expr], loops.Expr]
    whole: bool
    distributes: bool


def part_of(program: loops.Program, text: str, written: Callable[[loops.Expr], str]) -> Found:
    """The only update that has an expression in its value; `written` is how the user has it."""
    wanted = canonical(text)
    assigns = [n for n in walk(program.body) if isinstance(n, loops.Assign)]
    found = [f for a in assigns if (f := _in_update(a, wanted, written)) is not None]
    if len(found) != 1:
        raise ScheduleError(
            f"`{text}` is in {len(found)} updates of `{program.name}`, and must be in one",
            hint="write it as it stands in the program",
        )
    return found[0]


def _in_update(
    update: loops.Assign, wanted: str, written: Callable[[loops.Expr], str]
) -> Found | None:
    def same(e: loops.Expr) -> bool:
        return canonical(written(e)) == wanted

    value = update.value
    if same(value):
        return Found(update, value, lambda new: new, True, update.op is not None)
    chosen = _factors_in(value, wanted, written)
    if chosen is not None:
        function, part, others = chosen
        sums = update.op is not None and function.distributes(update.op)
        return Found(
            update,
            part,
            lambda new: _product(function, [*others[:1], new, *others[1:]]),
            False,
            sums,
        )
    inside = [n for n in walk(value) if isinstance(n, _EXPRS) and same(n)]
    if len(inside) != 1:
        return None
    (one,) = inside
    sums = update.op is not None and _is_factor(value, one, update.op)
    return Found(update, one, lambda new: _with(value, one, new), False, sums)


_EXPRS = (loops.Access, loops.Call)


def _with(value: loops.Expr, one: loops.Expr, new: loops.Expr) -> loops.Expr:
    return rewrite_expr(value, lambda e: new if e == one else None)


def _factors_in(
    value: loops.Expr, wanted: str, written: Callable[[loops.Expr], str]
) -> tuple[Function, loops.Expr, list[loops.Expr]] | None:
    """Some of the factors of a product that make the one that is wanted, and the others."""
    if not isinstance(value, loops.Call):
        return None
    function = value.function
    if not (function.associative and function.commutative and len(value.args) == 2):
        return None
    factors = _flat(value, function)
    one = _product(function, [loops.Index("a"), loops.Index("b")])
    left = [ast.unparse(part) for part in _parts(ast.parse(wanted, mode="eval").body, show(one))]
    chosen: list[loops.Expr] = []
    others: list[loops.Expr] = []
    for factor in factors:
        text = canonical(written(factor))
        if text in left:
            left.remove(text)
            chosen.append(factor)
        else:
            others.append(factor)
    return None if left or not others else (function, _product(function, chosen), others)


def _parts(node: ast.expr, like: str) -> list[ast.expr]:
    """What a function is applied to that is written `like` this one, there and inside."""
    match node, ast.parse(like, mode="eval").body:
        case ast.BinOp(a, op, b), ast.BinOp(op=other) if type(op) is type(other):
            return [*_parts(a, like), *_parts(b, like)]
        case ast.Call(f, [a, b]), ast.Call(g) if ast.dump(f) == ast.dump(g):
            return [*_parts(a, like), *_parts(b, like)]
    return [node]


def _flat(expr: loops.Expr, function: Function) -> list[loops.Expr]:
    match expr:
        case loops.Call(f, (a, b)) if f is function:
            return [*_flat(a, function), *_flat(b, function)]
    return [expr]


def _product(function: Function, factors: list[loops.Expr]) -> loops.Expr:
    return reduce(lambda a, b: loops.Call(function, (a, b)), factors)


def _is_factor(value: loops.Expr, part: loops.Expr, op: Function) -> bool:
    """Whether the update by a value is the value of an update: `a * b + a * c`."""
    while value != part:
        if not isinstance(value, loops.Call) or not value.function.distributes(op):
            return False
        value = next(a for a in value.args if any(n == part for n in walk(a)))
    return True


def canonical(text: str) -> str:
    """An expression with the spaces and parentheses that Python would write."""
    try:
        return ast.unparse(ast.parse(text.strip(), mode="eval"))
    except SyntaxError:
        raise ScheduleError(f"`{text}` is not an expression", hint="`A[i, j] * x[j]`") from None
