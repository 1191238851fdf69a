"""Counters of how often assignments are run, in a kernel that is compiled to be looked at."""

from __future__ import annotations

from collections.abc import Mapping

from linnet import imp, loops
from linnet.errors import Location
from linnet.formats.fiber import Storage
from linnet.loops.rewrite import walk
from linnet.lower.context import Context, storage_of

Counters = dict[tuple[Location, str], imp.Load]


def counters_of(program: loops.Program, storages: Mapping[str, Storage]) -> Counters:
    """The elements of the vector that counts, by the places and the targets of assignments."""
    if program.counts is None:
        return {}
    (values,) = storages[program.counts.tensor].buffers[-1].values()
    numbers = {at: k for k, at in enumerate(program.counts.places)}
    return {
        (n.at, str(n.target.tensor)): values[numbers[n.at]]
        for n in walk(program.body)
        if isinstance(n, loops.Assign) and n.at in numbers
    }


def count(ctx: Context, stmt: loops.Assign) -> None:
    """Count that an assignment is run."""
    storage = storage_of(stmt.target)
    if ctx.counters and stmt.at is not None and storage is not None:
        counter = ctx.counters.get((stmt.at, storage.name))
        if counter is not None:
            ctx.b.emit(imp.Store(counter.buffer, counter.index, counter + 1))
