"""What code reads and changes: the facts that passes over the imperative IR rest on."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from linnet import imp
from linnet.imp.rewrite import children, walk
from linnet.records import dataclass

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Summary:
    """The variables that a piece of code reads and assigns, the buffers it reads and changes.

    Buffers that are swapped are changed, too.
    """

    reads: frozenset[str] = _NONE
    assigns: frozenset[str] = _NONE
    loads: frozenset[str] = _NONE
    changes: frozenset[str] = _NONE
    swaps: frozenset[str] = _NONE


_NOTHING = Summary()


class Effects:
    """Summaries of code; each piece is looked at once."""

    def __init__(self, codelets: Iterable[imp.Function]) -> None:
        self.codelets = codelets
        self._codelets = {function.name: function for function in codelets}
        self._written: dict[str, frozenset[int]] = {}  # codelet: the arguments it writes to
        self._known: dict[int, tuple[imp.Node, Summary]] = {}

    def of(self, node: imp.Node) -> Summary:
        """What this reads and changes, all told."""
        found = self._known.get(id(node))
        if found is not None and found[0] is node:
            return found[1]
        summary = self._find(node)
        self._known[id(node)] = node, summary
        return summary

    @property
    def size(self) -> int:
        """How many pieces of code have been looked at."""
        return len(self._known)

    def _find(self, node: imp.Node) -> Summary:
        below = [s for s in map(self.of, children(node)) if s is not _NOTHING]
        match node:
            case imp.Const() | imp.Break() | imp.Comment():
                return _NOTHING
            case imp.Var(name):
                return Summary(reads=frozenset((name,)))
            case imp.Let(var) | imp.Assign(var) | imp.Accumulate(var) | imp.For(var):
                below.append(Summary(assigns=frozenset((var.name,))))
            case imp.Load(buffer) | imp.Address(buffer) | imp.Prefetch(buffer):
                below.append(Summary(loads=frozenset((buffer.name,))))
            case imp.Store(buffer) | imp.Fill(buffer) | imp.Grow(buffer):
                below.append(Summary(changes=frozenset((buffer.name,))))
            case imp.Swap(a, b):
                both = frozenset((a.name, b.name))
                below.append(Summary(changes=both, swaps=both))
            case imp.Join(_, lent):
                below.append(Summary(changes=frozenset(buffer.name for buffer in lent)))
            case imp.Call():
                below.append(Summary(changes=self._changed(node)))
        return _union(below)

    def _changed(self, call: imp.Call) -> frozenset[str]:
        """The buffers that a call may write to."""
        numbers = self._numbers(call.function)
        return frozenset(
            a.buffer.name
            for k, a in enumerate(call.args)
            if isinstance(a, imp.Address) and (numbers is None or k in numbers)
        )

    def _numbers(self, name: str) -> frozenset[int] | None:
        """The numbers of the arguments that a codelet writes to; None if it is not known."""
        if name not in self._written and name in self._codelets:
            function = self._codelets[name]
            self._written[name] = frozenset()  # what is passed on to itself is found by and by
            while (found := self._written_by(function)) != self._written[name]:
                self._written[name] = found
        return self._written.get(name)

    def _written_by(self, function: imp.Function) -> frozenset[int]:
        names = set[str]()
        for node in walk(function.body):
            match node:
                case imp.Store(buffer) | imp.Fill(buffer):
                    names.add(buffer.name)
                case imp.Call():
                    names |= self._changed(node)
        return frozenset(k for k, p in enumerate(function.params) if p.name in names)


_last = threading.local()
_MANY = 20_000  # pieces of code: what was known of more than these is forgotten


def effects_of(codelets: tuple[imp.Function, ...]) -> Effects:
    """Summaries of the code of a kernel, which the passes that it goes through share."""
    found: Effects | None = getattr(_last, "effects", None)
    if found is None or found.codelets is not codelets or found.size > _MANY:
        found = _last.effects = Effects(codelets)
    return found


def _union(parts: list[Summary]) -> Summary:
    if len(parts) < 2:
        return parts[0] if parts else _NOTHING
    return Summary(
        _NONE.union(*[s.reads for s in parts]),
        _NONE.union(*[s.assigns for s in parts]),
        _NONE.union(*[s.loads for s in parts]),
        _NONE.union(*[s.changes for s in parts]),
        _NONE.union(*[s.swaps for s in parts]),
    )


def ends(block: imp.Block) -> bool:
    """Does control never reach the end of this block?"""
    return any(map(leaves, block.stmts))


def leaves(stmt: imp.Stmt) -> bool:
    """Does control never go on to the next statement?"""
    match stmt:
        case imp.Return() | imp.Break():
            return True
        case imp.If(_, then, orelse):
            return bool(orelse.stmts) and ends(then) and ends(orelse)
        case imp.While(imp.Const(True), body):
            return not breaks(body)
        case imp.Block():
            return ends(stmt)
        case _:
            return False


def breaks(block: imp.Block) -> bool:
    """May a statement of this block leave the loop that the block is the body of?"""
    for stmt in block.stmts:
        match stmt:
            case imp.Break():
                return True
            case imp.If(_, then, orelse):
                if breaks(then) or breaks(orelse):
                    return True
            case imp.Block():
                if breaks(stmt):
                    return True
            case _:
                pass
    return False
