"""`Entry`: a kernel for arguments of certain formats, bound: the one way to call machine code.

A warm call finds the argument block of the last one like it, adds the memory of results
(`runtime.handover`) and jumps: see `Entry.run_in`. Operands are slots, whoever has the memory;
results are tensors, which have contents whose memory is used again, or none yet.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from operator import is_
from struct import Struct
from sys import _getframe
from typing import TYPE_CHECKING

from linnet import imp
from linnet.errors import LinnetError, ShapeError
from linnet.formats.away import TAKEN, brought
from linnet.formats.contents import NARROW, Contents, Signature, let_go
from linnet.formats.spare import SPARE
from linnet.formats.tensor import Tensor
from linnet.formats.verify import verify
from linnet.options import current
from linnet.records import NamedTuple
from linnet.runtime.handover import Place, Result, is_long, lend, take_back, take_over
from linnet.runtime.scratch import Scratch
from linnet.runtime.sizes import Shapes, check_size, runs_of

if TYPE_CHECKING:  # nothing of the compiler is needed to call what is in the disk cache
    from linnet.lower.context import Site
    from linnet.normalize.choice import Choice, Kinds, Unpacking
    from linnet.normalize.concordance import Warned
    from linnet.normalize.shape_checks import Check

_NOT_RUN = -1  # the status of a kernel that was not run, or whose status an interrupt has lost
_FRAMES = 4  # argument blocks that an entry remembers: loops swap a few tensors


Slots = tuple[int, ...]
"""An operand in an argument block: dimensions, then address, capacity and length of every array."""


class Layout(NamedTuple):
    """The argument block for operands of certain sizes, wherever they lie."""

    shapes: tuple[tuple[int, ...], ...]  # of the arguments
    starts: tuple[int, ...]  # where the slots of each operand begin
    packs: tuple[Callable[..., None], ...]  # what writes them there
    results: tuple[Place, ...]
    largest: int  # elements that a result stores densely
    scratch: Scratch | None  # of temporaries, if there are any


class Frame(NamedTuple):
    """The argument block for operands at certain places, to be copied.

    Results have their dimensions in it, and no memory yet.
    """

    known: Sequence[Slots]  # what it was made of
    block: array[int]
    layout: Layout


class Bound(NamedTuple):
    """What of an entry stays as it is: a tuple, since a process waits for its definition."""

    name: str
    params: tuple[str, ...]
    call: Callable[[int], int]
    operands: tuple[int, ...]  # positions of arguments that are only read
    results: tuple[Result, ...]  # in the order of the argument block, after the operands
    order: tuple[int, ...]  # the argument block: places in operands + results
    checks: tuple[tuple[int, int, int, int, Check | None], ...]  # None: see `runtime.recalled`
    other_checks: tuple[Check, ...]
    sites: tuple[Site, ...]
    returned: tuple[int, ...]
    own: tuple[int, ...]  # positions of outputs whose old dimensions count
    wide: bool  # coordinates of results have 64 bits
    warnings: tuple[Warned, ...]  # to be told when it is made
    fixed: bool  # sizes of results follow from shapes alone, and from no element
    choices: tuple[Choice | Unpacking, ...] = ()  # workspaces whose kind depends on sizes
    kinds: Kinds = ()  # the kind of each
    ndims: tuple[int, ...] = ()  # of all arguments
    # up to which sizes of operands, by position and mode, workspaces stay as they are; None: never
    limits: tuple[tuple[int, int, int], ...] | None = None
    key: str = ""  # under which the machine code is kept


class Entry(Bound):
    """Machine code, and what to do before and after."""

    told: tuple[Sequence[object] | None, Kinds] = (None, ())  # contents asked for last, the answer
    frames: tuple[Frame, ...] = ()  # of the last few calls, which are often alike

    def run(self, tensors: Sequence[Tensor], held: Sequence[Contents | None]) -> bool:
        """Call the kernel; afterwards the output tensors hold the results.

        `held` are the pinned contents of the arguments; None for an output that begins anew. False
        if nothing was done, since a result's indices take more bits than this entry gives them.
        """
        frame = self.frame(self.slots(tensors, held), held)
        return frame is not None and self.run_in(frame, tensors, held)

    def run_in(
        self,
        frame: Frame,
        tensors: Sequence[Tensor],
        held: Sequence[Contents | None],
        again: bool = False,
    ) -> bool:
        """Call the kernel with an argument block; `tensors` are looked up where it writes."""
        _, block, (_, _, _, results, _, scratch) = frame
        block, run, status = block[:], False, _NOT_RUN
        loans: list[Contents | None] = []
        try:
            if scratch is not None:
                scratch.lend(block)
            for r, _, at, _ in results:
                lend(r, tensors, held, block, at, loans, _getframe())
            run = True
            status = self.call(block.buffer_info()[0])
        finally:  # after an interrupt, too: a kernel runs to its end, and what it made is freed
            try:
                for place, old in zip(results, loans, strict=False):
                    if run:
                        take_over(place, tensors, block, old, status)
                    else:
                        take_back(place.result, tensors, block, place.at, old)
                if scratch is not None:
                    scratch.take_back(block)
            finally:
                if TAKEN:
                    try:
                        brought([tensors[p] for p in self.written], _getframe())
                    except BaseException:  # an interrupt; after another one nobody waits any more
                        brought([tensors[p] for p in self.written], _getframe())
                        raise
        if status:
            return self._run_again(status, frame, block, tensors, held, again)
        if current().check:
            self._verify(tensors)
        return True

    def _verify(self, tensors: Sequence[Tensor]) -> None:
        """See to it that results are what their formats say; nobody writes to them meanwhile."""
        for position in self.written:
            pinned: list[Contents | None] = []
            try:
                verify(tensors[position].pin(pinned, _getframe()))
            finally:
                let_go(pinned, _getframe())

    def _run_again(
        self,
        status: int,
        frame: Frame,
        block: array[int],
        tensors: Sequence[Tensor],
        held: Sequence[Contents | None],
        again: bool,
    ) -> bool:
        """What becomes of a call that has failed: another one with spare memory, or an error."""
        if status == imp.OUT_OF_MEMORY:
            if self._outgrown(frame, block):
                return False
            if SPARE.drop() and not again:
                return self.run_in(frame, tensors, held, again=True)
        raise self._failure(status)

    @property
    def written(self) -> list[int]:
        """Positions of arguments that are written."""
        return [r.position for r in self.results if r.position is not None]

    # -- argument blocks -------------------------------------------------------------------------

    def slots(self, tensors: Sequence[Tensor], held: Sequence[Contents | None]) -> list[Slots]:
        """Of every argument what an argument block depends on; nothing of a new result."""
        known = [() if c is None else c._slots or c.slots for c in held]
        for p in self.own:
            known[p] = self._shape(tensors[p], p)
        return known

    def frame(self, known: Sequence[Slots], held: Sequence[Contents | None]) -> Frame | None:
        """The argument block without memory for results; None if they need wider indices.

        `known` are the slots of what is read, by position, and of a result its dimensions, if they
        count.
        """
        for frame in self.frames:
            if frame.known == known:
                return frame
        if not self.wide and any(is_long(r, held) for r in self.results if r.keeps):
            return None
        shapes = tuple([slots[:n] for slots, n in zip(known, self.ndims, strict=True)])
        like = [f for f in self.frames if f.layout.shapes == shapes]
        made = self._moved(known, like[0]) if like else self._sized(known, shapes, held)
        if made is not None and self.fixed:
            self.frames = (made, *self.frames[: _FRAMES - 1])  # at once: other threads may look
        return made

    def _moved(self, known: Sequence[Slots], like: Frame) -> Frame:
        """The argument block for operands of sizes that are known, at other places."""
        block, old, layout = like.block[:], like.known, like.layout
        for k, p in enumerate(self.operands):
            if known[p] != old[p]:
                layout.packs[k](block, 8 * layout.starts[k], *known[p])
        return Frame(known, block, layout)

    def _sized(
        self,
        known: Sequence[Slots],
        shapes: tuple[tuple[int, ...], ...],
        held: Sequence[Contents | None],
    ) -> Frame | None:
        """Check the sizes of the arguments, and compute those of the results."""
        self.check(shapes)
        sizes: list[tuple[int, ...]] = []
        for r in self.results:
            size = shapes[r.position] if r.dims is None else [d(shapes, held) for d in r.dims]  # type: ignore[index]
            if len(size) > 2 or max(size, default=0) >= NARROW:
                check_size(r.name, size, r.format, "temporary" if r.position is None else "result")
                if not self.wide and r.position is not None and max(size) >= NARROW:
                    return None
            sizes.append(tuple(size))
        memory = [
            (*n, *[0] * (3 * len(r.dtypes))) for n, r in zip(sizes, self.results, strict=True)
        ]
        parts, count = [*[known[p] for p in self.operands], *memory], len(self.operands)
        block, starts = array("q"), [0] * len(parts)
        for k in self.order:
            starts[k] = len(block)
            block.extend(parts[k])
        packs = tuple([_pack(len(part)) for part in parts[:count]])
        layout = self._layout(shapes, sizes, tuple(starts[:count]), packs, starts[count:])
        return Frame(known, block, layout)

    def _layout(
        self,
        shapes: tuple[tuple[int, ...], ...],
        sizes: Sequence[tuple[int, ...]],
        starts: tuple[int, ...],
        packs: tuple[Callable[..., None], ...],
        ends: Sequence[int],
    ) -> Layout:
        """Where everything is; the slots of each result begin with its sizes."""
        places, temporaries, largest = list[Place](), list[tuple[Result, int]](), 0
        for r, size, start in zip(self.results, sizes, ends, strict=True):
            if r.position is None:
                temporaries.append((r, start + len(size)))
                continue
            places.append(Place(r, size, start + len(size), _signature(r, size)))
            dense = [prod([size[mode] for mode in run]) for run in runs_of(r.format)]
            largest = max(largest, *dense, 0)
        scratch = Scratch(tuple(temporaries)) if temporaries else None
        return Layout(shapes, starts, packs, tuple(places), largest, scratch)

    def _outgrown(self, frame: Frame, block: array[int]) -> bool:
        """Whether a kernel asked for more elements than positions of 32 bits can tell apart."""
        if self.wide:
            return False
        layout = frame.layout
        temporaries = () if layout.scratch is None else layout.scratch.temporaries
        for r, at in (*[(place.result, place.at) for place in layout.results], *temporaries):
            lengths = block[at + 2 : at + 3 * len(r.dtypes) : 3]
            if any(length > imp.MOST_NARROW for length in lengths):
                return True
        return False

    def wanted(self, held: Sequence[Contents | None]) -> Kinds:
        """The kinds of workspaces that are best for these operands."""
        given = [None if c is None else c._slots or c.slots for c in held]
        last, kinds = self.told
        if last is None or not all(map(is_, given, last)):  # the same objects, or other contents
            kinds = kinds_for(self.choices, self.params, held)
            self.told = (given, kinds)  # at once: other threads may look
        return kinds

    @property
    def recalled(self) -> bool:
        """Whether another process has compiled it (`runtime.recalled`)."""
        return False

    def warn(self) -> None:
        """Tell the user what the kernel costs more than they may think."""
        from linnet.normalize.concordance import warn

        warn(self.warnings)

    def check(self, shapes: Shapes) -> None:
        """Refuse arguments whose dimensions do not fit together."""
        for p, m, q, n, check in self.checks:
            if shapes[p][m] != shapes[q][n]:
                assert check is not None
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

    def _failure(self, status: int) -> LinnetError:
        from linnet.runtime.status import failure  # which most processes never need

        return failure(status, self.name, self.sites)


@lru_cache(maxsize=64)
def _pack(count: int) -> Callable[..., None]:
    """What writes so many slots: as a `Struct` does, it takes half as long as by an array."""
    return Struct(f"{count}q").pack_into


def _signature(r: Result, shape: tuple[int, ...]) -> Signature:
    """What kernels that read a result are specialized to."""
    dtypes = iter(r.dtypes)
    by_level = [tuple([next(dtypes) for _ in level.arrays]) for level in r.format.levels]
    return Signature.of(r.format, tuple(by_level), any(n >= NARROW for n in shape))


def kinds_for(
    choices: Sequence[Choice | Unpacking],
    params: Sequence[str],
    held: Sequence[Contents | None],
) -> Kinds:
    """The kinds of workspaces that are best for these operands."""
    known = {name: c for name, c in zip(params, held, strict=True) if c is not None}
    from linnet.runtime.deciding import decide

    return tuple([(c.name, decide(c, known).kind) for c in choices])
