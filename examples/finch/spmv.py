"""Sparse matrix times vector, each matrix in the format that fits it (FINCH §7.1, Figs. 19 and 20).

One program for all formats. What differs is the code: a band is a loop without an index array, a
permutation no loop, and of a symmetric matrix every stored entry is read once and written twice, as
the program does that is written out for that.

`python examples/finch/spmv.py`
"""

from __future__ import annotations

import time

import numpy as np

import linnet as ln

VECTOR = ln.DENSE(1)


# By rows: every element of y is a sum.
@ln.kernel
def by_rows(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


# By columns: every element of x is scattered.
@ln.kernel
def by_columns(y, A, x):
    y[...] = 0
    for j, i in ...:
        y[i] += A[i, j] * x[j]
    return y


# U is the part of a symmetric matrix above its diagonal D: an entry counts for two elements of y.
@ln.kernel
def symmetric(y, U, D, x):
    y_i = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        x_i = x[i]
        y_i[...] = 0
        for j in ...:
            u = U[i, j]
            y[j] += u * x_i
            y_i[()] += u * x[j]
        y[i] += y_i[()] + D[i] * x_i
    return y


def matrices(n: int, rng: np.random.Generator) -> dict[str, tuple[object, np.ndarray]]:
    """A matrix of each structure, and the format that fits it."""
    values = rng.random((n, n)) + 0.5
    i, j = np.indices((n, n))
    scattered = rng.random((n, n)) < 0.01
    steps = np.sort(rng.integers(0, n, (n, 8)), axis=1)
    level = (j[:, :, None] >= steps[:, None, :]).sum(2)  # 9 runs in each row
    return {
        "list": (ln.CSR, np.where(scattered, values, 0)),
        "pattern": (ln.Dense(ln.SparseList(ln.Pattern())), scattered),
        "band": (ln.BAND, np.where(abs(i - j) <= 50, values, 0)),
        "triangular": (ln.TRIANGULAR, np.triu(values)),
        "blocks": (ln.BLOCK, np.where((i // 40 + j // 25) % 8 == 0, values, 0)),
        "tiles": (ln.BSR(40, 25), np.where((i // 40 + j // 25) % 8 == 0, values, 0)),
        "symmetric": (ln.SYMMETRIC, np.where(scattered | scattered.T, values + values.T, 0)),
        "permutation": (ln.PERM, i + j == n - 1),
        "dense": (ln.DENSE(2), values),
        "runs": (ln.RLE, level.astype(float)),
        "sparse runs": (ln.SRLE, np.where(level % 4 == 0, 1.0 + level, 0)),
    }


def seconds(call: object, times: int = 20) -> float:
    """The time of the fastest call."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return min(spent)


def compare(name: str, format: object, a: np.ndarray, x: np.ndarray) -> None:
    """Check the product, and measure it against the same program on a list."""
    A, rows, y = ln.asarray(a, format=format), ln.asarray(a, format=ln.CSR), ln.empty_tensor(VECTOR)
    by_rows(y, A, x)
    assert np.allclose(y.to_numpy(), a @ x)
    columns = ln.asarray(a.T.copy(), format=format).T  # the same levels, columns outside
    by_columns(y, columns, x)
    assert np.allclose(y.to_numpy(), a @ x)
    part = A.nbytes / rows.nbytes
    faster = seconds(lambda: by_rows(y, rows, x)) / seconds(lambda: by_rows(y, A, x))
    print(f"{name:12} {A.nbytes:9} bytes ({part:4.2f} of CSR)  {faster:5.2f} times as fast")


def main() -> None:
    n, rng = 1000, np.random.default_rng(0)
    x = rng.random(n)
    for name, (format, a) in matrices(n, rng).items():
        compare(name, format, a, x)

    a = np.where(rng.random((n, n)) < 0.05, rng.random((n, n)), 0)
    a = a + a.T
    U, D, y = ln.asarray(np.triu(a, 1), format=ln.CSR), a.diagonal().copy(), ln.empty_tensor(VECTOR)
    symmetric(y, U, D, x)
    assert np.allclose(y.to_numpy(), a @ x)
    print(f"two results  {U.nbytes + D.nbytes:9} bytes")

    band = ln.asarray(np.tri(n, k=3) - np.tri(n, k=-4), format=ln.BAND)
    code = by_rows.code(y, band, x)
    print("\nThe code for a band:\n")
    print(code[code.index("  for (") : code.rindex("  args[")])


if __name__ == "__main__":
    main()
