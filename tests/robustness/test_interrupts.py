"""Interrupts: while a kernel is compiled, while it runs, and in every moment in between."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import numpy as np
import pytest
from tests.robustness.interrupts import interrupted
from tests.robustness.kernels import ROOT, matrix, passes, spgemm

import linnet as ln
from linnet.formats import contents
from linnet.runtime import bound, call
from linnet.runtime import kernel as kernels
from linnet.runtime.kernel import Kernel

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")


@pytest.fixture
def interrupt(monkeypatch):
    """`interrupt(seconds, again)`: raise KeyboardInterrupt here, as Ctrl-C does, while armed.

    Whoever calls it must expect one from then on: where the machine is busy, even the call itself.
    """
    armed = [False]

    def handle(number, frame):
        if armed[0] and not _in_finalizer(frame):
            armed[0] = False
            raise KeyboardInterrupt

    def dropped(event, report=sys.unraisablehook):
        """Where Python drops it, in a callback of the garbage collector, say, another one comes."""
        if isinstance(event.exc_value, KeyboardInterrupt):
            armed[0] = True
        else:
            report(event)

    monkeypatch.setattr(sys, "unraisablehook", dropped)
    old = signal.signal(signal.SIGALRM, handle)

    def arm(seconds: float, again: float, now: bool = True) -> list[bool]:
        armed[0] = now
        signal.setitimer(signal.ITIMER_REAL, seconds, again)
        return armed

    yield arm
    armed[0] = False
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, old)


def _in_finalizer(frame: FrameType | None) -> bool:
    """Whether memory that is freed here would be lost: Python drops what is raised."""
    while frame is not None:
        if frame.f_code.co_name in ("__del__", "_remove"):
            return True
        frame = frame.f_back
    return False


@ln.kernel
def slow(s, x, y):
    s[...] = 0
    for i, j in ...:
        s[()] = max(s[()], x[i] * y[j] - x[i])


def test_a_call_that_takes_long(interrupt):
    """The kernel runs to its end, then the interrupt is raised; everything can be used again."""
    x, y, s = np.ones(30_000), np.ones(30_000), ln.scalar(0.0)
    slow(s, [1.0], [2.0])
    assert s.item() == 1.0
    with pytest.raises(KeyboardInterrupt):
        _for_long(interrupt, 0.02, lambda: slow(s, x, y))
    slow(s, [1.0], [3.0])
    assert s.item() == 2.0
    assert x.sum() == y.sum() == 30_000


def _for_long(interrupt: Callable[..., object], wait: float, call: Callable[[], object]) -> None:
    interrupt(wait, 0.01)
    end = time.monotonic() + 120  # the interrupt comes before, unless the machine stands still
    while time.monotonic() < end:
        call()


def test_a_compilation_that_takes_long(interrupt):
    A, expected = ln.asarray(matrix(), format="csr"), matrix() @ matrix()

    def compiled() -> None:
        again = Kernel(spgemm.program)  # which has not been compiled yet
        assert np.array_equal(again(ln.empty_tensor(ln.CSR), A, A).to_numpy(), expected)

    with ln.config(cache=False):
        for wait in (0.002, 0.02, 0.05):
            with pytest.raises(KeyboardInterrupt):
                _for_long(interrupt, wait, compiled)
        compiled()


@pytest.mark.parametrize("every", [0.0002, 0.0011])
def test_interrupts_at_any_moment(interrupt, every):
    """Hundreds of them between and within calls: no crash, and right results in the end."""
    A = ln.asarray(matrix(30), format="csr")
    C = spgemm(ln.empty_tensor(ln.CSR), A, A)
    expected, count = C.to_numpy().copy(), 0
    armed = interrupt(every, every, now=False)
    while count < 500:  # however long that takes on a machine that is busy
        try:
            armed[0] = True
            spgemm(C, A, A)
            armed[0] = False
        except KeyboardInterrupt:
            count += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    spgemm(C, A, A)
    assert np.array_equal(C.to_numpy(), expected)


def test_a_first_call_that_is_interrupted():
    """Half of the compiler has been imported, or LLVM has begun: the next call does it again."""
    program = (
        "import signal\n"
        "armed = True\n"
        "def handle(*args):\n"
        "    if armed: raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGALRM, handle)\n"
        "A = ln.asarray(matrix(), format='csr')\n"
        "try:\n"
        "    signal.setitimer(signal.ITIMER_REAL, {wait})\n"
        "    spgemm(ln.empty_tensor(ln.CSR), A, A)\n"
        "    armed = False\n"
        "except KeyboardInterrupt:\n"
        "    pass\n"
        "C = spgemm(ln.empty_tensor(ln.CSR), A, A)\n"
        "assert np.array_equal(C.to_numpy(), matrix() @ matrix())\n"
    )
    with ThreadPoolExecutor(2) as pool:
        none = {"LINNET_CACHE": "0", "LINNET_CHECK": "0"}
        list(pool.map(lambda wait: passes(program.format(wait=wait), **none), (0.03, 0.12)))


def test_an_interrupt_does_not_stop_other_threads(interrupt):
    A, expected, done = ln.asarray(matrix(), format="csr"), matrix() @ matrix(), []

    def work() -> None:
        for _ in range(300):
            C = spgemm(ln.empty_tensor(ln.CSR), A, A)
            assert np.array_equal(C.to_numpy(), expected)
        done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        _for_long(interrupt, 0.01, lambda: spgemm(ln.empty_tensor(ln.CSR), A, A))
    thread.join()
    assert done


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there are no alarms")
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("ending", [TimeoutError, KeyboardInterrupt])
def test_what_a_handler_raises_is_not_a_mistake_of_ours(monkeypatch, ending, wrapped):
    """An alarm that ends a compilation raises what its handler does, and the next call is right."""

    def end(number, frame):
        raise ending("too long")

    from linnet.runtime import specialize

    def specialized(*args):
        try:
            signal.raise_signal(signal.SIGALRM)
        except BaseException as error:
            if wrapped:  # as by Python 3.11, while it makes a class
                raise RuntimeError("Error calling __set_name__") from error
            raise

    @ln.kernel
    def f(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i] * 12345.5
        return y

    x, before = np.ones(3), signal.signal(signal.SIGALRM, end)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(specialize, "specialize", specialized)
            with pytest.raises(ending, match="too long"):
                f(ln.empty_tensor(ln.DENSE(1)), x)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert f(ln.empty_tensor(ln.DENSE(1)), x).to_numpy().tolist() == [12345.5] * 3


def _product(A: ln.Tensor, B: ln.Tensor) -> None:
    spgemm(ln.empty_tensor(ln.CSR), A, B)


@pytest.mark.parametrize("module", [kernels, call, bound, contents])
@pytest.mark.parametrize("operation", [_product, ln.add])
def test_an_interrupt_at_any_line_leaves_nothing_pinned(module, operation):
    """A tensor that seems to be read for ever is copied by every kernel that writes to it."""
    A, B = (ln.asarray(matrix(), format=ln.CSR) for _ in range(2))
    for _ in range(3):
        operation(A, B)
    for number in itertools.count(1):
        stopped = interrupted(module, lambda: operation(A, B), number)
        assert not A._contents.readers()
        assert not B._contents.readers()
        if not stopped:
            break
    assert number > 5 or (module, operation) in ((kernels, ln.add), (bound, _product))


def stressed(count: int, seed: int, seconds: int) -> None:
    """Interrupts at random moments in all kinds of operation, each followed by another thread."""
    command = [sys.executable, "-m", "tests.robustness.stress", str(count), str(seed)]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert done.stdout == f"{count} interrupts\n"


def test_interrupts_stop_no_other_thread():
    stressed(200, 1, 300)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_interrupts_stop_no_other_thread(seed):
    stressed(1000, 10 + seed, 900)
