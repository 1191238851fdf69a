"""`Ready`: a kernel with everything bound, called with operands like those that it was called with.

It knows how to succeed, and nothing else. Whatever is not as usual — sizes that do not fit, memory
that runs out, an operand that is being written — it leaves to the general way, which tells. What it
is made of, a `Recipe`, is plain data that is kept in the disk cache with the machine code: nothing
of the compiler is imported to use it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from struct import Struct
from sys import _getframe
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.formats.addresses import address_of
from linnet.formats.buffers import Buffer, Unseen
from linnet.formats.contents import NARROW, Contents, Signature, hold, let_go
from linnet.formats.format import Format
from linnet.formats.spare import LEAST
from linnet.formats.tensor import Tensor
from linnet.formats.verify import verify
from linnet.options import current
from linnet.records import NamedTuple
from linnet.runtime.handover import Result, adopted, release, spare, unseen

Slots = tuple[int, ...]
"""An operand in an argument block: dimensions, then address, capacity and length of every array."""

_NOT_RUN = -1  # the status of a kernel that was not run, or whose status an interrupt has lost
_FRAMES = 4  # argument blocks that are remembered: loops swap a few tensors
_SMALL = 1 << 12  # elements: NumPy finds memory of so few quickly
_LARGE = 1 << 26  # elements: dense results of more may not be wanted
_new = object.__new__


class Written(NamedTuple):
    """A tensor that the kernel writes: its arrays, and the dimensions of operands that are its own.

    `runs` are the modes that it stores densely: each run takes memory for the product of its sizes.
    """

    name: str
    format: Format
    dtypes: tuple[str, ...]
    dims: tuple[tuple[int, int], ...]  # operand, mode
    runs: tuple[tuple[int, ...], ...]


class Recipe(NamedTuple):
    """How an operation on tensors is one call of a kernel."""

    arguments: int  # of the operation
    sources: tuple[int, ...]  # which of them each operand of the kernel is
    ndims: tuple[int, ...]  # of operands
    order: tuple[int, ...]  # the argument block: places in operands + what is written
    checks: tuple[tuple[int, int, int, int], ...]  # equal sizes: operand, mode, operand, mode
    limits: tuple[tuple[int, int, int], ...]  # of sizes: operand, mode, the most
    written: tuple[Written, ...]  # the result first, then temporaries
    asked: Format  # for the result, when it was made
    format: Format  # of the result
    number: str = ""  # the dtype of the last argument, if that is a number (`runtime.with_numbers`)
    filled: bool = False  # the result gets its own fill value, which depends on that


class Layout(NamedTuple):
    """What an argument block looks like for operands of certain sizes, wherever they are."""

    sizes: tuple[int, ...]  # those of which anything depends
    shapes: tuple[tuple[int, ...], ...]  # of what is written
    memory: tuple[Slots, ...]  # the same in the block, where it has no memory yet
    places: tuple[int, ...]  # where the slots of operands begin
    starts: tuple[int, ...]  # and the memory of what is written
    small: int  # elements of a result that stores all of them, if they are few; else 0
    packs: tuple[Callable[..., None], ...]  # how slots of operands are written into a block


class Frame(NamedTuple):
    """The argument block for operands at certain places, to be copied."""

    known: Sequence[Slots]  # what it was made of
    block: array[int]
    layout: Layout


class Ready:
    """A kernel that is called with the slots of operands, and gives a tensor."""

    __slots__ = ("asked", "call", "checks", "frames", "kind", "output", "recipe", "results",
                 "signature", "straight")  # fmt: skip

    def __init__(self, recipe: Recipe, call: Callable[[int], int]) -> None:
        self.recipe, self.call = recipe, call
        self.results = tuple([_result(w, k) for k, w in enumerate(recipe.written)])
        self.straight = recipe.sources == tuple(range(recipe.arguments))
        self.output = Signature.of(recipe.asked)
        self.signature = _signature(recipe)
        pairs = [pair for p, m, q, n in recipe.checks for pair in ((p, m), (q, n))]
        pairs += [(p, m) for p, m, _ in recipe.limits]
        pairs += [pair for w in recipe.written for pair in w.dims]
        self.asked = tuple(dict.fromkeys(pairs))
        levels, kinds = recipe.written[0].format.levels, self.results[0].kinds
        # of the values, where they are all there is, one for every place
        self.kind = kinds[0] if len(kinds) == 1 and all(l.full for l in levels[:-1]) else None
        self.frames: tuple[Frame, ...] = ()
        self.checks = current().check  # for other options, there is another one

    def run(self, given: Sequence[Slots], held: Sequence[Contents]) -> Tensor | None:
        """The result for arguments with these slots; None if the general way has to be gone.

        `held` are contents that other threads may write to, unless somebody reads them: all but
        those whose memory is shared anyway.
        """
        known = given if self.straight else [given[k] for k in self.recipe.sources]
        for frame in self.frames:
            if frame.known == known:
                break
        else:
            made = self._frame(known)
            if made is None:
                return None
            frame = made
        block, layout, status = frame.block[:], frame.layout, _NOT_RUN
        small = layout.small
        pinned: list[Contents | None] = []
        try:
            if held and not hold(held, pinned, _getframe()):
                return None
            if small:
                at, values = layout.starts[0], np.empty(small, self.kind)
                block[at], block[at + 1] = address_of(values), small
            else:
                self._lend(block, layout)
            status = self.call(block.buffer_info()[0])
        finally:  # after an interrupt, too: a kernel runs to its end, and what it made is freed
            try:
                if pinned:
                    let_go(pinned, _getframe())
            except BaseException:  # an interrupt; after another one nobody waits any more
                let_go(pinned, _getframe())
                raise
            finally:
                done = small and len(self.results) == 1
                taken = () if done else self._take(block, layout, status)
        if status:
            return None
        found = self.tensor(layout, values if small else taken)
        if self.checks:
            verify(found.contents())
        return found

    def tensor(self, layout: Layout, buffers: tuple[Buffer, ...] | Unseen | NDArray[Any]) -> Tensor:
        """The result, of parts that are known to fit."""
        contents = Contents(self.recipe.format, layout.shapes[0], buffers)
        contents._signature = self.signature
        tensor = _new(Tensor)
        tensor._given, tensor._output, tensor._contents = self.recipe.asked, self.output, contents
        return tensor

    def _lend(self, block: array[int], layout: Layout) -> None:
        """Memory that others have left, for what took much the last time."""
        for k, r in enumerate(self.results):
            if any(r.rooms):
                spare(r, block, layout.starts[k])

    def _take(self, block: array[int], layout: Layout, status: int) -> tuple[Buffer, ...] | Unseen:
        """The arrays of the result; the memory of all else is given up."""
        if not status and len(self.results) == 1:
            r, at = self.results[0], layout.starts[0]
            return unseen(r, block, at) or adopted(r, block, at)
        first = 1 if layout.small else 0  # whose memory is of NumPy
        for r, at in zip(self.results[first:], layout.starts[first:], strict=True):
            if r.position is None or status:
                release(r, block, at)
        return () if status or layout.small else adopted(self.results[0], block, layout.starts[0])

    def _frame(self, known: Sequence[Slots]) -> Frame | None:
        """The argument block for these operands; None if their sizes are for the general way."""
        sizes = tuple([known[p][m] for p, m in self.asked])
        for frame in self.frames:
            if frame.layout.sizes == sizes:
                layout, block = frame.layout, frame.block[:]
                old, places = frame.known, layout.places
                for k, pack in enumerate(layout.packs):
                    if known[k] != old[k]:
                        pack(block, 8 * places[k], *known[k])
                break
        else:
            made = self._layout(sizes, [len(slots) for slots in known])
            if made is None:
                return None
            layout, parts = made, (*known, *made.memory)
            block = array("q", [slot for k in self.recipe.order for slot in parts[k]])
        found = Frame(known, block, layout)
        self.frames = (found, *self.frames[: _FRAMES - 1])  # at once: other threads may look
        return found

    def _layout(self, sizes: tuple[int, ...], lengths: list[int]) -> Layout | None:
        """Check the sizes of the operands, and compute those of the results."""
        recipe, size = self.recipe, dict(zip(self.asked, sizes, strict=True))
        for p, m, q, n in recipe.checks:
            if size[p, m] != size[q, n]:
                return None
        for p, m, most in recipe.limits:
            if size[p, m] > most:
                return None
        shapes = tuple([tuple([size[pair] for pair in w.dims]) for w in recipe.written])
        for shape, w in zip(shapes, recipe.written, strict=True):
            dense = [prod([shape[mode] for mode in run]) for run in w.runs]
            if max(shape, default=0) >= NARROW or max(dense, default=0) > _LARGE:
                return None
        pairs = list(zip(shapes, recipe.written, strict=True))
        memory = tuple([(*shape, *[0] * (3 * len(w.dtypes))) for shape, w in pairs])
        places, end, lengths = [0] * len(recipe.order), 0, [*lengths, *map(len, memory)]
        for k in recipe.order:
            places[k], end = end, end + lengths[k]
        first = len(recipe.ndims)
        starts = [at + len(shape) for at, shape in zip(places[first:], shapes, strict=True)]
        packs = tuple([_pack(length) for length in lengths[:first]])
        small = self._small(shapes[0])
        return Layout(sizes, shapes, memory, tuple(places[:first]), tuple(starts), small, packs)

    def _small(self, shape: tuple[int, ...]) -> int:
        """How many elements a result stores, if that is all of them, and they are few; else 0."""
        if self.kind is None:
            return 0
        count = prod(shape)
        return count if count < _SMALL or count * self.kind.itemsize < LEAST else 0


@lru_cache(maxsize=64)
def _pack(count: int) -> Callable[..., None]:
    """How so many slots are written: as a `Struct` does, they take half as long as by an array."""
    return Struct(f"{count}q").pack_into


def _result(written: Written, place: int) -> Result:
    """What is written, as those who hand memory over know it."""
    kinds = tuple([np.dtype(dtype) for dtype in written.dtypes])
    position = None if place else 0
    return Result(
        position, written.name, written.format, written.dtypes, kinds, None,
        keeps=False, in_place=False, at=None, rooms=[0] * len(kinds),
    )  # fmt: skip


def _signature(recipe: Recipe) -> Signature:
    """What kernels that read the result are specialized to."""
    dtypes = iter(recipe.written[0].dtypes)
    by_level = [tuple([next(dtypes) for _ in level.arrays]) for level in recipe.format.levels]
    return Signature.of(recipe.format, tuple(by_level))
