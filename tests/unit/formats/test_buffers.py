"""Memory: borrowed or native, shown or reused, never both."""

from __future__ import annotations

import copy
import gc
import mmap
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

from linnet.errors import InternalError, LifecycleError, OutOfMemoryError
from linnet.formats.buffers import Buffer, Memory, allocate
from linnet.formats.construct import asarray
from linnet.formats.contents import Contents, let_go
from linnet.formats.named import CSR, DENSE
from linnet.formats.spare import LEAST, MOST, C, Spare
from linnet.formats.tensor import Tensor, empty_tensor


def native(values, room: int = 0, dtype="float64") -> Buffer:
    """A native buffer that holds values, as a kernel leaves it."""
    block = allocate(dtype, len(values) + room)
    address, nbytes = block.detach()
    view = (np.ctypeslib.ctypes.c_char * nbytes).from_address(address)
    np.frombuffer(view, dtype)[: len(values)] = values
    return Buffer.native(address, nbytes // np.dtype(dtype).itemsize, len(values), dtype)


def vector(values) -> Tensor:
    """A dense vector in native memory."""
    x = empty_tensor(DENSE(1))
    x._rebind(DENSE(1).with_dtype("float64").with_fill(0.0), (len(values),), (native(values),))
    return x


def test_borrowed_memory_is_shared_and_read_only():
    array = np.arange(5.0)
    buffer = Buffer.borrow(array)
    assert np.shares_memory(buffer.array, array)
    assert not buffer.array.flags.writeable
    assert array.flags.writeable
    assert buffer.address == array.ctypes.data
    assert (buffer.length, buffer.capacity, buffer.nbytes) == (5, 5, 40)
    assert buffer.detach() == (0, 0)


def test_borrowed_memory_is_kept_alive():
    array = np.arange(1000.0)
    buffer = Buffer.borrow(array)
    del array
    gc.collect()
    assert buffer.array[999] == 999.0


@pytest.mark.parametrize("array", [np.zeros((2, 2)), np.zeros(4)[::2], np.zeros(3, ">f8")])
def test_only_plain_arrays_are_borrowed(array):
    with pytest.raises(InternalError):
        Buffer.borrow(array)


def test_native_memory_is_seen_without_a_copy():
    buffer = native([1.0, 2.0, 3.0])
    assert not buffer.exported
    view = buffer.array
    assert view.ctypes.data == buffer.address
    assert view.tolist() == [1.0, 2.0, 3.0]
    assert not view.flags.writeable
    assert buffer.exported
    assert buffer.array is view


def test_an_array_outlives_its_buffer():
    buffer = native(np.arange(10_000.0))
    view = buffer.array[5000:]
    del buffer
    gc.collect()
    assert view[0] == 5000.0


def test_native_memory_is_freed_with_its_last_user():
    freed = []

    class Watched(Memory):
        __slots__ = ("__weakref__",)

    block = allocate("int64", 100)
    address, nbytes = block.detach()
    buffer = Buffer("int64", 100, 100, address)
    buffer.dtype = np.dtype("int64")
    buffer._memory = Watched(address, nbytes)
    weakref.finalize(buffer._memory, freed.append, True)
    view = buffer.array
    del buffer
    assert not freed
    del view
    assert freed


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_native_memory_of_any_dtype(dtype):
    values = np.array([0, 1, 1]).astype(dtype)
    assert native(values, dtype=dtype).array.dtype == dtype
    assert (native(values, dtype=dtype).array == values).all()


def test_nothing_is_a_buffer_too():
    buffer = Buffer.native(0, 0, 0, "int32")
    assert buffer.array.tolist() == []
    assert buffer.array.dtype == np.int32
    assert buffer.detach() == (0, 0)


@pytest.mark.parametrize(("address", "capacity", "length"), [(0, 4, 2), (1, 2, 4), (1, 2, -1)])
def test_a_kernel_that_lies_is_noticed(address, capacity, length):
    with pytest.raises(InternalError):
        Buffer.native(address, capacity, length, "int64")


def test_detaching_empties():
    buffer = native([1.0, 2.0])
    address = buffer.address
    taken, nbytes = buffer.detach()
    assert (taken, nbytes) == (address, 16)
    assert (buffer.address, buffer.length, buffer.detach()) == (0, 0, (0, 0))
    Buffer.native(taken, 2, 2, "float64")  # frees it


def test_what_was_shown_is_not_reused():
    buffer = native([1.0, 2.0])
    view = buffer.array
    assert buffer.detach() == (0, 0)
    assert view.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("used", "kept"), [(10_000, 10_000), (8000, 10_000), (7000, 7000), (0, 0)])
