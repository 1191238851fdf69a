"""Random schedules for random programs: commands that may be legal or not."""

from __future__ import annotations

from hypothesis import strategies as st

from linnet import loops
from linnet.loops.commands import Command, Reorder, Split
from linnet.schedule.nest import loops_of, names_of

SIZES = (1, 2, 3, 5)


@st.composite
def schedules(draw: st.DrawFn, program: loops.Program) -> tuple[Command, ...]:
    """A few commands for a program; most name loops that there are by then."""
    written = loops_of(program)
    names = list(names_of(written, written))
    found: list[Command] = []
    for k in range(draw(st.integers(1, 4))):
        if len(names) > 1 and draw(st.booleans()):
            order = draw(st.permutations(names))
            found.append(Reorder(tuple(order[: draw(st.integers(2, min(4, len(names))))])))
        elif names:
            index = draw(st.sampled_from(names))
            outer, inner = f"s{k}", f"t{k}"
            size, up = draw(st.sampled_from(SIZES)), draw(st.booleans())
            found.append(Split(index, outer, inner, size, up))
            at = names.index(index)
            names[at : at + 1] = [outer, inner]
    return tuple(found)
