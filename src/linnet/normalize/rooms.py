"""Sparse workspaces that the user declares: how many components accumulate, if nothing is said.

Those that Linnet inserts get their capacity with their kind. Those of `ln.temp(ln.workspace(…))`,
of `precompute` and of results get it from here, by the same statistics of the operands
(`normalize.choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.insertion import is_open, with_room_for
from linnet.loops.rewrite import block, children
from linnet.normalize.choice import Choice, Chosen, Unpacking
from linnet.normalize.updates import extents, paths
from linnet.records import dataclass

Formats = dict[str, Format]
Around = Mapping[str, loops.Extent | None]
"""The loops around a declaration, the outermost first."""


@dataclass(frozen=True, slots=True)
class Rooms:
    """A program whose workspaces have a capacity, and what there is to say of them."""

    program: loops.Program
    formats: Formats
    choices: tuple[tuple[Choice, str], ...]
    notes: tuple[str, ...]


def choose_rooms(
    program: loops.Program, formats: Formats, decide: Callable[[Choice | Unpacking], Chosen]
) -> Rooms:
    """Give workspaces a capacity that have none.

    Needs: dimensions known, names unique. Gives: the same program, with other formats.
    """
    choices: list[tuple[Choice, str]] = []
    notes, made = [], Formats()
    for name, format in formats.items():
        found = _begun(program.body, name, {}) if is_open(format) else None
        if found is None or not paths(found[1], name, ()):
            continue
        declare, rest, around = found
        choice = choice_of(name, formats, format.order, rest, declare, around)
        chosen = decide(replace(choice, named=True))
        choices.append((replace(choice, named=True), chosen.kind))
        made[name] = with_room_for(format, chosen.kind)
        notes.append(f"{name} is collected in {made[name]!r}: {chosen.why}")
    temporaries = tuple((name, made.get(name, format)) for name, format in program.temporaries)
    program = replace(program, temporaries=temporaries) if made else program
    return Rooms(program, formats | made, tuple(choices), tuple(notes))


def choice_of(
    tensor: str,
    formats: Formats,
    modes: tuple[int, ...],
    stmt: loops.Stmt,
    declare: loops.Declare,
    around: Around,
) -> Choice:
    """What is known of a workspace for these dimensions of a tensor, and of its first update."""
    write, path = paths(stmt, tensor, ())[0]
    assert declare.dims is not None
    return Choice(
        tensor,
        tuple(declare.dims[m] for m in modes),
        np.dtype(formats[tensor].dtype).itemsize,
        extents(stmt, tensor),
        write.value,
        tuple(around),
        tuple(extent for extent in around.values() if extent is not None),
        (*around, *path),
        tuple(write.target.indices[m] for m in modes),
        tuple((name, f.fill_value) for name, f in formats.items() if f.fill_value),
    )


def _begun(
    stmt: loops.Stmt, name: str, around: Around
) -> tuple[loops.Declare, loops.Stmt, Around] | None:
    """Where a tensor is declared: what follows in the same block, and the loops around that."""
    if isinstance(stmt, loops.Block):
        for k, s in enumerate(stmt.stmts):
            if isinstance(s, loops.Declare) and s.tensor == name:
                return s, block(stmt.stmts[k + 1 :]), around
    if isinstance(stmt, loops.Loop):
        whole = None if stmt.extent is None else stmt.extent.whole
        around = {**around, stmt.index: whole}
    inner = (s for s in children(stmt) if isinstance(s, loops.Stmt))
    return next((found for s in inner if (found := _begun(s, name, around))), None)
