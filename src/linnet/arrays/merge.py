"""Two results of one traversal: the same loops under other names."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from linnet import loops
from linnet.arrays.attempt import Attempt, accesses_in
from linnet.arrays.nest import Scalar
from linnet.loops.rewrite import substitute_expr


def aligned(attempt: Attempt, first: Attempt) -> Attempt | None:
    """The attempt with the names of the other's loops, if they run over the same tensor alike."""
    if len(attempt.order) != len(first.order) or attempt.against or first.against:
        return None
    if attempt.counted(("s", "c")) is not None or first.counted(("s", "c")) is not None:
        return None  # what is stored is visited in one, and everything in the other
    if any(scalar.row is not None for scalar in attempt.scalars):
        return None
    names = dict(zip(attempt.order, first.order, strict=True))
    mine = {substituted(a, names) for a in accesses_in(attempt.value)}
    theirs = set(accesses_in(first.value))
    common = [a for a in theirs if a in mine and _binds(a, first.order)]
    return renamed(attempt, names, first) if common else None


def _binds(access: loops.Access, order: list[str]) -> bool:
    """Whether an access says how far all loops run."""
    return {i.name for i in access.indices if isinstance(i, loops.Index)} == set(order)


def substituted(expr: loops.Expr, names: dict[str, str]) -> loops.Expr:
    """An expression under other names of indices."""
    return substitute_expr(expr, {a: loops.Index(b) for a, b in names.items()})


def renamed(attempt: Attempt, names: dict[str, str], first: Attempt) -> Attempt:
    """The attempt with other names for its loops, and with none of the other's for its scalars."""
    taken = first.pull.fresh
    scalars = [_scalar(s, names, attempt, taken.fresh) for s in attempt.scalars]
    temps = {a.temp: b.temp for a, b in zip(attempt.scalars, scalars, strict=True)}
    made = copy(attempt)
    made.value = _retold(substituted(attempt.value, names), temps)
    made.free = tuple(names[i] for i in attempt.free)
    made.reduced = [names[i] for i in attempt.reduced]
    made.order = list(first.order)
    made.scalars = scalars
    made.pull = copy(attempt.pull)
    made.pull.bound = {names.get(i, i) for i in attempt.pull.bound}
    made.pull.extents = {names.get(i, i): n for i, n in attempt.pull.extents.items()}
    return made


def _scalar(scalar: Scalar, names: dict[str, str], attempt: Attempt, fresh: object) -> Scalar:
    """A scalar inside other loops; those that it loops over get names of their own."""
    for index in scalar.indices:
        names.setdefault(index, fresh(index))  # type: ignore[operator]
    below = tuple(_scalar(s, names, attempt, fresh) for s in scalar.scalars)
    temps = {a.temp: b.temp for a, b in zip(scalar.scalars, below, strict=True)}
    return replace(
        scalar,
        temp=fresh(scalar.temp),  # type: ignore[operator]
        outer=frozenset(names[i] for i in scalar.outer),
        indices=tuple(names[i] for i in scalar.indices),
        value=_retold(substituted(scalar.value, names), temps),
        scalars=below,
    )


def _retold(expr: loops.Expr, temps: dict[str, str]) -> loops.Expr:
    """An expression that reads other scalars."""
    match expr:
        case loops.Access(str(tensor), ()) if tensor in temps:
            return loops.Access(temps[tensor], ())
        case loops.Call(function, args):
            return loops.Call(function, tuple(_retold(a, temps) for a in args))
        case _:
            return expr
