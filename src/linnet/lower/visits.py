"""Counters of how often assignments are run, in a kernel that is compiled to be looked at."""

from __future__ import annotations

from collections.abc import Mapping

from linnet import imp, loops
from linnet.errors import Location
from linnet.formats.fiber import Storage
from linnet.loops.rewrite import walk
from linnet.lower.context import Context


def places(body: loops.Stmt) -> list[Location]:
    """Where the assignments of a program stand, in order."""
    found = (n.at for n in walk(body) if isinstance(n, loops.Assign))
    return list(dict.fromkeys(at for at in found if at is not None))


def counters_of(
    program: loops.Program, storages: Mapping[str, Storage]
) -> dict[Location, imp.Load]:
    """The elements of the vector that counts, by the places of assignments."""
    if program.counts is None:
        return {}
    (values,) = storages[program.counts].buffers[-1].values()
    return {at: values[k] for k, at in enumerate(places(program.body))}


def count(ctx: Context, stmt: loops.Assign) -> None:
    """Count that an assignment is run."""
    counter = ctx.counters.get(stmt.at) if stmt.at is not None else None
    if counter is not None:
        ctx.b.emit(imp.Store(counter.buffer, counter.index, counter + 1))
