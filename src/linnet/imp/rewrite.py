"""Walk and rewrite imperative code: the one place that knows which nodes contain which.

Both visit values and statements. The variables that statements bind, and buffers, are no values
and are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    imp.Grow: ("count",),
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


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Tree, ...]]:
    """What is below a node that has its children in these fields."""
    if len(names) != 1:
        return attrgetter(*names) if names else lambda node: ()
    only = attrgetter(*names)
    if names[0] in ("args", "stmts"):
        return only
    return lambda node: () if (child := only(node)) is None else (child,)


_BELOW = {kind: _getter(names) for kind, names in _CHILDREN.items()}


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
        if isinstance(stmt, imp.Block):
            todo += stmt.stmts[::-1]
        elif isinstance(stmt, imp.For | imp.While):
            todo += stmt.body.stmts[::-1]
        elif isinstance(stmt, imp.If):
            todo += stmt.orelse.stmts[::-1]
            todo += stmt.then.stmts[::-1]


def rebuild(node: T, change: Callable[[Tree], Tree]) -> T:
    """The node with each child changed; the same object if no child does."""
    return _with(node, _CHILDREN[type(node)], change)


def _with(node: T, names: tuple[str, ...], change: Callable[[Tree], Tree]) -> T:
    """The node with each child in these fields changed."""
    changed: dict[str, object] | None = None
    for name in names:
        old = getattr(node, name)
        if old is None:
            continue
        new: object = _rebuild_all(old, change) if type(old) is tuple else change(old)
        if new is not old:
            changed = {} if changed is None else changed
            changed[name] = new
    if changed is None:
        return node
    make: Callable[..., T] = type(node)
    fields = type(node).__match_args__
    return make(*[changed[f] if f in changed else getattr(node, f) for f in fields])


def _rebuild_all(nodes: tuple[Tree, ...], change: Callable[[Tree], Tree]) -> tuple[Tree, ...]:
    new = tuple([change(node) for node in nodes])
    return nodes if all(map(is_, new, nodes)) else new


def rewrite(node: T, rule: Rule) -> T:
    """Apply a rule to every node, children first; a rule gives None where nothing changes.

    A rule turns an expression into an expression, and a statement into a statement.
    """

    def visit(node: Tree) -> Tree:
        names = _CHILDREN[type(node)]
        if names:
            node = _with(node, names, visit)
        found = rule(node)
        return node if found is None else found

    return cast(T, visit(node))


def rewrite_statements(block: imp.Block, rule: Rule) -> imp.Block:
    """Apply a rule to every statement, those inside first; values stay as they are."""

    def visit(stmt: Tree) -> Tree:
        names = _BODIES.get(type(stmt))
        if names is not None:
            stmt = _with(stmt, names, visit)
        found = rule(stmt)
        return stmt if found is None else found

    return cast(imp.Block, visit(block))


def substitute(node: T, values: dict[str, imp.Expr]) -> T:
    """Replace variables, by name, where they are read."""
    return rewrite(node, lambda n: values.get(n.name) if isinstance(n, imp.Var) else None)
