"""Walking and rebuilding loop programs: every pass is written with these few functions.

Nothing is copied that does not change: a rewrite that changes nothing returns the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter, is_
from typing import TypeAlias

from linnet.loops.nodes import (
    NOTHING,
    Access,
    Along,
    Assign,
    Block,
    Bounded,
    Break,
    Call,
    Coordinates,
    Declare,
    Dimension,
    Expr,
    Extent,
    Freeze,
    If,
    Index,
    Let,
    Literal,
    Loop,
    Name,
    Node,
    Part,
    Parts,
    Place,
    Positions,
    Product,
    Range,
    Stmt,
    Swap,
    Thaw,
    Value,
)

ExprRule: TypeAlias = Callable[[Expr], Expr | None]
"""A new expression, or None to leave it as it is."""
StmtRule: TypeAlias = Callable[[Stmt], Stmt | None]
"""A new statement, or None to leave it as it is."""


# -- walking ---------------------------------------------------------------------------------------


def _of_loop(loop: Loop) -> tuple[Node, ...]:
    return (loop.body,) if loop.extent is None else (loop.extent, loop.body)


def _of_declare(stmt: Declare) -> tuple[Node, ...]:
    return (stmt.init, *(stmt.dims or ()))


def _of_positions(positions: Positions) -> tuple[Node, ...]:
    given = tuple([value for _, value in positions.given])
    return given if positions.within is None else (*given, positions.within)


def _of_leaf(_: Node) -> tuple[Node, ...]:
    return ()


# A table, and no `match`: passes spend more time here than anywhere else.
_BELOW: dict[type, Callable[..., tuple[Node, ...]]] = {
    Access: attrgetter("indices"),
    Call: attrgetter("args"),
    Assign: attrgetter("value", "target"),
    Block: attrgetter("stmts"),
    Loop: _of_loop,
    Extent: attrgetter("start", "stop"),
    Positions: _of_positions,
    Product: attrgetter("ranges"),
    Coordinates: lambda coordinates: (coordinates.of,),
    Part: attrgetter("of", "number", "size"),
    Along: lambda along: (along.of, *along.outer),
    Bounded: lambda bounded: (bounded.of,),
    Parts: attrgetter("of", "size"),
    Place: lambda place: (place.of, *place.at),
    If: attrgetter("cond", "then", "orelse"),
    Let: attrgetter("value", "body"),
    Declare: _of_declare,
}
_LEAVES = (Literal, Index, Name, Dimension, Value, Freeze, Thaw, Swap, Break)
_BELOW |= dict.fromkeys(_LEAVES, _of_leaf)
_WITH_EXPRS = frozenset((Assign, Loop, If, Let, Declare))
_WITH_ARGS = frozenset((Access, Call, Parts, Place))
_WITH_STMTS = frozenset((Block, Loop, If, Let))


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in the order in which they are evaluated."""
    return _BELOW[type(node)](node)


