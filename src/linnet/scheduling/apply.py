"""The commands of a schedule, applied to a program one after the other.

Comes after dimensions, names and dtypes are known, and before workspaces: what a command needs to
know is there, and a result that is written out of order gets a temporary as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from linnet import loops
from linnet.loops.commands import (
    Bound,
    Collapse,
    Coord,
    Parallelize,
    Pos,
    Precompute,
    Reorder,
    Split,
    Unroll,
)
from linnet.normalize.agreed import equal_modes
from linnet.normalize.shape_checks import Check
from linnet.scheduling.bound import bound
from linnet.scheduling.coordinates import coord
from linnet.scheduling.early import precompute
from linnet.scheduling.hold_sums import hold_sums
from linnet.scheduling.nest import Formats, Nest, loops_of, names_of
from linnet.scheduling.positions import check_led, collapse, pos
from linnet.scheduling.reorder import reorder
from linnet.scheduling.running import NOT_AFTER, parallelize, unroll
from linnet.scheduling.split import split
from linnet.stages import stage

_APPLY: Mapping[type, Callable[[Nest, Any], None]] = {
    Split: split,
    Reorder: reorder,
    Collapse: collapse,
    Pos: pos,
    Coord: coord,
    Bound: bound,
    Precompute: precompute,
    Unroll: unroll,
    Parallelize: parallelize,
}


def apply_schedule(
    program: loops.Program,
    formats: Formats,
    written: loops.Program,
    checks: Sequence[Check] = (),
    final: bool = True,
) -> tuple[loops.Program, Formats]:
    """The program after its schedule, in which loops have the names that they were `written` with.

    Also gives the formats, with those of temporaries that commands make.

    Needs: dimensions and dtypes known, names unique; `checks` say which dimensions are one size.
    Every command is a stage of its own, under a number where it comes again. Which operands may
    lead is judged of the `final` loops: a command may change what another one has made.
    """
    if not program.schedule:
        return program, formats
    before, after = loops_of(written), loops_of(program)
    nest = Nest(program, dict(formats), names_of(before, after))
    nest.equal = equal_modes(checks, nest.formats)
    nest.written = dict(zip(after, before, strict=True))
    parallel: Parallelize | None = None
    for k, command in enumerate(program.schedule):
        nest.command = command
        if parallel is not None and not isinstance(command, Parallelize):
            nest.refuse(f"it comes after `{parallel}`", why=NOT_AFTER)
        if isinstance(command, Parallelize):
            parallel = parallel or command
        _APPLY[type(command)](nest, command)
        again = program.schedule[:k].count(command)
        name = f"{command} #{again + 1}" if again else str(command)
        stage(name, replace(nest.program, schedule=()))
    if final:
        check_led(nest)
        hold_sums(nest)
    return replace(nest.program, schedule=()), nest.formats
