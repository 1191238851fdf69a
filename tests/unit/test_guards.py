"""Guards: one thread at a time, and nothing held by a call that is over."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.robustness.interrupts import Interrupt

import linnet as ln
from linnet import guards
from linnet.formats.away import awaited
from linnet.guards import Guard, is_above, runs

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")


def elsewhere(call, *args):
    """What another thread gets."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *args).result(timeout=60)


def entered(guard) -> bool:
    with guard:
        return True


def test_a_call_runs_until_it_is_left():
    def inner(frames):
        frames.append(sys._getframe())
        assert runs(frames[0])
        assert elsewhere(runs, frames[0])
        assert is_above(sys._getframe(1), frames[0])
        assert not is_above(frames[0], sys._getframe(1))

    frames = []
    inner(frames)
    assert not runs(frames[0])
    assert not elsewhere(runs, frames[0])
    assert runs(sys._getframe())
    assert runs("no frame")


def test_who_looks_leaves_no_garbage():
    """A frame among its own variables is a cycle, with all that its callers have."""
    guard = Guard(waits=True)
    gc.collect()
    gc.disable()
    try:
        entered(guard)
        runs(sys._getframe())
        guard._before_fork()
        guard._turns.clear()
        awaited(ln.empty_tensor(ln.CSR))
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_generator_that_pauses_meanwhile_tells_nothing():
    """It seems to run: who looks, looks again."""

    def paused():
        yield sys._getframe()

    frame = next(made := paused())
    assert not runs(frame)
    at = frame.f_back
    assert at is None
    made.close()


def test_one_thread_at_a_time():
    guard, inside, most = Guard(), [], []

    def work(k):
        for _ in range(50):
            with guard:
                inside.append(k)
                most.append(len(inside))
                time.sleep(0)
                inside.remove(k)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert most == [1] * 200
    assert not guard._turns


def test_who_has_it_has_it_again():
    guard = Guard()
    with guard:
        assert entered(guard)
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(entered, guard)
            time.sleep(0.01)
            assert not other.done()
            assert entered(guard)
            guard.__exit__()
            assert other.result(timeout=60)


def test_a_call_that_is_over_has_nothing():
    """As where an interrupt comes behind the call that has taken it."""
    guard = Guard()

    def lost():
        guard.__enter__()
        raise Interrupt

    with pytest.raises(Interrupt):
        lost()
    assert guard._turns
    assert elsewhere(entered, guard)
    assert entered(guard)
    assert not guard._turns


def test_an_interrupt_while_it_is_waited_for():
    guard, locked, done = Guard(), threading.Event(), threading.Event()

    def hold():
        with guard:
            locked.set()
            done.wait(30)

    def stop(*signal):
        raise Interrupt

    other = threading.Thread(target=hold)
    other.start()
    locked.wait()

    def waits():
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        entered(guard)

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(Interrupt):
            waits()
    finally:
        signal.signal(signal.SIGALRM, before)
        done.set()
        other.join()
    assert not guard._turns


@posix
@pytest.mark.parametrize("waits", [False, True])
def test_a_fork_leaves_it_to_nobody(waits):
    """The child does not have the thread that has it; with `waits`, that is done before."""
    guard, held, done = Guard(waits), threading.Event(), threading.Event()

    def hold():
        with guard:
            held.set()
            done.wait(0.2)
        held.clear()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if entered(guard) and not (waits and held.is_set()) else 1)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert entered(guard)
    assert elsewhere(entered, guard)
    assert not guard._turns


@posix
def test_a_fork_within():
    guard = Guard(waits=True)
    with guard:
        child = os.fork()
        if child == 0:
            os._exit(0 if entered(guard) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(entered, guard)
            time.sleep(0.01)
            assert not other.done()  # the fork has not given it back
            guard.__exit__()
            assert other.result(timeout=60)


@posix
def test_a_fork_waits_for_imports(tmp_path, monkeypatch):
    """Of this package, in other threads; for others the child must see to itself."""
    (tmp_path / "linnet_slow.py").write_text("import time\ntime.sleep(0.2)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = {"__name__": "linnet.something"}
    exec("def work():\n    import linnet_slow", found)
    thread = threading.Thread(target=found["work"])
    thread.start()
    while not guards._others_import() and thread.is_alive():
        pass
    guard = Guard(waits=True)
    guard._before_fork()
    assert not guards._others_import()
    guard._turns.clear()
    thread.join()
    monkeypatch.delitem(sys.modules, "linnet_slow")
