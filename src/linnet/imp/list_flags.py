"""Lists where a condition holds, 64 places at a time.

    for k in lo … hi:              at = lo
      out[c] = k                   while hi - at >= 64:
      c += flags[k]                  found = 0
                             ->      for r in 0 … 64: found |= flags[at + r] << r
                                     c = list_bits(out, c, found, at)
                                     at += 64
                                   for k in at … hi: as before

Where the next number is written is known only when it is known whether the last one stays: one
addition after the other. A byte of bits tells where eight go, and how many there are.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.codelets.bit_sets import list_bits
from linnet.codelets.named import instantiate
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements, substitute, walk
from linnet.names import Names
from linnet.records import dataclass

_WORD = 64


def list_flags(kernel: imp.Kernel) -> imp.Kernel:
    """List by words of bits, where a loop writes every number and counts those that stay.

    Needs: simplified code, in which there is room for all numbers of such a loop.
    """
    names, registry = fresh_names(kernel), {f.name: f for f in kernel.codelets}

    def rule(node: imp.Node) -> imp.Node | None:
        found = _listing(node) if isinstance(node, imp.For) else None
        return None if found is None else _by_words(found, names, registry)

    body = rewrite_statements(kernel.body, rule)
    if body is kernel.body:
        return kernel
    return replace(kernel, body=body, codelets=tuple(registry.values()))


@dataclass(frozen=True, slots=True)
class _Listing:
    """`for k: out[count] = k; count += cond`."""

    loop: imp.For
    out: imp.Buffer
    count: imp.Var
    cond: imp.Expr


def _listing(loop: imp.For) -> _Listing | None:
    """The loop as one that lists where a condition holds, on data that lies side by side."""
    match loop.body.stmts:
        case (
            imp.Store(out, imp.Var() as count, value),
            imp.Assign(same, imp.Binary("+", before, imp.Cast(cond, imp.INT), _)),
        ) if count == same == before and _uncast(value) == loop.var and cond.dtype == imp.BOOL:
            if _is_plain(cond, loop.var, out, count):
                return _Listing(loop, out, count, cond)
    return None


def _is_plain(cond: imp.Expr, var: imp.Var, out: imp.Buffer, count: imp.Var) -> bool:
    """Whether vectors compute a condition: of neighbours, and all of it in any case."""
    loads = [n for n in walk(cond) if isinstance(n, imp.Load)]
    for node in walk(cond):
        match node:
            case imp.Load(buffer, index) if index != var or buffer == out:
                return False
            case imp.Binary(op) if op in imp.LOGICAL or op in ("div", "rem"):
                return False
            case imp.Call():
                return False
            case imp.Var() if node == count:
                return False
    return bool(loads)


def _by_words(found: _Listing, names: Names, registry: dict[str, imp.Function]) -> imp.Block:
    loop, var = found.loop, found.loop.var
    at, stop, bits, r = (imp.Var(names.fresh(n)) for n in (f"{var.name}_at", "stop", "bits", "bit"))
    flag = imp.Cast(substitute(found.cond, {var.name: at + r}), imp.INT)
    gather = imp.Accumulate(bits, "|", imp.binary("<<", flag, r))
    address = imp.Address(found.out)
    types = (address.dtype, imp.INT, imp.INT, imp.INT)
    function = instantiate(list_bits, types, registry)
    call = imp.Call(function.name, (address, found.count, bits, at), imp.INT)
    word = (
        imp.Let(bits, imp.ZERO),
        imp.For(r, imp.ZERO, imp.Const(_WORD, imp.INT), imp.Block((gather,))),
        imp.Assign(found.count, call),
        imp.Assign(at, at + _WORD),
    )
    return imp.Block(
        (
            imp.Let(at, imp.widen(loop.start)),
            imp.Let(stop, imp.widen(loop.stop)),
            imp.While(stop - at >= _WORD, imp.Block(word)),
            replace(loop, start=at, stop=stop, over=imp.as_part(loop.over)),
        )
    )


def _uncast(e: imp.Expr) -> imp.Expr:
    return _uncast(e.x) if isinstance(e, imp.Cast) else e
