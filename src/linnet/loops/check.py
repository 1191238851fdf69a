"""What a legal loop program is, stage by stage. A violation is a bug of a pass, not of the user.

- `check`, always: names have a meaning, accesses fit, temporaries are declared before use.
- `check_unique`, after `name_scopes`: no two loops or lets share a name.
- `check_dimensions`, after `infer_dimensions`: every extent and every size is there.
- `check_modes`, after `insert_lifecycles`: what is read is frozen, what is updated is not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import assert_never

from linnet.errors import InternalError, Location
from linnet.loops.nodes import (
    Access,
    Assign,
    Block,
    Break,
    Call,
    Declare,
    Dimension,
    Expr,
    Freeze,
    If,
    Index,
    Let,
    Loop,
    Name,
    Program,
    Range,
    Stmt,
    Swap,
    Thaw,
)
from linnet.loops.rewrite import accesses, walk
from linnet.records import dataclass


def check(program: Program) -> None:
    """Refuse a program that has no meaning."""
    temporaries = dict(program.temporaries)
    tensors = [*program.params, *temporaries]
    for name, count in Counter(tensors).items():
        if count > 1:
            raise _wrong(f"two tensors are called {name}", program.at)
    for name in program.results:
        if name not in tensors:
            raise _wrong(f"the result {name} is not a tensor of {program.name}", program.at)
    ndims = {name: format.ndim for name, format in temporaries.items()}
    _Names(frozenset(tensors), frozenset(program.params), ndims).stmt(program.body)


def check_unique(program: Program) -> None:
    """Refuse two loops or lets with one name, or one with the name of a tensor."""
    tensors = {*program.params, *(name for name, _ in program.temporaries)}
    seen: set[str] = set()
    for node in walk(program.body):
        if isinstance(node, Loop | Let):
            name = node.index if isinstance(node, Loop) else node.name
            if name in seen or name in tensors:
                raise _wrong(f"the name {name} is bound twice", node.at)
            seen.add(name)


def check_dimensions(program: Program) -> None:
    """Refuse a loop without an extent and a declaration without dimensions."""
    for node in walk(program.body):
        if isinstance(node, Loop) and node.extent is None:
            raise _wrong(f"the loop over {node.index} has no extent", node.at)
        if isinstance(node, Declare) and node.dims is None:
            raise _wrong(f"the declaration of {node.tensor} has no dimensions", node.at)


def check_modes(program: Program) -> None:
    """Refuse a read of a tensor that is being updated, and an update of one that is not."""
    scalars = {name for name, format in program.temporaries if format.ndim == 0}
    _Modes(dict.fromkeys(program.params, "read"), scalars).stmt(program.body)


def _wrong(what: str, at: Location | None) -> InternalError:
    return InternalError(f"not a legal loop program: {what}", at=at)


# -- names -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Names:
    """What names mean at the statement being visited."""

    tensors: frozenset[str]
    declared: frozenset[str]
    ndims: dict[str, int]  # of temporaries, and of parameters once they have been accessed
    bound: dict[str, str] = field(default_factory=dict)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(target, op, value, at):
                self._expr(value, at)
                self._expr(target, at)
                if op is not None and op.arity != 2:
                    raise _wrong(f"{op} is not an update", at)
            case Block(stmts):
                for s in stmts:
                    self.stmt(s)
            case Loop(index, extent, body, at):
                if extent is not None:
                    self._expr(extent, at)
                self._inside(index, "index", body, at)
            case Let(name, value, body, at):
                self._expr(value, at)
                self._inside(name, "let", body, at)
            case If(cond, then, orelse, at):
                self._expr(cond, at)
                self._scope(then)
                self._scope(orelse)
            case Declare(tensor, init, dims, at):
                for expr in (init, *(dims or ())):
                    self._expr(expr, at)
                self._tensor(tensor, None if dims is None else len(dims), at)
                self.declared |= {tensor}
            case Freeze(tensor, at) | Thaw(tensor, at):
                self._tensor(tensor, None, at)
            case Swap(a, b, at):
                for tensor in (a, b):
                    self._access(tensor, None, at)
            case Break(at):
                if "index" not in self.bound.values():
                    raise _wrong("a break outside of loops", at)
            case _:
                assert_never(stmt)

    def _inside(self, name: str, kind: str, body: Stmt, at: Location | None) -> None:
        """The body of a loop or let."""
        if name in self.bound or name in self.tensors:
            raise _wrong(f"{name} is bound again", at)
        self.bound[name] = kind
        if kind == "index":
            self._scope(body)
        else:  # the block around a let goes on
            self.stmt(body)
        del self.bound[name]

    def _scope(self, body: Stmt) -> None:
        """A block: what it declares is gone afterwards."""
        before = self.declared
        self.stmt(body)
        self.declared = before

    def _expr(self, expr: Expr | Range, at: Location | None) -> None:
        for node in walk(expr):
            match node:
                case Index(name) if self.bound.get(name) != "index":
                    raise _wrong(f"{name} is not the index of a loop around it", at)
                case Name(name) if self.bound.get(name) != "let":
                    raise _wrong(f"{name} is not named by a let around it", at)
                case Call(function, args) if 0 <= function.arity != len(args):
                    raise _wrong(f"{function} takes {function.arity} arguments", at)
                case Dimension(tensor, mode):
                    self._tensor(tensor, None, at)
                    if not 0 <= mode < self.ndims.get(tensor, mode + 1):
                        raise _wrong(f"{tensor} has no dimension {mode}", at)
                case Access(tensor, indices, protocols, place) if isinstance(tensor, str):
                    self._access(tensor, len(indices), place or at)
                    if len(protocols) not in (0, len(indices)):
                        raise _wrong(f"{tensor} has not one protocol per index", place or at)

    def _access(self, tensor: str, count: int | None, at: Location | None) -> None:
        self._tensor(tensor, count, at)
        if tensor not in self.declared:
            raise _wrong(f"{tensor} is used before it is declared", at)

    def _tensor(self, tensor: str, count: int | None, at: Location | None) -> None:
        if tensor not in self.tensors:
            raise _wrong(f"{tensor} is not a tensor", at)
        if count is not None and self.ndims.setdefault(tensor, count) != count:
            raise _wrong(f"{tensor} has {self.ndims[tensor]} dimensions, not {count}", at)


# -- modes -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Modes:
    """The mode of every tensor at the statement being visited."""

    modes: dict[str, str]
    scalars: set[str]  # these may be read in both modes

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(target, _, _, at):
                self._reads(stmt, at)
                self._is(str(target.tensor), "update", at)
            case Block(stmts):
                for s in stmts:
                    self.stmt(s)
            case Loop(_, extent, body, at):
                if extent is not None:
                    self._reads(extent, at)
                self._block(body, at)
            case Let(_, value, body, at):
                self._reads(value, at)
                self.stmt(body)
            case If(cond, then, orelse, at):
                self._reads(cond, at)
                self._block(then, at)
                self._block(orelse, at)
            case Declare(tensor, _, _, at):
                self._reads(stmt, at)
                self.modes[tensor] = "update"
            case Freeze(tensor, at):
                self._is(tensor, "update", at)
                self.modes[tensor] = "read"
            case Thaw(tensor, at):
                self._is(tensor, "read", at)
                self.modes[tensor] = "update"
            case Swap(a, b, at):
                for tensor in (a, b):
                    self._is(tensor, "read", at)
            case Break():
                pass
            case _:
                assert_never(stmt)

    def _block(self, body: Stmt, at: Location | None) -> None:
        """A block leaves the modes of others' tensors as they were."""
        before = dict(self.modes)
        self.stmt(body)
        for tensor, mode in before.items():
            if self.modes[tensor] != mode:
                raise _wrong(f"a block inside changes the mode of {tensor}", at)
        self.modes = before

    def _reads(self, node: Expr | Stmt | Range, at: Location | None) -> None:
        for access, is_target in accesses(node):
            if not is_target and access.tensor not in self.scalars:
                self._is(str(access.tensor), "read", access.at or at)

    def _is(self, tensor: str, mode: str, at: Location | None) -> None:
        if self.modes.get(tensor) != mode:
            raise _wrong(f"{tensor} is not in {mode} mode", at)
