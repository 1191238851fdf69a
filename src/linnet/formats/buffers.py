"""`Buffer`: one array of a tensor in memory, borrowed from NumPy or native and grown by kernels.

A borrowed buffer is never written to. A native one was allocated by a kernel with the C library's
`malloc`, is freed with its last user, and may be handed to the next kernel that writes to the same
tensor, unless somebody has been shown it.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from itertools import repeat
from operator import call
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.errors import InternalError, OutOfMemoryError
from linnet.formats.addresses import address_of
from linnet.formats.spare import LEAST, SPARE, C, is_untouched

_new, _realloc = object.__new__, C.realloc
_call: Callable[[Callable[[], object]], object] = call
_SLACK = 4096  # bytes: less than a page is not worth giving back
_RESERVED = 4  # times as large as what is used: there, new pages take little beside the rest


as_dtype: Callable[[str | np.dtype[Any]], np.dtype[Any]] = lru_cache(maxsize=64)(np.dtype)


class Memory:
    """A block from `malloc`, released with this object; NumPy arrays over it keep it alive.

    It is `spare` if it may serve later results.
    """

    __slots__ = ("address", "nbytes", "spare")

    def __init__(self, address: int, nbytes: int) -> None:
        self.spare = True
        self.nbytes = nbytes
        self.address = address

    # Functions are arguments since, at exit, modules are cleared before the last objects die.
    def __del__(
        self,
        release: Callable[[int, int], None] = SPARE.release,
        free: Callable[[int], None] = C.free,
        least: int = LEAST,
    ) -> None:
        try:  # no call comes before the last one, after which an interrupt could
            address = self.address
        except AttributeError:  # one came when this was made
            return
        if address and self.spare and self.nbytes >= least:
            release(address, self.nbytes)
        elif address:
            free(address)

    @staticmethod
    def allocate(nbytes: int) -> Memory:
        """A new block, of at least one byte."""
        address = C.malloc(max(1, nbytes)) if nbytes <= sys.maxsize else None
        if not address and nbytes <= sys.maxsize and SPARE.drop():
            address = C.malloc(max(1, nbytes))
        if not address:
            raise OutOfMemoryError(f"could not allocate {nbytes} bytes")
        return Memory(address, nbytes)

    def trim(self, nbytes: int) -> None:
        """Give back what lies beyond `nbytes`."""
        address = C.realloc(self.address, max(1, nbytes))
        if address:  # otherwise the block is as it was
            self.address, self.nbytes = address, nbytes


def _is_kept(address: int, used: int, nbytes: int, lent: bool) -> bool:
    """Whether a block stays as large as it is, for the next result of the same operands.

    Room was made for all that might have been written, and the rest was never touched. Of one that
    was lent with that room, and is half used, so much is known.
    """
    if lent and 2 * used >= nbytes:
        return True
    return used * _RESERVED >= nbytes and is_untouched(address, used, nbytes)


class Unseen:
    """Small blocks of a result that nobody has asked for: freed with this object, all at once.

    Most results of small calls are read by another kernel, or dropped, and need no `Buffer`.
    """

    __slots__ = ("_slots", "addresses", "kinds")

    def __init__(self, kinds: tuple[np.dtype[Any], ...], slots: list[int]) -> None:
        """Of kinds of elements, and address, capacity and length of each."""
        self.kinds, self._slots = kinds, slots
        self.addresses = slots[::3]

    def __del__(self, free: Callable[[int], None] = C.free) -> None:
        try:
            addresses = self.addresses
        except AttributeError:  # an interrupt came when this was made
            return
        deque(map(free, addresses), 0)  # no interrupt comes in between

    def slots(self) -> list[int]:
        """Address, capacity and length of each; nothing, if they are somebody else's."""
        return self._slots if self.addresses else []

    def hand_over(self, to: object) -> None:
        """Give the blocks to somebody, as `_buffers` that own them, if no other thread was first.

        Before the last line they are here, and then there: nothing comes in between.
        """
        here = self.addresses[:]
        if not here:
            return
        each = zip(here, self._slots[1::3], self._slots[2::3], self.kinds, strict=True)
        made = tuple([Buffer.native(*block, owned=False) for block in each])
        owners = [b._memory for b in made if b._memory is not None]
        addresses = [b.address for b in made if b._memory is not None]
        taken = [self.addresses.pop] * len(here)
        given = [partial(setattr, *each) for each in zip(owners, repeat("address"), addresses)]
        steps: list[Callable[[], object]] = [*taken, *given, partial(setattr, to, "_buffers", made)]
        with suppress(IndexError):  # they are not here any more
            deque(map(_call, steps), 0)


