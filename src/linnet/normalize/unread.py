"""What is computed and never read: a temporary that begins anew before anybody looks at it.

Where a mask stores nothing, `C[i, j] = A[i, j] * s[()]` is nothing to do, and then `s`, which was
summed up for it, need not be computed either. That is so if no later statement sees what is left
in `s` when its block ends: it is declared anew on every way to those that read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from linnet import imp, loops
from linnet.loops.rewrite import accesses, block, children, rewrite_stmt, walk
from linnet.records import dataclass


def forgotten(program: loops.Program) -> frozenset[str]:
    """The temporaries of which nothing is read after the end of a block that declares them.

    Every read is of the last declaration in the blocks around it. It may see what a block inside
    has left only if that block is behind this declaration and declares the same tensor: then the
    declaration is interrupted.
    """
    reads = _Reads({name for name, _ in program.temporaries})
    reads.block(program.body, {})
    return frozenset(reads.names - reads.lasting)


@dataclass(slots=True)
class _Reads:
    """The declarations that are read, and those inside of whose reach there are others."""

    names: set[str]
    lasting: set[str] = field(default_factory=set)
    read: set[int] = field(default_factory=set)
    interrupted: set[int] = field(default_factory=set)

    def block(self, stmt: loops.Stmt, outer: dict[str, loops.Declare]) -> None:
        """One block. `outer` are the declarations that reach it, by the names of tensors."""
        reaching = dict(outer)
        for s in stmt.stmts if isinstance(stmt, loops.Block) else (stmt,):
            self._look_at(s, reaching)
            if isinstance(s, loops.Declare):
                if s.tensor in outer:
                    self._note(s.tensor, outer[s.tensor], self.interrupted, self.read)
                reaching[s.tensor] = s

    def _look_at(self, stmt: loops.Stmt, reaching: dict[str, loops.Declare]) -> None:
        """What a statement reads itself, and its blocks."""
        for name in _read_by(stmt):
            if name not in reaching:
                self.lasting.add(name)
            else:
                self._note(name, reaching[name], self.read, self.interrupted)
        match stmt:
            case loops.Loop(_, _, body) | loops.Let(_, _, body):
                self.block(body, reaching)
            case loops.If(_, then, orelse):
                self.block(then, reaching)
                self.block(orelse, reaching)
            case loops.Block():
                self.block(stmt, reaching)
            case loops.Swap(a, b):
                self.lasting |= {a, b}

    def _note(self, name: str, declare: loops.Declare, here: set[int], other: set[int]) -> None:
        here.add(id(declare))
        if id(declare) in other:
            self.lasting.add(name)


def _read_by(stmt: loops.Stmt) -> Iterable[str]:
    """The tensors that a statement reads, without the statements in it."""
    inside = (n for n in children(stmt) if not isinstance(n, loops.Stmt))
    target = stmt.target if isinstance(stmt, loops.Assign) else None
    for node in inside:
        for access, _ in accesses(node):
            if access is not target:
                yield name_of(access)
    if isinstance(stmt, loops.Declare) and stmt.counts is not None:
        yield stmt.counts


def name_of(access: loops.Access) -> str:
    """The name of the tensor, before and while it is lowered."""
    return access.tensor if isinstance(access.tensor, str) else access.tensor.storage.name


def without_unread(stmt: loops.Stmt, names: frozenset[str]) -> loops.Stmt:
    """Drop what is done to temporaries that are declared in a block, and not read in it.

    What may turn out to be beyond the bounds of a tensor stays, to be refused.
    """
    if not isinstance(stmt, loops.Block):
        return stmt
    stmts = list(stmt.stmts)
    for k in reversed(range(len(stmts))):  # what only the later ones have read is unread then
        declare = stmts[k]
        if not isinstance(declare, loops.Declare) or declare.tensor not in names:
            continue
        rest = loops.Block(tuple(stmts[k + 1 :]))
        if _is_unread(declare.tensor, rest):
            less = _without(declare.tensor, rest)
            stmts[k:] = less.stmts if isinstance(less, loops.Block) else [less]
    return stmt if len(stmts) == len(stmt.stmts) else block(stmts)


def _is_unread(name: str, stmt: loops.Stmt) -> bool:
    """Whether statements write a tensor and do not read it, and what they write surely exists."""
    for access, is_target in accesses(stmt):
        if not is_target and name_of(access) == name:
            return False
    for node in walk(stmt):
        match node:
            case loops.Declare(tensor) if name in (tensor, node.counts):
                return False
            case loops.Assign(target) if name_of(target) == name:
                if not all(_is_plain(n) for n in walk(node)):
                    return False
            case loops.Extent():
                if not all(isinstance(n, _AGREED) for n in walk(node)):
                    return False
    return True


_AGREED = loops.Extent | loops.Literal | loops.Dimension | loops.Call
"""What the ends of loops are made of that are checked before the code runs."""


def _is_plain(node: loops.Node) -> bool:
    """Whether all indices are those of loops, of which it is checked how far they run."""
    match node:
        case loops.Access(_, indices):
            return all(isinstance(i, loops.Index) for i in indices)
        case loops.Value(code):  # a call may stand for what is beyond the bounds
            return not isinstance(code, imp.Call)
        case _:
            return True


def _without(name: str, stmt: loops.Stmt) -> loops.Stmt:
    """Statements without those that write a tensor, and what is around them alone."""

    def rule(s: loops.Stmt) -> loops.Stmt | None:
        match s:
            case loops.Assign(target) if name_of(target) == name:
                return loops.NOTHING
            case loops.Freeze(tensor) | loops.Thaw(tensor) if tensor == name:
                return loops.NOTHING
            case loops.Loop(_, _, loops.NOTHING) | loops.Let(_, _, loops.NOTHING):
                return loops.NOTHING
            case loops.If(_, loops.NOTHING, loops.NOTHING):
                return loops.NOTHING
            case loops.Block(stmts):
                return block(stmts)
        return None

    return rewrite_stmt(stmt, on_stmt=rule)
