"""The commands of a schedule, applied to a program one after the other.

Comes after dimensions, names and dtypes are known, and before workspaces: what a command needs to
know is there, and a result that is written out of order gets a temporary as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from linnet import loops
from linnet.loops.commands import Bound, Collapse, Parallelize, Pos, Reorder, Split, Unroll
from linnet.scheduling.bound import bound
from linnet.scheduling.nest import Formats, Nest, loops_of, names_of
from linnet.scheduling.positions import collapse, pos
from linnet.scheduling.reorder import reorder
from linnet.scheduling.running import NOT_AFTER, parallelize, unroll
from linnet.scheduling.split import split
from linnet.stages import stage

_APPLY: Mapping[type, Callable[[Nest, Any], None]] = {
    Split: split,
    Reorder: reorder,
    Collapse: collapse,
    Pos: pos,
    Bound: bound,
    Unroll: unroll,
    Parallelize: parallelize,
}


def apply_schedule(
    program: loops.Program, formats: Formats, written: loops.Program
) -> loops.Program:
    """The program after its schedule, in which loops have the names that they were `written` with.

    Needs: dimensions and dtypes known, names unique. Every command is a stage of its own, under a
    number where it comes again.
    """
    if not program.schedule:
        return program
    nest = Nest(program, formats, names_of(loops_of(written), loops_of(program)))
    parallel: Parallelize | None = None
    for k, command in enumerate(program.schedule):
        nest.command = command
        if parallel is not None and not isinstance(command, Parallelize):
            nest.refuse(f"it comes after `{parallel}`", why=NOT_AFTER)
        if isinstance(command, Parallelize):
            parallel = parallel or command
        _APPLY[type(command)](nest, command)
        before = program.schedule[:k].count(command)
        name = f"{command} #{before + 1}" if before else str(command)
        stage(name, replace(nest.program, schedule=()))
    return replace(nest.program, schedule=())
