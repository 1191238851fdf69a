"""What a loop runs over: a range, or a part of one."""

from __future__ import annotations

import ast
from dataclasses import replace

from linnet import loops
from linnet.frontend import words
from linnet.frontend.expressions import expression
from linnet.frontend.refusals import refused_loop
from linnet.frontend.scope import Scope
from linnet.imp.how import LARGEST_UNROLLED, PLAIN, RACES, How
from linnet.loops.bounds import BOUNDS, DIVISIBLE


def range_of(node: ast.expr, scope: Scope) -> loops.Range:
    """A range, or a part of one, as it is written after `in`."""
    if isinstance(node, ast.Call) and not node.keywords and scope.is_static(node.func):
        word = scope.static(node.func)
        if word is range:
            return _range(node, node.args, scope)
        if word is words.part:
            return _part(node, node.args, scope)
        if word is words.bound:
            return _bounded(node, node.args, scope)
    message, hint = refused_loop(node)
    raise scope.error(node, message, hint=hint)


def how_of(node: ast.expr, scope: Scope) -> tuple[ast.expr, How]:
    """What a loop runs over without how it is run, and that."""
    found = PLAIN
    while isinstance(node, ast.Call) and not node.keywords and scope.is_static(node.func):
        match scope.static(node.func), node.args:
            case words.unrolled, [of, ast.Constant(int(factor))] if (
                type(factor) is int and 1 < factor <= LARGEST_UNROLLED
            ):
                found = replace(found, unroll=factor)
            case words.vector, [of, ast.Constant(str(race))] if race in RACES:
                found = replace(found, race=race)
            case words.unrolled, _:
                hint = f"`ln.unrolled(range(n), 4)`; a factor is from 2 to {LARGEST_UNROLLED}"
                raise scope.error(node, "a loop is unrolled by a small number", hint=hint)
            case words.vector, _:
                hint = f'`ln.vector(range(n), "NoRaces")`, or {", ".join(RACES[1:])}'
                raise scope.error(node, "vectors have a strategy for races", hint=hint)
            case _:
                break
        node, text = of, ast.unparse(node)
        found = replace(found, command=text, at=scope.source.location(node))
    return node, found


def _part(node: ast.expr, args: list[ast.expr], scope: Scope) -> loops.Part:
    match args:
        case [whole, number, size]:
            of = range_of(whole, scope)
            return loops.Part(of, expression(number, scope), expression(size, scope))
        case _:
            hint = "`ln.part(range(n), t, 32)`: part t of those with 32 indices"
            raise scope.error(node, "a part has a range, a number and a size", hint=hint)


def _bounded(node: ast.expr, args: list[ast.expr], scope: Scope) -> loops.Bounded:
    at = scope.source.location(node)
    match args:
        case [whole, ast.Constant(str(kind)), value] if kind in BOUNDS:
            found = expression(value, scope)
            number = found.value if isinstance(found, loops.Literal) else None
            if type(number) is int and (number > 0 or kind != DIVISIBLE):
                return loops.Bounded(range_of(whole, scope), kind, number, at=at)
    hint = f'`ln.bound(range(n), "MaxExact", 128)`; bounds are {", ".join(BOUNDS)}'
    raise scope.error(node, "a bound has a range, its kind and a number", hint=hint)


def _range(node: ast.expr, args: list[ast.expr], scope: Scope) -> loops.Extent:
    match args:
        case [stop]:
            return loops.Extent(loops.Literal(0), expression(stop, scope))
        case [start, stop] | [start, stop, ast.Constant(1)]:
            return loops.Extent(expression(start, scope), expression(stop, scope))
        case [_, _, step]:
            text = ast.unparse(step)
            hint = f"count by one and multiply: `for k in range(n):` and `start + {text} * k`"
            raise scope.error(step, "a range counts up by one", hint=hint)
        case _:
            raise scope.error(node, "range takes a start and a stop", hint="`range(a, b)`")


def parts_of(node: ast.Call, scope: Scope) -> loops.Parts:
    """`ln.parts(range(n), 32)`: how many parts a range has."""
    match node.args:
        case [whole, size]:
            return loops.Parts(range_of(whole, scope), expression(size, scope))
        case _:
            hint = "`ln.parts(range(n), 32)`: how many parts of 32 indices there are"
            raise scope.error(node, "parts are those of a range, of some size", hint=hint)
