"""Functions of neighbours, computed ahead: a block of values in vectors, for a loop that has none.

    for q in a … b:                         at = a
      y[idx[q]] += log(x[q])                while at < b:
                                              end = min(at + 128, b)
                                      ->      for q in at … end: ahead[q - at] = log(x[q])
                                              for q in at … end: y[idx[q]] += ahead[q - at]
                                              at = end

A loop that jumps about in memory is not vectorized, and must not be; what it calls may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Summary, breaks, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite, rewrite_statements, substitute, walk
from linnet.names import Names
from linnet.records import dataclass

_BLOCK = 128

Calls = Callable[[imp.Call], bool]


def compute_ahead(kernel: imp.Kernel, vectorizes: Calls) -> imp.Kernel:
    """Split loops that call what vectorizes, and do something else that does not.

    Needs: simplified code. Every function is computed for the same values as before.
    """
    effects, names = effects_of(kernel.codelets), fresh_names(kernel)
    scratch: list[imp.Scratch] = []

    def rule(node: imp.Node) -> imp.Node | None:
        if not isinstance(node, imp.For):
            return None
        found = _Found(node, effects.of(node.body)).calls(vectorizes)
        return _split(node, found, names, scratch) if found and _jumps(node) else None

    body = rewrite_statements(kernel.body, rule)
    return replace(kernel, body=body, scratch=(*kernel.scratch, *scratch)) if scratch else kernel


@dataclass(frozen=True, slots=True)
class _Found:
    """A loop, and what its body reads and changes."""

    loop: imp.For
    body: Summary

    def calls(self, vectorizes: Calls) -> dict[imp.Call, imp.Call]:
        """The calls to be made ahead, each as what it is without the variables of the body."""
        found: dict[imp.Call, imp.Call] = {}
        lets: dict[str, imp.Expr] = {}
        if not any(isinstance(n, imp.Call) and vectorizes(n) for n in walk(self.loop.body)):
            return found
        if breaks(self.loop.body) or any(
            isinstance(n, imp.For | imp.While | imp.Return) for n in walk(self.loop.body)
        ):
            return found
        parts = walk(self.loop.body)
        moved = {n.var for n in parts if isinstance(n, imp.Assign | imp.Accumulate)}
        for stmt in self.loop.body.stmts:
            for call in _always(stmt, vectorizes):
                meant = substitute(call, lets)
                if self._known_ahead(meant):
                    found[call] = meant
            if isinstance(stmt, imp.Let) and stmt.var not in moved:
                lets[stmt.var.name] = substitute(stmt.value, lets)
        return found

    def _known_ahead(self, call: imp.Call) -> bool:
        """Whether arguments are neighbours, or the same for all, that the loop leaves alone."""
        for node in walk(call):
            match node:
                case imp.Load(buffer, index):
                    near = all(not isinstance(n, imp.Load) for n in walk(index))
                    if buffer.name in self.body.changes or not near:
                        return False
                case imp.Var(name) if name != self.loop.var.name and name in self.body.assigns:
                    return False
                case imp.Address():
                    return False
        return True


def _always(stmt: imp.Stmt, vectorizes: Calls) -> Iterator[imp.Call]:
    """The calls that a statement makes whenever it is reached, the outermost ones."""
    match stmt:
        case imp.Let(_, value) | imp.Assign(_, value) | imp.Accumulate(_, _, value):
            yield from _calls(value, vectorizes)
        case imp.Store(_, index, value):
            yield from _calls(index, vectorizes)
            yield from _calls(value, vectorizes)


def _calls(e: imp.Expr, vectorizes: Calls) -> Iterator[imp.Call]:
    match e:
        case imp.Call() if vectorizes(e):
            yield e
        case imp.Binary(op, a, b) if op not in imp.LOGICAL:
            yield from _calls(a, vectorizes)
            yield from _calls(b, vectorizes)
        case imp.Unary(_, x) | imp.Cast(x):
            yield from _calls(x, vectorizes)
        case imp.Call(_, args):
            for arg in args:
                if not isinstance(arg, imp.Address):
                    yield from _calls(arg, vectorizes)


def _jumps(loop: imp.For) -> bool:
    """Whether a loop reads or writes where something that it has loaded says."""
    loaded: set[str] = set()
    for node in walk(loop.body):
        match node:
            case imp.Let(var, value) if _is_loaded(value, loaded):
                loaded.add(var.name)
            case imp.Load(_, index) | imp.Store(_, index) if _is_loaded(index, loaded):
                return True
    return False


def _is_loaded(e: imp.Expr, loaded: set[str]) -> bool:
    return any(
        isinstance(n, imp.Load) or (isinstance(n, imp.Var) and n.name in loaded) for n in walk(e)
    )


def _split(
    loop: imp.For, calls: dict[imp.Call, imp.Call], names: Names, scratch: list[imp.Scratch]
) -> imp.Block:
    """Blocks of the loop: first the calls, then the rest with their results."""
    at, stop = imp.Var(names.fresh(f"{loop.var.name}_at")), imp.Var(names.fresh("stop"))
    end = imp.Var(names.fresh(f"{loop.var.name}_to"))
    place = imp.binary("-", loop.var, at)
    results: dict[imp.Call, imp.Load] = {}
    first: list[imp.Stmt] = []
    for meant in dict.fromkeys(calls.values()):
        buffer = imp.Buffer(names.fresh("ahead"), meant.dtype)
        scratch.append(imp.Scratch(buffer, _BLOCK))
        results[meant] = imp.Load(buffer, place)
        inner = imp.Var(names.fresh(loop.var.name))
        store = imp.Store(buffer, inner - at, substitute(meant, {loop.var.name: inner}))
        first.append(imp.For(inner, at, end, imp.Block((store,))))

    def rule(node: imp.Node) -> imp.Node | None:
        return results[calls[node]] if isinstance(node, imp.Call) and node in calls else None

    rest = replace(
        loop, start=at, stop=end, over=imp.as_part(loop.over), body=rewrite(loop.body, rule)
    )
    let = imp.Let(end, imp.minimum(at + _BLOCK, stop))
    body = imp.Block((let, *first, rest, imp.Assign(at, end)))
    start = (imp.Let(at, imp.widen(loop.start)), imp.Let(stop, imp.widen(loop.stop)))
    return imp.Block((*start, imp.While(at < stop, body)))
