"""What kernels say of their loops and buffers, held against what a run finds.

`Holds` says which array of a tensor a buffer is, and whether its elements ascend; `Over` says what
a loop goes through. Transformations rely on both, so the interpreter checks both in every run, and
one that is wrong is a bug in what made or rewrote the kernel. What a span says is a list of entries
is found by what the level says of them (`imp.Entries`), whatever arrays it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from linnet import imp
from linnet.errors import InternalError
from linnet.imp.evaluate import Frame, Value, slot
from linnet.imp.rewrite import substitute

Lists = Mapping[tuple[str, int], imp.Entries]
"""Where the entries of each fiber are listed, by tensor and level."""
Check = Callable[[Frame, int, int], None]
"""Refuses a range of positions that is not what is said."""
_NOWHERE = -(2**63)


def lists_of(kernel: imp.Kernel) -> Lists:
    """Where all levels list their entries that do so."""
    return {
        (argument.name, k): entries
        for argument in kernel.arguments
        for k, entries in enumerate(argument.entries)
        if entries is not None
    }


# -- buffers ---------------------------------------------------------------------------------------


def check_buffers(kernel: imp.Kernel, frame: Frame, *, written: bool = False) -> None:
    """Refuse arrays that are not what is said of them: those that are given, or were `written`."""
    for argument in kernel.arguments:
        held = [(b, b.holds) for b in argument.buffers if b.growable == written]
        arrays = {b.name: np.asarray(frame[slot(b)])[: frame.lengths[b.name]] for b, _ in held}
        pointers = {
            h.level: arrays[b.name]
            for b, h in held
            if h is not None and h.role == "position" and h.fiber
        }
        for buffer, holds in held:
            if holds is not None and len(arrays[buffer.name]):
                _check_buffer(buffer.name, holds, arrays[buffer.name], pointers.get(holds.level))


def _check_buffer(
    name: str, held: imp.Holds, values: np.ndarray, pointers: np.ndarray | None
) -> None:
    """Refuse an array of another length, or in another order, than is said of it."""
    if pointers is not None and len(pointers):
        fibers, entries = len(pointers) - 1, int(pointers[-1])
        right = len(values) - fibers in (0, 1) if held.fiber else len(values) >= entries
        if not right:
            of = f"{fibers} fibers" if held.fiber else f"{entries} entries"
            raise InternalError(f"{name} has {len(values)} elements for {of}")
    if not held.ascends:
        return
    rises = values[1:] > values[:-1] if held.unique else values[1:] >= values[:-1]
    if not held.fiber and pointers is not None:
        rises[_begins(pointers, len(rises))] = True
    if not rises.all():
        raise InternalError(f"{name} does not ascend at {int(np.argmin(rises))}")


def _begins(pointers: np.ndarray, count: int) -> np.ndarray:
    """The entries before those with which fibers begin."""
    before = pointers.astype(np.int64) - 1
    return before[(before >= 0) & (before < count)]


# -- loops -----------------------------------------------------------------------------------------


class Parts:
    """How far loops over an index have come that go through it by parts, or by positions."""

    def __init__(self, index: str) -> None:
        self.index, self.reached = index, list[int]()

    def begin(self) -> None:
        """Nothing has been gone through yet."""
        self.reached[:] = [_NOWHERE] * len(self.reached)


def checks_of(
    loop: imp.For | imp.While,
    lists: Lists,
    parts: Parts | None,
    value: Callable[[imp.Expr], Value],
) -> list[tuple[Value | None, Check]]:
    """What is to be checked of a loop: for each position that it moves, or of its range.

    Of what it goes through in `parts`, one follows the other.
    """
    found: list[tuple[Value | None, Check]] = []
    for span in loop.over.spans:
        at = None if span.position is None else value(span.position)
        found.append((at, _within(loop, span, lists, value)))
        if at is not None and parts is not None:
            found.append((at, _following(loop, parts)))
    if isinstance(loop, imp.For):
        found += [(None, check) for check in _of_range(loop, parts)]
    return found


def _of_range(loop: imp.For, parts: Parts | None) -> Iterator[Check]:
    if loop.over.ordered:
        yield _in_order(loop)
    if loop.over.tile:
        yield _in_tile(loop)
    if parts is not None and loop.over.spans and parts.index == loop.over.index:
        yield _following(loop, parts)


def _within(
    loop: imp.For | imp.While, span: imp.Span, lists: Lists, value: Callable[[imp.Expr], Value]
) -> Check:
    text, begin, end = loop.over.text or span.tensor, span.first, span.last
    if span.tensor:
        entries = lists.get((span.tensor, span.level))
        if entries is None:
            raise InternalError(f"level {span.level} of {span.tensor} has no list to go through")
        fibers = {imp.FIRST.name: span.first, imp.LAST.name: span.last}
        begin, end = substitute(entries.begin, fibers), substitute(entries.end, fibers)
    first, last = value(begin), value(end)

    def check(f: Frame, start: int, stop: int) -> None:
        lo, hi = first(f), last(f)
        nowhere = lo > hi or not (isinstance(loop, imp.For) and loop.over.ordered)
        inside = (nowhere and start >= stop) or lo <= start <= stop <= hi
        if span.position is not None:
            inside = lo <= start <= hi
        if (start, stop) == (lo, hi) or (span.part and inside):
            return
        raise InternalError(f"a loop over {text} goes from {start} to {stop}, not {lo} to {hi}")

    return check


def _in_order(loop: imp.For) -> Check:
    def check(f: Frame, start: int, stop: int) -> None:
        if start > stop:
            raise InternalError(f"the range of {loop.var.name} ends before it begins")

    return check


def _in_tile(loop: imp.For) -> Check:
    def check(f: Frame, start: int, stop: int) -> None:
        if stop - start > loop.over.tile:
            raise InternalError(f"the range of {loop.var.name} is longer than a tile")

    return check


def _following(loop: imp.For | imp.While, parts: Parts) -> Check:
    """That a part begins with the last of the one before it, or behind that.

    What moves a position itself may stay where it is.
    """
    reached, k = parts.reached, len(parts.reached)
    reached.append(_NOWHERE)
    moved = isinstance(loop, imp.While)
    what = loop.over.text or (loop.var.name if isinstance(loop, imp.For) else "a walk")

    def check(f: Frame, start: int, stop: int) -> None:
        if moved or start < stop:
            if start < reached[k]:
                raise InternalError(f"a part of {what} begins at {start}, before {reached[k]}")
            reached[k] = stop if moved else stop - 1

    return check
