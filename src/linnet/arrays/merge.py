"""Two results of one traversal: the same loops under other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace

from linnet import loops
from linnet.arrays.attempt import Attempt, accesses_in
from linnet.arrays.nest import At, Scalar, all_scalars
from linnet.loops.rewrite import substitute_expr
from linnet.names import Names


def aligned(attempt: Attempt, group: Sequence[Attempt]) -> Attempt | None:
    """The attempt with the names of the others' loops, if they run over the same tensor alike."""
    first = group[0]
    if len(attempt.order) != len(first.order) or attempt.against or first.against:
        return None
    every = (attempt, *group)
    counted = [each.counted(("s", "c")) is not None for each in every]
    if any(counted) and not all(n or a.passes_over() for n, a in zip(counted, every, strict=True)):
        return None  # what is stored is visited in one, and everything in the other
    if any(scalar.row is not None for scalar in attempt.scalars):
        return None
    names = dict(zip(attempt.order, first.order, strict=True))
    common = _walked(attempt, names) & _walked(first, {i: i for i in first.order})
    return renamed(attempt, names, group) if common else None


def _walked(attempt: Attempt, names: Mapping[str, str]) -> set[loops.Expr]:
    """The accesses that say how far all loops run; what else a scalar loops over has no name."""
    own = {i: "" for s in all_scalars(attempt.scalars) for i in s.indices}
    values = [attempt.value, *(s.value for s in all_scalars(attempt.scalars))]
    return {
        substituted(access, {**own, **names})
        for value in values
        for access in accesses_in(value)
        if {i.name for i in access.indices if isinstance(i, loops.Index)} >= set(names)
    }


def substituted(expr: loops.Expr, names: Mapping[str, str]) -> loops.Expr:
    """An expression under other names of indices."""
    return substitute_expr(expr, {a: loops.Index(b) for a, b in names.items()})


def renamed(attempt: Attempt, names: dict[str, str], group: Sequence[Attempt]) -> Attempt:
    """The attempt with other names for its loops, and its scalars those of the others, or apart."""
    known = {_place(s, s.at, attempt): s for a in group for s in all_scalars(a.scalars)}
    scalars = [_scalar(s, names, attempt, group[0].pull.fresh, known) for s in attempt.scalars]
    temps = {a.temp: b.temp for a, b in zip(attempt.scalars, scalars, strict=True)}
    made = copy(attempt)
    made.value = _retold(substituted(attempt.value, names), temps)
    made.free = tuple(names[i] for i in attempt.free)
    made.reduced = [names[i] for i in attempt.reduced]
    made.order = list(group[0].order)
    made.scalars = scalars
    made.pull = copy(attempt.pull)
    made.pull.bound = {names.get(i, i) for i in attempt.pull.bound}
    made.pull.extents = {names.get(i, i): n for i, n in attempt.pull.extents.items()}
    inner = {i for s in all_scalars(scalars) for i in s.indices}  # some are loops of the others
    for pull in (other.pull for other in group):
        made.pull.bound |= pull.bound & inner
        made.pull.extents |= {i: n for i, n in pull.extents.items() if i in inner}
    return made


def _scalar(
    scalar: Scalar,
    names: dict[str, str],
    attempt: Attempt,
    fresh: Names,
    known: Mapping[object, Scalar],
) -> Scalar:
    """A scalar inside other loops; those that it loops over get names of their own."""
    at = tuple(replace(a, name=names.get(a.name, a.name)) if a.name else a for a in scalar.at)
    same = known.get(_place(scalar, at, attempt))
    if same is not None:
        return same
    for index in scalar.indices:
        names.setdefault(index, fresh.fresh(index))
    below = tuple(_scalar(s, names, attempt, fresh, known) for s in scalar.scalars)
    temps = {a.temp: b.temp for a, b in zip(scalar.scalars, below, strict=True)}
    return replace(
        scalar,
        temp=fresh.fresh(scalar.temp),
        at=at,
        outer=frozenset(names[i] for i in scalar.outer),
        indices=tuple(names[i] for i in scalar.indices),
        value=_retold(substituted(scalar.value, names), temps),
        scalars=below,
    )


def _place(scalar: Scalar, at: tuple[At, ...], attempt: Attempt) -> object:
    """What tells a scalar from others that are computed in the same loops."""
    return (id(attempt.known.twins[id(scalar.node)][0]), at, scalar.row is None)


def _retold(expr: loops.Expr, temps: dict[str, str]) -> loops.Expr:
    """An expression that reads other scalars."""
    match expr:
        case loops.Access(str(tensor), ()) if tensor in temps:
            return loops.Access(temps[tensor], ())
        case loops.Call(function, args):
            return loops.Call(function, tuple(_retold(a, temps) for a in args))
        case _:
            return expr
