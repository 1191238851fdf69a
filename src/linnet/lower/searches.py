"""Values that are searched for: each in a block of its own, where two versions would be too many.

A search at one index finds something, or nothing, and what follows is written for both. With
several searches that multiplies. Where finding nothing leaves nothing to do, one version is empty:
such searches come first. The other values are held in variables, which have the fill value where
nothing is stored, together with whether they were found (`normalize.guards`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from linnet import imp, loops
from linnet.algebra.dtypes import as_python
from linnet.algebra.table import coalesce, logical_and
from linnet.formats.fiber import Fiber, Register, Storage
from linnet.formats.format import Format
from linnet.loops.rewrite import (
    block,
    point_of,
    rewrite_stmt,
    substitute,
    substitute_expr,
    walk,
)
from linnet.loops.types import dtype_of
from linnet.lower.context import Context
from linnet.lower.expressions import LAZY, REFUSED
from linnet.normalize.facts import Fact
from linnet.normalize.guards import held
from linnet.records import dataclass

FEW = 3  # searches around a loop, of which versions are written

Points = list[loops.Loop]
"""Loops over single indices, each inside the one before."""


@dataclass(frozen=True, slots=True)
class Search:
    """A value that is searched for; one that is `lazy` may lie beyond the bounds if not used."""

    expr: loops.Expr
    lazy: bool = False


def hold_searched(ctx: Context, loop: loops.Loop) -> loops.Stmt | None:
    """Statements that search for one value after the other; None if all is well as it is."""
    points, body = _peel(loop)
    named = {p.index: p for p in points}
    match body:
        case loops.If(loops.Call(function, (first, second)), _, loops.Block(())):
            if function is logical_and and any(_searched(second, named)):
                return _one_by_one(ctx, points, first, replace(body, cond=second))
    found = _without_repetition(_searched(body, named))
    many = len(found) + sum(is_point(n) for n in walk(body))
    if many < 2 or (many <= FEW and any(_is_loop(n) for n in walk(body))):
        return None
    for search in found:
        if not search.lazy and _decides(ctx, body, search.expr):
            return _first(ctx, points, body, search.expr)
    return _held_apart(ctx, points, body, found) if found else None


def _without_repetition(searches: Iterable[Search]) -> list[Search]:
    """Each value once; one that is used anyway is not lazy."""
    found: dict[loops.Expr, Search] = {}
    for search in searches:
        if search.expr not in found or not search.lazy:
            found[search.expr] = search
    return list(found.values())


def _one_by_one(
    ctx: Context, points: Points, first: loops.Expr, second: loops.If
) -> loops.Stmt | None:
    """`if a and b` as `if a: if b`: what b needs is searched for where a holds."""
    inner = _with_own_names(ctx, _nest(_needed(points, second), second))
    outer = loops.If(first, inner, loops.NOTHING, second.at)
    return ctx.simplify(_nest(_needed(points, outer), outer))


def _first(ctx: Context, points: Points, body: loops.Stmt, expr: loops.Expr) -> loops.Stmt | None:
    """The search that decides whether anything is done comes first, by itself."""
    mine = _needed(points, expr)
    rest = rewrite_stmt(body, on_expr=lambda e: loops.Literal(0) if e == expr else None)
    shared = [p for p in _needed(points, rest) if p in mine]
    if not shared and points[: len(mine)] == mine:
        return None
    outer, (place,) = _renamed(ctx, mine, [expr])
    changed = rewrite_stmt(body, on_expr=lambda e: place if e == expr else None)
    return _nest([*outer, *_needed(points, changed)], changed)


def _held_apart(ctx: Context, points: Points, body: loops.Stmt, found: list[Search]) -> loops.Stmt:
    """A block for each value, and the body that uses them all."""
    values: dict[loops.Expr, loops.Expr] = {}
    searches: list[loops.Stmt] = []
    for search in found:
        expr = search.expr
        register, values[expr] = _open(ctx, search)
        own, (place,) = _renamed(ctx, _needed(points, expr), [expr])
        searches.append(_nest(own, loops.Assign(loops.Access(register, ()), None, place)))
    body = rewrite_stmt(body, on_expr=lambda e: values.get(e) if _may_be_held(e) else None)
    return block([*searches, ctx.simplify(_nest(_needed(points, body), body))])


def is_point(node: loops.Node) -> bool:
    """Whether a node is a loop over a single index."""
    return isinstance(node, loops.Loop) and point_of(node.extent) is not None


def _is_loop(node: loops.Node) -> bool:
    return isinstance(node, loops.Loop) and point_of(node.extent) is None


def _peel(loop: loops.Loop) -> tuple[Points, loops.Stmt]:
    """The loops over single indices, and what is inside all of them."""
    points, body = [loop], loop.body
    while isinstance(body, loops.Loop) and is_point(body):
        points.append(body)
        body = body.body
    return points, body


def _nest(points: Points, body: loops.Stmt) -> loops.Stmt:
    for point in reversed(points):
        body = replace(point, body=body)
    return body


def _needed(points: Points, node: loops.Node) -> Points:
    """The loops that bind the indices of a node, and those of their extents."""
    wanted = {n.name for n in walk(node) if isinstance(n, loops.Index)}
    needed: Points = []
    for point in reversed(points):
        if point.index in wanted:
            assert point.extent is not None
            wanted |= {n.name for n in walk(point.extent) if isinstance(n, loops.Index)}
            needed.append(point)
    return needed[::-1]


def _renamed(
    ctx: Context, points: Points, exprs: list[loops.Expr]
) -> tuple[Points, list[loops.Expr]]:
    """Loops over indices of their own, which are introduced elsewhere, too; and what is inside."""
    new: dict[str, loops.Expr] = {}
    own: Points = []
    for point in points:
        assert isinstance(point.extent, loops.Extent)
        start, stop = (substitute_expr(e, new) for e in (point.extent.start, point.extent.stop))
        name = ctx.b.names.fresh(point.index)
        new[point.index] = loops.Index(name)
        own.append(replace(point, index=name, extent=loops.Extent(start, stop)))
    return own, [substitute_expr(e, new) for e in exprs]


def _with_own_names(ctx: Context, stmt: loops.Stmt) -> loops.Stmt:
    """A nest of loops over single indices of their own."""
    if not isinstance(stmt, loops.Loop) or not is_point(stmt):
        return stmt
    points, body = _peel(stmt)
    own, _ = _renamed(ctx, points, [])
    new = {p.index: loops.Index(q.index) for p, q in zip(points, own, strict=True)}
    return _nest(own, substitute(body, new))


# -- which values --------------------------------------------------------------------------------


def _searched(body: loops.Node, points: dict[str, loops.Loop]) -> Iterator[Search]:
    """The values that are searched for at single indices whenever the body is run."""
    match body:
        case loops.Assign(target, _, value):
            for expr in (value, *target.indices):
                yield from _searched(expr, points)
        case loops.Let(_, value, inner):
            yield from _searched(value, points)
            yield from _searched(inner, points)
        case loops.If(cond):
            yield from _searched(cond, points)
        case loops.Block(stmts):
            for stmt in stmts:
                yield from _searched(stmt, points)
        case loops.Access() | loops.Call() if _is_search(body, points):
            yield Search(body)
        case loops.Call(function, args):
            for k, arg in enumerate(args):
                lazy = k > 0 and function.name in LAZY
                for search in _searched(arg, points):
                    yield Search(search.expr, search.lazy or lazy)


def _may_be_held(expr: loops.Expr) -> bool:
    match expr:
        case loops.Access(Fiber(), indices):
            return bool(indices)
        case loops.Call(function, (loops.Access(Fiber(), indices), loops.Literal())):
            return function is coalesce and bool(indices)
    return False


def _is_search(expr: loops.Expr, points: dict[str, loops.Loop]) -> bool:
    """Whether a value may turn out to be stored or not, or to lie beyond the bounds."""
    if not _may_be_held(expr):
        return False
    access = _access(expr)
    assert isinstance(access.tensor, Fiber)
    if "permissive" in access.protocols and access is expr:
        return False
    if not all(isinstance(i, loops.Index) and i.name in points for i in access.indices):
        return False
    levels = access.tensor.storage.format.levels[access.tensor.level :]
    return not all(l.full or l.leaf for l in levels) or _may_miss(access, points)


def _may_miss(expr: loops.Expr, points: dict[str, loops.Loop]) -> bool:
    """Whether an index that is computed here may leave its dimension."""
    names = {n.name for n in walk(expr) if isinstance(n, loops.Index)} & points.keys()
    starts = (point_of(points[name].extent) for name in names)
    return any(not isinstance(start, loops.Index) for start in starts)


def _decides(ctx: Context, body: loops.Stmt, expr: loops.Expr) -> bool:
    """Whether nothing is left to do where a value is not stored."""
    fill = _fill(ctx, expr)
    none = rewrite_stmt(body, on_expr=lambda e: fill if e == expr else None)
    return ctx.simplify(none) == loops.NOTHING


def _fill(ctx: Context, expr: loops.Expr) -> loops.Literal:
    """What a value is where it is not stored, in the type that it has in its `coalesce`."""
    tensor, dtype = _access(expr).tensor, dtype_of(expr, ctx.facts.types)
    assert isinstance(tensor, Fiber)
    assert tensor.storage.format.fill_value is not None
    return loops.Literal(as_python(tensor.storage.format.fill_value, dtype), dtype, structural=True)


def _access(expr: loops.Expr) -> loops.Access:
    """The access that is searched, perhaps in a `coalesce`."""
    access = expr.args[0] if isinstance(expr, loops.Call) else expr
    assert isinstance(access, loops.Access)
    return access


def _open(ctx: Context, search: Search) -> tuple[Register, loops.Expr]:
    """The variables of a value that is searched for, and what stands for it."""
    access, dtype = _access(search.expr), dtype_of(search.expr, ctx.facts.types)
    assert isinstance(access.tensor, Fiber)
    held_by = access.tensor.storage
    fill = _fill(ctx, search.expr)
    init = imp.Const(fill.value, dtype)
    var = imp.Var(_own_name(ctx, held_by.name), dtype)
    ctx.b.emit(imp.Let(var, init))
    value = loops.Value(var)
    storage = Storage(var.name, Format((held_by.format.leaf,), ()), (), init, (), ())
    ctx.facts.tensors[var.name] = Fact(dtype, None, frozenset({None}), once=False, held=True)
    if search.lazy:
        refused = ctx.b.let(f"{held_by.name}_refused", imp.ZERO)
        ctx.refused[var.name] = refused
        value = loops.Value(imp.Call(REFUSED, (refused, var), dtype))
    if all(l.full or l.leaf for l in held_by.format.levels):
        return Register(storage, var), value
    found = ctx.b.let(f"{held_by.name}_found", imp.FALSE, imp.BOOL)
    return Register(storage, var, found), held(loops.Value(found), value, fill)


def _own_name(ctx: Context, hint: str) -> str:
    """A name that no tensor has of which something is known: it is not to be known of both."""
    while (name := ctx.b.names.fresh(hint)) in ctx.facts.tensors:
        pass
    return name
