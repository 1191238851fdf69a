"""`Outline`: what must be known of a program to call what another process has compiled of it.

The program itself is beside it, as bytes: it is made of them when somebody asks for it.
"""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import TYPE_CHECKING

from linnet.records import NamedTuple
from linnet.runtime import kept

if TYPE_CHECKING:
    from linnet import loops


class Outline(NamedTuple):
    """A program as those see it who call it: plain data, which is kept on disk."""

    name: str
    params: tuple[str, ...]
    outputs: frozenset[str]  # parameters that are written
    kept: frozenset[str]  # those of them that begin with what they held
    text: str  # what tells it from other programs
    data: bytes  # all of it

    def program(self) -> loops.Program | None:
        """The program; None if it names levels of a user that are elsewhere now."""
        try:
            found: loops.Program = pickle.loads(self.data)
        except kept.UNREADABLE:
            return None
        return found


def text_of(program: loops.Program) -> str:
    """What tells a program from others: its text, functions and levels of users in it."""
    show = import_module("linnet.loops.printer").show
    content = import_module("linnet.loops.functions").content
    lines = [show(program), *content(program)]
    for name, format in program.temporaries:
        lines.append(f"{name}: {format.describe()} {format.fill_value!r} {kept.stamps(format)}")
    return "\n".join(lines)
