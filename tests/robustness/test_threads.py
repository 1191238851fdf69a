"""Many threads at once: calling, compiling, converting, with shared tensors and own options."""

from __future__ import annotations

import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType

import numpy as np
import pytest
from tests.robustness.kernels import accumulate, matrix, spgemm, spmv, vector

import linnet as ln
from linnet.errors import DiscordanceWarning, LifecycleError
from linnet.formats import away
from linnet.formats.contents import hold
from linnet.options import current
from linnet.runtime.kernel import Kernel


def together(count: int, work: Callable[[int], None]) -> None:
    """Run work(0), work(1), … in threads that begin at the same time; the first error is raised."""
    start = threading.Barrier(count)

    def begin(k: int) -> None:
        start.wait()
        work(k)

    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(begin, k) for k in range(count)]:
            done.result(timeout=600)  # whatever the load is: a thread that hangs


def test_one_kernel_is_compiled_once():
    @ln.kernel
    def kernel(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i] * 17

    def work(k: int) -> None:
        x = np.arange(k + 1.0)
        for _ in range(20):
            assert kernel(vector(), x).to_numpy().tolist() == (17 * x).tolist()

    together(8, work)
    assert len(kernel._entries) == 1


def test_many_kernels_and_formats_at_once():
    A, x = matrix(), np.arange(20.0)
    formats = [ln.CSR, ln.DCSR, ln.COO(2), ln.DENSE(2)]

    def work(k: int) -> None:
        drawn = random.Random(k)
        for _ in range(12):
            B = ln.asarray(A).to(drawn.choice(formats))
            assert spmv(vector(), B, x).to_numpy().tolist() == (A @ x).tolist()
            C = spgemm(ln.empty_tensor(drawn.choice([ln.CSR, ln.DCSR])), B, B)
            assert np.array_equal(C.to_numpy(), A @ A)

    together(6, work)


def test_shared_operands_and_outputs():
    """Whoever writes last wins; nobody sees half of a result, and no memory is freed twice."""
    matrices = [matrix(20, seed) for seed in range(4)]
    stored = [ln.asarray(A, format="csr") for A in matrices]
    x = ln.asarray(np.arange(20.0))
    possible = [(A @ x.to_numpy()).tolist() for A in matrices]
    shared = spmv(vector(), stored[0], x)

    def work(k: int) -> None:
        drawn = random.Random(k)
        for _ in range(300):
            n = drawn.randrange(4)
            spmv(shared, stored[n], x)
            assert shared.to_numpy().tolist() in possible
            spmv(vector(), stored[n], shared)
            mine = spmv(vector(), stored[n], x)
            assert mine.to_numpy().tolist() == possible[n]

    together(6, work)


def test_an_operand_changes_its_type_meanwhile():
    """What a kernel was compiled for is what it is given, whatever others write in between."""
    A = ln.asarray(matrix(), format="csr")
    narrow, wide = np.ones(20, np.float32), np.ones(20, np.complex128)
    x = spmv(vector(), np.eye(20), wide)
    expected = matrix().sum(axis=1)

    def work(k: int) -> None:
        for n in range(300):
            if k % 2:
                spmv(x, np.eye(20, dtype=np.float32), narrow if n % 2 else wide)
            else:
                y = spmv(vector(), A, x)
                assert np.array_equal(y.to_numpy().real, expected)

    together(4, work)


def test_updates_of_one_tensor_are_whole():
    y = ln.asarray(np.zeros(50))

    def work(k: int) -> None:
        for _ in range(100):
            accumulate(y, np.ones(50))
            assert len(set(y.to_numpy().tolist())) == 1

    together(4, work)


def test_who_meets_an_update_waits_for_it():
    """A long one has the memory of the tensor meanwhile: nobody sees it without contents."""
    y, ones = ln.asarray(np.zeros(100_000)), np.ones(100_000)

    def work(k: int) -> None:
        for n in range(100):
            if k < 2:
                accumulate(y, ones)
            assert y.shape == (100_000,)
            if n % 20 == 0:
                values = y.to_numpy()
                assert values.min() == values.max()

    together(4, work)


def test_only_other_threads_are_waited_for():
    """What this thread has taken, nobody would bring while it waits: a signal's handler is told."""
    y = ln.asarray(np.zeros(3))
    held, y._contents = y.contents(), None
    away.taken(y, sys._getframe())
    with pytest.raises(LifecycleError, match="no contents yet"):
        y.to_numpy()
    away.brought([y], sys._getframe())

    def bring() -> None:
        y._contents = held

    with a_call_elsewhere() as call:
        away.taken(y, call)
        waiting = threading.Timer(0.02, bring)
        waiting.start()
        assert y.to_numpy().tolist() == [0, 0, 0]
        waiting.join()
        away.brought([y], call)


@contextmanager
def a_call_elsewhere() -> Iterator[FrameType]:
    """The frame of a call that is under way in another thread."""
    frames: list[FrameType] = []
    begun, done = threading.Event(), threading.Event()

    def call() -> None:
        frames.append(sys._getframe())
        begun.set()
        done.wait(60)

    thread = threading.Thread(target=call)
    thread.start()
    begun.wait()
    yield frames[0]
    done.set()
    thread.join()