class _View:
    """What NumPy needs to know to make an array over a block."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, memory: Memory, dtype: np.dtype[Any], length: int) -> None:
        self.memory = memory
        self.__array_interface__ = {
            "data": (memory.address, True),
            "shape": (length,),
            "typestr": dtype.str,
            "version": 3,
        }


class Buffer:
    """A one-dimensional array: `length` elements in use out of `capacity`.

    `exported` says that somebody other than the tensor may hold this memory. It is never unset.
    """

    __slots__ = ("_array", "_memory", "address", "capacity", "dtype", "exported", "length")

    def __init__(self, dtype: np.dtype[Any], length: int, capacity: int, address: int) -> None:
        self.dtype = dtype
        self.length = length
        self.capacity = capacity
        self.address = address
        self.exported = False
        self._memory: Memory | None = None
        self._array: NDArray[Any] | None = None

    @classmethod
    def borrow(cls, array: NDArray[Any]) -> Buffer:
        """The memory of a contiguous NumPy array, which is kept alive and not written to."""
        if array.ndim != 1 or not (array.flags.c_contiguous and array.dtype.isnative):
            raise InternalError(f"not a plain array: {array.ndim}-d {array.dtype}")
        view = array.view(np.ndarray)
        view.setflags(write=False)
        self = cls(array.dtype, len(array), len(array), address_of(view))
        self._array = view
        self.exported = True
        return self

    @classmethod
    def native(
        cls,
        address: int,
        capacity: int,
        length: int,
        dtype: str | np.dtype[Any],
        owned: bool = True,
        lent: bool = False,
    ) -> Buffer:
        """Take over a block that a kernel allocated (or nothing: address 0).

        If more than a quarter of it is not used, that part is given back, unless it takes no
        memory, or it was `lent` with as much. A block that is not owned is that of somebody else
        until the memory is told its address.
        """
        kind = dtype if isinstance(dtype, np.dtype) else as_dtype(dtype)
        if not 0 <= length <= capacity or (capacity and not address):
            raise InternalError(f"a kernel returned {length} elements in a block of {capacity}")
        self = _new(cls)  # not by `__init__`: every result of every call comes this way
        self.dtype, self.length, self.capacity, self.address = kind, length, capacity, address
        self.exported, self._memory, self._array = False, None, None
        if address:
            size = kind.itemsize
            memory = _new(Memory)
            memory.spare, memory.nbytes, memory.address = True, capacity * size, owned and address
            self._memory = memory
            unused = capacity - length
            if owned and unused * 4 > capacity and unused * size >= _SLACK:
                if not _is_kept(address, length * size, capacity * size, lent):
                    memory.trim(length * size)
                self.address, self.capacity = memory.address, memory.nbytes // size
        return self

    @property
    def nbytes(self) -> int:
        """The size of what is in use."""
        return int(self.length * self.dtype.itemsize)

    @property
    def array(self) -> NDArray[Any]:
        """A read-only NumPy array over this memory, without a copy."""
        if self._array is None:
            self.exported = True
            self._array = self.seen()
        return self._array

    def seen(self) -> NDArray[Any]:
        """The same, for who looks at it and forgets it before a kernel writes there."""
        if self._array is not None:
            return self._array
        if self._memory is None or self.length == 0:
            return np.empty(0, self.dtype)
        return np.asarray(_View(self._memory, self.dtype, self.length))

    def discard(self) -> None:
        """Say that the memory is of no use to later results: it goes back to `malloc`."""
        if self._memory is not None:
            self._memory.spare = False

    def detach(self) -> tuple[int, int]:
        """Give up the memory: its address and its size in bytes, or (0, 0) if it may not be reused.

        The caller owns the block from here on; the buffer is empty. Nobody else has it yet.
        """
        memory = self._memory
        if self.exported or memory is None:
            return 0, 0
        self._memory = None
        taken = memory.address, memory.nbytes
        self.address = self.capacity = self.length = memory.address = 0
        return taken

    def lend(self) -> int:
        """The address, for a kernel that may write there or move the block; 0 if it must not.

        From here on the block is not freed with this buffer: whatever happens before `own` or
        `forget`, an interrupt included, it is never freed twice.
        """
        memory = self._memory
        if self.exported or memory is None:
            return 0
        memory.address = 0
        return self.address

    def own(self) -> None:
        """The memory that was lent came back as it was."""
        if self._memory is not None:
            self._memory.address = self.address

    def forget(self) -> None:
        """The memory that was lent is somebody else's now."""
        if not self.exported and self._memory is not None:
            self._memory.address = 0
            self._memory = None
            self._array = np.empty(0, self.dtype)
            self.address = self.capacity = self.length = 0

    def copy(self) -> Buffer:
        """The same elements in memory of its own."""
        return Buffer.borrow(self.array.copy())

    def __copy__(self) -> Buffer:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Buffer:
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        return Buffer.borrow, (self.array,)

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        owner = "borrowed" if self._memory is None else "native"
        return f"Buffer({self.dtype}, {self.length} of {self.capacity}, {owner})"


def allocate(dtype: str | np.dtype[Any], length: int) -> Buffer:
    """A native buffer of `length` elements, not initialized."""
    kind = as_dtype(dtype)
    memory = Memory.allocate(length * kind.itemsize)
    self = Buffer(kind, length, length, memory.address)
    self._memory = memory
    return self
