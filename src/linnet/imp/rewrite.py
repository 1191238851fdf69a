"""Walk and rewrite imperative code: the one place that knows which nodes contain which.

Both visit values and statements. The variables that statements bind, and buffers, are no values
and are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, cast

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


def children(node: Tree) -> Iterator[Tree]:
    """The values and statements directly below a node, in the order of evaluation."""
    for name in _CHILDREN[type(node)]:
        field = getattr(node, name)
        if type(field) is tuple:
            yield from field
        elif field is not None:
            yield field


def walk(node: Tree) -> Iterator[Tree]:
    """The node and everything below it, parents first."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        for name in reversed(_CHILDREN[type(node)]):
            field = getattr(node, name)
            if type(field) is tuple:
                todo.extend(reversed(field))
            elif field is not None:
                todo.append(field)


def statements(block: imp.Block) -> Iterator[imp.Stmt]:
    """All statements of a block and of the blocks inside it, in the order of the text."""
    for stmt in block.stmts:
        yield stmt
        match stmt:
            case imp.If(_, then, orelse):
                yield from statements(then)
                yield from statements(orelse)
            case imp.For(body=body) | imp.While(body=body):
                yield from statements(body)
            case imp.Block():
                yield from statements(stmt)


def rebuild(node: T, change: Callable[[Tree], Tree]) -> T:
    """The node with each child changed; the same object if no child does."""
    names = _CHILDREN[type(node)]
    changed: dict[str, object] = {}
    for name in names:
        old = getattr(node, name)
        if old is None:
            continue
        new: object = _rebuild_all(old, change) if type(old) is tuple else change(old)
        if new is not old:
            changed[name] = new
    if not changed:
        return node
    make: Callable[..., T] = type(node)
    return make(*[changed.get(f, getattr(node, f)) for f in type(node).__match_args__])


def _rebuild_all(nodes: tuple[Tree, ...], change: Callable[[Tree], Tree]) -> tuple[Tree, ...]:
    new = tuple([change(node) for node in nodes])
    return nodes if all(map(_same, new, nodes)) else new


def _same(a: object, b: object) -> bool:
    return a is b


def rewrite(node: T, rule: Rule) -> T:
    """Apply a rule to every node, children first; a rule gives None where nothing changes.

    A rule turns an expression into an expression, and a statement into a statement.
    """

    def visit(node: Tree) -> Tree:
        node = rebuild(node, visit)
        found = rule(node)
        return node if found is None else found

    return cast(T, visit(node))


def substitute(node: T, values: dict[str, imp.Expr]) -> T:
    """Replace variables, by name, where they are read."""
    return rewrite(node, lambda n: values.get(n.name) if isinstance(n, imp.Var) else None)
