"""What code reads and changes: the facts that passes over the imperative IR rest on."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import get_args

from linnet import imp
from linnet.imp.rewrite import children, walk
from linnet.records import dataclass

_NONE: frozenset[str] = frozenset()
_NOTHING: frozenset[int] = frozenset()


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


def independent(a: Summary, b: Summary) -> bool:
    """Whether the order of both makes no difference."""
    variables = a.assigns & (b.reads | b.assigns) | b.assigns & a.reads
    return not (variables or a.changes & (b.loads | b.changes) or b.changes & a.loads)


_STATEMENTS = frozenset(get_args(imp.Stmt))
_LOAD = (imp.Load, imp.Address, imp.Prefetch)
_ASSIGN = (imp.Let, imp.Assign, imp.Accumulate, imp.For)
_CHANGE = (imp.Store, imp.Fill, imp.Grow)
_WRITE = (imp.Store, imp.Fill, imp.Call)
_DOING = frozenset((*_LOAD, *_ASSIGN, *_CHANGE, imp.Call, imp.Swap, imp.Join))


class Effects:
    """Summaries of code; each piece is looked at once."""

    def __init__(self, codelets: Iterable[imp.Function]) -> None:
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

    def written(self, codelet: str) -> frozenset[int]:
        """The numbers of the arguments that a codelet writes to."""
        return self._numbers(codelet) or _NOTHING

    def knows(self, codelets: Iterable[imp.Function]) -> bool:
        """Whether what is found here holds for code that calls these."""
        return all(self._codelets.get(function.name) is function for function in codelets)

    @property
    def size(self) -> int:
        """How many pieces of code have been looked at."""
        return len(self._known)

    def _find(self, whole: imp.Node) -> Summary:
        """What is done here; the statements below it are looked at for themselves."""
        found: tuple[set[str], ...] = set(), set(), set(), set(), set()
        reads, assigns, loads, changes, swaps = found
        todo = [whole]
        while todo:
            node = todo.pop()
            if isinstance(node, imp.Var):
                reads.add(node.name)
            elif type(node) in _STATEMENTS and node is not whole:
                below = self.of(node)
                reads |= below.reads
                assigns |= below.assigns
                loads |= below.loads
                changes |= below.changes
                swaps |= below.swaps
                continue
            elif type(node) not in _DOING:  # most nodes: only what is below them counts
                pass
            elif isinstance(node, _LOAD):
                loads.add(node.buffer.name)
            elif isinstance(node, _ASSIGN):
                assigns.add(node.var.name)
            elif isinstance(node, _CHANGE):
                changes.add(node.buffer.name)
            elif isinstance(node, imp.Call):
                changes |= self._changed(node)
            elif isinstance(node, imp.Swap):
                changes |= {node.a.name, node.b.name}
                swaps |= {node.a.name, node.b.name}
            elif isinstance(node, imp.Join):
                changes |= {buffer.name for buffer in node.lent}
            todo += children(node)
        return Summary(*map(frozenset, found))

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
            writing = [n for n in walk(function.body) if isinstance(n, _WRITE)]
            self._written[name] = frozenset()  # what is passed on to itself is found by and by
            while (found := self._written_by(function, writing)) != self._written[name]:
                self._written[name] = found
        return self._written.get(name)

    def _written_by(
        self, function: imp.Function, writing: Iterable[imp.Store | imp.Fill | imp.Call]
    ) -> frozenset[int]:
        """The numbers of the parameters that something in a codelet writes to."""
        names: set[str] = set()
        for node in writing:
            names |= self._changed(node) if isinstance(node, imp.Call) else {node.buffer.name}
        return frozenset(k for k, p in enumerate(function.params) if p.name in names)


_last = threading.local()
_MANY = 20_000  # pieces of code: what was known of more than these is forgotten


def effects_of(codelets: tuple[imp.Function, ...]) -> Effects:
    """Summaries of the code of a kernel, which the passes that it goes through share."""
    found: Effects | None = getattr(_last, "effects", None)
    if found is None or not found.knows(codelets) or found.size > _MANY:
        found = _last.effects = Effects(codelets)
    return found


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
