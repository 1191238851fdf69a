"""Simplification: what the laws of functions and the places where nothing is stored make needless.

This is where sparsity becomes absent code. As looplets are lowered, accesses turn into fill
values; the rules below then remove calls, updates, loops and blocks. Comes after every rewrite of
a loop body.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

import numpy as np

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.exact import apply, converter
from linnet.algebra.exact import same as same
from linnet.algebra.function import Function
from linnet.algebra.table import add, less, less_equal, logical_and
from linnet.formats.fiber import Fiber, Register
from linnet.loops.rewrite import (
    accesses,
    block,
    map_args,
    point_of,
    rewrite_stmt,
    substitute,
    walk,
)
from linnet.loops.types import dtype_of
from linnet.normalize import branches, guards
from linnet.normalize.agreed import runs_within
from linnet.normalize.collapse import GUARD, annihilate, converted, typed
from linnet.normalize.collapse import collapse as collapsed
from linnet.normalize.facts import Facts
from linnet.normalize.known import (
    DATA,
    INSIDE,
    PLAIN,
    Known,
    as_test,
    elsewhere,
    is_of_indices,
    known,
    negated,
    of_itself,
    plain,
    settled,
)
from linnet.normalize.unread import without_unread


def simplify(stmt: loops.Stmt, facts: Facts) -> loops.Stmt:
    """Apply all laws, from the inside out. `Block(())` is left where nothing remains to be done."""
    match stmt:
        case loops.Assign(target, op, value, at):
            where = map_args(target, lambda e: simplify_expr(e, facts))
            what = settled(simplify_expr(value, facts))
            assert isinstance(where, loops.Access)
            return _simplify_assign(loops.Assign(where, op, what, at), facts)
        case loops.Loop(_, _, body):
            inner = simplify(body, facts)
            if inner == loops.NOTHING or _is_one_of_any(stmt, inner):
                return inner
            return stmt if inner is body else replace(stmt, body=inner)
        case loops.If():
            return _simplify_if(stmt, facts)
        case loops.Let():
            return _simplify_let(stmt, facts)
        case loops.Block(stmts):
            less = _without_unwritten(block([simplify(s, facts) for s in stmts]), facts)
            return without_unread(less, facts.forgotten)
        case _:
            return stmt


def _is_one_of_any(loop: loops.Loop, body: loops.Stmt) -> bool:
    """Whether a loop does something once, which does not depend on its index."""
    if point_of(loop.extent) is None:
        return False
    return not any(isinstance(n, loops.Index) and n.name == loop.index for n in walk(body))


def _simplify_assign(stmt: loops.Assign, facts: Facts) -> loops.Stmt:
    """Nothing, where nothing would change; what is not computed everywhere is tested."""
    if _is_idle(stmt, facts):
        return loops.NOTHING
    for cond, literal in known(stmt.value) if _leaves_out(stmt, facts) else ():
        if _is_idle(replace(stmt, value=literal), facts):
            dtype = dtype_of(stmt.value, facts.types)
            value = converted(elsewhere(stmt.value, literal), dtype, facts.types)
            rest = replace(stmt, value=settled(simplify_expr(value, facts)))
            if rest == stmt:  # a part of it is, that is not told from the rest
                continue
            then = _simplify_assign(rest, facts)
            if then == loops.NOTHING:
                return then
            return loops.If(simplify_expr(negated(cond), facts), then, loops.NOTHING, stmt.at)
    return stmt


def _leaves_out(stmt: loops.Assign, facts: Facts) -> bool:
    """Whether what does not change a target is better not written to it."""
    if isinstance(stmt.value, loops.Call) and stmt.value.function is GUARD:
        return True
    target = stmt.target.tensor
    if isinstance(target, str):
        return False
    levels = target.storage.format.levels
    return facts.tensors[target.storage.name].held or not all(l.full or l.leaf for l in levels)


def _simplify_if(stmt: loops.If, facts: Facts) -> loops.Stmt:
    cond = _as_test(simplify_expr(stmt.cond, facts), facts)
    if isinstance(cond, loops.Literal):
        return simplify(stmt.then if cond.value else stmt.orelse, facts)
    then, orelse = simplify(stmt.then, facts), simplify(stmt.orelse, facts)
    if then == loops.NOTHING and orelse == loops.NOTHING:
        return loops.NOTHING
    return loops.If(cond, then, orelse, stmt.at)


def _as_test(cond: loops.Expr, facts: Facts) -> loops.Expr:
    """A condition, of which it does not matter how it comes to be true."""
    told = as_test(cond)
    return told if told is cond else simplify_expr(told, facts)


def _simplify_let(stmt: loops.Let, facts: Facts) -> loops.Stmt:
    value = simplify_expr(stmt.value, facts)
    if isinstance(value, loops.Literal) or is_of_indices(value):
        return simplify(substitute(stmt.body, {stmt.name: value}), facts)
    facts.name(stmt.name, dtype_of(value, facts.types))
    found = known(value)
    if found:
        return _let_known(replace(stmt, value=value), found, facts)
    body = simplify(stmt.body, facts)
    if not any(isinstance(n, loops.Name) and n.name == stmt.name for n in walk(body)):
        return body
    return loops.Let(stmt.name, value, body, stmt.at)


def _let_known(stmt: loops.Let, found: list[Known], facts: Facts) -> loops.Stmt:
    """Name a value, and where it is stored, for what follows."""
    named: loops.Expr = loops.Name(stmt.name)
    # what follows may have been told already where a part of the value is stored
    used = {n.name for n in walk(stmt.body) if isinstance(n, loops.Name)}
    names = (name for k in count() if (name := facts.flag(stmt.name, k)) not in used)
    flags = [(next(names), negated(cond)) for cond, _ in found]
    for (flag, _), (_, literal) in zip(flags, found, strict=True):
        named = guards.held(loops.Name(flag), named, literal)
    body = substitute(stmt.body, {stmt.name: named})
    body = loops.Let(stmt.name, plain(stmt.value), body, stmt.at)
    for flag, cond in flags:
        body = loops.Let(flag, cond, body, stmt.at)
    return simplify(body, facts)


def _without_unwritten(stmt: loops.Stmt, facts: Facts) -> loops.Stmt:
    """A tensor that is declared here and not written is its initial value wherever it is read."""
    stmts = stmt.stmts if isinstance(stmt, loops.Block) else ()
    for k, declare in enumerate(stmts):
        if not isinstance(declare, loops.Declare):
            continue
        fill = _unwritten(declare, stmts[k + 1 :], facts)
        if fill is not None:  # what was read before is what the last round of a loop has left
            rest = replace_reads(loops.Block(stmts[k + 1 :]), {declare.tensor: fill})
            return block([*stmts[: k + 1], simplify(rest, facts)])
    return stmt


def _unwritten(
    declare: loops.Declare, rest: tuple[loops.Stmt, ...], facts: Facts
) -> loops.Literal | None:
    """What all elements of a tensor are, if the statements after its declaration only read it.

    A read whose index may leave its dimension stays, to be refused.
    """
    tensor = declare.tensor
    fact = facts.tensors.get(tensor)
    if fact is None or fact.init is None:
        return None
    reads = False
    if any(isinstance(n, loops.Swap) and tensor in (n.a, n.b) for s in rest for n in walk(s)):
        return None
    extents = {n.index: n.extent for s in rest for n in walk(s) if isinstance(n, loops.Loop)}
    for access, is_target in accesses(loops.Block(rest)):
        name = access.tensor if isinstance(access.tensor, str) else access.tensor.storage.name
        if name == tensor and is_target:
            return None
        if access.tensor == tensor:
            reads = True
            sizes = zip(access.indices, declare.dims or (), strict=True)
            if not all(_is_within(index, size, extents) for index, size in sizes):
                return None
    return loops.Literal(fact.init, fact.dtype, structural=True) if reads else None


def _is_within(
    index: loops.Expr, size: loops.Expr, extents: Mapping[str, loops.Range | None]
) -> bool:
    """Whether an index is that of a loop, or of one over an index, that runs over a dimension."""
    while isinstance(index, loops.Index) and index.name in extents:
        extent = extents[index.name]
        point = point_of(extent)
        if point is None:
            return extent is not None and runs_within(extent.whole, size)
        index = point
    return False


def replace_reads(stmt: loops.Stmt, values: Mapping[str, loops.Expr]) -> loops.Stmt:
    """Replace what is read from tensors, whatever the indices."""

    def rule(e: loops.Expr) -> loops.Expr | None:
        if isinstance(e, loops.Access) and isinstance(e.tensor, str):
            return values.get(e.tensor)
        return None

    return rewrite_stmt(stmt, on_expr=rule)


def _is_idle(stmt: loops.Assign, facts: Facts) -> bool:
    """Whether an update leaves its target as it is."""
    if not isinstance(stmt.value, loops.Literal):
        return False
    tensor = stmt.target.tensor
    name = tensor.storage.name if isinstance(tensor, Fiber | Register) else tensor
    fact, value, op = facts.tensors[name], stmt.value.value, stmt.op
    if fact.held:
        return stmt.value.structural
    if op is None:
        kept = _as_stored(stmt.value, fact.dtype) if fact.once else value
        return fact.once and fact.init is not None and same(kept, fact.init)
    # An update converts: adding 0.5 to an integer, or 0 to a boolean, is judged in the common type,
    # and `inf and inf` is a truth value.
    meet = op.types((fact.dtype, dtype_of(stmt.value, facts.types)))
    if meet[1] != fact.dtype:
        return False
    settled = op.idempotent and op.associative and op.commutative and fact.ops == {op}
    if settled and fact.init is not None and same(value, fact.init):
        return True
    taken = _as_stored(stmt.value, meet[0][1])
    return any(same(taken, e(meet[0][1])) for e in (op.identity, op.right_identity))


def _as_stored(literal: loops.Literal, dtype: str) -> Number:
    """What a constant is once it is written to a tensor: NaN is 0 among integers, and 2 is true."""
    if literal.dtype is None and dtype == "bool":
        return bool(literal.value)
    if literal.dtype in (None, dtype):
        return literal.value
    assert literal.dtype is not None
    value: Number = np.asarray(converter(dtype)(np.dtype(literal.dtype).type(literal.value))).item()
    return value


def simplify_expr(expr: loops.Expr, facts: Facts) -> loops.Expr:
    """Fold constants and apply the laws of functions, from the inside out."""
    match expr:
        case loops.Access():
            return map_args(expr, lambda e: simplify_expr(e, facts))
        case loops.Call():
            known = facts.simplified.get(id(expr))
            if known is None:
                known = facts.simplified[id(expr)] = expr, _by_laws(expr, facts)
            return known[1]
        case _:
            return expr


def _by_laws(expr: loops.Call, facts: Facts) -> loops.Expr:
    """What a call comes to when its arguments have been simplified."""
    call = map_args(expr, lambda e: simplify_expr(e, facts))
    assert isinstance(call, loops.Call)
    for law in LAWS:
        changed = law(call, facts)
        if changed is not None:
            return changed
    return call


def fold(call: loops.Call, facts: Facts) -> loops.Expr | None:
    """A function of constants is a constant."""
    literals = [a for a in call.args if isinstance(a, loops.Literal)]
    if len(literals) < len(call.args) or call.function is DATA:
        return None
    structural = any(a.structural for a in _considered(call.function, literals))
    decided = annihilate(call, facts.types) if structural else None
    if decided is not None:  # 0 times infinity is 0 where the 0 is not stored
        return decided
    dtypes = tuple([dtype_of(a, facts.types) for a in literals])
    result = call.function.types(dtypes)[1]
    value = apply(call.function, tuple(a.value for a in literals), dtypes)
    return loops.Literal(value, None if result.startswith("weak_") else result, structural)


def _considered(function: Function, literals: list[loops.Literal]) -> list[loops.Literal]:
    """The arguments that a function looks at: a choice, not at what it does not choose."""
    if function is PLAIN:
        return []
    if function.name != "where":
        return literals
    cond, chosen = literals[0], literals[1 if literals[0].value else 2]
    return [chosen] if function is INSIDE else [cond, chosen]


MISSING = "missing"  # stands in code for a value beyond the bounds of its tensor


def is_missing(expr: loops.Expr) -> bool:
    """Whether an expression is a value beyond the bounds."""
    return isinstance(expr, loops.Value) and getattr(expr.code, "function", None) == MISSING


def coalesce(call: loops.Call, facts: Facts) -> loops.Expr | None:
    """`coalesce(missing, x) -> x`, and `coalesce(x, y) -> x` once x is known to be there.

    So is `coalesce(x, missing)`: where x is not there, nothing is.
    """
    if call.function.name != "coalesce":
        return None
    first, second = call.args
    if isinstance(first, loops.Call) and first.function.name == "where":
        cond, a, b = first.args
        parts = [simplify_expr(loops.Call(call.function, (x, second)), facts) for x in (a, b)]
        return simplify_expr(loops.Call(first.function, (cond, *parts)), facts)
    if is_missing(first):
        return typed(second, dtype_of(call, facts.types), facts.types)
    if isinstance(first, loops.Literal) or is_missing(second):
        return typed(first, dtype_of(call, facts.types), facts.types)
    return None


def split_distance(call: loops.Call, facts: Facts) -> loops.Expr | None:
    """`abs(i - j) <= c -> i <= j + c and j <= i + c`, which narrows a loop; of indices only."""
    relation, args = call.function.name, call.args
    if relation in ("greater", "greater_equal") and len(args) == 2 and _distance(args[1]):
        relation, args = {"greater": "less", "greater_equal": "less_equal"}[relation], args[::-1]
    match relation, args:
        case "less" | "less_equal", (loops.Call() as distance, bound) if _distance(distance):
            compare = less if relation == "less" else less_equal
            difference = distance.args[0]
            assert isinstance(difference, loops.Call)
            i, j = difference.args
            one = loops.Call(compare, (i, loops.Call(add, (j, bound))))
            other = loops.Call(compare, (j, loops.Call(add, (i, bound))))
            return loops.Call(logical_and, (one, other))
    return None


def _distance(expr: loops.Expr) -> bool:
    """Whether an expression is the distance of two indices."""
    match expr:
        case loops.Call(absolute, (loops.Call(minus, (loops.Index(), loops.Index())),)):
            return absolute.name == "abs" and minus.name == "subtract"
    return False


def collapse(call: loops.Call, facts: Facts) -> loops.Expr | None:
    """A fill value, one of the arguments, a cheaper body: see `normalize.collapse`."""
    return collapsed(call, facts.types)


def keep_guards(call: loops.Call, facts: Facts) -> loops.Expr | None:
    """What is chosen while running says where it is stored: see `normalize.guards`."""
    return guards.keep_guards(call, facts.types, lambda e: simplify_expr(e, facts))


def spread_guards(call: loops.Call, facts: Facts) -> loops.Expr | None:
    """The same for functions with an iteration space."""
    return guards.spread_guards(call, lambda e: simplify_expr(e, facts))


def choose_branch(call: loops.Call, facts: Facts) -> loops.Expr | None:
    """`where(True, x, y) -> x`: see `normalize.branches`."""
    return branches.choose_branch(call, facts.types)


def merge_equals(call: loops.Call, facts: Facts) -> loops.Expr | None:
    """`min(x, x) -> x`."""
    args = call.args
    if not call.function.idempotent or len(args) < 2 or any(a != args[0] for a in args):
        return None
    return typed(args[0], dtype_of(call, facts.types), facts.types)


LAWS = (
    of_itself,
    fold,
    coalesce,
    split_distance,
    spread_guards,
    collapse,
    choose_branch,
    keep_guards,
    merge_equals,
)
