"""`Contents`: what a tensor holds at a time, as the kernels that read it see it.

Contents are immutable, and replaced as a whole when a kernel writes to the tensor. A kernel that
reads pins them: one that writes to the same tensor meanwhile, in another thread or in the same
call, then takes new memory instead of reusing theirs.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from functools import lru_cache
from types import FrameType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linnet.errors import LifecycleError
from linnet.formats.buffers import Buffer, Unseen
from linnet.formats.format import Format
from linnet.formats.packing import Arrays, unpack_levels
from linnet.guards import Guard, runs

_name = lru_cache(maxsize=64)(str)  # of a dtype, which takes NumPy microseconds


WRITES = "writes"  # among those that pin contents: the call that may write there
_CLAIMS = Guard()  # for what an interrupt has left

NARROW = 2**31  # dimensions below this have coordinates of 32 bits


class Signature:
    """What a kernel is specialized to: a format, and the dtype of every array of every level.

    Equal signatures are one object, so comparing and hashing them is comparing addresses. `wide`
    says that a dimension needs coordinates of 64 bits, as those of results then do.
    """

    __slots__ = ("__weakref__", "dtypes", "format", "wide")
    _known: ClassVar[dict[tuple[Format, tuple[tuple[str, ...], ...], bool], Signature]] = {}

    format: Format
    dtypes: tuple[tuple[str, ...], ...]
    wide: bool

    @classmethod
    def of(
        cls, format: Format, dtypes: tuple[tuple[str, ...], ...] = (), wide: bool = False
    ) -> Signature:
        """The one signature with this content; without dtypes, that of a result to be written."""
        known = cls._known.get((format, dtypes, wide))
        if known is None:
            known = cls()
            known.format, known.dtypes, known.wide = format, dtypes, wide
            known = cls._known.setdefault((format, dtypes, wide), known)
        return known

    def __reduce__(self) -> tuple[object, ...]:
        return Signature.of, (self.format, self.dtypes, self.wide)

    def __copy__(self) -> Signature:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Signature:
        return self

    def __repr__(self) -> str:
        return f"Signature({self.format.describe()}, {self.dtypes})"


@lru_cache(maxsize=1024)
def buffer_names(format: Format) -> tuple[str, ...]:
    """The names of a format's arrays, outermost level first.

    CSR has `ptr1 idx1 val`, for its level 1 and its values; COO(2) has `ptr0 idx0_0 idx0_1 val`.
    """
    names = []
    for k, level in enumerate(format.levels):
        for array in level.arrays:
            stem = array.name.rstrip("0123456789")
            part = array.name[len(stem) :]
            names.append(stem if level.leaf else f"{stem}{k}_{part}" if part else f"{stem}{k}")
    return tuple(names)


class Contents:
    """What a tensor holds: immutable, but for being taken by a kernel that writes."""

    __slots__ = (
        "_buffers",
        "_measure",
        "_nnz",
        "_shared",
        "_signature",
        "_slots",
        "_unseen",
        "fitted",
        "format",
        "lent",
        "part",
        "pins",
        "shape",
    )

    def __init__(
        self,
        format: Format,
        shape: tuple[int, ...],
        buffers: tuple[Buffer, ...] | Unseen,
    ) -> None:
        """Of buffers, or of memory for which they are made when somebody asks for them."""
        self.format = format
        self.shape = shape
        self._unseen: Unseen | None = None
        self._buffers: tuple[Buffer, ...] | None = None
        if type(buffers) is Unseen:
            self._unseen = buffers
        else:
            self._buffers = buffers  # type: ignore[assignment]
        self.pins: dict[object, Any] = {}  # calls that read this now, and one that writes
        self.lent = False  # a kernel that writes has the memory, or looks whether it may
        self._slots: tuple[int, ...] | None = None
        self._signature: Signature | None = None
        self._nnz: int | None = None
        self._measure: tuple[int, ...] | None = None
        self._shared = False  # known to be memory that no kernel will write to
        self.fitted: tuple[np.dtype[Any], ...] | None = None
        self.part: str | None = None  # what of another array this is, which is not written to by it

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The memory of every array; buffers are made of it when somebody first asks."""
        found = self._buffers
        return self._made() if found is None else found

    def _made(self) -> tuple[Buffer, ...]:
        """The buffers of what nobody has asked for yet."""
        if self._unseen is not None:
            self._unseen.hand_over(self)
        assert self._buffers is not None
        return self._buffers

    @property
    def slots(self) -> tuple[int, ...]:
        """The tensor's part of a kernel's argument block: dimensions, then every buffer's three."""
        if self._slots is None:
            slots = list(self.shape)
            unseen = self._unseen
            if unseen is not None and (known := unseen.slots()):  # to read it takes no buffers
                slots += known
            else:
                for buffer in self.buffers:
                    slots += (buffer.address, buffer.capacity, buffer.length)
            self._slots = tuple(slots)
        return self._slots

    @property
    def exported(self) -> bool:
        """Whether others may hold every array: no kernel will write to this memory."""
        unseen = self._unseen
        if unseen is not None and unseen.addresses:
            return False
        return all(buffer.exported for buffer in self.buffers)

    @property
    def signature(self) -> Signature:
        """What a kernel that reads this is specialized to."""
        if self._signature is None:
            dtypes = iter([_name(buffer.dtype) for buffer in self.buffers])
            by_level = (tuple(next(dtypes) for _ in level.arrays) for level in self.format.levels)
            wide = any(n >= NARROW for n in self.shape)
            self._signature = Signature.of(self.format, tuple(by_level), wide)
        return self._signature

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Read-only views of all buffers; no kernel will write to this memory any more."""
        if not self.export():
            raise LifecycleError("the tensor is being written by a kernel in another thread")
        return tuple([buffer.array for buffer in self.buffers])

    def export(self) -> bool:
        """Say that others have the memory; False if a kernel has it, which will see that."""
        if self.exported:
            return True
        for buffer in self.buffers:
            buffer.exported = True
        return not self.lent

    def levels(self) -> list[Arrays]:
        """The arrays of every level, by the names that the level gives them."""
        arrays = iter(self.arrays())
        return [
            {array.name: next(arrays) for array in level.arrays} for level in self.format.levels
        ]

    @property
    def nnz(self) -> int:
        """How many values are stored."""
        if self._nnz is None:
            self._nnz = _count_stored(self)
        return self._nnz

    def claim(self, call: FrameType) -> bool:
        """Whether a call is the one that may write here, until it tells `own` or `leave`."""
        first = self.pins.setdefault(WRITES, call)
        if first is not call and not runs(first):  # an interrupt has kept it from telling
            with _CLAIMS:
                if self.pins.get(WRITES) is first:
                    self.pins[WRITES] = first = call
        return first is call

    def readers(self) -> int:
        """How many calls read this, and are still under way."""
        calls = [call for call in list(self.pins) if call is not WRITES]
        over = [call for call in calls if not runs(call)]  # an interrupt has kept them from telling
        for call in over:
            self.pins.pop(call, None)
        return len(calls) - len(over)

    def fits(self, format: Format, kinds: tuple[np.dtype[Any], ...]) -> bool:
        """Whether memory has the layout of a tensor of any shape; `fitted` says what did last."""
        fits = self.format == format and [b.dtype for b in self.buffers] == [*kinds]
        if fits:
            self.fitted = kinds
        return fits

    def lend_held(self, block: MutableSequence[int], at: int) -> bool:
        """As `lend`, of contents that stay: lengths, too. False if anybody else has them.

        Who asks has pinned them. Give them back by `own`.
        """
        self.lent = True
        if self.readers() > 1 or any(b.exported for b in self.buffers):
            self.lent = False
            return False
        addresses = [buffer.lend() for buffer in self.buffers]
        if not all(addresses):
            for buffer in self.buffers:
                buffer.own()
            self.lent = False
            return False
        for address, buffer in zip(addresses, self.buffers, strict=True):
            block[at], block[at + 1], block[at + 2] = address, buffer.capacity, buffer.length
            at += 3
        return True

    def lend(self, block: MutableSequence[int], at: int) -> None:
        """The memory of every buffer, for a kernel that writes, into its argument block.

        A buffer that others may see is not lent, and none while somebody reads the tensor. Needs:
        a `claim`. What becomes of the memory must be told to `returned`, or to `forget` if it is
        somebody else's in any case.
        """
        self.lent = True  # before anybody is looked for: who reads looks for this afterwards
        lent = False
        for buffer in self.buffers if len(self.pins) == 1 or not self.readers() else ():
            memory = buffer._memory
            if memory is not None and not buffer.exported:  # as `Buffer.lend`, in every call
                memory.address = 0
                block[at] = buffer.address
                block[at + 1] = buffer.capacity
                lent = True
            at += 3
        self.lent = lent

    def returned(self, block: Sequence[int], at: int) -> bool:
        """What a kernel did with lent memory: whether all of it is as it was, lengths included.

        Otherwise the addresses in the argument block are somebody else's from now on.
        """
        for buffer in self.buffers:
            if block[at] != buffer.address or block[at + 2] != buffer.length or buffer.exported:
                self.forget()
                return False
            at += 3
        self.own()
        return True

    def own(self) -> None:
        """No kernel has touched the memory that was lent, or none but within its length."""
        for buffer in self.buffers:
            memory = buffer._memory
            if memory is not None:
                memory.address = buffer.address
        self.lent = False
        self.leave()

    def forget(self) -> None:
        """The memory that was lent is somebody else's."""
        for buffer in self.buffers:
            buffer.forget()
        self.leave()

    def leave(self) -> None:
        """The call that could write here does so no more; nothing keeps what it has."""
        self.pins.pop(WRITES, None)


