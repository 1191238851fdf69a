"""`pos(f, p, A[i, j])`: loops through what a tensor stores, of one coordinate or of several.

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
from linnet.loops.bases import coordinates as coordinates_in
from linnet.loops.bases import positions_in, unbound
from linnet.loops.commands import Pos
from linnet.loops.nodes import base_of
from linnet.loops.printer import show
from linnet.loops.rewrite import accesses, walk
from linnet.normalize.leading import above, check_format, check_within, left_without
from linnet.scheduling.nest import Nest


def pos(nest: Nest, command: Pos) -> None:
    """Let an operand lead: the loops go through the positions of what it stores."""
    found = nest.named(command.index)
    nest.refuse_left(command.index, "go through the positions of one of the loops")
    access = _only_access(nest, found[-1].body, command.access)
    indices = [loop.index for loop in found]
    tensor, format = str(access.tensor), nest.formats.get(str(access.tensor))
    if any(map(goes_through_positions, found)):
        hint = "split these positions, or go back to coordinates by `coord`"
        nest.refuse(f"`{command.index}` goes through positions already", hint=hint)
    text, inside = show(access) if access.indices else tensor, found[-1].body
    reads = {a for a, is_target in accesses(inside) if not is_target}
    if format is None or access not in reads:
        hint = "an operand as it is read in that loop"
        nest.refuse(f"`{text}` is not read in the loop over `{command.index}`", hint=hint)
    if tensor in {str(a.tensor) for a, is_target in accesses(nest.program.body) if is_target}:
        hint = "go through the positions of an operand"
        nest.refuse(f"`{tensor}` is written, and has no positions before it is complete", hint=hint)
    modes = tuple([_mode(nest, access, index) for index in indices])
    check_format(nest.refuse, tensor, format, access, modes)
    _check_not_full(nest, tensor, format, modes[-1])
    if sum(1 for a in reads if a.tensor == tensor and a != access):
        hint = "go through coordinates, or through the positions of another operand"
        nest.refuse(f"`{tensor}` is read at several places, and one of them cannot lead", hint=hint)
    given = tuple((m, i) for m, i in enumerate(access.indices) if m in above(format, modes))
    check_given(nest, command.index, found[0], [i for _, i in given])
    within = within_of(nest, command.index, found, tensor, modes)
    positions = positions_of(nest, tensor, modes, given, within)
    flat = How(flat=True, command=str(command), at=command.at) if command.flat else None
    left = left_without(nest.program, nest.formats, access, inside)
    hint = f"split coordinates instead of the positions of `{tensor}`, or go on by `coord`"
    nest.led[indices[0]] = None if left is None else nest.refusal(left, hint=hint)
    nest.introduce(command.position, *nest.forget(command.index))
    nest.replaced(found[0], lead(found, positions, flat))


def lead(found: Sequence[loops.Loop], positions: loops.Range, flat: How | None) -> loops.Stmt:
    """Loops through positions, one in another, or by this command one `flat` loop for all."""
    stmt = found[-1].body
    for depth, loop in reversed(list(enumerate(found))):
        outer = tuple([loops.Index(loop.index) for loop in found[:depth]])
        extent = positions if len(found) == 1 else loops.Along(positions, outer)
        how = loop.how
        if flat is not None:
            how = replace(how, flat=True, command=flat.command, at=flat.at)
        stmt = replace(loop, extent=extent, body=stmt, how=how)
    return stmt


def positions_of(
    nest: Nest,
    tensor: str,
    modes: tuple[int, ...],
    given: tuple[tuple[int, loops.Expr], ...],
    within: loops.Range | None,
) -> loops.Range:
    """The positions that have coordinates in some modes.

    Those within coordinates from the same positions on are a part of these.
    """
    positions = loops.Positions(tensor, modes, given, within)
    check_within(nest.refuse, positions, nest.equal)
    coordinates = unbound(within)
    before = positions_in(coordinates) if isinstance(coordinates, loops.Coordinates) else None
    if before is None or replace(positions, within=before.within) != before:
        return positions
    assert isinstance(coordinates, loops.Coordinates)
    if coordinates is not within:
        nest.refuse(
            f"the coordinates between these positions of `{tensor}` are bound",
            why="what is said of coordinates says nothing of the positions that they come of",
            hint="bound the positions that this command makes",
        )
    return coordinates.of


def check_led(nest: Nest) -> None:
    """Refuse loops through positions where something is to be done at other coordinates, too."""
    refused = [refusal for refusal in nest.led.values() if refusal is not None]
    if not refused:
        return
    for loop in (n for n in walk(nest.program.body) if isinstance(n, loops.Loop)):
        if goes_through_positions(loop) and nest.led.get(loop.index, refused[0]) is not None:
            raise nest.led.get(loop.index) or refused[0]


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


def within_of(
    nest: Nest, name: str, found: Sequence[loops.Loop], tensor: str, modes: Sequence[int]
) -> loops.Range | None:
    """The range that the outermost loops go through; None if they go through all dimensions."""
    extent, count = found[0].extent, 1
    if isinstance(extent, loops.Along):
        count = coordinates_in(extent.of)
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
        hint = f"an operand with `{index}` among its indices"
        nest.refuse(f"`{show(access)}` is not indexed by `{index}`", hint=hint)
    return access.indices.index(loops.Index(index))


def check_given(nest: Nest, name: str, outermost: loops.Loop, given: Sequence[loops.Expr]) -> None:
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
