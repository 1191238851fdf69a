"""Where the locals of a Python function must be introduced.

Python's locals belong to the whole function; a variable of the imperative IR lives from its `Let`
to the end of a block. A name is introduced where it is first given a value, if all its uses follow
in that block; unrelated uses of one name in different blocks become different variables; and
otherwise the name is introduced, with a zero, before the statement that holds all of its uses, and
outside of all loops, since a value may be carried from one iteration to the next.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field

from linnet.records import dataclass

Place = tuple[int, int]  # a block (the identity of its list), and a statement's number in it
HEAD = -1  # the place in a loop's body at which its variable gets its value


@dataclass(frozen=True, slots=True)
class Use:
    """An occurrence of a name: the places that lead to it, outermost first."""

    path: tuple[Place, ...]
    gives: bool  # a plain assignment, whose right side does not read the name


@dataclass(slots=True)
class Scopes:
    """Per place, the names whose variable begins there: with a value, or before it with zero."""

    lets: defaultdict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    zeros: defaultdict[Place, list[str]] = field(default_factory=lambda: defaultdict(list))
    assigned: set[str] = field(default_factory=set)  # by statements other than `for`
    counters: set[str] = field(default_factory=set)  # by `for`


def find_scopes(definition: ast.FunctionDef) -> Scopes:
    """Decide where each local of a function is introduced."""
    scopes, loops = Scopes(), set[int]()
    uses: defaultdict[str, list[Use]] = defaultdict(list)
    _collect(definition.body, (), uses, loops, scopes)
    parameters = {a.arg for a in definition.args.args}
    for name, found in uses.items():
        if name in parameters or not any(use.gives for use in found):
            continue  # a global, or an error that is reported where the name is read
        places = _self_contained(found, 0)
        if places is None:
            scopes.zeros[_common_place(found, loops)].append(name)
        else:
            for place in places:
                scopes.lets[place].add(name)
    return scopes


def _collect(
    body: list[ast.stmt],
    path: tuple[Place, ...],
    uses: dict[str, list[Use]],
    loops: set[int],
    scopes: Scopes,
) -> None:
    """Record every use of a name in a block, in the order of the text."""
    for number, stmt in enumerate(body):
        here = (*path, (id(body), number))
        targets, values = _targets(stmt), _values(stmt)
        read = {n.id for value in values for n in ast.walk(value) if isinstance(n, ast.Name)}
        for name in read - targets:
            uses[name].append(Use(here, False))
        if isinstance(stmt, ast.For):
            scopes.counters |= targets
            for name in targets:
                uses[name].append(Use((*here, (id(stmt.body), HEAD)), True))
        else:
            scopes.assigned |= targets
            for name in targets:
                uses[name].append(Use(here, isinstance(stmt, ast.Assign) and name not in read))
        if isinstance(stmt, ast.For | ast.While):
            loops.add(id(stmt.body))
        for block in _blocks(stmt):
            _collect(block, here, uses, loops, scopes)


def _targets(stmt: ast.stmt) -> set[str]:
    """The names a statement gives a value."""
    match stmt:
        case ast.Assign(targets=targets):
            trees = targets
        case ast.AugAssign(target=target) | ast.For(target=target):
            trees = [target]
        case _:
            trees = []
    return {t.id for tree in trees for t in _leaves(tree) if isinstance(t, ast.Name)}


def _values(stmt: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement itself evaluates; its target too, if it is subscripted."""
    for child in ast.iter_child_nodes(stmt):
        if isinstance(child, ast.expr):
            yield from (t for t in _leaves(child) if not _is_target(t))


def _leaves(tree: ast.expr) -> list[ast.expr]:
    return list(tree.elts) if isinstance(tree, ast.Tuple) else [tree]


def _is_target(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Name) and isinstance(tree.ctx, ast.Store)


def _blocks(stmt: ast.stmt) -> list[list[ast.stmt]]:
    match stmt:
        case ast.If(body=body, orelse=orelse):
            return [body, orelse]
        case ast.For(body=body) | ast.While(body=body):
            return [body]
        case _:
            return []


def _self_contained(uses: list[Use], depth: int) -> list[Place] | None:
    """The places where a name gets a value that all uses after it in the block see, or None."""
    found: list[Place] = []
    groups: defaultdict[int, list[Use]] = defaultdict(list)
    for use in uses:
        groups[use.path[depth][1]].append(use)
    for number in sorted(groups):
        group = groups[number]
        here = [use for use in group if len(use.path) == depth + 1]
        if any(use.gives for use in here):
            return [*found, (uses[0].path[depth][0], number)]
        if here:
            return None
        blocks: defaultdict[int, list[Use]] = defaultdict(list)
        for use in group:
            blocks[use.path[depth + 1][0]].append(use)
        for inner in blocks.values():
            places = _self_contained(inner, depth + 1)
            if places is None:
                return None
            found += places
    return found


def _common_place(uses: list[Use], loops: set[int]) -> Place:
    """The innermost statement, outside of all loops, of the block that holds all uses."""
    depth = 0
    shortest = min(len(use.path) for use in uses)
    while (
        depth + 1 < shortest
        and len({use.path[depth + 1][0] for use in uses}) == 1
        and uses[0].path[depth + 1][0] not in loops
    ):
        depth += 1
    return min((use.path[depth] for use in uses), key=lambda place: place[1])
