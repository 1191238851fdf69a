"""Random schedules for random programs: commands that may be legal or not."""

from __future__ import annotations

from hypothesis import strategies as st

from linnet import loops
from linnet.loops.commands import (
    Bound,
    Collapse,
    Command,
    CPUVector,
    Divisible,
    MaxConstraint,
    MinConstraint,
    NoRaces,
    Parallelize,
    ParallelReduction,
    Pos,
    Precompute,
    Reorder,
    Split,
    Unroll,
)
from linnet.loops.printer import show
from linnet.loops.rewrite import accesses, walk
from linnet.normalize.scopes import name_scopes
from linnet.scheduling.nest import loops_of, names_of

SIZES = (1, 2, 3, 5)
KINDS = (Split, Split, Reorder, Collapse, Pos, Unroll, Bound, Precompute)
# bounds that hold of all ranges of small programs
HOLD = ((MinConstraint, -1000), (MaxConstraint, 1000), (Divisible, 1))


@st.composite
def schedules(draw: st.DrawFn, program: loops.Program) -> tuple[Command, ...]:
    """A few commands for a program; most name loops that there are by then."""
    scoped = name_scopes(program)
    names = list(names_of(loops_of(program), loops_of(scoped)))
    reads = [a for a, is_target in accesses(scoped.body) if not is_target and a.indices]
    values = [n.value for n in walk(program.body) if isinstance(n, loops.Assign)]
    nodes = [n for value in values for n in walk(value)]
    parts = [show(n) for n in nodes if isinstance(n, loops.Access | loops.Call)]
    found: list[Command] = []
    for k in range(draw(st.integers(1, 5))):
        if not names:
            break
        kind = draw(st.sampled_from(KINDS))
        at = draw(st.integers(0, len(names) - 1))
        new: list[str] = []
        if kind is Split:
            new = [f"s{k}", f"t{k}"]
            size, up = draw(st.sampled_from(SIZES)), draw(st.booleans())
            found.append(Split(names[at], *new, size, up))
        elif kind is Pos and reads:
            new = [f"p{k}"]
            found.append(Pos(names[at], *new, draw(st.sampled_from(reads))))
        elif kind is Collapse and at + 1 < len(names):
            new = [f"f{k}"]
            found.append(Collapse(names[at], names.pop(at + 1), *new))
        elif kind is Bound:
            said, value = draw(st.sampled_from(HOLD))
            new = draw(st.sampled_from(([], [f"b{k}"])))
            found.append(Bound(names[at], "".join(new), value, said))
        elif kind is Precompute and parts:
            index = names[at]
            early = draw(st.sampled_from((index, f"e{k}")))
            found.append(Precompute(draw(st.sampled_from(parts)), (index,), (early,), f"w{k}"))
            if early == index:
                new = [f"{index}:1", f"{index}:2"]
            else:
                names.insert(at, early)
        elif kind is Unroll:
            found.append(Unroll(names[at], draw(st.sampled_from((2, 3, 4)))))
        elif len(names) > 1:
            order = draw(st.permutations(names))
            found.append(Reorder(tuple(order[: draw(st.integers(2, min(4, len(names))))])))
        if new:
            names[at : at + 1] = new
    if names and draw(st.integers(0, 3)) == 0:
        race = draw(st.sampled_from((NoRaces, ParallelReduction)))  # others are promises
        found.append(Parallelize(draw(st.sampled_from(names)), CPUVector, race))
    return tuple(found)
