"""Products under a mask: only what is needed of a reduction is computed, row by row.

In `(A @ B) * M` the sums of products are scalars in the loops if B is stored by columns. If it is
stored by rows, a row of the product is computed at once, where M stores something in that row: no
product is stored, and nothing is added up that M would drop. What a mask is follows from the
functions: where it stores nothing, the reduction makes no difference to what is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from linnet import loops
from linnet.algebra.stored import stored
from linnet.algebra.table import logical_or
from linnet.arrays.arrange import names_in
from linnet.arrays.cuts import arguments
from linnet.arrays.nest import At, Row, Scalar
from linnet.arrays.nodes import Map, Node, Reduce, View
from linnet.arrays.result import simplified
from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.loops.rewrite import rewrite_expr, walk
from linnet.names import Names

Formats = Mapping[str, Format]


def used_once(
    nodes: Sequence[Node], outputs: Sequence[Node], kept: Node | None = None
) -> frozenset[int]:
    """The nodes, by identity, that one output needs, in one place of it; of a graph in order.

    What is `kept` for all that need it is like an output.
    """
    users = _users(nodes)
    results = {id(node) for node in outputs}
    once: set[int] = set()
    for node in reversed(nodes):
        above = users[id(node)]
        if node is kept or (
            not above if id(node) in results else len(above) == 1 and above <= once
        ):
            once.add(id(node))
    return frozenset(once)


def used_again(nodes: Sequence[Node], outputs: Sequence[Node]) -> list[Node]:
    """What is used more than once and made of reductions, which may be under a mask."""
    users, results = _users(nodes), {id(node) for node in outputs}
    reduces: dict[int, bool] = {}  # whether a node is a reduction, or made of one
    found: list[Node] = []
    for node in nodes:
        below = any(reduces[id(arg)] for arg in arguments(node))
        reduces[id(node)] = isinstance(node, Reduce) or (isinstance(node, Map | View) and below)
        again = len(users[id(node)]) + (id(node) in results) > 1
        if again and below and isinstance(node, Map):
            found.append(node)
    return found


def _users(nodes: Sequence[Node]) -> dict[int, set[int]]:
    users: dict[int, set[int]] = {id(node): set() for node in nodes}
    for node in nodes:
        for arg in arguments(node):
            users[id(arg)].add(id(node))
    return users


def row_of(
    scalar: Scalar,
    order: Sequence[str],
    own: Sequence[str],
    value: loops.Expr,
    formats: Formats,
    types: Mapping[str, str],
    fresh: Names,
) -> Scalar | None:
    """A reduction as a row of values that `value` needs under a mask; None if it is not like that.

    `order` is that of the loops which compute the reduction best, and `own` what its dimensions,
    then those that are reduced over, are called there.
    """
    called: dict[str, At] = dict(zip(own, (*scalar.at, *map(At, scalar.indices)), strict=True))
    depth = next(k for k, name in enumerate(order) if called[name].name in scalar.indices)
    outer = {n for n in (called[name].name for name in order[:depth]) if n is not None}
    inner = [called[name] for name in order[depth:]]
    along = [at for at in inner if at.name not in scalar.indices]
    if not outer or len(along) != 1 or not along[0].is_plain or along[0].name in {None, *outer}:
        return None
    index = str(along[0].name)
    masks = _masks(scalar, {*outer, index}, index, value, formats, types)
    if not masks:
        return None
    tests = [_is_stored(a, formats) for a in masks]
    needed = reduce(lambda a, b: loops.Call(logical_or, (a, b)), tests[1:], tests[0])
    marks, some = fresh.fresh(f"{scalar.temp}_needed"), fresh.fresh(f"{scalar.temp}_some")
    row = Row(index, tuple(str(at.name) for at in inner), needed, marks, some)
    return replace(scalar, outer=frozenset(outer), row=row)


def _masks(
    scalar: Scalar,
    bound: set[str],
    index: str,
    value: loops.Expr,
    formats: Formats,
    types: Mapping[str, str],
) -> list[loops.Access]:
    """The accesses that decide together where a reduction is needed: one of them, if one does."""
    read = [n for n in walk(value) if isinstance(n, loops.Access) and n.indices]
    known = [
        a
        for a in dict.fromkeys(read)
        if not any(a.protocols)  # what is looked up does not lead
        and _is_listed(a, index, formats[str(a.tensor)])
        and all(isinstance(i, loops.Index) for i in a.indices)
        and {name for i in a.indices for name in names_in(i)} <= bound
    ]
    for some in ([[a] for a in known] + [known]) if known else []:
        rest = simplified(value, formats, types, lambda a, some=some: a in some)  # type: ignore[misc]
        if not any(isinstance(n, loops.Access) and n.tensor == scalar.temp for n in walk(rest)):
            return some
    return []


def _is_listed(access: loops.Access, index: str, format: Format) -> bool:
    """Whether a tensor need not store something all along an index."""
    return any(
        access.indices[mode] == loops.Index(index) and not level.full and not level.covers
        for number, level in enumerate(format.levels[:-1])
        for mode in format.modes_of(number)
    )


def _is_stored(access: loops.Access, formats: Formats) -> loops.Expr:
    fill = formats[str(access.tensor)].fill_value
    assert fill is not None
    return loops.Call(stored(fill), (access,))


def row_format(scalar: Scalar) -> Format:
    """How a row is stored while it is computed."""
    from linnet.formats.insertion import DENSE, workspace_format  # brings all workspaces along

    leaf = Element(scalar.node.initial, scalar.node.dtype)
    return workspace_format(Format((leaf,), ()), 1, DENSE)


def with_row(value: loops.Expr, scalar: Scalar) -> loops.Expr:
    """An expression that reads a row where it has read a scalar, by looking it up."""
    assert scalar.row is not None
    read = loops.Access(scalar.temp, (loops.Index(scalar.row.index),), ("follow",))
    return rewrite_expr(value, lambda e: read if e == loops.Access(scalar.temp, ()) else None)
