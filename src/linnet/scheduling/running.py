"""`unroll(i, 4)` and `parallelize(j, CPUVector, NoRaces)`: how loops are run, not what they do.

A vector loop stands innermost in the code: loops that were directly inside it are put around it.

    for k in range(n):                             for q in ln.stored(A[i, :]):
        for q in ln.stored(A[i, :]):       ->          for k in ln.vector(range(n), "NoRaces"):
            C[i, k] += A[i, q] * B[q, k]                   C[i, k] += A[i, q] * B[q, k]

Each element of C is the sum of the same products in the same order. That holds because no turn of
the vector loop writes what another one reads or writes.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.imp.how import LARGEST_UNROLLED
from linnet.loops.commands import UNITS, Parallelize, Unroll
from linnet.loops.rewrite import accesses, walk
from linnet.scheduling.nest import Nest
from linnet.scheduling.races import race_in

NOT_AFTER = "loops of which several turns are made at the same time are not transformed any more"
BEFORE = "put it before"


def unroll(nest: Nest, command: Unroll) -> None:
    """Say how often the body of a loop is written out."""
    factor = command.factor
    if type(factor) is not int or not 1 < factor <= LARGEST_UNROLLED:
        problem = f"a factor is an integer from 2 to {LARGEST_UNROLLED}, not {factor!r}"
        nest.refuse(problem, hint=f"`unroll({command.index}, 4)`")
    loop = nest.named(command.index)[-1]
    if loop.how.unroll > 1:
        hint = "unroll it once, by as much as both say"
        nest.refuse(f"`{loop.how.command}` has unrolled it already", hint=hint)
    said = " ".join(filter(None, (loop.how.command, str(command))))
    how = replace(loop.how, unroll=factor, command=said, at=command.at)
    nest.replaced(loop, replace(loop, how=how))


def parallelize(nest: Nest, command: Parallelize) -> None:
    """Say that several turns of a loop are made at the same time."""
    if command.unit not in UNITS:
        nest.refuse(f"`{command.unit}` is no unit of the machine", hint=" or ".join(UNITS))
    loop = nest.named(command.index)[-1]
    if loop.how.race:
        nest.refuse(f"`{loop.how.command}` has done so already", hint="leave one of them out")
    if loop.how.flat and isinstance(loop.extent, loops.Along):
        nest.refuse(
            f"`{loop.how.command}` tracks coordinates from one turn to the next",
            hint="leave out `flat`, or parallelize another loop",
        )
    how = replace(loop.how, race=command.race, command=str(command), at=command.at)
    changed = replace(loop, how=how)
    found = race_in(changed)
    if found is not None:
        nest.refuse(found.problem, hint=found.hint, why=found.why)
    nest.replaced(loop, _inwards(nest, changed))


def _inwards(nest: Nest, loop: loops.Loop) -> loops.Stmt:
    """A loop inside those that were directly inside it, as far as they can be put around it."""
    inner = loop.body
    if not isinstance(inner, loops.Loop) or inner.extent is None or loop.extent is None:
        return loop
    needs = {n.name for n in walk(inner.extent) if isinstance(n, loops.Index)}
    if loop.index in needs or _is_stored_before(nest, loop, inner):
        return loop
    return replace(inner, body=_inwards(nest, replace(loop, body=inner.body)))


def _is_stored_before(nest: Nest, loop: loops.Loop, inner: loops.Loop) -> bool:
    """Whether an operand must be walked by the outer one of two loops first."""
    one, other = loops.Index(loop.index), loops.Index(inner.index)
    for access, _ in accesses(inner.body):
        format = nest.formats.get(str(access.tensor))
        if format is None or all(level.full for level in format.levels[:-1]):
            continue
        order = [access.indices[mode] for mode in format.order]
        if one in order and other in order and order.index(one) < order.index(other):
            return True
    return False
