"""Splits accumulators: a reduction that would wait for itself goes on in several places.

Of a loop in a loop, a stretch, each gets sums of its own, so that its vectors are brought together
while the next one runs; one that is taken part by part, or in one of two ways, is one all the same:

    for q in a … b:                      for q in a … b:
      for j in lo(q) … hi(q):     ->       t = -0.0
        s += x[j]                          for j in lo(q) … hi(q): t += x[j]
                                           s += t

Loops that update places all over besides are never vectors: every second step has other sums, and
updates stay in order. An outermost loop that reads neighbours alone reads them at four places, as a
processor asks memory ahead for each array that is walked, and for one alone not far enough.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements, substitute, walk
from linnet.names import Names
from linnet.optimize.legality import NEUTRAL, accumulated
from linnet.optimize.loops import gathers, is_refusal, scatters

_PLACES = 4
_LONG = 1 << 14  # elements: fewer are in a cache that is near
Sums = dict[imp.Var, str]


def split_accumulators(kernel: imp.Kernel) -> imp.Kernel:
    """Give reductions as many accumulators as they need. Needs: simplified code."""
    names = fresh_names(kernel)

    def rule(node: imp.Node) -> imp.Node | None:
        if isinstance(node, imp.For) and (two := _by_two(node, names)):
            return two
        if isinstance(node, imp.For | imp.While) and not node.over.counter:
            body = _with_own(node.body, names)
            return None if body is node.body else replace(node, body=body)
        return None

    body = _at_places(rewrite_statements(kernel.body, rule), names)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _parts(
    sums: Sums, names: Names, word: str
) -> tuple[dict[imp.Var, imp.Var], list[imp.Stmt], list[imp.Stmt]]:
    """Other accumulators for the same, what they begin with, and how they are added."""
    own = {var: imp.Var(names.fresh(f"{var.name}_{word}"), var.dtype) for var in sums}
    before: list[imp.Stmt] = [
        imp.Let(own[v], imp.Const(NEUTRAL[op], v.dtype)) for v, op in sums.items()
    ]
    return own, before, [imp.Accumulate(v, op, own[v]) for v, op in sums.items()]


# -- stretches -------------------------------------------------------------------------------------


def _with_own(block: imp.Block, names: Names) -> imp.Block:
    """The body of a loop, in which loops that go on with sums from outside get their own."""
    inside: set[imp.Var] = set()
    stmts: list[imp.Stmt] = []
    for stmt in block.stmts:
        if isinstance(stmt, imp.Let):
            inside.add(stmt.var)
        found = _of_stretch(stmt)
        if not found or found.keys() & inside:
            stmts.append(stmt)
            continue
        own, before, after = _parts(found, names, "part")
        stmts += [*before, _renamed(stmt, own), *after]
    return imp.Block(tuple(stmts)) if len(stmts) > len(block.stmts) else block


def _of_stretch(stmt: imp.Stmt) -> Sums:
    """What a loop does nothing but accumulate; so do loops over its parts, or one of two."""
    match stmt:
        case imp.For():
            inner = [s for s in stmt.body.stmts if isinstance(s, imp.For)]
            if inner and not stmt.over.counter:
                return {}
            own = accumulated(stmt.body, ("+", "*"), (imp.For,))
            return _together([own, *map(_of_stretch, inner)] if own else [*map(_of_stretch, inner)])
        case imp.If(cond, imp.Block((imp.For() as a,)), imp.Block((imp.For() as b,))):
            found = _together([_of_stretch(a), _of_stretch(b)])
            return {} if any(n in found for n in walk(cond) if isinstance(n, imp.Var)) else found
    return {}


def _together(all_of_them: list[Sums]) -> Sums:
    """What several loops accumulate, if each of them does, and by the same operators."""
    found: Sums = {}
    for sums in all_of_them:
        if not sums or any(found.setdefault(var, op) != op for var, op in sums.items()):
            return {}
    return found


def _renamed(stmt: imp.Stmt, own: dict[imp.Var, imp.Var]) -> imp.Stmt:
    def into(node: imp.Node) -> imp.Node | None:
        return replace(node, var=own[node.var]) if isinstance(node, imp.Accumulate) else None

    return rewrite_statements(stmt, into)


# -- updates all over ------------------------------------------------------------------------------


def _by_two(loop: imp.For, names: Names) -> imp.Block | None:
    """Two steps of a loop at a time, the second with sums of its own."""
    sums = accumulated(loop.body, ("+",), (imp.Store, imp.If))
    choices = (s for s in loop.body.stmts if isinstance(s, imp.If))
    if not sums or not scatters(loop) or not all(map(is_refusal, choices)):
        return None
    own, before, after = _parts(sums, names, "odd")
    q, end = loop.var, imp.Var(names.fresh(f"{loop.var.name}_end"))
    step = imp.Assign(q, q + 2)
    both = imp.Block((*loop.body.stmts, *_at_another(loop, q + 1, own, names), step))
    start = imp.Let(q, imp.widen(loop.start)), imp.Let(end, imp.widen(loop.stop))
    turns = (
        imp.While(q + 1 < end, both, imp.as_part(loop.over, q)),
        imp.If(q < end, loop.body, imp.EMPTY),
    )
    return imp.Block((*before, *start, *turns, *after))


# -- long loops ------------------------------------------------------------------------------------


def _at_places(outer: imp.Block, names: Names) -> imp.Block:
    """The outermost loops of a block, or what goes from part to part, at several places."""
    stmts: list[imp.Stmt] = []
    for stmt in outer.stmts:
        if not isinstance(stmt, imp.For):
            stmts.append(stmt)
        elif stmt.over.counter:
            body = _at_places(stmt.body, names)
            stmts.append(stmt if body is stmt.body else replace(stmt, body=body))
        else:
            stmts += _places(stmt, names)
    same = len(stmts) == len(outer.stmts) and all(
        a is b for a, b in zip(stmts, outer.stmts, strict=True)
    )
    return outer if same else imp.Block(tuple(stmts))


def _places(loop: imp.For, names: Names) -> list[imp.Stmt]:
    """The loop at several places, then what is left of it, and the results together."""
    sums = accumulated(loop.body, NEUTRAL, ())
    loads = any(isinstance(node, imp.Load) for node in walk(loop.body))
    if not sums or not loads or gathers(loop):
        return [loop]
    first, count, part = (
        imp.Var(names.fresh(f"{loop.var.name}_{what}")) for what in ("first", "count", "part")
    )
    body, begins, ends = list(loop.body.stmts), list[imp.Stmt](), list[imp.Stmt]()
    for k in range(1, _PLACES):
        own, before, after = _parts(sums, names, "part")
        body += _at_another(loop, loop.var + part * k, own, names)
        begins, ends = [*begins, *before], [*ends, *after]
    quarter = imp.binary(">>", count, imp.Const(_PLACES.bit_length() - 1, imp.INT))
    rest = imp.Var(names.fresh(loop.var.name))
    left = imp.Block(tuple(_at_another(loop, rest, {var: var for var in sums}, names)))
    over, all_of_them = imp.as_part(loop.over), imp.Block(tuple(body))
    behind, end = first + part * _PLACES, first + count
    return [
        imp.Let(first, imp.widen(loop.start)),
        imp.Let(count, imp.maximum(imp.widen(loop.stop), first) - first),
        imp.Let(part, imp.Select(count < _LONG, imp.ZERO, quarter)),
        *begins,
        replace(loop, start=first, stop=first + part, over=over, body=all_of_them),
        replace(loop, var=rest, start=behind, stop=end, over=over, body=left),
        *ends,
    ]


def _at_another(
    loop: imp.For, at: imp.Expr, own: dict[imp.Var, imp.Var], names: Names
) -> list[imp.Stmt]:
    """The body of a loop once more, for another step: with sums and variables of its own.

    Needs: no loops in it, and no variables in what it does under a condition.
    """
    new: dict[str, imp.Expr] = {loop.var.name: at}
    stmts: list[imp.Stmt] = []
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(var, value):
                other = imp.Var(names.fresh(var.name), var.dtype)
                stmts.append(imp.Let(other, substitute(value, new)))
                new[var.name] = other
            case imp.Accumulate(var, _, value):
                stmts.append(replace(stmt, var=own[var], value=substitute(value, new)))
            case imp.Store() | imp.If():
                stmts.append(substitute(stmt, new))
    return stmts
