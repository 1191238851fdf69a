"""`collapse(i, j, f)` and `pos(f, p, A[i, j])`: loops through what a tensor stores.

    for i in range(n):                 for i, j in ln.stored(A[:, :]):
        for j in range(m):                 y[i] += A[i, j] * x[j]
            y[i] += A[i, j] * x[j]

A tensor may lead only where nothing is to be done at coordinates that it does not store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.formats.format import Format
from linnet.imp.how import How
from linnet.loops.bases import coordinates, positions_in
from linnet.loops.commands import Collapse, Pos
from linnet.loops.nodes import base_of
from linnet.loops.printer import show
from linnet.loops.rewrite import accesses, walk
from linnet.normalize.leading import above, check_format, check_within, left_without
from linnet.scheduling.nest import Nest


def collapse(nest: Nest, command: Collapse) -> None:
    """Let one name stand for loops that are directly inside one another."""
    outer, inner = nest.named(command.outer), nest.named(command.inner)
    if outer[-1].body != inner[0]:
        what = show(outer[-1].body).splitlines()[0]
        nest.refuse(f"directly inside the loop over `{command.outer}` is `{what}`")
    if goes_through_positions(outer[0]):
        nest.refuse(f"`{command.outer}` goes through positions", hint="collapse first, then `pos`")
    if goes_through_positions(inner[0]):
        nest.refuse(f"`{command.inner}` goes through positions", hint="collapse first, then `pos`")
    indices = nest.forget(command.outer) + nest.forget(command.inner)
    nest.introduce(command.fused, *indices)


def pos(nest: Nest, command: Pos) -> None:
    """Let an operand lead: the loops go through the positions of what it stores."""
    found = nest.named(command.index)
    access = _only_access(nest, found[-1].body, command.access)
    indices = [loop.index for loop in found]
    tensor, format = str(access.tensor), nest.formats.get(str(access.tensor))
    if any(map(goes_through_positions, found)):
        nest.refuse(f"`{command.index}` goes through positions already")
    text, inside = show(access) if access.indices else tensor, found[-1].body
    reads = {a for a, is_target in accesses(inside) if not is_target}
    if format is None or access not in reads:
        nest.refuse(f"`{text}` is not read in the loop over `{command.index}`")
    if tensor in {str(a.tensor) for a, is_target in accesses(nest.program.body) if is_target}:
        nest.refuse(f"`{tensor}` is written, and has no positions before it is complete")
    modes = tuple([_mode(nest, access, index) for index in indices])
    check_format(nest.refuse, tensor, format, access, modes)
    _check_not_full(nest, tensor, format, modes[-1])
    if sum(1 for a in reads if a.tensor == tensor and a != access):
        nest.refuse(f"`{tensor}` is read at several places, and one of them cannot lead")
    given = tuple((m, i) for m, i in enumerate(access.indices) if m in above(format, modes))
    _check_given(nest, command.index, found[0], [i for _, i in given])
    within = _within(nest, command.index, found, tensor, modes)
    positions = loops.Positions(tensor, modes, given, within)
    check_within(nest.refuse, positions, nest.equal)
    through, stmt = _again(positions), inside
    for depth, loop in reversed(list(enumerate(found))):
        outer = tuple(map(loops.Index, indices[:depth]))
        extent: loops.Range = through if len(found) == 1 else loops.Along(through, outer)
        stmt = replace(loop, extent=extent, body=stmt, how=_how(loop, command, len(found)))
    left = left_without(nest.program, nest.formats, access, inside)
    hint = f"split coordinates instead of the positions of `{tensor}`, or go on by `coord`"
    nest.led[indices[0]] = None if left is None else nest.refusal(left, hint=hint)
    nest.introduce(command.position, *nest.forget(command.index))
    nest.replaced(found[0], stmt)


def _again(positions: loops.Positions) -> loops.Range:
    """The positions within coordinates from the same positions on: a part of these."""
    within = positions.within
    before = positions_in(within) if isinstance(within, loops.Coordinates) else None
    if before is None or replace(positions, within=before.within) != before:
        return positions
    assert isinstance(within, loops.Coordinates)
    return within.of


def check_led(nest: Nest) -> None:
    """Refuse loops through positions where something is to be done at other coordinates, too."""
    refused = [refusal for refusal in nest.led.values() if refusal is not None]
    if not refused:
        return
    for loop in (n for n in walk(nest.program.body) if isinstance(n, loops.Loop)):
        if goes_through_positions(loop) and nest.led.get(loop.index, refused[0]) is not None:
            raise nest.led.get(loop.index) or refused[0]


def _how(loop: loops.Loop, command: Pos, count: int) -> How:
    """How a loop through positions is run; one that goes through one level is flat anyway."""
    if not command.flat or count == 1:
        return loop.how
    return replace(loop.how, flat=True, command=str(command), at=command.at)


def _only_access(nest: Nest, body: loops.Stmt, access: loops.Access) -> loops.Access:
    """The access that a tensor's name alone stands for, if it has only one."""
    if access.indices:
        return access
    found = {a for a, is_target in accesses(body) if a.tensor == access.tensor and not is_target}
    if len(found) > 1:
        texts = ", ".join(sorted(map(show, found)))
        nest.refuse(f"`{access.tensor}` is read as {texts}", hint="say which of them leads")
    return next(iter(found), access)


def goes_through_positions(loop: loops.Loop) -> bool:
    """Whether a loop goes through what a tensor stores, or a part of that."""
    return loop.extent is not None and isinstance(base_of(loop.extent), loops.Positions)


def _within(
    nest: Nest, name: str, found: Sequence[loops.Loop], tensor: str, modes: Sequence[int]
) -> loops.Range | None:
    """The range that the outermost loops go through; None if they go through all dimensions."""
    extent, count = found[0].extent, 1
    if isinstance(extent, loops.Along):
        count = coordinates(extent.of)
        extent = extent.of
    for loop, mode in zip(found[count:], modes[count:], strict=True):
        if not nest.is_whole(loop.extent, tensor, mode):
            nest.refuse(
                f"`{nest.as_written(loops.Index(loop.index))}` does not run over a whole dimension"
                f" of `{tensor}`",
                why=f"positions within `{name}` would not follow one another",
                hint="go through the positions of the inner loop alone",
            )
    return None if count == 1 and nest.is_whole(extent, tensor, modes[0]) else extent


def _mode(nest: Nest, access: loops.Access, index: str) -> int:
    """The mode of an access that a loop runs over."""
    if loops.Index(index) not in access.indices:
        nest.refuse(f"`{show(access)}` is not indexed by `{index}`")
    return access.indices.index(loops.Index(index))


def _check_given(nest: Nest, name: str, outermost: loops.Loop, given: Sequence[loops.Expr]) -> None:
    """Refuse positions in a fiber that is not known where the loop begins."""
    inside = {n.index for n in walk(outermost) if isinstance(n, loops.Loop)}
    inside |= {n.name for n in walk(outermost) if isinstance(n, loops.Let)}
    for expr in given:
        if any(isinstance(n, loops.Index | loops.Name) and n.name in inside for n in walk(expr)):
            nest.refuse(
                f"`{show(expr)}` is not known before the loop over `{name}`",
                hint="reorder the loops first, as the tensor is stored",
            )


def _check_not_full(nest: Nest, tensor: str, format: Format, mode: int) -> None:
    """Refuse positions that are coordinates."""
    for k, level in enumerate(format.levels[:-1]):
        if mode in format.modes_of(k) and level.full:
            nest.refuse(
                f"level {k} of `{tensor}` stores all coordinates",
                hint="split the coordinates: they are the positions",
            )
