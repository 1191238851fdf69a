"""One process of the latency figures: does what its argument names, prints the seconds it took."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

start = time.perf_counter()
import linnet as ln

imported = time.perf_counter() - start


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


def best(run: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def measure(what: str) -> float:
    """Seconds for one of: import, operation, lower, first, load, warm."""
    if what == "import":
        return imported
    A = ln.tensor(np.stack([np.arange(10)] * 2), np.ones(10), (10, 10), format=ln.CSR)
    if what == "operation":
        vector = np.ones(10)
        return best(lambda: A @ vector, 1)
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
