"""Walk and rewrite imperative code: the one place that knows which nodes contain which.

Both visit values and statements. The variables that statements bind, and buffers, are no values
and are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from operator import attrgetter, is_
from typing import Any, TypeVar, cast

from linnet import imp

Tree = imp.Node
Rule = Callable[[Tree], Tree | None]
T = TypeVar("T", bound=Tree)

# The fields of each node that hold values or statements; a tuple of them where the name says so.
_CHILDREN: dict[type, tuple[str, ...]] = {
    imp.Const: (),
    imp.Var: (),
    imp.Buffer: (),
    imp.Address: (),
    imp.Load: ("index",),
    imp.Unary: ("x",),
    imp.Binary: ("a", "b"),
    imp.Select: ("cond", "a", "b"),
    imp.Cast: ("x",),
    imp.Call: ("args",),
    imp.Let: ("value",),
    imp.Assign: ("value",),
    imp.Accumulate: ("value",),
    imp.Store: ("index", "value"),
    imp.Fill: ("start", "stop", "value"),
    imp.For: ("start", "stop", "body"),
    imp.While: ("cond", "body"),
    imp.If: ("cond", "then", "orelse"),
    imp.Break: (),
    imp.Return: ("value",),
    imp.Do: ("call",),
    imp.Comment: (),
    imp.Grow: ("count", "done", "whole"),
    imp.SetLength: ("count",),
    imp.Swap: (),
    imp.Spawn: ("call",),
    imp.Join: (),
    imp.Prefetch: ("index",),
    imp.Block: ("stmts",),
}
# Those that hold statements: what changes statements alone need not look at values.
_BODIES: dict[type, tuple[str, ...]] = {
    imp.For: ("body",),
    imp.While: ("body",),
    imp.If: ("then", "orelse"),
    imp.Block: ("stmts",),
}
_TUPLES = (("args",), ("stmts",))  # the fields that hold several


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Tree, ...]]:
    """What is below a node that has its children in these fields."""
    if len(names) != 1:
        return attrgetter(*names) if names else lambda node: ()
    only = attrgetter(*names)
    if names in _TUPLES:
        return only
    return lambda node: () if (child := only(node)) is None else (child,)


_BELOW = {kind: _getter(names) for kind, names in _CHILDREN.items()}
_INSIDE = {kind: _getter(names) for kind, names in _BODIES.items()}
_WITHIN: dict[type, Callable[[Any], tuple[imp.Stmt, ...]]] = {
    imp.For: attrgetter("body.stmts"),
    imp.While: attrgetter("body.stmts"),
    imp.If: lambda stmt: stmt.then.stmts + stmt.orelse.stmts,
    imp.Block: attrgetter("stmts"),
}


def children(node: Tree) -> tuple[Tree, ...]:
    """The values and statements directly below a node, in the order of evaluation."""
    return _BELOW[type(node)](node)


def walk(node: Tree) -> Iterator[Tree]:
    """The node and everything below it, parents first."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += _BELOW[type(node)](node)[::-1]


def statements(block: imp.Block) -> Iterator[imp.Stmt]:
    """All statements of a block and of the blocks inside it, in the order of the text."""
    todo = [*block.stmts[::-1]]
    while todo:
        stmt = todo.pop()
        yield stmt
        within = _WITHIN.get(type(stmt))
        if within is not None:
            todo += within(stmt)[::-1]


def with_statements(block: imp.Block, stmts: Sequence[imp.Stmt]) -> imp.Block:
    """The block with these statements; the same object if they are those that it has."""
    same = len(stmts) == len(block.stmts) and all(map(is_, stmts, block.stmts))
    return block if same else imp.Block(tuple(stmts))


def rebuild(node: T, change: Callable[[Tree], Tree]) -> T:
    """The node with each child changed; the same object if no child does."""
    old = _BELOW[type(node)](node)
    new = tuple(map(change, old))
    return node if all(map(is_, new, old)) else _with(node, _CHILDREN[type(node)], new)


def _with(node: T, names: tuple[str, ...], new: tuple[Tree, ...]) -> T:
    """The node with other children in these fields."""
    values = (new,) if names in _TUPLES else new
    changed: dict[str, object] = dict(zip(names, values, strict=True))
    make: Callable[..., T] = type(node)
    fields = type(node).__match_args__
    return make(*[changed[f] if f in changed else getattr(node, f) for f in fields])


# Both call themselves and no function inside, which would be garbage that refers to itself.


def rewrite(node: T, rule: Rule) -> T:
    """Apply a rule to every node, children first; a rule gives None where nothing changes.

    A rule turns an expression into an expression, and a statement into a statement.
    """
    old = _BELOW[type(node)](node)
    if old:
        new = tuple(map(rewrite, old, repeat(rule)))
        if not all(map(is_, new, old)):
            node = _with(node, _CHILDREN[type(node)], new)
        if isinstance(node, imp.For | imp.While) and node.over.spans:
            node = _in_other_words(node, rule)
    found = rule(node)
    return node if found is None else cast(T, found)


def _in_other_words(loop: T, rule: Rule) -> T:
    """What a loop goes through is said of what the loop says: a rule changes both alike."""
    assert isinstance(loop, imp.For | imp.While)
    over = loop.over.map(lambda e: rewrite(e, rule))
    return loop if over is loop.over else replace(loop, over=over)


def rewrite_statements(stmt: T, rule: Rule) -> T:
    """Apply a rule to every statement, those inside first; values stay as they are."""
    inside = _INSIDE.get(type(stmt))
    if inside is not None:
        old = inside(stmt)
        new = tuple(map(rewrite_statements, old, repeat(rule)))
        if not all(map(is_, new, old)):
            stmt = _with(stmt, _BODIES[type(stmt)], new)
    found = rule(stmt)
    return stmt if found is None else cast(T, found)


def substitute(node: T, values: dict[str, imp.Expr]) -> T:
    """Replace variables, by name, where they are read."""
    return rewrite(node, lambda n: values.get(n.name) if isinstance(n, imp.Var) else None)
