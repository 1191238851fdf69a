"""What code changes and reads: the facts that passes over the imperative IR rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from linnet import imp
from linnet.imp.rewrite import walk

Written = Mapping[str, frozenset[int]]  # codelet: the numbers of the arguments it writes to


def written_arguments(codelets: Iterable[imp.Function]) -> dict[str, frozenset[int]]:
    """Which of their arguments codelets write to; callees come before their callers."""
    found: dict[str, frozenset[int]] = {}
    for function in codelets:
        numbers = {p.name: k for k, p in enumerate(function.params) if isinstance(p, imp.Buffer)}
        found[function.name] = now = frozenset()
        while True:  # more than once only for one that calls itself
            names = changed_buffers(function.body, found)
            found[function.name] = frozenset(numbers[n] for n in names if n in numbers)
            if found[function.name] == now:
                break
            now = found[function.name]
    return found


def changed_buffers(node: imp.Node, written: Written) -> set[str]:
    """The buffers whose contents may change, or that may move, when this is run."""
    found = set[str]()
    for n in walk(node):
        match n:
            case imp.Store(buffer) | imp.Fill(buffer) | imp.Grow(buffer):
                found.add(buffer.name)
            case imp.Call(function, args):
                numbers = written.get(function)
                for k, a in enumerate(args):
                    if isinstance(a, imp.Address) and (numbers is None or k in numbers):
                        found.add(a.buffer.name)
    return found


def has_effect(e: imp.Expr, written: Written) -> bool:
    """Does evaluating this change memory? Only a call of a codelet can."""
    return any(isinstance(n, imp.Call) and changed_buffers(n, written) for n in walk(e))


def assigned_variables(node: imp.Node) -> set[str]:
    """The variables that are introduced or given another value when this is run."""
    found = set[str]()
    for n in walk(node):
        match n:
            case imp.Let(var) | imp.Assign(var) | imp.Accumulate(var) | imp.For(var):
                found.add(var.name)
    return found


def read_variables(node: imp.Node) -> set[str]:
    """The variables whose value is read somewhere in this."""
    return {n.name for n in walk(node) if isinstance(n, imp.Var)}


def read_buffers(node: imp.Node) -> set[str]:
    """The buffers that are read somewhere in this, or passed on."""
    return {n.buffer.name for n in walk(node) if isinstance(n, imp.Load | imp.Address)}


def ends(block: imp.Block) -> bool:
    """Does control never reach the end of this block?"""
    return any(_leaves(stmt) for stmt in block.stmts)


def _leaves(stmt: imp.Stmt) -> bool:
    match stmt:
        case imp.Return() | imp.Break():
            return True
        case imp.If(_, then, orelse):
            return ends(then) and ends(orelse)
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
