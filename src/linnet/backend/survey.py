"""What a function uses, found in one walk before it is written: variables, buffers, calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import KeysView
from dataclasses import field
from typing import TypeAlias, assert_never

from linnet import imp
from linnet.imp.effects import Effects
from linnet.imp.rewrite import walk
from linnet.records import dataclass

OnBuffers: TypeAlias = imp.Store | imp.Grow | imp.SetLength | imp.Fill | imp.Swap | imp.Prefetch


@dataclass(slots=True)
class Survey:
    """The names that occur in a function, by what happens to them."""

    read: set[str] = field(default_factory=set)  # variables
    assigned: set[str] = field(default_factory=set)  # variables changed after `Let`
    buffers: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)  # buffers stored to, here or in a codelet
    grown: set[str] = field(default_factory=set)
    swapped: set[str] = field(default_factory=set)  # buffers; they are counted as grown, too
    places: Counter[str] = field(default_factory=Counter)  # at which each function is called
    calls: list[imp.Call] = field(default_factory=list)  # all of them
    tasks: dict[str, str] = field(default_factory=dict)  # and their codelets
    introduced: list[str] = field(default_factory=list)  # variables, in order
    statements: int = 0
    inside: int = 0  # how many loops the walk is in
    depth: int = 0  # of loops inside each other
    block_note: str = ""  # what accesses to the argument block carry
    slots: dict[str, int] = field(default_factory=dict)  # buffer: its slot in the argument block
    effects: Effects = field(default_factory=lambda: Effects(()))  # of the codelets

    @property
    def called(self) -> KeysView[str]:
        """The functions that are called."""
        return self.places.keys()


def survey(function: imp.Kernel | imp.Function, effects: Effects | None = None) -> Survey:
    """Walk a kernel or a codelet once; what codelets are not known to leave alone is written."""
    facts = Survey() if effects is None else Survey(effects=effects)
    _stmt(function.body, facts)
    return facts


def returns(block: imp.Block) -> bool:
    """Whether every way through a block ends in a return."""
    match block.stmts[-1] if block.stmts else None:
        case imp.Return():
            return True
        case imp.If(_, then, orelse):
            return returns(then) and returns(orelse)
        case imp.Block() as inner:
            return returns(inner)
        case _:
            return False


def _stmt(stmt: imp.Stmt, s: Survey) -> None:
    s.statements += 1
    match stmt:
        case imp.Block(stmts):
            s.statements -= 1
            for inner in stmts:
                _stmt(inner, s)
        case imp.Let(var, value):
            s.introduced.append(var.name)
            _expr(value, s)
        case imp.Assign(var, value) | imp.Accumulate(var, _, value):
            s.assigned.add(var.name)
            _expr(value, s)
        case imp.Store() | imp.Grow() | imp.SetLength() | imp.Fill() | imp.Swap() | imp.Prefetch():
            _on_buffers(stmt, s)
        case imp.For() | imp.While() | imp.If():
            _nested(stmt, s)
        case imp.Spawn(task, call):
            s.tasks[task] = call.function
            _expr(call, s)
        case imp.Do(call):
            _expr(call, s)
        case imp.Return(value):
            if value is not None:
                _expr(value, s)
        case imp.Join() | imp.Break() | imp.Comment():
            pass
        case _:
            assert_never(stmt)


def _on_buffers(stmt: OnBuffers, s: Survey) -> None:
    match stmt:
        case imp.Store(buffer, index, value):
            s.written.add(buffer.name)
            s.buffers.add(buffer.name)
            _expr(index, s)
            _expr(value, s)
        case imp.Fill(buffer, start, stop, value):
            s.written.add(buffer.name)
            s.buffers.add(buffer.name)
            for e in (start, stop, value):
                _expr(e, s)
        case imp.Grow(buffer, count, done, whole):
            s.grown.add(buffer.name)
            s.buffers.add(buffer.name)
            for e in (count, done, whole):
                _expr(e, s)
        case imp.Prefetch(buffer, index):
            s.buffers.add(buffer.name)
            _expr(index, s)
        case imp.Swap(a, b):
            for names in (s.swapped, s.grown, s.buffers):
                names |= {a.name, b.name}
        case imp.SetLength(_, count):
            _expr(count, s)
        case _:
            assert_never(stmt)


def _nested(stmt: imp.For | imp.While | imp.If, s: Survey) -> None:
    is_loop = not isinstance(stmt, imp.If)
    s.inside += is_loop
    s.depth = max(s.depth, s.inside)
    match stmt:
        case imp.For(var, start, stop, body):
            s.introduced.append(var.name)
            _expr(start, s)
            _expr(stop, s)
            _stmt(body, s)
        case imp.While(cond, body):
            _expr(cond, s)
            _stmt(body, s)
        case imp.If(cond, then, orelse):
            _expr(cond, s)
            _stmt(then, s)
            _stmt(orelse, s)
    s.inside -= is_loop


def _expr(e: imp.Expr, s: Survey) -> None:
    for node in walk(e):
        if isinstance(node, imp.Var):
            s.read.add(node.name)
        elif isinstance(node, imp.Load | imp.Address):
            s.buffers.add(node.buffer.name)
        elif isinstance(node, imp.Call):
            s.places[node.function] += 1
            s.calls.append(node)
            s.written |= s.effects.of(node).changes
