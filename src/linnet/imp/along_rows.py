"""Sums whose terms lie a row apart are made for a whole row at once, along which vectors go.

    for k in 0 … n:                           if n >= 8:
      s = y[k]                                  for q in a … b:
      for q in a … b:                   ->        for k in 0 … n:
        s += x[q] * row(q)[k]                       y[k] = y[k] + x[q] * row(q)[k]
      y[k] = s                                else: as before

Each element is added to in the same order as before. What then adds rows to one, strips hold in
registers (`hold_rows`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects
from linnet.imp.replace_loops import replace_loops
from linnet.imp.rewrite import statements, substitute, walk
from linnet.imp.rows import is_next
from linnet.names import Names
from linnet.records import dataclass

_LEAST = 8  # elements: for fewer, vectors gain less than the loop around them takes
_PLAIN = imp.Const | imp.Var | imp.Load | imp.Binary | imp.Unary | imp.Cast | imp.Select


def along_rows(kernel: imp.Kernel) -> imp.Kernel:
    """Turn loops inside out whose sums take their terms from the same place of several rows.

    Needs: simplified code.
    """
    return replace_loops(kernel, _turned)


def vectors_along_rows(kernel: imp.Kernel) -> imp.Kernel:
    """Turn loops inside out that are to be run in vectors, where all that is inside are sums.

    Needs: simplified code.
    """
    if not any(isinstance(s, imp.For) and s.how.race for s in statements(kernel.body)):
        return kernel
    return replace_loops(kernel, _turned_for_vectors)


@dataclass(frozen=True, slots=True)
class _Sums:
    """`for k: lets; s = first; for q: lets, s += value; y[place] = s`, in its parts.

    `fixed` are the lets that are the same for all k, `own` those of each.
    """

    along: imp.For
    through: imp.For
    first: imp.Let
    store: imp.Store
    fixed: tuple[imp.Let, ...]
    own: tuple[imp.Let, ...]
    inner: tuple[imp.Let, ...]
    add: imp.Accumulate


def _turned(loop: imp.For, effects: Effects, names: Names) -> imp.If | None:
    sums = _sums(loop)
    if sums is None or not _is_legal(sums, effects) or not _gains(sums):
        return None
    enough = imp.widen(loop.stop) - imp.widen(loop.start) >= _LEAST
    return imp.If(enough, _inside_out(sums), imp.Block((loop,)))


def _turned_for_vectors(loop: imp.For, effects: Effects, names: Names) -> imp.Stmt | None:
    sums = _sums(loop) if loop.how.race else None
    if sums is None or not _is_legal(sums, effects):
        return None
    turned = _inside_out(sums)
    return turned if loop.start == imp.ZERO else imp.If(loop.start < loop.stop, turned, imp.EMPTY)


def _sums(loop: imp.For) -> _Sums | None:
    """The parts of a loop that makes one sum for each of its elements, and nothing else."""
    match [s for s in loop.body.stmts if not isinstance(s, imp.Comment)]:
        case [*lets, imp.For() as through, imp.Store(_, _, imp.Var() as s) as store]:
            pass
        case _:
            return None
    *inner, add = through.body.stmts or (imp.EMPTY,)
    if not isinstance(add, imp.Accumulate) or add.var != s or s.dtype != store.buffer.dtype:
        return None
    if not all(isinstance(let, imp.Let) for let in (*lets, *inner)):
        return None
    plain = [let for let in lets if isinstance(let, imp.Let)]
    first = next((let for let in plain if let.var == s), None)
    if first is None:
        return None
    plain.remove(first)
    depends = _depending(loop.var, plain)
    fixed = tuple([let for let in plain if let.var.name not in depends])
    own = tuple([let for let in plain if let.var.name in depends])
    within = tuple([let for let in inner if isinstance(let, imp.Let)])
    return _Sums(loop, through, first, store, fixed, own, within, add)


def _depending(var: imp.Var, lets: Iterable[imp.Let]) -> set[str]:
    """The variable and what is computed from it."""
    found = {var.name}
    for let in lets:
        if not found.isdisjoint(_reads(let.value)):
            found.add(let.var.name)
    return found


def _reads(e: imp.Expr) -> set[str]:
    return {n.name for n in walk(e) if isinstance(n, imp.Var)}


def _is_legal(sums: _Sums, effects: Effects) -> bool:
    """Whether the terms are the same whenever they are added, and nothing is called for them."""
    along, through, store = sums.along, sums.through, sums.store
    own = {let.var.name for let in (*sums.own, *sums.inner)} | {along.var.name, through.var.name}
    match sums.first.value:
        case imp.Const():
            pass
        case imp.Load(buffer, index) if (buffer, index) == (store.buffer, store.index):
            pass
        case _:
            return False
    ends = _reads(through.start) | _reads(through.stop)
    if ends & own or not is_next(store.index, along.var):
        return False
    if _reads(store.index) & (own - {along.var.name}):
        return False
    terms = [*(let.value for let in (*sums.fixed, *sums.own, *sums.inner)), sums.add.value]
    read = [effects.of(e) for e in (*terms, through.start, through.stop, along.start, along.stop)]
    if any(store.buffer.name in r.loads or r.changes for r in read):
        return False
    plain = all(isinstance(n, _PLAIN) for e in terms for n in walk(e))
    return plain and not any(sums.add.var.name in r.reads for r in read)


def _gains(sums: _Sums) -> bool:
    """Whether what is loaded lies side by side along the row, and not along the sum."""
    k, q = sums.along.var, sums.through.var
    lets = (*sums.own, *sums.inner)
    by_k, by_q = _depending(k, lets), _depending(q, lets)
    found = False
    for e in (*(let.value for let in lets), sums.add.value):
        for load in (n for n in walk(e) if isinstance(n, imp.Load)):
            reads = _reads(load.index)
            if reads.isdisjoint(by_k):
                continue
            if not is_next(load.index, k) or reads & (by_k - {k.name}):
                return False
            if is_next(load.index, q):
                return False
            found = found or not reads.isdisjoint(by_q)
    return found


def _inside_out(sums: _Sums) -> imp.Block:
    """The rows are added one after the other."""
    along, through, store = sums.along, sums.through, sums.store
    start, stop = imp.widen(along.start), imp.widen(along.stop)
    depends = _depending(along.var, (*sums.own, *sums.inner))
    outer = [let for let in sums.inner if let.var.name not in depends]
    each = [let for let in sums.inner if let.var.name in depends]
    total = imp.binary(sums.add.op, imp.Load(store.buffer, store.index), sums.add.value)
    adds = imp.Store(store.buffer, store.index, total)
    row = replace(along, body=imp.Block((*sums.own, *each, adds)))
    rows = replace(through, body=imp.Block((*outer, row)))
    clear: tuple[imp.Stmt, ...] = ()
    if isinstance(sums.first.value, imp.Const):
        at = substitute(store.index, {along.var.name: start})
        clear = (imp.Fill(store.buffer, at, at + (stop - start), sums.first.value),)
    return imp.Block((*sums.fixed, *clear, rows))
