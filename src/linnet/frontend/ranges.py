"""What a loop runs over: a range, what a tensor stores, several ranges, or a part of these."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from linnet import loops
from linnet.frontend import words
from linnet.frontend.expressions import expression, plain_index
from linnet.frontend.refusals import refused_loop
from linnet.frontend.scope import Scope
from linnet.imp.how import LARGEST_UNROLLED, PLAIN, RACES, How
from linnet.loops.bases import coordinates
from linnet.loops.bounds import BOUNDS, DIVISIBLE
from linnet.loops.nodes import base_of


def range_of(node: ast.expr, scope: Scope) -> loops.Range:
    """A range, or a part of one, as it is written after `in`."""
    if isinstance(node, ast.Call) and scope.is_static(node.func):
        word = scope.static(node.func)
        if word is words.stored:
            return _stored(node, scope)
        read = None if node.keywords else _READ.get(word) if callable(word) else None
        if read is not None:
            return read(node, node.args, scope)
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
            case words.flat, [of]:
                found = replace(found, flat=True)
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


def _product(node: ast.expr, args: list[ast.expr], scope: Scope) -> loops.Product:
    found = [range_of(arg, scope) for arg in args]
    ranges = [r for r in found if isinstance(r, loops.Extent)]
    if len(ranges) < max(len(found), 2):
        hint = "`for i, j in ln.product(range(n), range(m)):`"
        raise scope.error(node, "a product is one of two ranges or more", hint=hint)
    return loops.Product(tuple(ranges))


def _coordinates(node: ast.expr, args: list[ast.expr], scope: Scope) -> loops.Coordinates:
    found = [range_of(arg, scope) for arg in args]
    if len(found) != 1 or not isinstance(base_of(found[0]), loops.Positions):
        hint = "`for i in ln.coordinates(ln.part(ln.stored(x), t, 32)):`"
        raise scope.error(node, "coordinates are those of positions, or of a part", hint=hint)
    return loops.Coordinates(found[0])


def _along(node: ast.expr, args: list[ast.expr], scope: Scope) -> loops.Along:
    match args:
        case [several, *outer]:
            of = range_of(several, scope)
            count = coordinates(of)
            if count != 1 and (len(outer) < count or count == 0):
                return loops.Along(of, tuple([expression(index, scope) for index in outer]))
    hint = "`for i in ln.along(ln.stored(A)):` and in it `for j in ln.along(ln.stored(A), i):`"
    message = "what a loop goes along has several indices, of which those before its own are given"
    raise scope.error(node, message, hint=hint)


# -- what a tensor stores --------------------------------------------------------------------------


def _stored(node: ast.Call, scope: Scope) -> loops.Positions:
    """`ln.stored(A)`, `ln.stored(A[i, :])`, `ln.stored(A[:, :], order=(1, 0))`.

    The coordinates may be those within a range: `ln.stored(A[i, :], ln.part(range(n), t, 32))`.
    """
    within = None if len(node.args) != 2 else range_of(node.args[1], scope)
    match node.args[: 1 if within is None else -1]:
        case [ast.Name() as name] if (tensor := scope.tensor(name)) and not node.keywords:
            return loops.Positions(tensor, (), within=within)
        case [ast.Subscript(ast.Name() as name, slices)] if tensor := scope.tensor(name):
            items = slices.elts if isinstance(slices, ast.Tuple) else [slices]
            modes = tuple([m for m, item in enumerate(items) if _is_whole(item)])
            given = tuple(
                [
                    (m, plain_index(item, scope))
                    for m, item in enumerate(items)
                    if m not in modes and not _is_left_out(item)
                ]
            )
            if modes:
                return loops.Positions(tensor, _ordered(node, modes, scope), given, within)
    hint = "`for i, j in ln.stored(A):`, or `for j in ln.stored(A[i, :]):` for a row of A"
    raise scope.error(node, "what is stored is that of a tensor, or of a part of one", hint=hint)


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is node.upper is node.step is None


def _is_left_out(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _ordered(node: ast.Call, modes: tuple[int, ...], scope: Scope) -> tuple[int, ...]:
    """The modes as an `order` has them."""
    match node.keywords:
        case []:
            return modes
        case [ast.keyword("order", ast.Tuple(items))]:
            order = tuple([i.value if isinstance(i, ast.Constant) else None for i in items])
            if sorted(modes) == sorted(m for m in order if type(m) is int) and None not in order:
                return order  # type: ignore[return-value]
    text = f"order={modes}" if len(modes) > 1 else "no order"
    raise scope.error(node, "an order has the numbers of the modes that are `:`", hint=f"`{text}`")


_READ: dict[object, Callable[[ast.expr, list[ast.expr], Scope], loops.Range]] = {
    range: _range,
    words.part: _part,
    words.bound: _bounded,
    words.product: _product,
    words.along: _along,
    words.coordinates: _coordinates,
}


def parts_of(node: ast.Call, scope: Scope) -> loops.Parts:
    """`ln.parts(range(n), 32)`: how many parts a range has."""
    match node.args:
        case [whole, size]:
            return loops.Parts(range_of(whole, scope), expression(size, scope))
        case _:
            hint = "`ln.parts(range(n), 32)`: how many parts of 32 indices there are"
            raise scope.error(node, "parts are those of a range, of some size", hint=hint)


def place_of(node: ast.Call, scope: Scope) -> loops.Place:
    """`ln.place(ln.part(range(n), t, 32), i)`: which index of a range a loop is at."""
    match node.args:
        case [whole, _, *_] as args:
            of = range_of(whole, scope)
            if coordinates(of) in (0, len(args) - 1):
                return loops.Place(of, tuple([plain_index(index, scope) for index in args[1:]]))
    hint = "`ln.place(ln.part(range(n), t, 32), i)` in the loop over i"
    raise scope.error(node, "a place is that of all indices that go through a range", hint=hint)
