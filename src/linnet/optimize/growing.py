"""Does memory grow while loops run? Not every target can enlarge it then."""

from __future__ import annotations

from linnet import imp
from linnet.errors import FormatError
from linnet.imp.rewrite import walk
from linnet.target import Target


def check_growth(kernel: imp.Kernel, target: Target) -> None:
    """Refuse code that enlarges memory in a loop, for a target that cannot do so."""
    if target.grows:
        return
    for loop in walk(kernel.body):
        if not isinstance(loop, imp.For | imp.While):
            continue
        for node in walk(loop.body):
            if isinstance(node, imp.Grow):
                raise FormatError(
                    f"`{_owner(kernel, node.buffer)}` grows while a loop runs",
                    why="the processor that the code is for cannot enlarge memory in a loop",
                    hint="give the result a format whose size follows from its dimensions, such as "
                    "a dense one, or compute how much there will be in a kernel before this one",
                )


def _owner(kernel: imp.Kernel, buffer: imp.Buffer) -> str:
    """The argument that has this array."""
    names = (a.name for a in kernel.arguments if buffer in a.buffers)
    return next(names, buffer.name)
