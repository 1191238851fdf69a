"""Loops of which a schedule says how they are run: what can be run so, and who may change them.

Vectors do one statement for several iterations at a time. So iterations must not need each other,
except that they may all add to one sum, and none may end the loop or the kernel.
"""

from __future__ import annotations

from collections import Counter

from linnet import imp
from linnet.errors import ScheduleError
from linnet.imp.how import IGNORE_RACES, How
from linnet.imp.rewrite import statements, walk


def prescribed(kernel: imp.Kernel) -> Counter[How]:
    """How loops of a kernel are to be run, and how many of them."""
    found = (s.how for s in statements(kernel.body) if isinstance(s, imp.For))
    return Counter(how for how in found if not how.is_plain)


def obeys(changed: imp.Kernel, before: imp.Kernel) -> bool:
    """Whether loops are still run as they are to be, once a kernel has been changed.

    Of one that is unrolled there must be no version beside it that is not.
    """
    asked = prescribed(before)
    if not asked <= prescribed(changed):
        return False
    loops = (s for s in statements(changed.body) if isinstance(s, imp.For))
    if any(loop.how.race and why_no_vectors(loop) is not None for loop in loops):
        return False
    unrolled = any(how.unroll > 1 for how in asked)
    return not unrolled or _loops_in(changed) == _loops_in(before)


def _loops_in(kernel: imp.Kernel) -> int:
    return sum(isinstance(s, imp.For | imp.While) for s in statements(kernel.body))


def check_vectors(kernel: imp.Kernel) -> None:
    """Refuse vectors where there can be none."""
    for stmt in statements(kernel.body):
        if isinstance(stmt, imp.For) and stmt.how.race:
            why = why_no_vectors(stmt)
            if why is not None:
                raise ScheduleError(
                    f"`{stmt.how.command}`: the loop over `{stmt.var.name}` cannot run in vectors",
                    at=stmt.how.at,
                    why=why,
                    hint="parallelize a loop inside, or one that writes elements at known places",
                )


def why_no_vectors(loop: imp.For) -> str | None:
    """Why iterations of a loop cannot be run several at a time; None if they can."""
    inside = list(statements(loop.body))
    if any(isinstance(s, imp.For) and s.how == loop.how for s in inside):
        return None  # a loop over chunks: vectors are made of the loops over what is in them
    own = {s.var for s in inside if isinstance(s, imp.Let)}
    for s in inside:
        match s:
            case imp.For() | imp.While():
                return "there is a loop inside it"
            case imp.Assign(var) if var not in own:
                return f"`{var.name}` goes from one iteration to the next, in order"
            case imp.Return() | imp.Break():
                return "an iteration may end it"
            case imp.Grow() | imp.SetLength() | imp.Swap() | imp.Spawn() | imp.Join() | imp.Do():
                return "what it writes is stored one after the other, in memory that may grow"
    return None


def has_own_places(loop: imp.For) -> bool:
    """Whether every turn writes to places of its own, if a schedule is right about races."""
    if any(isinstance(s, imp.For | imp.While) for s in statements(loop.body)):
        return False  # vectors are made of the loops inside
    if loop.how.race == IGNORE_RACES:
        return True
    own = {loop.var.name}
    for s in statements(loop.body):
        match s:
            case imp.Let(var, value) if _names(value) & own:
                own.add(var.name)
            case imp.Store(_, index) if not _names(index) & own:
                return False
            case imp.Fill():
                return False
    return True


def may_go_on(loop: imp.For) -> bool:
    """Whether vectors of a loop may go on from one range to the next that follows it.

    What a schedule says of races holds within a range: two may write to one place, unless that is
    the position.
    """
    if not loop.how.race:
        return True
    inside = list(statements(loop.body))
    stores = [s for s in inside if isinstance(s, imp.Store)]
    return all(s.index == loop.var for s in stores) and not any(
        isinstance(s, imp.Fill) for s in inside
    )


def _names(value: imp.Expr) -> set[str]:
    return {n.name for n in walk(value) if isinstance(n, imp.Var)}


def sums_of(loop: imp.For) -> dict[str, list[imp.Var]]:
    """What all iterations of a loop add to, by operator."""
    inside = list(statements(loop.body))
    own = {s.var for s in inside if isinstance(s, imp.Let)}
    found: dict[str, list[imp.Var]] = {}
    for s in inside:
        if isinstance(s, imp.Accumulate) and s.var not in own:
            names = found.setdefault(s.op, [])
            if s.var not in names:
                names.append(s.var)
    return found
