"""What kernels say of their loops and buffers, held against what a run finds.

`Holds` says which array of a tensor a buffer is, and whether its elements ascend; `Over` says what
a loop goes through. Transformations rely on both, so the interpreter checks both in every run, and
one that is wrong is a bug in what made or rewrote the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from linnet import imp
from linnet.errors import InternalError
from linnet.imp.evaluate import Frame, Value, slot

Pointers = Mapping[tuple[str, int], imp.Buffer]
"""Where the entries of each fiber begin, by tensor and level."""
Check = Callable[[Frame, int, int], None]
"""Refuses a range of positions that is not what is said."""


def pointers_of(kernel: imp.Kernel) -> Pointers:
    """The pointers of all levels that have some."""
    buffers = [b for a in kernel.arguments for b in a.buffers]
    held = [(b, b.holds) for b in buffers if b.holds is not None]
    return {(h.tensor, h.level): b for b, h in held if h.role == "position" and h.array == "ptr"}


def check_buffers(kernel: imp.Kernel, frame: Frame) -> None:
    """Refuse arrays that are given in another order than is said of them."""
    pointers = pointers_of(kernel)
    for buffer in (b for a in kernel.arguments for b in a.buffers if not b.growable):
        held = buffer.holds
        if held is None or not held.ascends:
            continue
        values = np.asarray(frame[slot(buffer)])
        rises = values[1:] > values[:-1] if held.unique else values[1:] >= values[:-1]
        if not held.fiber:
            rises[_begins(pointers, held, frame, len(rises))] = True
        if not rises.all():
            raise InternalError(f"{buffer.name} does not ascend at {int(np.argmin(rises))}")


def _begins(pointers: Pointers, held: imp.Holds, frame: Frame, count: int) -> np.ndarray:
    """The entries before those with which fibers begin."""
    ptr = pointers.get((held.tensor, held.level))
    if ptr is None:
        return np.arange(count)
    before = np.asarray(frame[slot(ptr)]).astype(np.int64) - 1
    return before[(before >= 0) & (before < count)]


def checks_of(
    loop: imp.For | imp.While, pointers: Pointers, value: Callable[[imp.Expr], Value]
) -> list[tuple[Value | None, Check]]:
    """What is to be checked of a loop: for each position that it moves, or of its range."""
    found: list[tuple[Value | None, Check]] = []
    for span in loop.over.spans:
        ptr = pointers.get((span.tensor, span.level))
        if span.tensor and ptr is None:
            continue
        first, last, name = value(span.first), value(span.last), "" if ptr is None else slot(ptr)
        at = None if span.position is None else value(span.position)
        found.append((at, _within(loop, span, first, last, name)))
    if isinstance(loop, imp.For) and loop.over.ordered:
        found.append((None, _in_order(loop)))
    if isinstance(loop, imp.For) and loop.over.tile:
        found.append((None, _in_tile(loop)))
    return found


def _within(
    loop: imp.For | imp.While, span: imp.Span, first: Value, last: Value, ptr: str
) -> Check:
    text = loop.over.text or span.tensor

    def check(f: Frame, start: int, stop: int) -> None:
        lo, hi = first(f), last(f)
        if ptr:
            lo, hi = f[ptr][lo], f[ptr][hi]
        inside = start >= stop or lo <= start <= stop <= hi
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
