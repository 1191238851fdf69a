"""`Entry`: a kernel for arguments of certain formats, ready to be called.

A warm call does nothing but compare shapes, fill the argument block and jump: see `Entry.run`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from linnet import imp, loops
from linnet.errors import IndexBoundsError, InternalError, OutOfMemoryError, ShapeError
from linnet.formats.buffers import GUARD, Buffer, Memory, allocate, as_dtype
from linnet.formats.contents import NARROW, Contents
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.lower.context import Site
from linnet.normalize.shape_checks import Check, evaluate

Shapes = Sequence[Sequence[int]]
LARGEST = 2**63 - 1
_MOST = 2**59  # elements of 16 bytes that 64 bits can count
_NOT_RUN = -1  # the status of a kernel that was not run, or whose status an interrupt has lost


@dataclass(frozen=True, slots=True)
class Result:
    """A tensor that a kernel writes: which argument, its format, its arrays, its dimensions."""

    position: int | None  # among the arguments; None for a temporary
    name: str
    format: Format
    dtypes: tuple[str, ...]
    dims: tuple[Callable[[Shapes], int], ...] | None  # None: those it has
    keeps: bool = False  # what it held before is updated
    runs: tuple[tuple[int, ...], ...] = field(init=False)  # modes whose sizes are multiplied

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", _runs(self.format))

    @property
    def large(self) -> bool:
        """Whether dimensions of 32 bits can multiply to more than 64 bits hold."""
        return any(len(modes) > 2 for modes in self.runs)


def _runs(format: Format) -> tuple[tuple[int, ...], ...]:
    """The modes of levels in a row that have a place for every index: memory is their product."""
    runs: list[tuple[int, ...]] = [()]
    for k, level in enumerate(format.levels[:-1]):
        spread = level.full or any(a.role == "flag" for a in level.arrays)
        if spread:
            runs[-1] += format.modes_of(k)
        else:
            runs.append(())
    return tuple(run for run in runs if run)


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
    wide: bool  # coordinates of results have 64 bits

    def run(self, tensors: Sequence[Tensor], held: Sequence[Contents | None]) -> bool:
        """Call the kernel; afterwards the output tensors hold the results.

        `held` are the pinned contents of the arguments; None for an output that begins anew. False
        if nothing was done, since a result's coordinates take more bits than this entry gives them.
        """
        shapes = [() if contents is None else contents.shape for contents in held]
        self.check(shapes)
        sizes = [_size(r, shapes) for r in self.results]
        if not self.wide and any(n >= NARROW for size in sizes for n in size):
            return False
        parts: list[Sequence[int]] = [held[p].slots for p in self.operands]  # type: ignore[union-attr]
        copies = [_copies(r, held) for r in self.results]
        taken: list[Contents | None] = []
        lent: list[bool] = []
        block, starts, status = None, [0] * len(self.order), _NOT_RUN
        try:
            for r, size, copy in zip(self.results, sizes, copies, strict=True):
                memory = _given(r, tensors, copy, taken, lent)
                parts.append([*size, *memory])
            slots: list[int] = []
            for k in self.order:
                starts[k] = len(slots)
                slots += parts[k]
            block = array("q", slots)
            status = self.call(block.buffer_info()[0])
        finally:  # also if an interrupt came while the kernel ran: its memory is taken care of
            first = len(self.operands)
            for k, (old, was_lent) in enumerate(zip(taken, lent, strict=False)):
                at = starts[first + k]
                _take_over(self.results[k], tensors, block, at, old, was_lent, status)
        if status:
            raise self._failure(status)
        return True

    def check(self, shapes: Shapes) -> None:
        """Refuse arguments whose dimensions do not fit together."""
        for p, m, q, n, check in self.checks:
            if shapes[p][m] != shapes[q][n]:
                raise check.explain(dict(zip(self.params, shapes, strict=True)))
        for check in self.other_checks:
            named = dict(zip(self.params, shapes, strict=True))
            if not check.holds(named):
                raise check.explain(named)

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


# -- before the kernel runs ------------------------------------------------------------------------


def _size(r: Result, shapes: Shapes) -> Sequence[int]:
    """The dimensions of a result; one that no memory can hold is refused before anything runs."""
    if r.dims is None:
        assert r.position is not None
        return shapes[r.position]
    size = [dim(shapes) for dim in r.dims]
    if r.large or any(n >= NARROW for n in size):
        _check_size(r, size)
    return size


def _check_size(r: Result, size: Sequence[int]) -> None:
    for mode, n in enumerate(size):
        if n > LARGEST:
            raise ShapeError(
                f"dimension {mode} of `{r.name}` would be {n}",
                why="coordinates are 64-bit integers",
            )
    for modes in r.runs:
        count = prod(size[mode] for mode in modes)
        if count > _MOST:
            what = "temporary" if r.position is None else "result"
            raise OutOfMemoryError(
                f"the {what} `{r.name}` would have room for {count} elements",
                why=f"its shape is {tuple(size)}, and its format is {r.format!r}",
                hint="store these dimensions in sparse levels, such as SparseList",
            )


def _copies(r: Result, held: Sequence[Contents | None]) -> list[Buffer]:
    """Copies of what a result holds, for the kernel to change: a failure leaves the old contents."""
    if not r.keeps:
        return []
    contents = held[r.position]  # type: ignore[index]
    assert contents is not None
    made = []
    for buffer, dtype in zip(contents.buffers, r.dtypes, strict=True):
        copy = allocate(dtype, buffer.length)
        if buffer.length:
            view = np.ctypeslib.as_array  # placeholder
        made.append(copy)
    return made


def _given(
    r: Result,
    tensors: Sequence[Tensor],
    copies: list[Buffer],
    taken: list[Contents | None],
    lent: list[bool],
) -> list[int]:
    """The memory that a kernel may write a result to: a copy, what the tensor had, or none."""
    old, memory = None, None
    if r.keeps:
        memory = [slot for copy in copies for slot in _detached(copy)]
    elif r.position is not None:
        tensor = tensors[r.position]
        with GUARD.lock:
            old, tensor._contents = tensor._contents, None
            if old is not None and old.holds(r.format, r.dtypes):
                memory = old.lend()
    taken.append(old)
    lent.append(old is not None and memory is not None)
    return [0] * (3 * len(r.dtypes)) if memory is None else memory
