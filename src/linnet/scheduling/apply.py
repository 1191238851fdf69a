"""The commands of a schedule, applied to a program one after the other.

Comes after dimensions, names and dtypes are known, and before workspaces: what a command needs to
know is there, and a result that is written out of order gets a temporary as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.loops.commands import Command, Parallelize
from linnet.normalize.shape_checks import Check
from linnet.scheduling.carry_out import carry_out
from linnet.scheduling.default import default_schedule
from linnet.scheduling.hold_sums import hold_sums
from linnet.scheduling.nest import Formats, Nest
from linnet.scheduling.positions import check_led
from linnet.scheduling.races import check_races
from linnet.scheduling.running import BEFORE, NOT_AFTER
from linnet.scheduling.structural import keep_structure
from linnet.stages import stage


def apply_schedule(
    program: loops.Program,
    formats: Formats,
    written: loops.Program,
    checks: Sequence[Check] = (),
    final: bool = True,
) -> tuple[loops.Program, Formats]:
    """The program after its schedule, in which loops have the names that they were `written` with.

    Also gives the formats, with those of temporaries that commands make. What the default schedule
    wants comes last, of the `final` loops: if nobody has given a command, that is all.

    Needs: dimensions and dtypes known, names unique; `checks` say which dimensions are one size.
    Every command is a stage of its own, under a number where it comes again. Which operands may
    lead is judged of the `final` loops: a command may change what another one has made.
    """
    if not (program.schedule or final):
        return program, formats
    nest = Nest.of(program, formats, written, checks)
    _carry_out(nest, program.schedule)
    if final:
        wanted = default_schedule(nest, given=bool(program.schedule))
        if not (program.schedule or wanted):
            return program, formats
        _carry_out(nest, wanted)
        check_led(nest)
        check_races(nest.program)  # flags that say the same in all turns are none
        keep_structure(nest)
        hold_sums(nest)
    return replace(nest.program, schedule=()), nest.formats


def _carry_out(nest: Nest, commands: Sequence[Command]) -> None:
    """Change a program by one command after the other."""
    parallel: Parallelize | None = None
    for k, command in enumerate(commands):
        if parallel is not None and not isinstance(command, Parallelize):
            nest.command = command
            nest.refuse(f"it comes after `{parallel}`", hint=BEFORE, why=NOT_AFTER)
        if isinstance(command, Parallelize):
            parallel = parallel or command
        carry_out(nest, command)
        again = commands[:k].count(command)
        name = f"{command} #{again + 1}" if again else str(command)
        stage(name, replace(nest.program, schedule=()))
