"""Memory of results: where a kernel may write them, and what becomes of what it has written.

A result takes the memory that its tensor has, if nobody else sees it; else memory that others have
left (`formats.spare`), or what the kernel allocates. Whatever happens, an interrupt included, each
block belongs to one. Temporaries have theirs from `runtime.scratch`.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet import imp
from linnet.errors import Location
from linnet.formats.away import taken
from linnet.formats.buffers import Buffer, Unseen, allocate
from linnet.formats.contents import Contents, Signature
from linnet.formats.format import Format
from linnet.formats.spare import LEAST, SPARE
from linnet.formats.tensor import Tensor
from linnet.records import NamedTuple

if TYPE_CHECKING:
    from linnet.runtime.sizes import Size

_MANY = 1 << 12  # elements: the memory of so many is worth being used again
_LARGE = _MANY + (1 << 10)  # elements for which a result had room, that is not small
_NONE = -1  # bytes that are lent to a kernel which makes itself more than its result takes


class Result(NamedTuple):
    """A tensor that a kernel writes: which argument, its format, its arrays, its dimensions."""

    position: int | None  # among the arguments; None for a temporary
    name: str
    format: Format
    dtypes: tuple[str, ...]
    kinds: tuple[np.dtype[Any], ...]  # the same, as NumPy has them
    dims: tuple[Size, ...] | None  # None: those it has
    keeps: bool  # what it held before is updated
    in_place: bool  # and nothing can go wrong meanwhile: no copy is needed
    at: Location | None  # where it is declared
    # the bytes that each array took in the last call, if they were many; or _NONE
    rooms: list[int]


class Place(NamedTuple):
    """A result in an argument block: its sizes, where its memory begins, and what it is read as."""

    result: Result
    shape: tuple[int, ...]
    at: int
    signature: Signature


# -- before the kernel -----------------------------------------------------------------------------


def is_long(r: Result, held: Sequence[Contents | None]) -> bool:
    """Whether a tensor that is updated has more elements than positions of 32 bits can tell."""
    contents = None if r.position is None else held[r.position]
    return contents is not None and any(b.length > imp.MOST_NARROW for b in contents.buffers)


def _copies(r: Result, contents: Contents) -> list[Buffer]:
    """Copies of what a tensor holds, for a kernel to change: if it fails, nothing is lost."""
    copies = []
    for buffer, dtype in zip(contents.buffers, r.dtypes, strict=True):
        copy, source = allocate(dtype, buffer.length), buffer
        if buffer.dtype != copy.dtype:  # index arrays that are too narrow for what may come
            source = Buffer.borrow(buffer.array.astype(dtype))
        if buffer.length:
            ctypes.memmove(copy.address, source.address, copy.nbytes)
        copies.append(copy)
    return copies


def lend(
    r: Result,
    tensors: Sequence[Tensor],
    held: Sequence[Contents | None],
    block: array[int],
    at: int,
    loans: list[Contents | None],
    call: FrameType,
) -> None:
    """Where a kernel may write a result: memory that the tensor has, copies, or nowhere yet.

    What the tensor held, if it holds it no longer, is one more of the loans: it is noted there
    before it is taken.
    """
    assert r.position is not None  # those of temporaries: `runtime.scratch`
    tensor = tensors[r.position]
    if r.keeps:
        _lend_kept(r, tensor, held[r.position], block, at, loans, call)
        return
    old = tensor._contents
    if old is not None and not old.claim(call):
        old = None  # another thread writes to it, and takes it
    loans.append(old)
    if old is not None:
        _take(tensor, call)
        if old.fitted is r.kinds or old.fits(r.format, r.kinds):
            old.lend(block, at)
    if (old is None or not old.lent) and any(r.rooms):
        spare(r, block, at)


def _take(tensor: Tensor, call: FrameType) -> None:
    """From here on others wait for what a tensor holds."""
    taken(tensor, call)
    tensor._contents = None


def spare(r: Result, block: array[int], at: int) -> None:
    """For large results, memory that others have left: as much as the last one took."""
    for nbytes, kind in zip(r.rooms, r.kinds, strict=True):
        if nbytes >= LEAST:  # no less is kept
            address, size = SPARE.take(nbytes)
            block[at], block[at + 1] = address, size // kind.itemsize
        at += 3


def _lend_kept(
    r: Result,
    tensor: Tensor,
    pinned: Contents | None,
    block: array[int],
    at: int,
    loans: list[Contents | None],
    call: FrameType,
) -> None:
    """The same for a tensor that is updated: where it is if nothing can fail, else a copy."""
    assert pinned is not None
    if r.in_place and tensor._contents is pinned and pinned.claim(call):
        loans.append(pinned)
        _take(tensor, call)
        if pinned.lend_held(block, at):
            return
        _put_back(tensor, pinned)
        loans.pop()
    loans.append(None)
    for copy in _copies(r, pinned):
        length, capacity = copy.length, copy.capacity
        block[at], block[at + 1], block[at + 2] = copy.detach()[0], capacity, length
        at += 3


# -- after the kernel ------------------------------------------------------------------------------


def take_over(
    place: Place,
    tensors: Sequence[Tensor],
    block: array[int],
    old: Contents | None,
    status: int,
) -> None:
    """What the kernel has allocated becomes the contents of the tensor, or is freed."""
    r, shape, at, signature = place
    tensor = tensors[r.position]  # type: ignore[index]
    if old is None and not status:
        tensor._rebind(r.format, shape, unseen(r, block, at) or adopted(r, block, at), signature)
        return
    if r.keeps and old is not None and _stays(old, block, at):
        _put_back(tensor, old)  # it ran in place
        return
    if old is not None and old.lent:
        if status == 0 and old.shape == shape and old.returned(block, at):
            tensor._contents = old
            return
        old.forget()
        old = None
    if status:
        release(r, block, at)
        if old is not None:
            _put_back(tensor, old)
        return
    tensor._rebind(r.format, shape, adopted(r, block, at), signature)
    if old is not None:
        old.leave()


def unseen(r: Result, block: array[int], at: int) -> Unseen | None:
    """What a kernel has allocated for a small result; None if it is large, or memory was lent."""
    slots = block[at : at + 3 * len(r.kinds)].tolist()
    if max(slots[1::3]) >= _LARGE or any(r.rooms):
        return None
    return Unseen(r.kinds, slots)


def adopted(r: Result, block: array[int], at: int) -> tuple[Buffer, ...]:
    """What a kernel has allocated for a result, which belongs to the buffers from now on."""
    buffers = []
    for k, kind in enumerate(r.kinds):
        capacity = block[at + 1]
        lent = r.rooms[k] == capacity * kind.itemsize
        buffer = Buffer.native(block[at], capacity, block[at + 2], kind, lent=lent)
        if capacity >= _MANY or r.rooms[k]:
            r.rooms[k] = _next_room(r.rooms[k], capacity, buffer)
        buffers.append(buffer)
        at += 3
    return tuple(buffers)


def _next_room(last: int, capacity: int, buffer: Buffer) -> int:
    """How many bytes the next result is lent: those that are left of this one, if they will do.

    They do not for a kernel that had so many, made itself more, and did not need them after all.
    One that had less than it needed, since its last result was smaller, gets what it needs now.
    """
    size = buffer.dtype.itemsize
    enough = buffer.capacity * size <= last and 2 * last <= capacity * size
    if buffer.capacity < capacity and (last == _NONE or enough):
        buffer.discard()  # of this and of what was cut off, `malloc` makes the next one
        return _NONE
    return buffer.capacity * size


def release(r: Result, block: array[int], at: int) -> None:
    """Give up the memory of a temporary, or of a result that was not finished."""
    for k, kind in enumerate(r.kinds):
        address, capacity = block[at], block[at + 1]
        if address:
            SPARE.release(address, capacity * kind.itemsize)
        if capacity >= _MANY or r.rooms[k]:
            r.rooms[k] = capacity * kind.itemsize
        at += 3


def _stays(contents: Contents, block: array[int], at: int) -> bool:
    """Whether memory that was lent is where it was."""
    return all(block[at + 3 * k] == b.address for k, b in enumerate(contents.buffers))


def take_back(
    r: Result, tensors: Sequence[Tensor], block: array[int], at: int, old: Contents | None
) -> None:
    """No kernel has run: what it was to write to is as it was, or released."""
    if old is None or not old.lent:
        release(r, block, at)
    if old is not None and r.position is not None:
        _put_back(tensors[r.position], old)


def _put_back(tensor: Tensor, old: Contents) -> None:
    """An output that was not written has the contents that it had, unless it has others by now."""
    old.own()
    if tensor._contents is None:
        tensor._contents = old
