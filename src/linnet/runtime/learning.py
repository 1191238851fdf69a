"""From kernels that have been called to the steps of the operation that called them."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.formats.tensor import Tensor
from linnet.runtime.bound import Numbers, Step, Steps
from linnet.runtime.call import Entry
from linnet.runtime.recalled import plain_of
from linnet.runtime.slices import is_sizes
from linnet.runtime.stand_ins import StandIns
from linnet.runtime.watch import Seen


def steps_of(seen: Seen, args: Sequence[Tensor], found: Tensor) -> Steps | None:
    """How `found` comes of `args` and numbers by these calls; None if there is more to it.

    What a kernel makes for another must store all its elements: how much another format stores may
    have told which kernel came next.
    """
    made = [tensors[p] for entry, tensors in seen for p in entry.returned[:1]]
    if len(made) < len(seen) or not all(map(_is_full, made[:-1])):
        return None
    numbers = _numbers(seen, (*args, *made))
    known, steps = [*args, *numbers], list[Step]()
    for (entry, tensors), result in zip(seen, [*made[:-1], found], strict=True):
        step = step_of(entry, tensors, known, result)
        if step is None:
            return None
        steps.append(step)
        known.append(result)
    return Steps(tuple(steps), tuple(map(_kept, numbers)))


def _numbers(seen: Seen, known: Sequence[Tensor]) -> list[Tensor]:
    """Operands that are numbers, and no arguments or results."""
    found: list[Tensor] = []
    for entry, tensors in seen:
        for operand in (tensors[p] for p in entry.operands):
            new = not any(_holds_the_same(operand, other) for other in (*known, *found))
            if new and (is_sizes(operand) or (_is_full(operand) and not operand.shape)):
                found.append(operand)
    return found


def _kept(tensor: Tensor) -> Numbers:
    if is_sizes(tensor):
        return tensor.contents().shape
    (value,) = tensor.shared().arrays()
    return str(value.dtype), value.tobytes()


def _is_full(tensor: Tensor) -> bool:
    """Whether a tensor stores all its elements, and nothing beside them."""
    contents = tensor.contents()
    return len(contents.buffers) == 1 and all(l.full for l in contents.format.levels[:-1])


def step_of(
    entry: Entry,
    tensors: Sequence[Tensor],
    args: Sequence[Tensor],
    found: Tensor,
) -> Step | None:
    """How `found` comes of `args` by a call of a kernel; None if there is more to it than that."""
    if not _is_plain(entry) or not _holds_the_same(found, tensors[0]):
        return None
    sources = [_source(tensors[p], args) for p in entry.operands]
    if None in sources:
        return None
    plain = plain_of(entry)
    first = plain.results[0]._replace(format=found.contents().format)
    return Step(
        entry=plain._replace(results=(first, *plain.results[1:])),
        sources=tuple([s for s in sources if s is not None]),
        asked=found._given,
    )


def _is_plain(entry: Entry) -> bool:
    """Whether a kernel writes one new result of 32 bits, and nothing is asked of it but sizes."""
    if isinstance(entry, StandIns) or not entry.fixed or entry.wide or entry.own or not entry.key:
        return False
    if entry.limits is None or entry.warnings or len(entry.returned) != 1:
        return False
    results = [r.position for r in entry.results if r.position is not None]
    new = not any(r.keeps or r.dims is None for r in entry.results)
    return new and results == [0] and entry.operands == tuple(range(1, len(entry.params)))


def _source(operand: Tensor, args: Sequence[Tensor]) -> int | None:
    """Which argument of the operation an operand of the kernel is."""
    same = [k for k, arg in enumerate(args) if operand is arg]
    like = same or [k for k, arg in enumerate(args) if _holds_the_same(operand, arg)]
    return like[0] if same or len(like) == 1 else None


def _holds_the_same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have the same memory and sizes; their fill values may be others."""
    one, other = a.contents(), b.contents()
    return one.buffers is other.buffers and one.shape == other.shape
