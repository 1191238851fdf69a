"""Simplifies imperative code: what is known when it is compiled is not computed when it is run.

Two passes, repeated while they find something: forwards, values that are known replace variables,
branches that are known are taken, and equal conditions are merged; backwards, what nobody reads is
dropped (`dead.py`). Both keep the meaning exactly. Machine code gains little by it, for LLVM does
the same; its readers, and the time that LLVM takes, gain much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from linnet import imp
from linnet.imp.dead import remove_dead
from linnet.imp.effects import (
    Written,
    assigned_variables,
    breaks,
    changed_buffers,
    ends,
    has_effect,
    read_buffers,
    read_variables,
    written_arguments,
)
from linnet.imp.fold import fold, negation, same
from linnet.imp.rewrite import rebuild

_ROUNDS = 3

Program = TypeVar("Program", imp.Block, imp.Kernel, imp.Function)
Facts = dict[str, imp.Const | imp.Var]  # variables: the constant or the variable that they equal


def simplify(program: Program, codelets: Iterable[imp.Function] = ()) -> Program:
    """The same program, with what is known put in place.

    Needs: well-formed code; `codelets` are those that it calls, where it does not carry them along.
    """
    if isinstance(program, imp.Kernel):
        written = written_arguments(program.codelets)
        return replace(program, body=_simplify(program.body, written))
    written = written_arguments(codelets)
    if isinstance(program, imp.Function):
        return replace(program, body=_simplify(program.body, written))
    return _simplify(program, written)


def _simplify(body: imp.Block, written: Written) -> imp.Block:
    for _ in range(_ROUNDS):
        before = body
        body = remove_dead(_Forward(written).block(body, {}), written)
        if body == before:
            break
    return body


@dataclass(slots=True)
class _Forward:
    """The forward pass. Facts are changed in place as control moves on."""

    written: Written
    _statements: dict[type, Callable[..., list[imp.Stmt]]] = field(init=False)

    def __post_init__(self) -> None:
        self._statements = {
            imp.Let: self._give,
            imp.Assign: self._give,
            imp.Accumulate: self._accumulate,
            imp.If: self._if,
            imp.While: self._while,
            imp.For: self._for,
            imp.Fill: self._fill,
            imp.Do: self._do,
        }

    def block(self, block: imp.Block, facts: Facts) -> imp.Block:
        """A block, whose variables are forgotten after it."""
        out: list[imp.Stmt] = []
        self._append(block, facts, out, set())
        introduced = {stmt.var.name for stmt in out if isinstance(stmt, imp.Let)}
        _forget(facts, introduced)
        if len(out) == len(block.stmts) and all(a is b for a, b in zip(out, block.stmts, strict=True)):
            return block
        return imp.Block(tuple(out))

    def _append(
        self, block: imp.Block, facts: Facts, out: list[imp.Stmt], names: set[str]
    ) -> None:
        """Add the statements of a block; nested ones are opened up, unless a name would meet itself."""
        for stmt in block.stmts:
            if isinstance(stmt, imp.Block):
                new = [stmt]
            else:
                rule = self._statements.get(type(stmt))
                new = rule(stmt, facts) if rule else [rebuild(stmt, self._value_in(facts))]
            for s in new:
                inner = _introduced(s) if isinstance(s, imp.Block) else set()
                if isinstance(s, imp.Block) and inner.isdisjoint(names):
                    self._append(s, facts, out, names)
                elif isinstance(s, imp.Block):
                    out.append(self.block(s, facts))
                else:
                    if isinstance(s, imp.Let):
                        names.add(s.var.name)
                    self._merge(out, s)
            if out and isinstance(out[-1], imp.Break | imp.Return):
                return
