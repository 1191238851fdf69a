"""`bound(k, MaxExact, 128)`: what is known of a range is said, checked by every call, and used.

for k in range(n):             for k in ln.bound(range(n), "MaxExact", 128):
    …                              …
"""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.loops.bases import coordinates, unbound
from linnet.loops.bounds import BOUNDS, DIVISIBLE, MAX_EXACT, MIN_CONSTRAINT, MIN_EXACT
from linnet.loops.commands import Bound
from linnet.loops.printer import show_range
from linnet.loops.rewrite import is_left, point_of
from linnet.scheduling.nest import Nest

FARTHEST = 2**62
"""Numbers within this can be added to an index."""


def bound(nest: Nest, command: Bound) -> None:
    """Say what is known of a range."""
    found, value, kind = nest.named(command.index), command.value, command.kind
    if kind not in BOUNDS:
        nest.refuse(f"`{kind}` is no kind of bound", hint=f"one of {', '.join(BOUNDS)}")
    least = 1 if kind == DIVISIBLE else -FARTHEST
    if type(value) is not int or not least <= value < FARTHEST:
        hint = f"an integer from {least} on" if least > 0 else "an integer"
        nest.refuse(f"{value!r} is no number that a range may have to do with", hint=hint)
    extents = [loop.extent for loop in found]
    along = extents[0] if isinstance(extents[0], loops.Along) else None
    if len(found) > 1 and (along is None or coordinates(along.of) < len(found)):
        nest.refuse(
            f"`{command.index}` are {len(found)} loops that have been collapsed",
            hint="bound each of them before, or the parts into which they are split",
        )
    whole = extents[0].of if isinstance(extents[0], loops.Along) else extents[0]
    assert whole is not None
    counted = not isinstance(unbound(whole), loops.Extent)
    if counted and kind in (MIN_EXACT, MIN_CONSTRAINT) and value != 0:
        hint = "say where it ends, by MaxExact or MaxConstraint"
        nest.refuse(f"`{show_range(whole)}` is counted from 0", hint=hint)
    if kind == MAX_EXACT and counted and value < 0:
        nest.refuse(f"`{show_range(whole)}` has no fewer than 0 indices", hint="an end from 0 on")
    if point_of(whole) is not None or is_left(found[0]):
        hint = "bound a loop that goes through all of its range"
        nest.refuse("a loop over one index, or one that may be left, is not bounded", hint=hint)
    said = loops.Bounded(whole, kind, value, str(command), command.at)
    stmt: loops.Stmt = found[-1].body
    for loop in reversed(found):
        extent = replace(loop.extent, of=said) if isinstance(loop.extent, loops.Along) else said
        stmt = replace(loop, extent=extent, body=stmt)
    nest.replaced(found[0], stmt)
    if command.bounded:
        nest.introduce(command.bounded, *nest.forget(command.index))
