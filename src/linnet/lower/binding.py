"""Accesses by name become accesses to fibers: from its declaration on, as long as a mode lasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linnet import imp, loops
from linnet.formats.fiber import Fiber
from linnet.loops.rewrite import block, children, map_stmts
from linnet.lower.context import Context, replace_accesses


def statements(body: loops.Stmt) -> list[loops.Stmt]:
    """The statements of a block, or the one that stands for it."""
    return list(body.stmts) if isinstance(body, loops.Block) else [body]


def at_root(ctx: Context, access: loops.Access, fresh: bool) -> loops.Access:
    """An access by name as an access to the tensor's root fiber, its indices in storage order."""
    assert isinstance(access.tensor, str)
    storage = ctx.storages[access.tensor]
    order = storage.format.order
    protocols = tuple(access.protocols[m] for m in order) if access.protocols else ()
    root = Fiber(storage, 0, imp.ZERO, fresh=fresh)
    indices = tuple(access.indices[m] for m in order)
    return replace(access, tensor=root, indices=indices, protocols=protocols)


Change = Callable[[loops.Access, bool], loops.Expr | None]


def bind(
    ctx: Context, stmts: list[loops.Stmt], name: str, *, update: bool, fresh: bool
) -> list[loops.Stmt]:
    """Bind the accesses to a tensor, until its mode changes."""

    def change(access: loops.Access, is_target: bool) -> loops.Expr | None:
        if access.tensor == name and is_target == update:
            return at_root(ctx, access, fresh)
        return None

    return _until(stmts, name, change)[0]


def _until(stmts: list[loops.Stmt], name: str, change: Change) -> tuple[list[loops.Stmt], bool]:
    """Replace accesses in statements up to the one that changes the tensor's mode, if one does."""
    done: list[loops.Stmt] = []
    for k, stmt in enumerate(stmts):
        match stmt:
            case loops.Declare(tensor) | loops.Freeze(tensor) | loops.Thaw(tensor) if (
                tensor == name
            ):
                return done + stmts[k:], True
        bound, over = _bind_in(stmt, name, change)
        done.append(bound)
        if over:
            return done + stmts[k + 1 :], True
    return done, False


def _bind_in(stmt: loops.Stmt, name: str, change: Change) -> tuple[loops.Stmt, bool]:
    """One statement; a tensor that is declared again inside is another matter from there on."""
    if not isinstance(stmt, loops.Loop | loops.If | loops.Let):
        return replace_accesses(stmt, change), False
    over = False

    def inside(body: loops.Stmt) -> loops.Stmt:
        nonlocal over
        stmts, ended = _until(statements(body), name, change)
        over = over or (ended and isinstance(stmt, loops.Let))  # a name opens no scope of its own
        return block(stmts)

    own = map_stmts(stmt, lambda body: loops.NOTHING)
    own = replace_accesses(own, change)
    bodies = iter([inside(s) for s in children(stmt) if isinstance(s, loops.Stmt)])
    return map_stmts(own, lambda body: next(bodies)), over
