"""Sparse scalars: what reads one comes in two versions, one for its fill value (FINCH §3.3.3).

In that version the scalar is a place where nothing is stored, and simplification does the rest.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.formats.format import Format
from linnet.loops.rewrite import accesses, block, map_stmts, substitute, walk
from linnet.loops.types import dtype_of
from linnet.loops.unlike import unlike
from linnet.normalize.facts import Facts, facts_of
from linnet.normalize.simplify import replace_reads, simplify

Formats = dict[str, Format]


def specialize_scalars(program: loops.Program, formats: Formats) -> loops.Program:
    """`if s[()] != fill: … else: …` around statements that read a sparse scalar and keep it.

    Needs: life cycles. Comes last, since the fill value is structural, and does not print as such.
    """
    scalars = {n: f for n, f in formats.items() if f.ndim == 0 and f.leaf.specialized}
    if not scalars:
        return program
    facts = facts_of(program, {name: str(format.dtype) for name, format in formats.items()})
    return replace(program, body=_specialize(program.body, scalars, facts))


def _specialize(stmt: loops.Stmt, scalars: Formats, facts: Facts) -> loops.Stmt:
    if isinstance(stmt, loops.Let):
        facts.name(stmt.name, dtype_of(stmt.value, facts.types))
    match stmt:
        case loops.Block(stmts):
            return block([_specialize(s, scalars, facts) for s in stmts])
        case loops.Let(name, value, body) if any(map(_changes_mode, walk(body))):
            # the body is no statement of its own: what follows depends on the modes it leaves
            kept = _kept(stmt, scalars)
            if any(access.tensor in kept for access, _ in accesses(value)):
                return _specialize(substitute(body, {name: value}), scalars, facts)
            return map_stmts(stmt, lambda s: _specialize(s, scalars, facts))
    kept = _kept(stmt, scalars)
    if not kept:
        return map_stmts(stmt, lambda s: _specialize(s, scalars, facts))
    format = scalars[kept[0]]
    others = {n: f for n, f in scalars.items() if n != kept[0]}
    assert format.fill_value is not None
    fill = loops.Literal(format.fill_value, format.dtype, structural=True)
    then = simplify(replace_reads(stmt, {kept[0]: fill}), facts)
    then, orelse = (_specialize(s, others, facts) for s in (then, stmt))
    other = unlike(loops.Access(kept[0], ()), loops.Literal(format.fill_value, format.dtype))
    return loops.If(other, orelse, then)


def _kept(stmt: loops.Stmt, scalars: Formats) -> list[str]:
    """The scalars that a statement reads and does not change."""
    changed = {access.tensor for access, is_target in accesses(stmt) if is_target}
    changed |= {n.tensor for n in walk(stmt) if isinstance(n, loops.Declare)}
    read = {access.tensor for access, is_target in accesses(stmt) if not is_target}
    return [name for name in scalars if name in read and name not in changed]


def _changes_mode(node: loops.Node) -> bool:
    return isinstance(node, loops.Declare | loops.Freeze | loops.Thaw)
