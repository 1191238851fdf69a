"""What may be done to loops without changing what they mean: the only place that says so.

May a statement leave a loop, may it be done though nobody knows yet whether it is wanted, and when
does a loop run at all?
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import TypeAlias

from linnet import imp
from linnet.imp.effects import Effects, Summary
from linnet.imp.fold import fold
from linnet.imp.rewrite import rewrite, statements, substitute, walk
from linnet.names import Names
from linnet.records import dataclass

Loop: TypeAlias = imp.For | imp.While
_TOTAL = frozenset({"+", "-", "*", "min", "max", "<", "<=", ">", ">="})
_PLAIN = (imp.Let, imp.Assign, imp.Accumulate, imp.For, imp.While, imp.If, imp.Comment)


@dataclass(frozen=True, slots=True)
class Scope:
    """What surrounds a loop: the block that it stands in, what is known of all code.

    `before` are the statements that come before it by now.
    """

    around: imp.Block
    before: list[imp.Stmt]
    effects: Effects
    names: Names

    def declares_once(self, var: imp.Var) -> bool:
        """Whether the variable may be declared in the block itself."""
        stmts = statements(self.around)
        return sum(isinstance(s, imp.Let | imp.For) and s.var == var for s in stmts) == 1


def runs(loop: Loop) -> imp.Expr:
    """That a loop runs at all, as it is before the loop."""
    if isinstance(loop, imp.While):
        return loop.cond
    return imp.widen(loop.start) < imp.widen(loop.stop)


def each_time(loop: Loop) -> tuple[imp.Node, ...]:
    """What is done for each iteration besides the body: a variable is set, or a test made."""
    return (imp.Let(loop.var, loop.start),) if isinstance(loop, imp.For) else (loop.cond,)


def may_leave(stmts: Iterable[imp.Stmt]) -> bool:
    """Whether one of these statements may end a loop, or the kernel."""
    return any(isinstance(s, imp.Return | imp.Break) for s in statements(imp.Block((*stmts,))))


def is_total(e: imp.Expr) -> bool:
    """Whether a number is computed in no time, cannot fail, and needs no memory: at any place."""
    return e.dtype == imp.INT and all(map(_is_total, walk(e)))


def _is_total(node: imp.Node) -> bool:
    match node:
        case imp.Const(_, dtype) | imp.Var(_, dtype):
            return dtype == imp.INT
        case imp.Cast(x, dtype):
            return x.dtype in (imp.BOOL, "int32") and dtype == imp.INT
        case imp.Binary("div" | "rem", _, imp.Const(int(by))):
            return by > 0
        case imp.Binary(op):
            return op in _TOTAL
    return False


def is_fixed(e: imp.Expr, loop: Loop, effects: Effects) -> bool:
    """Whether an expression has the same value in all iterations, and behind the loop."""
    known, inside = effects.of(e), effects.of(loop)
    same = known.reads.isdisjoint(inside.assigns) and known.loads.isdisjoint(inside.changes)
    return same and not known.changes


def is_fixed_among(e: imp.Expr, others: Iterable[imp.Node], effects: Effects) -> bool:
    """Whether nothing of this changes what an expression reads; it loads nothing."""
    reads = effects.of(e).reads
    return all(reads.isdisjoint(effects.of(other).assigns) for other in others)


def is_alone(var: imp.Var, others: Iterable[imp.Node], effects: Effects) -> bool:
    """Whether nothing of this reads a variable or sets it."""
    found = (effects.of(other) for other in others)
    return not any(var.name in s.reads | s.assigns for s in found)


def is_settled_at_once(
    stmt: imp.If, ready: imp.Var, before: list[imp.Node], after: list[imp.Node], effects: Effects
) -> bool:
    """Whether only the first iteration does this, up to the end of which nobody would notice.

    A statement that sets `ready`, and then does nothing any more; what comes before and after it in
    an iteration.
    """
    here = effects.of(stmt)
    own = {s.var.name for s in statements(stmt.then) if isinstance(s, imp.Let | imp.For)}
    if here.assigns - own != {ready.name} or may_leave((stmt,)):
        return False
    for other in map(effects.of, (*before, *after)):
        if not (here.reads - own).isdisjoint(other.assigns):
            return False
        if not here.loads.isdisjoint(other.changes):
            return False
    return not any(_meets(here, effects.of(other)) for other in before)


def is_done(stmt: imp.Stmt, before: list[imp.Stmt], effects: Effects) -> bool:
    """Whether the same was done before, and would do nothing now: room, or what prepares it."""
    if not isinstance(stmt, imp.Grow | imp.If) or stmt not in before:
        return False
    here = effects.of(stmt)
    since = map(effects.of, before[before.index(stmt) + 1 :])
    return all(
        here.reads.isdisjoint(s.assigns)
        and here.loads.isdisjoint(s.changes)
        and here.changes.isdisjoint(s.swaps)
        for s in since
    )


def _meets(here: Summary, other: Summary) -> bool:
    """Whether one piece of code sees or changes what the other changes."""
    return not (
        here.changes.isdisjoint(other.loads | other.changes)
        and here.assigns.isdisjoint(other.reads | other.assigns)
        and other.changes.isdisjoint(here.loads)
    )


def same_each_time(loop: Loop, effects: Effects) -> list[int]:
    """The numbers of statements that do the same in every iteration, if only the first does them.

    They follow from each other and from what the loop leaves alone, and write to no memory. What
    they set is set by them alone, and nobody reads it before.
    """
    stmts, refused = loop.body.stmts, set[int]()
    while True:
        found = [*_repeated(loop, refused, effects)]
        kept = [k for k in range(len(stmts)) if k not in found]
        bad = {k for k in found if _is_seen(k, kept, loop, effects)}
        if not bad:
            return found
        refused |= bad


def _repeated(loop: Loop, refused: set[int], effects: Effects) -> Iterator[int]:
    """The statements that read what never changes, or was given by those before them."""
    inside, given = effects.of(loop), set[str]()
    for k, stmt in enumerate(loop.body.stmts):
        if may_leave((stmt,)):
            return
        if k not in refused and _is_repeated(stmt, given, inside, effects):
            given |= effects.of(stmt).assigns
            yield k


def _is_repeated(stmt: imp.Stmt, given: set[str], inside: Summary, effects: Effects) -> bool:
    here, below = effects.of(stmt), [*statements(imp.Block((stmt,)))]
    if here.changes or not here.loads.isdisjoint(inside.changes):
        return False
    if not all(isinstance(s, _PLAIN) for s in below):
        return False
    new = {s.var.name for s in below if isinstance(s, imp.Let | imp.For)}
    if isinstance(stmt, imp.Assign):
        new.add(stmt.var.name)
    elif not (here.assigns - new).issubset(given):  # of the iteration before, or only if something
        return False
    before = here.reads - (new if not isinstance(stmt, imp.Let | imp.Assign) else set())
    return before.isdisjoint(inside.assigns - given)


def _is_seen(k: int, kept: list[int], loop: Loop, effects: Effects) -> bool:
    """Whether what stays sets what a statement sets, or reads it before."""
    sets = effects.of(loop.body.stmts[k]).assigns
    stays = [(n, effects.of(loop.body.stmts[n])) for n in kept]
    first = [effects.of(node) for node in each_time(loop)]
    set_again = any(not sets.isdisjoint(s.assigns) for s in (*first, *(s for _, s in stays)))
    read = any(not sets.isdisjoint(s.reads) for s in (*first, *(s for n, s in stays if n < k)))
    return set_again or read


# -- accumulators ----------------------------------------------------------------------------------

NEUTRAL = {"+": -0.0, "*": 1.0, "max": -inf, "min": inf}
"""What changes no float, not even the sign of a zero."""


def accumulated(
    block: imp.Block, ops: Collection[str], also: tuple[type, ...]
) -> dict[imp.Var, str]:
    """The floats that statements add to by one of these operators each, and do not look at.

    Nothing, if they do more than that, than computing what they add, and what is `also` done.
    """
    found: dict[imp.Var, str] = {}
    for stmt in block.stmts:
        match stmt:
            case imp.Accumulate(var, op) if op in ops and var.dtype.startswith("float"):
                if found.setdefault(var, op) != op:
                    return {}
            case imp.Let() | imp.Comment():
                pass
            case _ if not isinstance(stmt, also):
                return {}
    read = any(isinstance(node, imp.Var) and node in found for node in walk(block))
    return {} if read else found


# -- ranges that follow one another ----------------------------------------------------------------


def all_of(path: Sequence[imp.For]) -> imp.For | None:
    """Of loops in one another: the last, as one loop through all that it goes through in these.

    There is one if each goes through fibers that follow one another, which levels say of them.
    """
    inner, lets = path[-1], _lets(path[:-1])
    span = inner.over.spans[0] if len(inner.over.spans) == 1 else None
    if span is None or not span.tensor or span.part:
        return None
    begins = substitute(inner.start, lets), substitute(span.first, lets)
    ends = substitute(inner.stop, lets), substitute(span.last, lets)
    for loop in reversed(path[:-1]):
        following = (at(e, loop.var, loop.var + 1) for e in begins)
        if not loop.over.ordered or (*following,) != tuple(at(e, loop.var, loop.var) for e in ends):
            return None
        start, first = begins
        begins = at(start, loop.var, loop.start), at(first, loop.var, loop.start)
        ends = at(start, loop.var, loop.stop), at(first, loop.var, loop.stop)
    (start, first), (stop, last) = begins, ends
    over = replace(inner.over, spans=(replace(span, first=first, last=last),), ordered=True)
    return replace(inner, start=start, stop=stop, over=over)


def at(e: imp.Expr, var: imp.Var, value: imp.Expr) -> imp.Expr:
    """The expression for another value of a variable."""
    return rewrite(substitute(e, {var.name: value}), _folded)


def _folded(node: imp.Node) -> imp.Node | None:
    return fold(node) if isinstance(node, imp.Binary | imp.Cast) else None


def _lets(loops: Iterable[imp.For]) -> dict[str, imp.Expr]:
    """What variables of their bodies stand for, without each other; not those that are moved on."""
    values: dict[str, imp.Expr] = {}
    for loop in loops:
        moved = {s.var for s in statements(loop.body) if isinstance(s, imp.Assign | imp.Accumulate)}
        for stmt in loop.body.stmts:
            if isinstance(stmt, imp.Let) and stmt.var not in moved:
                values[stmt.var.name] = substitute(stmt.value, values)
    return values


# -- places ----------------------------------------------------------------------------------------


def is_next(index: imp.Expr, var: imp.Var) -> bool:
    """Whether elements follow one another, so that each has a turn of a loop for itself."""
    match index:
        case imp.Binary("+", a, b):
            first = is_next(a, var) and var not in walk(b)
            return first or (is_next(b, var) and var not in walk(a))
        case imp.Binary("-", a, b):
            return is_next(a, var) and var not in walk(b)
        case _:
            return index == var