def walk(node: Node) -> Iterator[Node]:
    """The node and all nodes below it, parents first, in program order."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += _BELOW[type(node)](node)[::-1]


def point_of(extent: Range | None) -> Expr | None:
    """The only index of an extent `range(e, e + 1)`, or None."""
    match extent:
        case Extent(start, Call(function, (again, Literal(1)))):
            return start if function.name == "add" and start == again else None
    return None


def is_left(loop: Loop) -> bool:
    """Whether a `break` may end the loop; one over a single index does not count as a loop."""
    return point_of(loop.extent) is None and leaves(loop.body)


def leaves(stmt: Stmt) -> bool:
    """Whether a statement may end the loop around it.

    Of loops that go along together, what ends one of them ends those around.
    """
    stack = [stmt]
    while stack:
        match stack.pop():
            case Break():
                return True
            case Block(stmts):
                stack.extend(stmts)
            case If(_, then, orelse):
                stack += [then, orelse]
            case Let(_, _, body):
                stack.append(body)
            case Loop(_, extent, body) if _passes_on(extent):
                stack.append(body)
    return False


def _passes_on(extent: Range | None) -> bool:
    """Whether what ends a loop over such a range ends the one around it."""
    return point_of(extent) is not None or (isinstance(extent, Along) and extent.depth > 0)


def before_leaving(stmt: Stmt, first: Stmt) -> Stmt:
    """The body of a loop that does something before it leaves the loop."""
    if isinstance(stmt, Break):
        return block([first, stmt])
    if isinstance(stmt, Loop) and not _passes_on(stmt.extent):
        return stmt  # what leaves this one goes on in the other
    return map_stmts(stmt, lambda inner: before_leaving(inner, first))


def accesses(node: Node) -> Iterator[tuple[Access, bool]]:
    """All accesses in program order, each with whether it is the target of an assignment."""
    stack = [(node, False)]
    while stack:
        node, is_target = stack.pop()
        if type(node) is Access:
            yield node, is_target
        # an assignment evaluates its target last
        last = type(node) is Assign
        for child in reversed(_BELOW[type(node)](node)):
            stack.append((child, last))
            last = False


def changes(node: Node, tensor: str) -> bool:
    """Whether a statement by itself writes a tensor, or changes what may be done with it."""
    match node:
        case Assign(target):
            return target.tensor == tensor
        case Declare(name) | Freeze(name) | Thaw(name):
            return name == tensor
        case Swap(a, b):
            return tensor in (a, b)
        case _:
            return False


def names_in(body: Node) -> set[str]:
    """The indices and names that loops and `Let` introduce."""
    nodes = list(walk(body))
    indices = {n.index for n in nodes if type(n) is Loop}
    return indices | {n.name for n in nodes if type(n) is Let}


# -- rebuilding ------------------------------------------------------------------------------------


def block(stmts: Iterable[Stmt]) -> Stmt:
    """Statements in order: nested blocks are spliced in, a single statement stands for itself."""
    flat: list[Stmt] = []
    for stmt in stmts:
        if type(stmt) is Block:
            flat.extend(stmt.stmts)
        else:
            flat.append(stmt)
    if len(flat) == 1:
        return flat[0]
    return Block(tuple(flat)) if flat else NOTHING


def map_args(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Apply `f` to the expressions directly below an expression."""
    if type(expr) is Access:
        changed = _map(f, expr.indices)
        same = changed is expr.indices
        return expr if same else Access(expr.tensor, changed, expr.protocols, expr.at)
    if type(expr) is Call:
        changed = _map(f, expr.args)
        return expr if changed is expr.args else Call(expr.function, changed)
    if type(expr) is Parts:
        of, size = map_range(expr.of, f), f(expr.size)
        return expr if of is expr.of and size is expr.size else Parts(of, size)
    if type(expr) is Place:
        of, changed = map_range(expr.of, f), _map(f, expr.at)
        return expr if of is expr.of and changed is expr.at else Place(of, changed)
    return expr


def map_range(extent: Range, f: Callable[[Expr], Expr]) -> Range:
    """Apply `f` to the expressions that a range is made of."""
    if type(extent) is Part:
        of, number, size = map_range(extent.of, f), f(extent.number), f(extent.size)
        same = of is extent.of and number is extent.number and size is extent.size
        return extent if same else Part(of, number, size)
    if type(extent) is Along:
        of, outer = map_range(extent.of, f), _map(f, extent.outer)
        return extent if of is extent.of and outer is extent.outer else Along(of, outer)
    if type(extent) is Bounded or type(extent) is Coordinates:
        of = map_range(extent.of, f)
        return extent if of is extent.of else replace(extent, of=of)
    if type(extent) is Product:
        ranges = tuple([map_range(r, f) for r in extent.ranges])
        same = all(map(is_, ranges, extent.ranges))
        return extent if same else Product(ranges)  # type: ignore[arg-type]
    if type(extent) is Positions:
        given = tuple([(mode, f(value)) for mode, value in extent.given])
        within = None if extent.within is None else map_range(extent.within, f)
        same = all(a is b for (_, a), (_, b) in zip(given, extent.given, strict=True))
        same = same and within is extent.within
        return extent if same else replace(extent, given=given, within=within)
    assert type(extent) is Extent
    start, stop = f(extent.start), f(extent.stop)
    same = start is extent.start and stop is extent.stop
    return extent if same else Extent(start, stop)


def map_positions(extent: Range, f: Callable[[Positions], Positions]) -> Range:
    """Apply `f` to the positions that a range is, or is a part of."""
    if type(extent) is Positions:
        within = None if extent.within is None else map_positions(extent.within, f)
        return f(extent if within is extent.within else replace(extent, within=within))
    if isinstance(extent, Part | Along | Bounded | Coordinates):
        of = map_positions(extent.of, f)
        return extent if of is extent.of else replace(extent, of=of)
    return extent


