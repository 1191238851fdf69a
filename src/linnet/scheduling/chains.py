"""Loops directly inside one another, and what the innermost of them adds to."""

from __future__ import annotations

from collections.abc import Iterator

from linnet import loops
from linnet.loops.rewrite import walk
from linnet.scheduling.precompute import collected_by


def chains(body: loops.Stmt) -> Iterator[list[loops.Loop]]:
    """All loops of a program, those directly inside one another together, the outermost first."""
    inside: set[int] = set()
    for node in walk(body):
        if isinstance(node, loops.Loop) and id(node) not in inside:
            path = [node]
            while isinstance(path[-1].body, loops.Loop):
                path.append(path[-1].body)
            inside |= {id(loop) for loop in path}
            yield path


def updates_in(body: loops.Stmt) -> tuple[loops.Assign, ...]:
    """The sums that a statement adds to, each another tensor; nothing if it does anything else."""
    found: list[loops.Assign] = []
    todo = [body]
    while todo:
        match todo.pop():
            case loops.Assign() as update if collected_by(update) is not None:
                found.append(update)
            case loops.Block(stmts):
                todo += stmts[::-1]
            case loops.If(_, then, orelse):
                todo += [orelse, then]
            case _:
                return ()
    apart = {update.target.tensor for update in found}
    return tuple(found) if len(apart) == len(found) else ()
