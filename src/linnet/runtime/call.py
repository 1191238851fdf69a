"""`Entry`: a kernel for arguments of certain formats, ready to be called.

A warm call finds the argument block of the last one like it, adds the memory of results
(`runtime.handover`) and jumps: see `Entry.run`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from operator import is_
from sys import _getframe
from typing import TYPE_CHECKING

from linnet import imp
from linnet.errors import LinnetError, ShapeError
from linnet.formats.away import TAKEN, brought
from linnet.formats.contents import NARROW, Contents, let_go
from linnet.formats.row_lengths import Rows, kind_of_rows
from linnet.formats.spare import SPARE
from linnet.formats.tensor import Tensor
from linnet.formats.verify import verify
from linnet.options import current
from linnet.records import NamedTuple
from linnet.runtime.handover import Result, is_long, lend, take_back, take_over
from linnet.runtime.sizes import Shapes, check_size

if TYPE_CHECKING:  # nothing of the compiler is needed to call what is in the disk cache
    from linnet.lower.context import Site
    from linnet.normalize.choice import Choice, Kinds, Unpacking
    from linnet.normalize.concordance import Warned
    from linnet.normalize.shape_checks import Check
    from linnet.runtime.scratch import Scratch

_NOT_RUN = -1  # the status of a kernel that was not run, or whose status an interrupt has lost
_FRAMES = 4  # argument blocks that an entry remembers: loops swap a few tensors


class Frame(NamedTuple):
    """The argument block for operands of certain sizes at certain places, to be copied.

    Results have their dimensions in it, and no memory yet.
    """

    known: list[tuple[int, ...]]  # what it was made of
    block: array[int]
    writes: tuple[tuple[Result, tuple[int, ...], int], ...]  # results, shapes, where memory begins
    scratch: Scratch | None  # of temporaries, if there are any


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
    # workspaces whose kind depends on sizes, operands whose rows may be uneven
    choices: tuple[Choice | Unpacking | Rows, ...] = ()
    kinds: Kinds = ()  # the kind of each
    # up to which sizes of operands, by position and mode, workspaces stay as they are; None: never
    limits: tuple[tuple[int, int, int], ...] | None = None
    key: str = ""  # under which the machine code is kept


class Entry(Bound):
    """Machine code, and what to do before and after."""

    told: tuple[Sequence[object] | None, Kinds] = (None, ())  # contents asked for last, the answer
    frames: tuple[Frame, ...] = ()  # of the last few calls, which are often alike

    def run(
        self, tensors: Sequence[Tensor], held: Sequence[Contents | None], again: bool = False
    ) -> bool:
        """Call the kernel; afterwards the output tensors hold the results.

        `held` are the pinned contents of the arguments; None for an output that begins anew. False
        if nothing was done, since a result's indices take more bits than this entry gives them.
        """
        frame = self._frame(tensors, held)
        if frame is None:
            return False
        block, run, status = frame.block[:], False, _NOT_RUN
        loans: list[Contents | None] = []
        try:
            if frame.scratch is not None:
                frame.scratch.lend(block)
            for r, _, at in frame.writes:
                lend(r, tensors, held, block, at, loans, _getframe())
            run = True
            status = self.call(block.buffer_info()[0])
        finally:  # after an interrupt, too: a kernel runs to its end, and what it made is freed
            try:
                for k, old in enumerate(loans):
                    r, shape, at = frame.writes[k]
                    if run:
                        take_over(r, tensors, shape, block, at, old, status)
                    else:
                        take_back(r, tensors, block, at, old)
                if frame.scratch is not None:
                    frame.scratch.take_back(block)
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
                return self.run(tensors, held, again=True)
        raise self._failure(status)

    @property
    def written(self) -> list[int]:
        """Positions of arguments that are written."""
        return [r.position for r in self.results if r.position is not None]

    def _frame(self, tensors: Sequence[Tensor], held: Sequence[Contents | None]) -> Frame | None:
        """The argument block without memory for results; None if they need wider indices."""
        known = [() if c is None else c._slots or c.slots for c in held]
        for p in self.own:
            known[p] = self._shape(tensors[p], p)
        for frame in self.frames:
            if frame.known == known:
                return frame
        made = self._make_frame(known, held)
        if made is not None and self.fixed:
            self.frames = (made, *self.frames[: _FRAMES - 1])  # at once: other threads may look
        return made

    def _make_frame(
        self, known: list[tuple[int, ...]], held: Sequence[Contents | None]
    ) -> Frame | None:
        """Check the sizes of the arguments, and compute those of the results."""
        shapes = [slots if c is None else c.shape for slots, c in zip(known, held, strict=True)]
        self.check(shapes)
        sizes = []
        for r in self.results:
            size = shapes[r.position] if r.dims is None else [d(shapes, held) for d in r.dims]  # type: ignore[index]
            if len(size) > 2 or max(size, default=0) >= NARROW:
                check_size(r.name, size, r.format, "temporary" if r.position is None else "result")
                if not self.wide and r.position is not None and max(size) >= NARROW:
                    return None
            sizes.append(tuple(size))
        if not self.wide and any(is_long(r, held) for r in self.results if r.keeps):
            return None
        pairs = zip(sizes, self.results, strict=True)
        memory = [(*size, *[0] * (3 * len(r.dtypes))) for size, r in pairs]
        parts, first = [*[known[p] for p in self.operands], *memory], len(self.operands)
        block, starts = array("q"), [0] * len(parts)
        for k in self.order:
            starts[k] = len(block)
            block.extend(parts[k])
        at = [starts[first + k] + len(size) for k, size in enumerate(sizes)]
        written = list(zip(self.results, sizes, at, strict=True))
        writes = tuple([w for w in written if w[0].position is not None])
        temporaries = tuple([(r, at) for r, _, at in written if r.position is None])
        return Frame(known, block, writes, _scratch(temporaries) if temporaries else None)

    def _outgrown(self, frame: Frame, block: array[int]) -> bool:
        """Whether a kernel asked for more elements than positions of 32 bits can tell apart."""
        if self.wide:
            return False
        temporaries = () if frame.scratch is None else frame.scratch.temporaries
        for r, at in (*[(r, at) for r, _, at in frame.writes], *temporaries):
            lengths = block[at + 2 : at + 3 * len(r.dtypes) : 3]
            if any(length > imp.MOST_NARROW for length in lengths):
                return True
        return False

    def wanted(self, held: Sequence[Contents | None]) -> Kinds:
        """The kinds of workspaces that are best for these operands, and of their rows."""
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


def _scratch(temporaries: tuple[tuple[Result, int], ...]) -> Scratch:
    from linnet.runtime.scratch import Scratch  # which most kernels have none of

    return Scratch(temporaries)


def kinds_for(
    choices: Sequence[Choice | Unpacking | Rows],
    params: Sequence[str],
    held: Sequence[Contents | None],
) -> Kinds:
    """The kinds of workspaces that are best for these operands, and of their rows."""
    known = {name: c for name, c in zip(params, held, strict=True) if c is not None}
    if all(type(c) is Rows for c in choices):  # which takes nothing of the compiler
        return tuple([(c.name, kind_of_rows(known[c.name])) for c in choices])
    from linnet.runtime.deciding import decide

    return tuple([(c.name, decide(c, known).kind) for c in choices])
