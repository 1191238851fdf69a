"""One process of the latency figures: does what its argument names, prints the seconds it took.

A second argument, `processor`, asks for those in which it had a processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

clock = time.process_time if sys.argv[2:] == ["processor"] else time.perf_counter
start = clock()
import linnet as ln

imported = clock() - start


def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


def gustavson(C, A, B):
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]
    return C


def _einsum(A: ln.Tensor, x: np.ndarray) -> ln.Tensor:
    return ln.einsum("y[i] += A[i, j] * x[j]", A=A, x=x)


def _own(A: ln.Tensor, x: np.ndarray) -> object:
    return ln.kernel(spmv)(ln.empty_tensor(ln.DENSE(1)), A, x)


# what a process may do first, with a matrix and a vector
OPERATIONS: dict[str, Callable[[ln.Tensor, np.ndarray], object]] = {
    "A @ x": lambda A, x: A @ x,
    "A.T @ x": lambda A, x: A.T @ x,
    "A + A": lambda A, x: A + A,
    "A * 2": lambda A, x: A * 2,
    "A @ A": lambda A, x: A @ A,
    "A.sum(0)": lambda A, x: A.sum(0),
    "A[2:9]": lambda A, x: A[2:9],
    "A.to(CSC)": lambda A, x: A.to(ln.CSC),
    "A.to_numpy()": lambda A, x: A.to_numpy(),
    "A.mean()": lambda A, x: A.mean(),
    "A[mask]": lambda A, x: A[np.arange(10) % 3 == 0],
    "ln.concat": lambda A, x: ln.concat([A, A]),
    "ln.sqrt": lambda A, x: ln.sqrt(A),
    "ln.einsum": _einsum,
    "@ln.kernel": _own,
}


def best(run: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        begin = clock()
        run()
        seconds.append(clock() - begin)
    return min(seconds)


def measure(what: str) -> float:
    """Seconds for one of: import, lower, first, load, warm, or one of the operations."""
    if what == "import":
        return imported
    A = ln.tensor(np.stack([np.arange(10)] * 2), np.ones(10), (10, 10), format=ln.CSR)
    if what in OPERATIONS:
        vector = np.ones(10)
        return best(lambda: OPERATIONS[what](A, vector), 1)
    x, y, C = ln.asarray(np.ones(10)), ln.empty_tensor(ln.DENSE(1)), ln.empty_tensor(ln.CSR)
    product = ln.kernel(spmv)
    product(y, A, x)  # what is loaded at the first call is loaded now
    match what:
        case "warm":
            return best(lambda: [product(y, A, x) for _ in range(1000)], 20) / 1000
        case "load":
            return best(lambda: ln.kernel(gustavson)(C, A, A), 1)
        case "first":  # every kernel made by `ln.kernel` is a new one, and compiled again
            return best(lambda: ln.kernel(gustavson)(C, A, A), 7)
        case "lower":
            return best(lambda: ln.kernel(gustavson).code(C, A, A), 7)
    raise ValueError(what)


if __name__ == "__main__":
    print(measure(sys.argv[1]))
