"""What several turns of a loop do to each other when they are made at the same time.

Two turns race if one of them writes what the other reads or writes. A sum that all of them add to
may be taken in another order, if somebody says so.
"""

from __future__ import annotations

from typing import cast

from linnet import loops
from linnet.errors import ScheduleError
from linnet.imp.how import IGNORE_RACES, NO_RACES
from linnet.loops.linear import linear
from linnet.loops.printer import show
from linnet.loops.rewrite import accesses, leaves, walk
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Race:
    """Why the turns of a loop must not be made at the same time."""

    problem: str
    why: str | None = None
    hint: str = "parallelize another loop"


def check_races(program: loops.Program) -> None:
    """Refuse vector loops whose turns race, as far as their strategy does not take care of it."""
    for node in walk(program.body):
        if isinstance(node, loops.Loop) and node.how.race:
            found = race_in(node)
            if found is not None:
                problem = f"`{node.how.command}`: {found.problem}"
                raise ScheduleError(problem, at=node.how.at, why=found.why, hint=found.hint)


def race_in(loop: loops.Loop) -> Race | None:
    """The first race in a loop that its strategy does not take care of."""
    body, race = loop.body, loop.how.race
    if leaves(body):
        return Race(f"the loop over `{loop.index}` may be left by `break`", "turns have an order")
    if any(isinstance(n, loops.Swap) for n in walk(body)):
        return Race("tensors are swapped in it, which has an order")
    names = {loop.index, *_inside_parts(loop)}
    bound = [n for n in walk(body) if isinstance(n, loops.Loop | loops.Let)]
    inside = {n.index if isinstance(n, loops.Loop) else n.name for n in bound}
    declared = {n.tensor for n in walk(body) if isinstance(n, loops.Declare)}
    if declared and race != IGNORE_RACES:
        problem = f"`{min(declared)}` is begun anew in every turn, and there is one of it"
        return Race(problem, hint="begin it outside, or parallelize another loop")
    writes = [n for n in walk(body) if isinstance(n, loops.Assign)]
    for write in writes:
        if not _has_own_place(write.target, names, inside) and (
            found := _shared(write, loop, race)
        ):
            return found
    if race == IGNORE_RACES:
        return None
    targets = {w.target.tensor: w.target.indices for w in writes}
    for access, is_target in accesses(body):
        if targets.get(access.tensor, access.indices) != access.indices:
            what = "writes" if is_target else "reads"
            hint = "parallelize another loop; IgnoreRaces says that no turn meets another"
            return Race(f"`{show(access)}` {what} what other turns may write", hint=hint)
    for write in writes:
        shared = not _has_own_place(write.target, names, inside)
        if shared and any(a.tensor == write.target.tensor for a, t in accesses(body) if not t):
            return Race(f"`{show(write.target)}` is read while other turns may write it")
    return None


def _inside_parts(loop: loops.Loop) -> set[str]:
    """The loops over the parts that a loop counts."""
    inside = (n for n in walk(loop.body) if isinstance(n, loops.Loop))
    number = loops.Index(loop.index)
    return {
        n.index for n in inside if isinstance(n.extent, loops.Part) and n.extent.number == number
    }


def _has_own_place(target: loops.Access, names: set[str], inside: set[str]) -> bool:
    """Whether every turn writes to another place: to one that its index says, and nothing else."""
    for expr in target.indices:
        terms = linear(expr, None).terms
        for own in terms.keys() & {loops.Index(name) for name in names}:
            others = [n for term in terms if term != own for n in walk(cast(loops.Expr, term))]
            changing = {n.name for n in others if isinstance(n, loops.Index | loops.Name)}
            if not changing & (inside | names):
                return True
    return False


def _shared(write: loops.Assign, loop: loops.Loop, race: str) -> Race | None:
    """What is wrong with several turns writing to one place."""
    text = f"`{show(write)}` is a race: turns of the loop over `{loop.index}` write to one place"
    if write.op is None:
        return None if race == IGNORE_RACES else Race(text, "the last one counts")
    if not (write.op.associative and write.op.commutative):
        return Race(text, "what they do to it has an order")
    if race == NO_RACES:
        return Race(text, hint="ParallelReduction takes sums in another order")
    if race == IGNORE_RACES:
        return None
    if any(isinstance(n, loops.Access) for e in write.target.indices for n in walk(e)):
        return Race(text, "which place that is depends on data, so that there are many sums")
    return None
