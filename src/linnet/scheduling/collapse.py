"""`collapse(i, j, f)`: one name for two loops of which one is directly inside the other.

Where the inner one goes through positions, there are as many of them in every turn of the outer one
as its fiber has. Together they are the positions of the level below the outer coordinates:

    for i in range(A.shape[0]):             for i, j in ln.stored(A[:, :]):
        for j in ln.stored(A[i, :]):            y[i] += A[i, j] * x[j]
            y[i] += A[i, j] * x[j]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.loops.bases import gone_through, positions_in
from linnet.loops.commands import Collapse
from linnet.loops.printer import show, show_range
from linnet.loops.rewrite import accesses, walk
from linnet.normalize.leading import check_format
from linnet.scheduling.nest import Nest
from linnet.scheduling.positions import (
    check_given,
    goes_through_positions,
    lead,
    positions_of,
    within_of,
)


def collapse(nest: Nest, command: Collapse) -> None:
    """Let one name stand for loops that are directly inside one another."""
    outer, inner = nest.named(command.outer), nest.named(command.inner)
    if outer[-1].body != inner[0]:
        what = show(outer[-1].body).splitlines()[0]
        hint = "collapse loops of which one is directly inside the other, or split each by itself"
        nest.refuse(f"directly inside the loop over `{command.outer}` is `{what}`", hint=hint)
    if goes_through_positions(outer[0]):
        hint = "collapse coordinates, and then go through the positions of both by `pos`"
        nest.refuse(f"`{command.outer}` goes through positions", hint=hint)
    if goes_through_positions(inner[0]):
        _join(nest, command, outer, inner)
    indices = nest.forget(command.outer) + nest.forget(command.inner)
    nest.introduce(command.fused, *indices)


def _join(
    nest: Nest, command: Collapse, outer: Sequence[loops.Loop], inner: Sequence[loops.Loop]
) -> None:
    """Go through the positions of all fibers that the outer loops come to, one after the other."""
    before, modes = _below(nest, command, outer, inner)
    tensor = before.tensor
    reads = (a for a, is_target in accesses(nest.program.body) if not is_target)
    access = next(a for a in reads if a.tensor == tensor)
    check_format(nest.refuse, tensor, nest.formats[tensor], access, modes)
    given = tuple([(m, i) for m, i in before.given if m not in modes])
    check_given(nest, command.fused, outer[0], [i for _, i in given])
    within = within_of(nest, command.fused, outer, tensor, modes[: len(outer)])
    positions = positions_of(nest, tensor, modes, given, within)
    flat = inner[0].how if inner[0].how.flat else None
    nest.led[outer[0].index] = nest.led.get(inner[0].index)
    nest.replaced(outer[0], lead((*outer, *inner), positions, flat))


def _below(
    nest: Nest, command: Collapse, outer: Sequence[loops.Loop], inner: Sequence[loops.Loop]
) -> tuple[loops.Positions, tuple[int, ...]]:
    """What the inner loops go through, and its modes after those of the outer ones."""
    assert inner[0].extent is not None
    through = gone_through(inner[0].extent)
    if not isinstance(through, loops.Positions) or through.within is not None:
        nest.refuse(
            f"`{command.inner}` goes through `{show_range(through)}`",
            why="only positions of whole fibers, of which nothing is said, follow one another",
            hint="collapse coordinates, and then go through the positions of both by `pos`",
        )
    if any(isinstance(n, loops.Place) and positions_in(n.of) == through for n in walk(inner[-1])):
        nest.refuse(
            "a workspace has an element for each of these positions",
            hint="`collapse` before `precompute`",
        )
    mode_of = {place: mode for mode, place in through.given}
    modes = [mode_of.get(loops.Index(loop.index)) for loop in outer]
    for loop, mode in zip(outer, modes, strict=True):
        if mode is None:
            nest.refuse(
                f"`{nest.as_written(loops.Index(loop.index))}` is no index of"
                f" `{through.tensor}`, whose positions are the same in every turn",
                why="what is collapsed is the positions of all fibers that the outer loop comes to",
                hint=f"collapse loops over coordinates of `{through.tensor}`",
            )
    found = tuple([mode for mode in modes if mode is not None])
    return replace(through, within=None), (*found, *through.modes)
