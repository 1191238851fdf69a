"""Which function carries out which command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from linnet.loops.commands import (
    Bound,
    Collapse,
    Command,
    Coord,
    Parallelize,
    Pos,
    Precompute,
    Reorder,
    Split,
    Unroll,
)
from linnet.scheduling.bound import bound
from linnet.scheduling.collapse import collapse
from linnet.scheduling.coordinates import coord
from linnet.scheduling.early import precompute
from linnet.scheduling.nest import Nest
from linnet.scheduling.positions import pos
from linnet.scheduling.reorder import reorder
from linnet.scheduling.running import parallelize, unroll
from linnet.scheduling.split import split

_FUNCTIONS: Mapping[type, Callable[[Nest, Any], None]] = {
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


def carry_out(nest: Nest, command: Command) -> None:
    """Change a program as a command says, or refuse it."""
    nest.command = command
    _FUNCTIONS[type(command)](nest, command)
