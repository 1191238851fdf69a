"""`kernel.schedule()`: a kernel with commands that say in which order its loops are run.

    tiled = spmv.schedule().split("i", "i0", "i1", 32)
    y = tiled(y, A, x)

A command gives a new schedule, which is called like the kernel. What can be told by names is told
at once; what depends on formats, when it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.errors import ArgumentError, Location, ScheduleError
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.loops.commands import Collapse, Command, Pos, Reorder, Split
from linnet.normalize.scopes import name_scopes
from linnet.runtime.kernel import Kernel
from linnet.schedule.nest import loops_of, names_of
from linnet.schedule.text import Argument, access, parse_schedule, show_schedule


class ScheduledKernel(Kernel):
    """A kernel under a schedule: called like the kernel, and made faster or slower by commands."""

    @classmethod
    def of(cls, kernel: Kernel) -> ScheduledKernel:
        """A kernel, which has no commands yet."""
        return cls(kernel.program, kernel.policy)

    # -- commands --------------------------------------------------------------------------------

    @located
    def split(
        self, index: str, outer: str, inner: str, size: int, direction: str = "down"
    ) -> ScheduledKernel:
        """Two loops for one: `outer` over parts of its range, `inner` within a part.

        A part has `size` indices; with `direction="up"` there are `size` parts.
        """
        if direction not in ("down", "up"):
            raise ArgumentError(f"{direction!r} is no direction", hint='"down" or "up"')
        return self._with(Split(index, outer, inner, size, direction == "up"))

    @located
    def reorder(self, *order: str) -> ScheduledKernel:
        """Put loops that are directly inside one another into this order, the outermost first."""
        return self._with(Reorder(order))

    @located
    def collapse(self, outer: str, inner: str, fused: str) -> ScheduledKernel:
        """One name for two loops of which one is directly inside the other."""
        return self._with(Collapse(outer, inner, fused))

    @located
    def pos(self, index: str, position: str, operand: str) -> ScheduledKernel:
        """Go through the positions of what an operand stores: `pos("j", "p", "A[i, j]")`."""
        return self._with(Pos(index, position, _access(operand)))

    @located
    def apply(self, commands: str) -> ScheduledKernel:
        """Commands as text: `apply("split(i, i0, i1, 32) reorder(i0, j, i1)")`."""
        found = self
        for command in parse_schedule(commands):
            found = found._with(command)
        return found

    def _with(self, command: Command) -> ScheduledKernel:
        if command.at is None:
            command = replace(command, at=Location.of_caller())
        _check_names(self.program, command)
        program = replace(self.program, schedule=(*self.program.schedule, command))
        return type(self)(program, self.policy)

    # -- looking ---------------------------------------------------------------------------------

    @property
    def commands(self) -> str:
        """The schedule as text, which `apply` reads."""
        return show_schedule(self.program.schedule)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}({', '.join(self.params)}): {self.commands}>"

    # -- calling ---------------------------------------------------------------------------------

    def __call__(self, *args: object, **named: object) -> Tensor | tuple[Tensor, ...] | None:
        """Run on tensors, as the kernel does."""
        return self._call(args, named)


def _access(operand: object) -> loops.Access:
    """An operand as it is written in the program."""
    if not isinstance(operand, str):
        raise ArgumentError(f"{operand!r} is not the text of an access", hint='"A[i, j]"')
    try:
        node = ast.parse(operand.strip(), mode="eval").body
    except SyntaxError:
        raise ScheduleError(f"`{operand}` is not an access", hint='"A[i, j]"') from None
    return access(Argument(node, Location("<schedule>", 1, 0, len(operand), operand)))


def _check_names(program: loops.Program, command: Command) -> None:
    """Refuse names that no loop has by now, and new ones that a loop has already."""
    scoped = name_scopes(program)
    names = list(names_of(loops_of(program), loops_of(scoped)))
    for earlier in program.schedule:
        names = _after(names, earlier)
    for name in _names(command):
        if not isinstance(name, str):
            raise ArgumentError(f"{name!r} is not the name of a loop", at=command.at)
    for name in command.uses:
        if name not in names:
            several = [n for n in names if n.partition(":")[0] == name]
            what = f"several loops over `{name}`" if several else f"no loop over `{name}`"
            raise ScheduleError(
                f"`{command}`: there {'are' if several else 'is'} {what}"
                f"{'' if several else ' among ' + ', '.join(names)}",
                at=command.at,
                hint=f"one of {', '.join(several)}" if several else None,
            )
    left = [n for n in names if n not in command.ends]
    for name in command.makes:
        if name in left:
            raise ScheduleError(
                f"`{command}`: there is a loop over `{name}` already", at=command.at
            )


def _names(command: Command) -> Sequence[object]:
    return (*command.uses, *command.makes)


def _after(names: list[str], command: Command) -> list[str]:
    """The names of loops after a command."""
    return [*(n for n in names if n not in command.ends), *command.makes]
