"""`Entry`: a kernel for arguments of certain formats, ready to be called.

A warm call does nothing but compare shapes, fill the argument block and jump: see `Entry.run`.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from linnet import imp, loops
from linnet.errors import IndexBoundsError, InternalError, OutOfMemoryError, ShapeError
from linnet.formats.buffers import GUARD, Buffer, allocate
from linnet.formats.format import Format
from linnet.formats.contents import Contents
from linnet.formats.tensor import Tensor
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
    sized_by_itself: bool = False  # a dimension is that of what it held before

    @property
    def dense(self) -> bool:
        """Whether every element takes memory."""
        return all(level.full for level in self.format.levels[:-1])


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
        pinned: list[Contents] = []
        try:
            with GUARD.lock:
                for p in self.operands:
                    pinned.append(tensors[p].contents().pin())
            self._run(tensors, pinned)
        finally:
            with GUARD.lock:
                for contents in pinned:
                    contents.unpin()

    def _run(self, tensors: Sequence[Tensor], pinned: list[Contents]) -> None:
        shapes: list[tuple[int, ...]] = [()] * len(tensors)
        for p, contents in zip(self.operands, pinned, strict=True):
            shapes[p] = contents.shape
        for r in self.results:
            if r.position is not None and (r.dims is None or r.sized_by_itself):
                shapes[r.position] = self._own_shape(r, tensors[r.position])
        self.check(shapes)
        parts: list[Sequence[int]] = [contents.slots for contents in pinned]
        lent: list[Contents | None] = []
        for r in self.results:
            parts.append(self._memory(r, tensors, shapes, lent))
        slots: list[int] = []
        starts: list[int] = [0] * len(parts)
        for k in self.order:
            starts[k] = len(slots)
            slots += parts[k]
        block = array("q", slots)
        status = self.call(block.buffer_info()[0])
        first = len(self.operands)
        for k, r in enumerate(self.results):
            self._take_over(r, tensors, block, starts[first + k], lent[k], status)
        if status:
            raise self._failure(status)

    def _own_shape(self, r: Result, tensor: Tensor) -> tuple[int, ...]:
        """The shape that an output has already."""
        if r.dims is not None and tensor.shape is None:
            raise ShapeError(
                f"the size of `{r.name}` is not known in `{self.name}`",
                why="no loop over a plain index of an operand says how large it is",
                hint="give the loop a range: `for i in range(n)`",
            )
        return tensor.contents().shape

    def check(self, shapes: Shapes) -> None:
        """Refuse arguments whose dimensions do not fit together."""
        for p, m, q, n, check in self.checks:
            if shapes[p][m] != shapes[q][n]:
                raise check.explain(dict(zip(self.params, shapes, strict=True)))
        for check in self.other_checks:
            named = dict(zip(self.params, shapes, strict=True))
            if not check.holds(named):
                raise check.explain(named)

    def _memory(
        self,
        r: Result,
        tensors: Sequence[Tensor],
        shapes: Sequence[Sequence[int]],
        lent: list[Contents | None],
    ) -> list[int]:
        """A result's slots: dimensions; then a copy, memory to be reused, or none."""
        if r.position is None:
            lent.append(None)
            return [0] * (r.format.ndim + 3 * len(r.dtypes))
        tensor = tensors[r.position]
        shape = shapes[r.position] if r.dims is None else [d(shapes) for d in r.dims]
        if r.keeps:
            lent.append(None)
            contents = tensor.pin()
            try:
                return [*shape, *(slot for b in contents.buffers for slot in _copied(b))]
            finally:
                with GUARD.lock:
                    contents.unpin()
        if r.dense:
            _check_size(r, shape)
        with GUARD.lock:
            old, tensor._contents = tensor._contents, None
            memory = old.lend() if old is not None and old.format == r.format else None
        if memory is None or len(memory) != 3 * len(r.dtypes):
            lent.append(None)
            return [*shape, *([0] * (3 * len(r.dtypes)))]
        lent.append(old)
        return [*shape, *memory]

    def _take_over(
        self,
        r: Result,
        tensors: Sequence[Tensor],
        block: array[int],
        at: int,
        old: Contents | None,
        status: int,
    ) -> None:
        """What the kernel has allocated becomes the contents of the tensor, or is freed."""
        ndim = r.format.ndim
        shape = tuple(block[at : at + ndim])
        at += ndim
        if old is not None and old.returned(block, at) and status == 0 and old.shape == shape:
            tensors[r.position]._contents = old  # type: ignore[index]
            return
        buffers = []
        for dtype in r.dtypes:
            address, capacity, length = block[at : at + 3]
            buffers.append(Buffer.native(address, capacity, length if status == 0 else 0, dtype))
            at += 3
        if r.position is not None and status == 0:
            tensors[r.position]._rebind(r.format, shape, tuple(buffers))

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
    count = prod(shape)
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