def hold(given: Sequence[Contents], held: list[Contents | None], call: FrameType) -> bool:
    """Pin all for a call, and note them before; False if another thread writes to one.

    Who reads says so before he looks whether somebody writes, and who writes the other way round:
    one of them sees the other.
    """
    for contents in given:
        held.append(contents)
        contents.pins[call] = None
        if contents.lent:
            return False
    return True


def let_go(held: Sequence[Contents | None], call: FrameType) -> None:
    """A call reads none of them any more; to say so twice does no harm."""
    for contents in held:
        if contents is not None:
            contents.pins.pop(call, None)


def _count_stored(contents: Contents) -> int:
    """How many values the levels store."""
    format = contents.format
    if format.leaf.unstored:
        return 0
    roles = [[array.role for array in level.arrays] for level in format.levels]
    if not any("flag" in each for each in roles) and "value" in roles[-1]:
        return contents.slots[-1]  # the length of the last array
    mapped = len(roles) > 1 and {"coordinate", "flag"} <= {*roles[-2]}
    if mapped and all(l.full for l in format.levels[:-2]):
        return contents.buffers[_index_of(format, "coordinate")].length  # each entry is listed
    above = zip(format.levels[:-1], roles[:-1], strict=True)
    if all(level.full or each == ["position", "coordinate"] for level, each in above):
        return _count_entries(contents)
    return len(unpack_levels(contents.levels(), contents.shape, format)[1])


def _index_of(format: Format, role: str) -> int:
    """The number of the first buffer that has a role in the last level above the leaf."""
    before = sum(len(level.arrays) for level in format.levels[:-2])
    return before + [array.role for array in format.levels[-2].arrays].index(role)


def _count_entries(contents: Contents) -> int:
    """How many positions lists and dense levels have above a leaf that keeps nothing."""
    format, count, k = contents.format, 1, 0
    for number, level in enumerate(format.levels[:-1]):
        if level.full:
            count *= contents.shape[format.modes_of(number)[0]]
        else:
            count = contents.buffers[k + 1].length
        k += len(level.arrays)
    return count
