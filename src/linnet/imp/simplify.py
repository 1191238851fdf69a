"""Simplifies imperative code: what is known when it is compiled is not computed when it is run.

Two passes, repeated while they find something: forwards, values that are known replace variables,
branches that are known are taken, and equal conditions are merged; backwards, what nobody reads is
dropped (`dead.py`). Both keep the meaning exactly. Machine code gains little by it, for LLVM does
the same; its readers, and the time that LLVM takes, gain much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import field, replace
from typing import TypeVar

import numpy as np

from linnet import imp
from linnet.imp.dead import remove_dead
from linnet.imp.effects import Effects, breaks, effects_of, ends, leaves
from linnet.imp.facts import Facts
from linnet.imp.fold import fold, negation, same
from linnet.imp.rewrite import rebuild, statements, with_statements
from linnet.imp.stale import forget_stale
from linnet.records import dataclass

_ROUNDS = 3
_INTRODUCE = (imp.Let, imp.For)

Program = TypeVar("Program", imp.Block, imp.Kernel, imp.Function)


def simplify(program: Program, codelets: Iterable[imp.Function] = ()) -> Program:
    """The same program, with what is known put in its place.

    Needs: well-formed code. `codelets` are those that it calls, where it does not carry them along;
    one that is not among them is taken to write to every buffer that it is given.
    """
    if isinstance(program, imp.Block):
        return _simplify(program, Effects(codelets))
    if isinstance(program, imp.Kernel):
        body = _simplify(program.body, effects_of(program.codelets))
        body = forget_stale(body, frozenset(d.name for a in program.arguments for d in a.dims))
    else:
        body = _simplify(program.body, Effects(codelets))
    return program if body is program.body else replace(program, body=body)


def _simplify(body: imp.Block, effects: Effects) -> imp.Block:
    with np.errstate(all="ignore"):  # constants that overflow are left as they are
        for _ in range(_ROUNDS):
            before = body
            body = remove_dead(_forwards(body, effects), effects)
            if body is before:
                break
    return body


@dataclass(slots=True)
class _Pass:
    """What the forward pass knows of the whole program."""

    effects: Effects
    ambiguous: frozenset[str]  # names that are introduced more than once
    versions: dict[str, int] = field(default_factory=dict)  # how often a variable has changed


@dataclass(slots=True)
class _Place:
    """A block while it is rewritten: what holds at its end so far, and its statements so far."""

    whole: _Pass
    facts: Facts
    out: list[imp.Stmt] = field(default_factory=list)
    told: tuple[imp.If, set[str]] | None = None  # a branch, and what is true if it is taken


def _forwards(body: imp.Block, effects: Effects) -> imp.Block:
    introduced = Counter(s.var.name for s in statements(body) if isinstance(s, _INTRODUCE))
    ambiguous = frozenset(name for name, count in introduced.items() if count > 1)
    whole = _Pass(effects, ambiguous)
    return _inner(whole, body, Facts({}, whole.versions))


def _inner(whole: _Pass, block: imp.Block, facts: Facts) -> imp.Block:
    """A block of its own; what it introduces is forgotten after it."""
    place = _Place(whole, facts)
    _append(place, block)
    facts.forget(stmt.var.name for stmt in place.out if isinstance(stmt, imp.Let))
    match place.out:
        case [imp.Block() as alone]:
            return alone
    return with_statements(block, place.out)


def _append(place: _Place, block: imp.Block) -> None:
    """Add the statements of a block, up to the first that control does not pass."""
    for stmt in block.stmts:
        before = len(place.out)
        _statement(place, stmt)
        if len(place.out) > before and leaves(place.out[-1]):
            return


def _statement(place: _Place, stmt: imp.Stmt) -> None:
    facts = place.facts
    match stmt:
        case imp.Let(var, value) | imp.Assign(var, value):
            _give(place, stmt, var, facts.value(value))
        case imp.If():
            _if(place, stmt)
        case imp.For():
            _for(place, stmt)
        case imp.While():
            _while(place, stmt)
        case imp.Accumulate():
            _accumulate(place, stmt)
        case imp.Block():
            _open(place, stmt)
        case imp.Do(call):
            call = rebuild(call, facts.value)  # type: ignore[arg-type]
            if place.whole.effects.of(call).changes:
                place.out.append(stmt if call is stmt.call else imp.Do(call))
        case imp.Spawn(task, call):
            passed = rebuild(call, facts.value)  # type: ignore[arg-type]
            place.out.append(stmt if passed is call else imp.Spawn(task, passed))
        case imp.Fill(_, start, stop, _) if _is_empty(facts.value(start), facts.value(stop)):
            pass
        case _:
            place.out.append(rebuild(stmt, facts.value))  # type: ignore[arg-type]


def _give(place: _Place, stmt: imp.Let | imp.Assign, var: imp.Var, value: imp.Expr) -> None:
    """`x = e`, unless x is that already."""
    facts = place.facts
    if isinstance(stmt, imp.Assign):
        old = facts.value(var)
        if isinstance(value, imp.Const | imp.Var) and (same(old, value) or same(var, value)):
            return
    facts.note(var, value)
    place.out.append(stmt if value is stmt.value else type(stmt)(var, value))


def _accumulate(place: _Place, stmt: imp.Accumulate) -> None:
    """`x op= e`; an integer whose value is known is given its next value."""
    var, op, value = stmt.var, stmt.op, place.facts.value(stmt.value)
    old = place.facts.value(var)
    if var.dtype[0] in "biu":
        if same(fold(imp.Binary(op, var, value, var.dtype)), var):
            return
        if isinstance(old, imp.Const):
            new = fold(imp.Binary(op, old, value, var.dtype))
            _give(place, imp.Assign(var, new), var, new)
            return
    place.facts.forget((var.name,))
    place.out.append(stmt if value is stmt.value else imp.Accumulate(var, op, value))


def _open(place: _Place, block: imp.Block) -> None:
    """A block inside a block: its statements, unless one of its names would meet itself."""
    if _fits(place, block):
        _append(place, block)
    else:
        place.out.append(_inner(place.whole, block, place.facts))


def _fits(place: _Place, block: imp.Block) -> bool:
    """Whether what a block introduces is introduced nowhere else."""
    names = {stmt.var.name for stmt in block.stmts if isinstance(stmt, imp.Let)}
    return names.isdisjoint(place.whole.ambiguous)


def _if(place: _Place, stmt: imp.If) -> None:
    whole, facts = place.whole, place.facts
    cond = facts.value(stmt.cond)
    if isinstance(cond, imp.Const):
        _open(place, stmt.then if cond.value else stmt.orelse)
        return
    yes, no = facts.copy(), facts.copy()
    yes.assume(cond, True)
    no.assume(cond, False)
    then, orelse = _inner(whole, stmt.then, yes), _inner(whole, stmt.orelse, no)
    facts.meet([f for block, f in ((then, yes), (orelse, no)) if not ends(block)])
    if not whole.effects.of(cond).changes:
        if then == orelse and repr(then) == repr(orelse):
            place.out += then.stmts if _fits(place, then) else [then]
            return
        if _is_blank(then):
            cond, then, orelse, yes, no = negation(cond), orelse, imp.EMPTY, no, yes
    if cond is not stmt.cond or then is not stmt.then or orelse is not stmt.orelse:
        stmt = imp.If(cond, then, orelse)
    _merge(place, stmt, _flags(yes, no))


def _flags(yes: Facts, no: Facts) -> set[str]:
    """The variables that are true on one way, and false on the other."""
    found = (n for n, (value, _) in yes.known.items() if same(value, imp.TRUE))
    return {n for n in found if n in no.known and same(no.known[n][0], imp.FALSE)}


def _merge(place: _Place, stmt: imp.If, flags: set[str]) -> None:
    """Add a branch; one that follows another on the same condition, or its opposite, joins it."""
    last = place.out[-1] if place.out else None
    if isinstance(last, imp.If):
        told = _is_told(place, last, stmt.cond)
        alike = told or same(last.cond, stmt.cond)
        opposite = same(negation(last.cond), stmt.cond)
        if told or ((alike or opposite) and _undisturbed(place, last)):
            then, orelse = (stmt.then, stmt.orelse) if alike else (stmt.orelse, stmt.then)
            joined = _joined(last.then, then), _joined(last.orelse, orelse)
            place.out[-1] = imp.If(last.cond, *joined)
            return
    place.out.append(stmt)
    place.told = stmt, flags


def _is_told(place: _Place, last: imp.If, cond: imp.Expr) -> bool:
    """Is the condition a flag that says whether the last branch was taken?"""
    if place.told is None or place.told[0] is not last or not isinstance(cond, imp.Var):
        return False
    assigned = place.whole.effects.of(last).assigns
    return cond.name in place.told[1] and place.whole.ambiguous.isdisjoint(assigned)


def _undisturbed(place: _Place, stmt: imp.If) -> bool:
    """Would the condition still give what it gave, after the branch?"""
    effects = place.whole.effects
    cond, then, orelse = (effects.of(part) for part in (stmt.cond, stmt.then, stmt.orelse))
    assigned = then.assigns | orelse.assigns
    return (
        not cond.changes
        and cond.reads.isdisjoint(assigned)
        and cond.loads.isdisjoint(then.changes | orelse.changes)
        and place.whole.ambiguous.isdisjoint(assigned)
    )


def _joined(first: imp.Block, second: imp.Block) -> imp.Block:
    if ends(first) or not second.stmts:
        return first
    return imp.Block((*first.stmts, *second.stmts)) if first.stmts else second


def _for(place: _Place, stmt: imp.For) -> None:
    facts, var = place.facts, stmt.var
    start, stop = facts.value(stmt.start), facts.value(stmt.stop)
    if _is_empty(start, stop):
        return
    once = fold(imp.Binary("-", stop, start, imp.INT)) == imp.ONE and start.dtype == imp.INT
    if once and not breaks(stmt.body) and var.name not in place.whole.ambiguous:
        _statement(place, imp.Let(var, start))
        _open(place, stmt.body)
        return
    facts.forget(place.whole.effects.of(stmt).assigns)
    body, over = _inner(place.whole, stmt.body, facts.copy()), stmt.over.map(facts.value)
    same_range = start is stmt.start and stop is stmt.stop and over is stmt.over
    if not same_range or body is not stmt.body:
        stmt = replace(stmt, start=start, stop=stop, body=body, over=over)
    place.out.append(stmt)


def _while(place: _Place, stmt: imp.While) -> None:
    facts = place.facts
    if facts.value(stmt.cond) == imp.FALSE:
        return
    facts.forget(place.whole.effects.of(stmt).assigns)
    cond, inside = facts.value(stmt.cond), facts.copy()
    inside.assume(cond, True)
    body = _inner(place.whole, stmt.body, inside)
    if not breaks(body):
        facts.assume(cond, False)
    over = stmt.over.map(facts.value)
    if cond is not stmt.cond or body is not stmt.body or over is not stmt.over:
        stmt = replace(stmt, cond=cond, body=body, over=over)
    place.out.append(stmt)


def _is_empty(start: imp.Expr, stop: imp.Expr) -> bool:
    """Is this range surely empty?"""
    return fold(imp.Binary(">=", start, stop, imp.BOOL)) == imp.TRUE


def _is_blank(block: imp.Block) -> bool:
    return all(isinstance(stmt, imp.Comment) for stmt in block.stmts)
