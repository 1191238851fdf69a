"""Where is a tensor updated, and in which loops? For what gives updates a temporary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.loops.parts import counted, counted_together, written_in_parts
from linnet.loops.rewrite import accesses, is_left, rewrite_stmt, walk
from linnet.names import Names


def counts_parts(loop: loops.Loop, tensor: str) -> bool:
    """Whether a loop counts parts: elements of a tensor come in the order of the loops inside."""
    together = counted_together(loop) or written_in_parts(loop, tensor)
    return counted(loop) is not None or together != ()


def begins(stmt: loops.Stmt, tensor: str) -> bool:
    """Whether a statement declares a tensor, perhaps in an inner block."""
    return any(isinstance(n, loops.Declare) and n.tensor == tensor for n in walk(stmt))


def goes_on(stmt: loops.Stmt, tensor: str) -> bool:
    """Whether an update goes on from what was there, not from a declaration in its block."""
    match stmt:
        case loops.Assign(target):
            return target.tensor == tensor
        case loops.Block(stmts):
            for s in stmts:
                if isinstance(s, loops.Declare) and s.tensor == tensor:
                    return False
                if goes_on(s, tensor):
                    return True
            return False
        case loops.Loop(_, _, body) | loops.Let(_, _, body):
            return goes_on(body, tensor)
        case loops.If(_, then, orelse):
            return goes_on(then, tensor) or goes_on(orelse, tensor)
        case _:
            return False


def reads_between(stmts: Sequence[loops.Stmt], tensor: str) -> bool:
    """Whether a tensor is read before the last of these statements has written to it."""
    found = False
    for stmt in stmts:
        kinds = {is_target for access, is_target in accesses(stmt) if access.tensor == tensor}
        if len(kinds) > 1:
            return True
        found = found or False in kinds
    return found


def paths(
    stmt: loops.Stmt, tensor: str, path: tuple[str, ...]
) -> list[tuple[loops.Assign, tuple[str, ...]]]:
    """The updates of a tensor, each with the loops around it; those that count parts are none."""
    match stmt:
        case loops.Assign(target):
            return [(stmt, path)] if target.tensor == tensor else []
        case loops.Loop(_, _, body) if counts_parts(stmt, tensor):
            return paths(body, tensor, path)
        case loops.Loop(index, _, body):
            return paths(body, tensor, (*path, "" if is_left(stmt) else index))
        case loops.Let(_, _, body):
            return paths(body, tensor, path)
        case loops.If(_, then, orelse):
            return paths(then, tensor, path) + paths(orelse, tensor, path)
        case loops.Block(stmts):
            return [found for s in stmts for found in paths(s, tensor, path)]
        case _:
            return []


def extents(stmt: loops.Stmt, tensor: str) -> tuple[loops.Extent, ...]:
    """How far the loops around the first update of a tensor run."""
    match stmt:
        case loops.Loop(_, _, body) if counts_parts(stmt, tensor):
            return extents(body, tensor)
        case loops.Loop(_, extent, body):
            return (*(() if extent is None else (extent.whole,)), *extents(body, tensor))
        case loops.Let(_, _, body):
            return extents(body, tensor)
        case loops.Block(stmts):
            inner: tuple[loops.Stmt, ...] = stmts
        case loops.If(_, then, orelse):
            inner = (then, orelse)
        case _:
            return ()
    return next((extents(s, tensor) for s in inner if paths(s, tensor, ())), ())


def common(found: list[tuple[str, ...]]) -> int:
    """How many loops all of these paths share."""
    count = 0
    for indices in zip(*found, strict=False):
        if len(set(indices)) > 1:
            break
        count += 1
    return count


def parts(stmt: loops.Stmt) -> tuple[loops.Stmt, ...]:
    """The statements of a block, or the one that it is."""
    return stmt.stmts if isinstance(stmt, loops.Block) else (stmt,)


def renamed(stmt: loops.Stmt, names: Names) -> loops.Stmt:
    """The same loops, over indices of other names."""
    indices = [n.index for n in walk(stmt) if isinstance(n, loops.Loop)]
    new = {i: loops.Index(names.fresh(i)) for i in indices}

    def loop(s: loops.Stmt) -> loops.Stmt | None:
        return replace(s, index=new[s.index].name) if isinstance(s, loops.Loop) else None

    def index(e: loops.Expr) -> loops.Expr | None:
        return new.get(e.name) if isinstance(e, loops.Index) else None

    return rewrite_stmt(stmt, loop, index)