def map_exprs(stmt: Stmt, f: Callable[[Expr], Expr]) -> Stmt:
    """Apply `f` to the expressions of one statement, not to those of the statements below it.

    The target of an assignment stays an access: `f` sees its indices only.
    """
    if type(stmt) not in _WITH_EXPRS:
        return stmt
    match stmt:
        case Assign(target, op, value, at, partial):
            where, what = map_args(target, f), f(value)
            if where is target and what is value:
                return stmt
            assert type(where) is Access
            return Assign(where, op, what, at, partial)
        case Loop(_, extent) if extent is not None:
            changed = map_range(extent, f)
            return stmt if changed is extent else replace(stmt, extent=changed)
        case If(cond, then, orelse, at):
            test = f(cond)
            return stmt if test is cond else If(test, then, orelse, at)
        case Let(name, value, body, at):
            what = f(value)
            return stmt if what is value else Let(name, what, body, at)
        case Declare(_, init, dims):
            what, sizes = f(init), _map(f, dims) if dims else dims
            same = what is init and sizes is dims
            return stmt if same else replace(stmt, init=what, dims=sizes)
        case _:
            return stmt


def map_stmts(stmt: Stmt, f: Callable[[Stmt], Stmt]) -> Stmt:
    """Apply `f` to the statements directly below a statement."""
    if type(stmt) not in _WITH_STMTS:
        return stmt
    match stmt:
        case Block(stmts):
            changed = tuple([f(s) for s in stmts])
            return stmt if _same(changed, stmts) else block(changed)
        case Loop(_, _, body):
            inner = f(body)
            return stmt if inner is body else replace(stmt, body=inner)
        case If(cond, then, orelse, at):
            yes, no = f(then), f(orelse)
            return stmt if yes is then and no is orelse else If(cond, yes, no, at)
        case Let(name, value, body, at):
            inner = f(body)
            return stmt if inner is body else Let(name, value, inner, at)
        case _:
            return stmt


# Both call themselves and no function inside, which would be garbage that refers to itself.


def rewrite_expr(expr: Expr, rule: ExprRule) -> Expr:
    """Apply `rule` to an expression and all below it, the innermost first."""
    if type(expr) in _WITH_ARGS:
        expr = map_args(expr, lambda e: rewrite_expr(e, rule))
    changed = rule(expr)
    return expr if changed is None else changed


def rewrite_stmt(
    stmt: Stmt, on_stmt: StmtRule | None = None, on_expr: ExprRule | None = None
) -> Stmt:
    """Apply rules to a statement and all below it, the innermost first.

    `on_expr` is applied to all expressions but the targets of assignments themselves.
    """
    if on_expr is not None:
        stmt = map_exprs(stmt, lambda e: rewrite_expr(e, on_expr))
    stmt = map_stmts(stmt, lambda s: rewrite_stmt(s, on_stmt, on_expr))
    changed = None if on_stmt is None else on_stmt(stmt)
    return stmt if changed is None else changed


def replaced(stmt: Stmt, old: Stmt, new: Stmt) -> Stmt:
    """A statement with another one in the place of one in it, which is told by identity."""
    return new if stmt is old else map_stmts(stmt, lambda s: replaced(s, old, new))


def substitute_expr(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Replace loop indices and let names by values."""
    return rewrite_expr(expr, lambda e: _value_of(e, values))


def substitute(stmt: Stmt, values: Mapping[str, Expr]) -> Stmt:
    """Replace loop indices and let names by values.

    Needs: names are unique (`normalize.scopes`), so that nothing below binds one of them again.
    """
    return rewrite_stmt(stmt, on_expr=lambda e: _value_of(e, values))


def _value_of(expr: Expr, values: Mapping[str, Expr]) -> Expr | None:
    return values.get(expr.name) if type(expr) is Index or type(expr) is Name else None


def _map(f: Callable[[Expr], Expr], exprs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    changed = tuple([f(e) for e in exprs])
    return exprs if _same(changed, exprs) else changed


def _same(a: tuple[object, ...], b: tuple[object, ...]) -> bool:
    return len(a) == len(b) and all(map(is_, a, b))
