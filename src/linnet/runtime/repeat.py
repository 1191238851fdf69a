"""`Repeat`: a kernel called again with the tensors of the last call, and nothing moved since.

Programs call a kernel in a loop, on a few tensors, and results find room where the last ones were.
There is nothing to be looked up, compared or computed for such a call: what is read is pinned, what
is written is taken, and the argument block is there, with the memory of temporaries in it. A kernel
that has not moved its results moves them in no call like that one: it does the same again. After
many calls all of that is machine code (`runtime.jump`).

Contents are known by their slots. These are those of one `Contents` for ever, and keep no memory of
a user alive. A block is used by one call at a time, which has taken what it writes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from importlib import import_module
from threading import get_ident
from typing import TYPE_CHECKING, Any

from linnet.formats.away import TAKEN
from linnet.formats.contents import Contents
from linnet.options import current
from linnet.runtime.handover import Result, take_over
from linnet.runtime.repeats import results
from linnet.runtime.scratch import Staying

if TYPE_CHECKING:
    from linnet.formats.tensor import Tensor
    from linnet.runtime.call import Entry, Frame

MANY = 1000  # calls, after which one is worth its machine code: to load that takes some 3 ms
_NOT_RUN = -1  # the status of a kernel that was not run, or whose status an interrupt has lost

Slots = tuple[int, ...]
Held = list[Contents | None]
"""What the tensors of a call hold, as far as it is pinned or taken."""


class Repeat:
    """What is the same in all calls with certain tensors, as long as these hold what they do."""

    __slots__ = ("after", "arguments", "before", "block", "call", "calls", "count", "first", "head",
                 "jump", "options", "read", "returned", "scratch", "varies", "where", "writes",
                 "written")  # fmt: skip

    def __init__(self, entry: Entry, frame: Frame, known: list[Slots], places: list[int]) -> None:
        self.first, self.count = places[0], len(known)  # where the first is, to say no early
        self.jump: Callable[..., Any] = not_yet  # does as `again`, where all is as it was
        self.calls = 0  # that were made without
        self.options, self.call, self.returned = current(), entry.call, entry.returned
        self.writes, positions = frame.writes, [_position(r) for r, _, _ in frame.writes]
        self.written = [(k, known[k]) for k in positions]
        self.read = [(k, slots) for k, slots in enumerate(known) if k not in positions]
        self.arguments = [(p, known[k], k in positions) for k, p in enumerate(places)]
        self.scratch, self.block = None, frame.block[:]
        if frame.scratch is not None:
            self.scratch = Staying(frame.scratch.temporaries, self.block)
        self.varies = any(r.keeps for r, _, _ in frame.writes)  # what temporaries take, too
        self.where = self.block.buffer_info()[0]
        self.head = slice(None if self.scratch is None else self.scratch.begin)
        self.before = self.block[self.head]
        self.after = self.before[:]
        for r, shape, at in frame.writes:
            memory = array("q", known[_position(r)][len(shape) :])
            self.after[at : at + len(memory)] = memory
            if not r.keeps:  # its length is what the kernel will say
                memory[2::3] = array("q", [0] * len(r.kinds))
            self.before[at : at + len(memory)] = memory

    def again(self, tensors: Sequence[Any]) -> Any:
        """What the kernel returns for these tensors; `NotImplemented` if they are not as they were.

        Who calls this has seen that they are where they were, and that options are the same.
        """
        if not self.run(tensors):
            return NotImplemented
        self.calls += 1
        if self.calls >= MANY:
            self.jump, self.calls = import_module("linnet.runtime.jump").jump(self), 0
        return results(tensors, self.returned)

    def run(self, tensors: Sequence[Any]) -> bool:
        """Call the kernel; False if it is not done, and the general way has to be gone."""
        held: Held = [None] * self.count
        scratch, block = self.scratch, self.block
        status, run, same = _NOT_RUN, False, True
        try:
            if not self._begin(tensors, held):
                return False
            block[self.head] = self.before
            if scratch is not None and not scratch.stays:
                scratch.lend(block)
            run = True
            status = self.call(self.where)
        except AttributeError:  # where a tensor was in memory, there is another object
            return False
        finally:  # after an interrupt, too: a kernel runs to its end, and what it made is freed
            try:
                same = not run or (not status and block[self.head] == self.after)
                if not same:
                    self.unlike(tensors, held, status)
                elif run and scratch is not None and (self.varies or not scratch.stays):
                    scratch.take_back(block)
                self._end(tensors, held)
            except BaseException:  # an interrupt, which hardly comes twice
                self._end(tensors, held) if same else self.give_up(tensors, held)
                self._brought(tensors)
                raise
        return not status

    def _begin(self, tensors: Sequence[Any], held: Held) -> bool:
        """Take what is written and pin what is read; False if one is not what it was."""
        me = get_ident()
        for k, slots in self.written:
            tensor = tensors[k]
            where, contents = id(tensor), tensor._contents
            if contents is None or contents._slots is not slots:
                return False
            if contents.pins or contents.lent:
                return False
            # nothing comes between these, no interrupt and nobody else's code: Python looks for
            # it after calls, and in loops
            TAKEN[where] = me
            tensor._contents, contents.lent = None, True
            held[k] = contents
            for buffer in contents._buffers:
                if buffer.exported:  # not before it is taken: who sees it then, waits
                    return False
        for k, slots in self.read:  # then, since one call at a time has what it writes
            contents = tensors[k]._contents
            if contents is None or contents._slots is not slots:
                return False
            held[k] = contents
            contents.pins[self] = None
            if contents.lent:
                return False
        return True

    def _end(self, tensors: Sequence[Any], held: Held) -> None:
        """Nobody reads or writes any more: what was taken is where it was.

        After an interrupt, what is still held waits for another call of this.
        """
        self._unpin(held)  # before another call can have what is written
        for k, _ in self.written:
            contents = held[k]
            if contents is not None:  # nothing comes between these three, as above
                contents.lent = False
                tensors[k]._contents, held[k] = contents, None
                TAKEN.pop(id(tensors[k]), None)

    def _unpin(self, held: Held) -> None:
        """Nobody reads any more."""
        for k, _ in self.read:
            contents = held[k]
            if contents is not None:
                contents.pins.pop(self, None)
                held[k] = None

    def _brought(self, tensors: Sequence[Any]) -> None:
        """Nobody waits for what is written."""
        for k, _ in self.written:
            TAKEN.pop(id(tensors[k]), None)

    def unlike(self, tensors: Sequence[Tensor], held: Held, status: int) -> bool:
        """A kernel has moved what it wrote, or has failed: settle that; whether it is done."""
        self._unpin(held)  # before another call can have what is written
        if self.scratch is not None:  # before others may use the block
            self.scratch.take_back(self.block)
        for (k, _), (r, shape, at) in zip(self.written, self.writes, strict=True):
            take_over(r, tensors, shape, self.block, at, held[k], status)
        for k, _ in self.written:
            held[k] = None
        self._brought(tensors)
        return not status

    def give_up(self, tensors: Sequence[Tensor], held: Held) -> None:
        """The same after an interrupt: nobody frees what is not settled, and may be freed."""
        for k, _ in self.written:
            contents = held[k]
            if contents is not None and contents.lent:
                contents.forget()
            held[k] = None
        self._unpin(held)
        self._brought(tensors)


def not_yet(*tensors: object) -> Any:
    """In the place of a jump, where there is none."""
    return NotImplemented


def repeat(
    entry: Entry,
    tensors: Sequence[Tensor],
    held: Sequence[Contents | None],
    written: Sequence[Contents],
) -> Repeat | None:
    """How to call a kernel again whose results are where they were before this call.

    Other threads may have given the tensors other contents meanwhile, of any kind.
    """
    frame = entry._frame(tensors, held)
    if frame is None:
        return None
    found = [*held]
    for contents, (r, shape, _) in zip(written, frame.writes, strict=True):
        p = _position(r)
        fits = contents is held[p] if r.keeps else contents.fits(r.format, r.kinds)
        if not fits or contents.shape != shape:
            return None
        found[p] = contents
    known = [c.slots for c in found if c is not None]
    if not all(known):  # `()` is what many have
        return None
    return Repeat(entry, frame, known, [*map(id, tensors)])


def _position(r: Result) -> int:
    assert r.position is not None  # those of temporaries: `runtime.scratch`
    return r.position
