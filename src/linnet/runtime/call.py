"""`Entry`: a kernel for arguments of certain formats, ready to be called.

A warm call does nothing but compare shapes, fill the argument block and jump: see `Entry.run`.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from linnet import imp, loops
from linnet.errors import (
    FormatError,
    IndexBoundsError,
    InternalError,
    Location,
    OutOfMemoryError,
    ShapeError,
)
from linnet.formats.buffers import GUARD, Buffer, Memory, allocate
from linnet.formats.contents import NARROW, Contents
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.lower.context import Site
from linnet.normalize.choice import Choice, Kinds, choose
from linnet.normalize.concordance import Warned, warn
from linnet.normalize.shape_checks import Check
from linnet.runtime.sizes import Shapes, Size, check_size

_NOT_RUN = -1  # the status of a kernel that was not run, or whose status an interrupt has lost


@dataclass(frozen=True, slots=True)
class Result:
    """A tensor that a kernel writes: which argument, its format, its arrays, its dimensions."""

    position: int | None  # among the arguments; None for a temporary
    name: str
    format: Format
    dtypes: tuple[str, ...]
    dims: tuple[Size, ...] | None  # None: those it has
    keeps: bool  # what it held before is updated
    in_place: bool  # and nothing can go wrong meanwhile: no copy is needed
    at: Location | None  # where it is declared


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
    own: tuple[int, ...]  # positions of outputs whose old dimensions count
    wide: bool  # coordinates of results have 64 bits
    warnings: tuple[Warned, ...]  # to be told when it is made
    choices: tuple[Choice, ...] = ()  # workspaces whose kind depends on sizes
    kinds: Kinds = ()  # the kind of each
    told: tuple[object, Kinds] = (None, ())  # the sizes asked for last, and the answer

    def run(self, tensors: Sequence[Tensor], held: Sequence[Contents | None]) -> bool:
        """Call the kernel; afterwards the output tensors hold the results.

        `held` are the pinned contents of the arguments; None for an output that begins anew. False
        if nothing was done, since a result's indices take more bits than this entry gives them.
        """
        shapes = [() if contents is None else contents.shape for contents in held]
        for p in self.own:
            shapes[p] = self._shape(tensors[p], p)
        self.check(shapes)
        parts: list[Sequence[int]] = [held[p].slots for p in self.operands]  # type: ignore[union-attr]
        first = len(parts)
        for r in self.results:
            size = shapes[r.position] if r.dims is None else [d(shapes, held) for d in r.dims]  # type: ignore[index]
            if len(size) > 2 or max(size, default=0) >= NARROW:
                check_size(r.name, size, r.format, "temporary" if r.position is None else "result")
                if not self.wide and r.position is not None and max(size) >= NARROW:
                    return False
            parts.append(size)
        if not self.wide and any(_is_long(r, held) for r in self.results if r.keeps):
            return False
        loans: list[Contents | None] = []
        starts, block, status = [0] * len(parts), None, _NOT_RUN
        try:
            for k, r in enumerate(self.results):
                parts[first + k] = [*parts[first + k], *_memory(r, tensors, held, loans)]
            slots: list[int] = []
            for k in self.order:
                starts[k] = len(slots)
                slots += parts[k]
            block = array("q", slots)
            status = self.call(block.buffer_info()[0])
        finally:  # after an interrupt, too: a kernel runs to its end, and what it made is freed
            for k, old in enumerate(loans):
                _take_over(self.results[k], tensors, block, starts[first + k], old, status)
        if status:
            if status == imp.OUT_OF_MEMORY and self._outgrown(block, starts[first:]):
                return False
            raise self._failure(status)
        return True

    def _outgrown(self, block: array[int] | None, starts: Sequence[int]) -> bool:
        """Whether a kernel asked for more elements than positions of 32 bits can tell apart."""
        if self.wide or block is None:
            return False
        for r, start in zip(self.results, starts, strict=True):
            at = start + r.format.ndim
            lengths = block[at + 2 : at + 3 * len(r.dtypes) : 3]
            if any(length > imp.MOST_NARROW for length in lengths):
                return True
        return False

    def wanted(self, held: Sequence[Contents | None]) -> Kinds:
        """The kinds of workspaces that are best for operands of these sizes."""
        sizes = [None if c is None else (c.shape, c.nnz) for c in held]
        last, kinds = self.told
        if last != sizes:
            kinds = kinds_for(self.choices, self.params, held)
            self.told = (sizes, kinds)  # at once: other threads may look
        return kinds

    def warn(self) -> None:
        """Tell the user what the kernel costs more than they may think."""
        warn(self.warnings)

    def check(self, shapes: Shapes) -> None:
        """Refuse arguments whose dimensions do not fit together."""
        for p, m, q, n, check in self.checks:
            if shapes[p][m] != shapes[q][n]:
                raise check.explain(dict(zip(self.params, shapes, strict=True)))
        for check in self.other_checks:
            named = dict(zip(self.params, shapes, strict=True))
            if not check.holds(named):
                raise check.explain(named)

    def _shape(self, tensor: Tensor, position: int) -> tuple[int, ...]:
        """The dimensions that an output has, where nothing else says what they are."""
        shape = tensor.shape
        if shape is None:
            name = self.params[position]
            at = next(r.at for r in self.results if r.position == position)
            raise ShapeError(
                f"`{name}` has no shape, and nothing in `{self.name}` says what it is",
                at=at,
                why="its dimensions are those of no operand, and of no range that is known before",
                hint="pass a tensor that has a shape, such as ln.asarray(np.zeros(n)), or loop "
                "over a range: `for i in range(A.shape[0]):`",
            )
        return shape

    def _failure(self, status: int) -> Exception:
        kind, number = status & 0xFF, status >> 8
        if kind == imp.OUT_OF_MEMORY:
            return OutOfMemoryError(
                f"there is not enough memory for the result of `{self.name}`",
                why="the operands are as they were",
                hint="use sparser formats for results and temporaries, or a smaller problem",
            )
        if kind == imp.OUT_OF_BOUNDS:
            site = self.sites[number]
            return IndexBoundsError(
                f"{site.message} in `{self.name}`",
                at=site.at,
                why="an index runs from 0 to the size of its dimension less one",
                hint="check the indices before the call; a read that may lie outside is written "
                "`ln.coalesce(A[~i], 0)`",
            )
        if kind == imp.NO_PLACE:
            site = self.sites[number]
            return FormatError(
                f"{site.message} in `{self.name}`",
                at=site.at,
                why="its format stores one per fiber",
                hint="use one for more of them: SparseList for elements, SparseRunList for runs",
            )
        if kind == imp.UNSORTED:
            site = self.sites[number]
            return FormatError(
                f"the policy of a workspace gives components out of order in `{self.name}`",
                at=site.at,
                why="its `sort` must list every component once, by rising coordinates",
                hint="compare components with linnet.imp.components.compare",
            )
        return InternalError(f"`{self.name}` returned the unknown status {status}")


# -- before the kernel -----------------------------------------------------------------------------


def kinds_for(
    choices: Sequence[Choice], params: Sequence[str], held: Sequence[Contents | None]
) -> Kinds:
    """The kinds of workspaces that are best for operands of these sizes."""
    known = [(name, c) for name, c in zip(params, held, strict=True) if c is not None]
    shapes = {name: contents.shape for name, contents in known}
    counts = {name: contents.nnz for name, contents in known}
    return tuple([(c.name, choose(c, shapes, counts).kind) for c in choices])


def _is_long(r: Result, held: Sequence[Contents | None]) -> bool:
    """Whether a tensor that is updated has more elements than positions of 32 bits can tell."""
    contents = None if r.position is None else held[r.position]
    return contents is not None and any(b.length > imp.MOST_NARROW for b in contents.buffers)


def _copies(r: Result, held: Sequence[Contents | None]) -> list[Buffer]:
    """Copies of what a tensor holds, for a kernel to change: if it fails, nothing is lost."""
    assert r.position is not None
    contents = held[r.position]
    assert contents is not None
    copies = []
    for buffer, dtype in zip(contents.buffers, r.dtypes, strict=True):
        copy, source = allocate(dtype, buffer.length), buffer
        if buffer.dtype != copy.dtype:  # index arrays that are too narrow for what may come
            source = Buffer.borrow(buffer.array.astype(dtype))
        if buffer.length:
            ctypes.memmove(copy.address, source.address, copy.nbytes)
        copies.append(copy)
    return copies


def _memory(
    r: Result,
    tensors: Sequence[Tensor],
    held: Sequence[Contents | None],
    loans: list[Contents | None],
) -> list[int]:
    """Where a kernel may write a result: memory that the tensor has, copies, or nowhere yet."""
    slots: list[int] | None = None
    old = None
    if r.position is not None:
        tensor = tensors[r.position]
        with GUARD.lock:
            if r.keeps:
                here = tensor._contents
                if r.in_place and here is not None and here is held[r.position]:
                    slots = here.lend_held()
                if slots is not None:
                    old, tensor._contents = here, None
            else:
                old, tensor._contents = tensor._contents, None
                if old is not None and old.fits(r.format, r.dtypes):
                    slots = old.lend()
    loans.append(old)
    if slots is None and r.keeps:
        slots = []
        for copy in _copies(r, held):
            length, capacity = copy.length, copy.capacity
            slots += (copy.detach()[0], capacity, length)
    return [0] * (3 * len(r.dtypes)) if slots is None else slots


# -- after the kernel ------------------------------------------------------------------------------


def _take_over(
    r: Result,
    tensors: Sequence[Tensor],
    block: array[int] | None,
    at: int,
    old: Contents | None,
    status: int,
) -> None:
    """What the kernel has allocated becomes the contents of the tensor, or is freed."""
    ndim = r.format.ndim
    if block is None or (r.keeps and old is not None and _stays(old, block, at + ndim)):
        _put_back(r, tensors, old)  # no kernel has run, or it ran in place
        return
    shape = tuple(block[at : at + ndim])
    at += ndim
    if old is not None and old.lent:
        if status == 0 and old.shape == shape and old.returned(block, at):
            tensors[r.position]._contents = old  # type: ignore[index]
            return
        old.forget()
        old = None
    buffers = []
    for dtype in r.dtypes:
        address, capacity, length = block[at : at + 3]
        if status or r.position is None:
            Memory(address, 0)  # which frees it
        else:
            buffers.append(Buffer.native(address, capacity, length, dtype))
        at += 3
    if r.position is not None and status == 0:
        tensors[r.position]._rebind(r.format, shape, tuple(buffers))
    else:
        _put_back(r, tensors, old)


def _stays(contents: Contents, block: array[int], at: int) -> bool:
    """Whether memory that was lent is where it was."""
    return all(block[at + 3 * k] == b.address for k, b in enumerate(contents.buffers))


def _put_back(r: Result, tensors: Sequence[Tensor], old: Contents | None) -> None:
    """An output that was not written has the contents that it had, unless their memory is gone."""
    if old is None or r.position is None:
        return
    if old.lent:
        old.own()
    with GUARD.lock:
        tensor = tensors[r.position]
        if tensor._contents is None:
            tensor._contents = old


def fast_check(check: Check, positions: dict[str, int]) -> tuple[int, int, int, int, Check] | None:
    """A comparison of two dimensions, in a form that takes no time."""
    match check.relation, check.a, check.b:
        case "==", loops.Dimension(a, m), loops.Dimension(b, n):
            return positions[a], m, positions[b], n, check
    return None
