"""Interrupts at random moments, each followed by calls in another thread: `stress.py COUNT [SEED]`.

A process of its own: what hangs ends it, after all threads have told where they are.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import numpy as np
from tests.robustness.interrupts import Interrupt
from tests.robustness.kernels import accumulate, matrix, spgemm, spmv, vector

import linnet as ln
from linnet.formats.away import TAKEN
from linnet.runtime.kernel import Kernel

LONGEST = 3e-3  # seconds to an interrupt
HANGS = 120  # seconds: what takes so long waits for nobody
armed = False

VALUES = matrix(30)
A = ln.asarray(VALUES, format="csr")
B = ln.asarray(VALUES, format="csc")
X = np.arange(30.0)
SHARED, SUM = vector(), ln.asarray(np.zeros(30))
FOUND = spgemm(ln.empty_tensor(ln.CSR), A, A)


def compiled() -> ln.Tensor:
    """A kernel that has not been compiled yet; nor is it found in the cache."""
    with ln.config(cache=False):
        return Kernel(spmv.program)(vector(), A, X)


def updated() -> ln.Tensor:
    accumulate(SUM, np.ones(30))
    values = SUM.copy().to_numpy()
    assert values.min() == values.max()
    return ln.asarray(X)


def option() -> ln.Tensor:
    ln.config(threads=random.randrange(1, 3))
    with ln.config(check=random.random() < 0.5):
        return spmv(vector(), A, X)


# Each with what it gives.
OPERATIONS: dict[str, tuple[Callable[[], ln.Tensor], np.ndarray]] = {
    "sum of two": (lambda: A + A, 2 * VALUES),
    "product with an array": (lambda: A @ X, VALUES @ X),
    "product of two": (lambda: A @ A, VALUES @ VALUES),
    "a kernel with a result of its own": (lambda: spmv(vector(), A, X), VALUES @ X),
    "a kernel with one result for all": (lambda: spgemm(FOUND, A, A), VALUES @ VALUES),
    "one that is read by all": (lambda: spmv(SHARED, A, X), VALUES @ X),
    "an update": (updated, X),
    "a conversion": (lambda: A.to(ln.CSC), VALUES),
    "another format": (lambda: B * A + 1, VALUES * VALUES + 1),
    "a slice": (lambda: A[3:20, ::2], VALUES[3:20, ::2]),
    "a reduction": (lambda: A.sum(axis=0), VALUES.sum(axis=0)),
    "options": (option, VALUES @ X),
    "a first call": (compiled, VALUES @ X),
}


def handle(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C does; but once, and not where Python would drop it."""
    global armed
    while frame is not None and armed:
        if frame.f_code.co_name in ("__del__", "_remove"):
            return  # the next one comes soon
        frame = frame.f_back
    if armed:
        armed = False
        raise Interrupt


def interrupt(operation: Callable[[], object], after: float) -> None:
    """Do it again and again, until an interrupt comes."""
    try:
        _again(operation, after)
    except Interrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _again(operation: Callable[[], object], after: float) -> None:
    """A function, since from Python 3.12 on no `try` covers all of the loop in it."""
    global armed
    armed = True
    signal.setitimer(signal.ITIMER_REAL, after, LONGEST)
    while True:
        operation()


def right(name: str) -> None:
    """Whether an operation gives what it should; another thread has it meanwhile, perhaps."""
    operation, expected = OPERATIONS[name]
    assert np.allclose(operation().copy().to_numpy(), expected), name


def main(count: int, seed: int) -> None:
    drawn = random.Random(seed)
    signal.signal(signal.SIGALRM, handle)
    # where a collection runs a callback of others, Python reports what is raised, and goes on
    sys.unraisablehook = lambda event: None
    for name in OPERATIONS:
        right(name)
    with ThreadPoolExecutor(1) as pool:
        for k in range(count):
            name = drawn.choice([*OPERATIONS])
            interrupt(OPERATIONS[name][0], drawn.random() * LONGEST + 1e-6)
            try:
                for other in (name, drawn.choice([*OPERATIONS])):
                    pool.submit(right, other).result(timeout=HANGS)
            except TimeoutError:
                print(f"hangs after interrupt {k} (seed {seed}) in {name}", file=sys.stderr)
                faulthandler.dump_traceback(all_threads=True)
                os._exit(1)
            right(name)
            assert not TAKEN, name
    print(f"{count} interrupts")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