def test_trimming_gives_back_more_than_a_quarter(used, kept):
    buffer = native(np.arange(float(used)), room=10_000 - used)
    assert buffer.capacity == kept
    assert buffer.array.tolist() == list(range(used))


_LARGE = 5 << 20  # numbers, or 40 MB
_DONTNEED = 4  # pages that are forgotten: malloc may find a block that somebody has written to


def reserved(used: int, touched: int, lent: bool = False) -> Buffer:
    """What a kernel leaves that had made a lot of room, of which something was used before."""
    memory = Memory.allocate(8 * _LARGE)
    address, memory.address = memory.address, 0
    if hasattr(C, "madvise"):
        begin = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
        C.madvise(begin, address + 8 * _LARGE - begin - mmap.PAGESIZE, _DONTNEED)
    np.ctypeslib.ctypes.memset(address, 0, 8 * touched)
    return Buffer.native(address, _LARGE, used, "float64", lent=lent)


@pytest.mark.skipif(sys.platform != "linux", reason="nobody tells which pages are in memory")
@pytest.mark.parametrize(
    ("used", "touched", "kept"),
    [
        (_LARGE // 2, _LARGE // 2, True),
        (_LARGE // 3, _LARGE // 3, True),
        (_LARGE // 3, _LARGE // 2, False),  # as much again has been written to
        (_LARGE // 3, _LARGE, False),
        (_LARGE // 5, _LARGE // 5, False),  # to make so much room again takes next to no time
    ],
)
def test_room_that_was_never_touched_is_kept(used, touched, kept):
    """It takes no memory, and the next result need not ask the system for pages."""
    assert (reserved(used, touched).capacity == _LARGE) is kept


def test_room_that_was_lent_is_kept_if_half_of_it_is_used():
    assert reserved(_LARGE // 2, _LARGE, lent=True).capacity == _LARGE
    assert reserved(_LARGE // 3, _LARGE, lent=True).capacity == _LARGE // 3


def test_a_small_block_is_left_alone():
    assert native([1.0], room=99).capacity == 100


def test_pickle_and_copy():
    buffer = native([1.0, 2.0])
    for again in (pickle.loads(pickle.dumps(buffer)), copy.copy(buffer), copy.deepcopy(buffer)):
        assert again.array.tolist() == [1.0, 2.0]
        assert again.address != buffer.address


def test_too_much_memory():
    with pytest.raises(OutOfMemoryError, match="could not allocate"):
        Memory.allocate(2**62)
    with pytest.raises(OutOfMemoryError, match="could not allocate"):
        Memory.allocate(2**70)


# -- tensors that kernels write to -----------------------------------------------------------------


def take(x: Tensor) -> tuple[Contents | None, list[int] | None]:
    """What a call does before a kernel writes to a tensor."""
    old, block = x._contents, [0] * 3
    if old is None or not old.claim(sys._getframe(1)):
        return None, None
    x._contents = None
    old.lend(block, 0)
    return old, block


def test_a_kernel_reuses_the_memory_of_its_output():
    x = vector([1.0, 2.0, 3.0, 4.0])
    address = x.slots[1]
    old, memory = take(x)
    assert memory == [address, 4, 0]
    assert x.shape is None
    assert old.returned([address, 4, 4], 0)  # the kernel left it where it was
    x._contents = old
    assert x.to_numpy().tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("after", [lambda a: [a, 4, 3], lambda a: [a + 64, 8, 4]])
def test_memory_that_a_kernel_changed_is_forgotten(after):
    """Another length, or another place: the block belongs to who finds it in the argument block."""
    x = vector([1.0, 2.0, 3.0, 4.0])
    old, (address, capacity, _) = take(x)
    assert not old.returned(after(address), 0)
    assert old.buffers[0].address == 0
    assert Buffer.native(address, capacity, 4, "float64").array.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    "show", [lambda x: x.buffers, lambda x: x.to_numpy(), lambda x: x.T, pickle.dumps, copy.copy]
)
def test_a_tensor_that_was_shown_is_not_overwritten(show):
    x = vector([1.0, 2.0])
    shown = show(x)
    old, memory = take(x)
    assert memory == [0, 0, 0]
    assert not old.returned([0, 0, 0], 0)
    assert shown is not None


def test_borrowed_tensors_are_not_overwritten():
    array = np.ones(3)
    assert take(asarray(array))[1] == [0, 0, 0]


def test_a_tensor_that_is_read_is_not_overwritten():
    """The same tensor as operand and as output, or read by another thread."""
    x = vector([1.0, 2.0])
    contents, held = x.contents(), []
    assert x.pin(held, sys._getframe()) is contents
    assert take(x)[1] == [0, 0, 0]
    gc.collect()
    assert contents.arrays()[0].tolist() == [1.0, 2.0]


def test_reading_what_is_being_written():
    x = vector([1.0, 2.0])
    contents = x.contents()
    take(x)
    with pytest.raises(LifecycleError):
        x.pin([], sys._getframe())
    with pytest.raises(LifecycleError):
        contents.arrays()


def test_many_threads_take_and_read():
    """No block is handed out twice, and no reader sees memory that was taken."""
    x, format = vector(np.zeros(64)), DENSE(1).with_dtype("float64").with_fill(0.0)
    wrong = []

    def write():
        for k in range(300):
            old, memory = take(x)
            if memory is not None and memory[0]:
                assert not old.returned([memory[0], memory[1], 63], 0)
                Buffer.native(memory[0], memory[1], 64, "float64")
            x._rebind(format, (64,), (native(np.full(64, float(k))),))

    def read():
        held = []
        for _ in range(300):
            try:
                contents = x.pin(held, sys._getframe())
            except LifecycleError:
                continue
            if len(set(contents.arrays()[0].tolist())) != 1:
                wrong.append(contents)
            let_go(held, sys._getframe())
            held.clear()

    threads = [threading.Thread(target=job) for job in (write, read, write, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_slots_are_dimensions_then_buffers():
    A = asarray(np.eye(3), format=CSR)
    arrays = list(A.buffers.values())
    expected = [3, 3]
    for array in arrays:
        expected += [array.ctypes.data, len(array), len(array)]
    assert list(A.slots) == expected


def _interrupted(at: int, freed: list[int], nbytes: int) -> bool:
    """Whether an interrupt came while a block was freed, at the instruction of this number."""
    left, came = at, False

    def trace(frame, event, arg):
        nonlocal left, came
        name = frame.f_code.co_name
        if name not in ("__del__", "release", "_on_offer", "_give_up", "_oldest"):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0 and not came:
                came = True
                raise KeyboardInterrupt
        return trace

    spare = Spare()
    spare._free, spare._offer = freed.append, lambda *_: None
    memory = Memory(4096, nbytes)
    sys._getframe().f_trace_opcodes = True  # Python 3.12 looks at it only where tracing begins
    sys.settrace(trace)
    try:
        memory.__del__(spare.release, freed.append)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
        memory.address = 0  # so that it is not freed with the object
    freed += spare.kept()
    return came


@pytest.mark.parametrize("nbytes", [100, LEAST, MOST + 1])
def test_an_interrupt_while_memory_is_freed(nbytes):
    """Wherever it comes, a block is freed, or kept for later, or lost: never two of them."""
    for at in range(1000):
        freed = []
        came = _interrupted(at, freed, nbytes)
        assert freed in ([], [4096]), at
        if not came:
            assert freed == [4096]
            break
    assert 0 < at < 999
