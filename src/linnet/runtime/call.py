"""`Entry`: a kernel for arguments of certain formats, ready to be called.

A warm call does nothing but compare shapes, fill the argument block and jump: see `Entry.run`.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from linnet import imp, loops
from linnet.errors import IndexBoundsError, InternalError, OutOfMemoryError
from linnet.formats.buffers import Buffer, allocate
from linnet.formats.format import Format
from linnet.formats.tensor import Contents, Tensor
from linnet.lower.context import Site
from linnet.normalize.shape_checks import Check, evaluate

Shapes = Sequence[Sequence[int]]
LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Result:
    """A tensor that a kernel writes: which argument, its format, its arrays, its dimensions."""

    position: int | None  # among the arguments; None for a temporary
    name: str
    format: Format
    dtypes: tuple[str, ...]
    dims: tuple[Callable[[Shapes], int], ...] | None  # None: those it has
    keeps: bool = False  # what it held before is updated


def size_of(expr: loops.Expr, positions: dict[str, int]) -> Callable[[Shapes], int]:
    """A function from the arguments' shapes to the value of an expression over dimensions."""
    match expr:
        case loops.Dimension(tensor, mode):
            p = positions[tensor]
            return lambda shapes: shapes[p][mode]
        case loops.Literal(value):
            return lambda shapes: value  # type: ignore[return-value]
        case _:
            names = list(positions)
            return lambda shapes: evaluate(expr, dict(zip(names, shapes, strict=True)))


@dataclass(slots=True)
class Entry:
    """Machine code, and what to do before and after."""

    name: str
    params: tuple[str, ...]
    call: Callable[[int], int]
    operands: tuple[int, ...]  # positions of arguments that are only read
    results: tuple[Result, ...]  # in the order of the argument block, after the operands
    order: tuple[int, ...]  # the argument block: places in operands + results
    checks: tuple[tuple[int, int, int, int, Check], ...]
    other_checks: tuple[Check, ...]
    sites: tuple[Site, ...]
    returned: tuple[int, ...]

    def run(self, tensors: Sequence[Tensor]) -> None:
        """Call the kernel; afterwards the output tensors hold the results."""
        pinned = [tensors[p].pin() for p in self.operands]
        try:
            self._run(tensors, pinned)
        finally:
            for contents in pinned:
                contents.unpin()

    def _run(self, tensors: Sequence[Tensor], pinned: list[Contents]) -> None:
        shapes: list[tuple[int, ...]] = [()] * len(tensors)
        for p, contents in zip(self.operands, pinned, strict=True):
            shapes[p] = contents.shape
        for r in self.results:
            if r.keeps or (r.position is not None and r.dims is None):
                shapes[r.position] = tensors[r.position].contents().shape  # type: ignore[index]
        self.check(shapes)
        parts: list[Sequence[int]] = [contents.slots for contents in pinned]
        new_shapes = []
        for r in self.results:
            shape = shapes[r.position] if r.dims is None else tuple([d(shapes) for d in r.dims])  # type: ignore[index]
            new_shapes.append(shape)
            parts.append([*shape, *self._memory(r, tensors, shape)])
        slots: list[int] = []
        for k in self.order:
            slots += parts[k]
        block = array("q", slots)
        status = self.call(block.buffer_info()[0])
        self._finish(tensors, block, new_shapes, [len(part) for part in parts], status)

    def check(self, shapes: Shapes) -> None:
        """Refuse arguments whose dimensions do not fit together."""
        for p, m, q, n, check in self.checks:
            if shapes[p][m] != shapes[q][n]:
                raise check.explain(dict(zip(self.params, shapes, strict=True)))
        for check in self.other_checks:
            named = dict(zip(self.params, shapes, strict=True))
            if not check.holds(named):
                raise check.explain(named)

    def _memory(self, r: Result, tensors: Sequence[Tensor], shape: Sequence[int]) -> list[int]:
        """The buffers that the kernel starts with: a copy, memory to be reused, or none."""
        if r.position is None:
            return [0, 0, 0] * len(r.dtypes)
        _check_size(r, shape)
        tensor = tensors[r.position]
        if not r.keeps:
            return tensor.take(r.dtypes)
        contents = tensor.pin()
        try:
            return [slot for buffer in contents.buffers for slot in _copied(buffer)]
        finally:
            contents.unpin()

    def _finish(
        self,
        tensors: Sequence[Tensor],
        block: array[int],
        shapes: Sequence[Sequence[int]],
        lengths: list[int],
        status: int,
    ) -> None:
        """Take over what the kernel has allocated; then say what went wrong, if anything did."""
        starts, at = {}, 0
        for k in self.order:
            starts[k] = at
            at += lengths[k]
        first = len(self.operands)
        for k, r in enumerate(self.results):
            shape = shapes[k]
            at = starts[first + k] + len(shape)
            buffers = []
            for dtype in r.dtypes:
                address, capacity, length = block[at : at + 3]
                buffers.append(Buffer.native(address, capacity, length if status == 0 else 0, dtype))
                at += 3
            if r.position is not None and status == 0:
                tensors[r.position]._rebind(r.format, tuple(shape), tuple(buffers))
        if status:
            raise self._failure(status)

    def _failure(self, status: int) -> Exception:
        kind, number = status & 0xFF, status >> 8
        if kind == imp.OUT_OF_MEMORY:
            return OutOfMemoryError(
                f"there is not enough memory for the result of `{self.name}`",
                hint="the operands are as they were; use a sparser result format or a smaller problem",
            )
        if kind == imp.OUT_OF_BOUNDS:
            site = self.sites[number]
            return IndexBoundsError(f"{site.message} in `{self.name}`", at=site.at)
        return InternalError(f"`{self.name}` returned the unknown status {status}")


def _copied(buffer: Buffer) -> tuple[int, int, int]:
    """A copy of a buffer that the kernel may change, so that the old contents outlive a failure."""
    copy = allocate(buffer.dtype, buffer.length)
    if buffer.length:
        ctypes.memmove(copy.address, buffer.address, buffer.nbytes)
    address, nbytes = copy.detach()
    return address, nbytes // buffer.dtype.itemsize, buffer.length


def _check_size(r: Result, shape: Sequence[int]) -> None:
    """A result that no memory can hold is refused before anything runs."""
    count = 1
    for k, level in enumerate(r.format.levels[:-1]):
        if not level.full:
            return
        count *= shape[r.format.modes_of(k)[0]]
    if count * 16 > LARGEST:
        raise OutOfMemoryError(
            f"the dense result `{r.name}` would have {count} elements",
            why=f"its shape is {tuple(shape)}",
            hint="use a sparse result format",
        )


def fast_check(check: Check, positions: dict[str, int]) -> tuple[int, int, int, int, Check] | None:
    """A comparison of two dimensions, in a form that takes no time."""
    match check.relation, check.a, check.b:
        case "==", loops.Dimension(a, m), loops.Dimension(b, n):
            return positions[a], m, positions[b], n, check
    return None
