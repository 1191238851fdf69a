"""What levels of runs share when they are written: neighbours that hold the same become one run.

A run is written to the place behind the last one. When it is complete the two are compared, and if
they hold the same the last run is made longer, and the new one is forgotten. So nothing is stored
twice, and nothing is left to be merged when the tensor is frozen (FINCH Table 4). Subfibers that
take insertions in any order can be compared only when they are frozen: they stay as written.

So a fiber can be opened again, and what is written next may go on with its last run. But the index
of a subfiber cannot come again (`Level.resumes`): there may be none that is its own any more.
"""

from __future__ import annotations

from collections.abc import Sequence as Ints
from typing import TYPE_CHECKING

from linnet import imp
from linnet.formats.append import told
from linnet.formats.looplets import Lookup, Span, Thunk

if TYPE_CHECKING:
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage

Code = tuple[imp.Stmt, ...]


def end_run(
    b: Builder, fiber: Fiber, q: imp.Expr, follows: imp.Expr, longer: Code, new: Code, forget: Code
) -> None:
    """A run at child `q` is complete: it makes the one before it `longer`, or is a `new` one.

    `follows` says whether it begins where the one before it, at `q - 1`, ends; `forget` takes back
    what was written to the child.
    """
    storage, level = fiber.storage, fiber.level
    below = storage.below(level)
    with b.collect() as compare:
        below.complete(b, storage, level + 1, q + 1)
        same = below.alike(b, storage, level + 1, q - 1, q)
    if same is None:
        b.emit(*new)
    elif not compare:
        b.emit(imp.If(follows & same, imp.Block((*longer, *forget)), imp.Block(new)))
    else:
        joined = b.var("joined", imp.BOOL)
        b.emit(imp.Let(joined, follows))
        b.emit(imp.If(joined, imp.Block((*compare, imp.Assign(joined, same))), imp.EMPTY))
        b.emit(imp.If(joined, imp.Block((*longer, *forget)), imp.Block(new)))


def run_lookup(
    b: Builder, fiber: Fiber, q: imp.Expr, span: Span, begin: Code, end: Code, forget: Code
) -> Lookup:
    """The child at `q`, written for all of a span at once; `end` keeps it if it was written."""
    dirty = b.var(f"{fiber.storage.name}_dirty", imp.BOOL)
    if fiber.reopened:  # also where no run is added
        end = (*end, *told(fiber))
    keep = imp.If(dirty, imp.Block(end), imp.Block(forget))
    unsure = fiber.child(q, dirty=dirty, fresh=True)
    return Lookup(
        Thunk((*begin, imp.Let(dirty, imp.FALSE)), unsure, (keep,)),
        sure=Thunk(begin, fiber.child(q, fresh=True), end),
        span=span,
    )


def span_of(b: Builder) -> Span:
    """Variables for the bounds of a run."""
    return Span(b.var("start"), b.var("stop"), b.var("follows", imp.BOOL))


def make_room(
    b: Builder, storage: Storage, level: int, names: tuple[str, ...], stop: imp.Expr
) -> None:
    """Room for runs at positions below `stop`, in these arrays and in the levels below."""
    b.emit(*(imp.Grow(storage.buffers[level][name], stop) for name in names))
    storage.below(level).reserve(b, storage, level + 1, stop)


def last_of_stretch(left: Ints[int], right: Ints[int], q: int, end: int) -> int:
    """A codelet: the last of the runs from q on of which each begins where the one before ends."""
    while q + 1 < end and left[q + 1] == right[q]:
        q += 1
    return q
