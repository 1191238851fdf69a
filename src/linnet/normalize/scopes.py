"""Which loop does an index belong to? After this pass its name alone tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from linnet import loops
from linnet.loops.rewrite import map_exprs, map_stmts, substitute_expr, walk
from linnet.names import Names


def name_scopes(program: loops.Program) -> loops.Program:
    """Give every loop and every let a name of its own, so that passes may substitute freely.

    Gives: `check.check_unique`. The first to use a name keeps it, if no tensor has it.

        for i in ...: y[i] = x[i]        for i in ...: y[i] = x[i]
        for i in ...: z[i] = y[i]        for i_2 in ...: z[i_2] = y[i_2]
    """
    tensors = {*program.params, *(name for name, _ in program.temporaries)}
    bound = [_bound(n) for n in walk(program.body) if isinstance(n, loops.Loop | loops.Let)]
    renamed = len(set(bound)) < len(bound) or not tensors.isdisjoint(bound)
    if not renamed:
        return program
    scopes = _Scopes(Names(tensors | set(bound)), tensors)
    return replace(program, body=scopes.stmt(program.body, {}))


def _bound(stmt: loops.Loop | loops.Let) -> str:
    return stmt.index if isinstance(stmt, loops.Loop) else stmt.name


class _Scopes:
    """The names that are in use so far."""

    def __init__(self, names: Names, used: set[str]) -> None:
        self._names = names
        self._used = used

    def stmt(self, stmt: loops.Stmt, meanings: Mapping[str, loops.Expr]) -> loops.Stmt:
        """Rename what is bound in a statement; `meanings` is what names bound around it became."""
        if meanings:
            stmt = map_exprs(stmt, lambda e: substitute_expr(e, meanings))
        match stmt:
            case loops.Loop(index, _, body):
                name = self._own(index)
                inner = self.stmt(body, _with(meanings, index, loops.Index(name)))
                return replace(stmt, index=name, body=inner)
            case loops.Let(given, value, body, at):
                name = self._own(given)
                inner = self.stmt(body, _with(meanings, given, loops.Name(name)))
                return loops.Let(name, value, inner, at)
            case _:
                return map_stmts(stmt, lambda s: self.stmt(s, meanings))

    def _own(self, name: str) -> str:
        """The name itself for the first who asks, then a new one."""
        own = self._names.fresh(name) if name in self._used else name
        self._used.add(own)
        return own


def _with(
    meanings: Mapping[str, loops.Expr], name: str, value: loops.Index | loops.Name
) -> Mapping[str, loops.Expr]:
    """Meanings inside a loop or let that is called `name`, and from now on `value.name`."""
    if value.name == name and name not in meanings:
        return meanings
    return {**meanings, name: value}