def test_a_tensor_is_brought_and_taken_again_between_two_looks(monkeypatch):
    """There are no contents, then no taker: somebody is to bring them nevertheless."""
    y, looks = ln.asarray(np.zeros(3)), []
    held, look = y.contents(), away._is_away

    def take(call: FrameType) -> None:
        away.taken(y, call)
        y._contents = None

    def bring(call: FrameType) -> None:
        y._contents = held
        away.brought([y], call)

    def between(tensor: ln.Tensor) -> bool:
        bring(call)
        looks.append(look(tensor))
        if len(looks) < 3:
            take(call)
        return looks[-1]

    monkeypatch.setattr(away, "_is_away", between)
    with a_call_elsewhere() as call:
        take(call)
        assert y.shape == (3,)
    assert looks == [False] * 3
    assert not away.TAKEN


def test_what_a_call_has_taken_that_is_over_is_not_waited_for():
    """An interrupt has kept it from telling: the tensor has no contents, as after any failure."""
    y = ln.asarray(np.zeros(3))
    with a_call_elsewhere() as call:
        away.taken(y, call)
        y._contents = None
        assert away._is_away(y)
    with pytest.raises(LifecycleError, match="no contents yet"):
        y.to_numpy()
    assert not away.TAKEN


def test_what_a_call_pins_that_is_over_can_be_written():
    """It was interrupted, wherever that was: others write where it is."""
    y, ones = accumulate(ln.asarray(np.zeros(3)), np.ones(3)), np.ones(3)
    contents = y.contents()
    address = contents.buffers[0].address
    with a_call_elsewhere() as call:
        assert hold([contents], [], call)
        assert contents.readers() == 1
        assert contents.claim(call)
    assert accumulate(y, ones).contents().buffers[0].address == address
    assert not contents.pins
    assert y.to_numpy().tolist() == [2, 2, 2]


def test_a_result_that_two_write_is_read_by_others():
    """One of them may take what the other brings, at once, and has no other contents to take."""
    y, A, ones = vector(), ln.asarray(matrix(), format="csr"), np.ones(20)
    expected = matrix().sum(axis=1).tolist()
    spmv(y, A, ones)

    def work(k: int) -> None:
        for _ in range(200):
            if k < 2:
                spmv(y, A, ones)
            assert y.to_numpy().tolist() == expected

    together(4, work)


def test_options_of_one_thread_are_its_own():
    before = current()
    x = np.arange(5.0)

    @ln.kernel
    def kernel(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i] + 23

    def work(k: int) -> None:
        for _ in range(30):
            with ln.config(check=k % 2 == 0, threads=k + 1) as mine:
                assert current() is mine
                assert kernel(vector(), x).to_numpy().tolist() == (x + 23).tolist()
                assert current() is mine

    together(4, work)
    assert current() is before
    assert len(kernel._entries) == 2  # checked or not: the number of threads makes no other code


def test_a_kernel_called_while_another_is_being_compiled():
    """From the hook for warnings, in this thread and in one that this thread waits for."""
    x, found, product = np.ones(20), [], Kernel(spmv.program)

    def hook(*args, **named):
        found.append(product(vector(), np.eye(20, dtype=np.int16), x).to_numpy())
        thread = threading.Thread(
            target=lambda: found.append(product(vector(), np.eye(20, dtype=np.int8), x).to_numpy())
        )
        thread.start()
        thread.join(600)

    with warnings.catch_warnings():
        warnings.simplefilter("always", DiscordanceWarning)
        warnings.showwarning = hook
        product(vector(), ln.asarray(matrix(), format=ln.CSC.with_dtype("int16")), x)
    assert [y.tolist() for y in found] == [[1.0] * 20] * 2


def test_a_warning_that_is_an_error_is_one_each_time():
    A, x = ln.asarray(matrix(), format=ln.CSC.with_dtype("int8")), np.ones(20)
    product = Kernel(spmv.program)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DiscordanceWarning)
        for _ in range(2):
            with pytest.raises(DiscordanceWarning):
                product(vector(), A, x)
        warnings.simplefilter("ignore")
        assert product(vector(), A, x).to_numpy().tolist() == matrix().sum(axis=1).tolist()


@pytest.mark.parametrize("line", [1, 2, 3, 4])
def test_an_interrupt_leaves_no_tensor_taken(line):
    """It comes once, at some line of `brought`: other threads would wait for nobody."""
    y, ones = ln.asarray(np.zeros(50)), np.ones(50)
    accumulate(y, ones)
    seen = 0

    def trace(frame, event, arg):
        nonlocal seen
        if frame.f_code is away.brought.__code__:
            seen += 1
            if seen == line:
                raise KeyboardInterrupt
            return trace
        return trace if frame.f_code.co_name == "run" else None

    sys.settrace(trace)
    try:
        with pytest.raises(KeyboardInterrupt):
            accumulate(y, ones)
    finally:
        sys.settrace(None)
    assert not away.TAKEN
    assert y.to_numpy().tolist() == [2.0] * 50
