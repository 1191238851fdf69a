"""The experiments of ARRAY §8, and the bytes that each takes at its most, beside its operands.

Run by test_array_memory.py, with an allocator that counts.
"""

from __future__ import annotations

import ctypes
import json

import numpy as np

import linnet as ln
from linnet.arrays import apply, contract, fuse, reduce
from linnet.formats.spare import SPARE

rng, n, each = np.random.default_rng(0), 20_000, 10
PATTERN = ln.Dense(ln.SparseList(ln.Pattern()))


def matrix(dtype="float64", fill=0, shape=(n, n)):
    places = [rng.integers(0, size, n * each) for size in shape]
    values = rng.integers(1, 5, n * each).astype(dtype)
    format = ln.CSR if len(shape) == 2 else ln.CSF
    return ln.tensor(places, values, shape, format=format, fill_value=fill, op=ln.maximum)


@ln.kernel
def min_plus(y, A, x, mask):
    y[...] = np.inf
    for i in ...:
        if mask[i]:
            for j in ...:
                y[i] = min(y[i], A[i, j] + x[j])
    return y


@ln.kernel
def or_and(y, A, x, mask):
    found = ln.scalar(False, short_circuit=True)
    y[...] = False
    for i in ...:
        if mask[i]:
            found[...] = False
            for j in ...:
                found[()] |= A[i, j] and x[j]
            y[i] = found[()]
    return y


@fuse
def xor_and(A, B, C):
    return apply("logical_and", apply("logical_xor", A, B), C)


@fuse
def windows(A, B):
    return A[100:-100, 5:-5] + B[100:-100, 5:-5]


@fuse
def strides(A, B):
    return A[::2, ::2] + B[::2, ::2]


@fuse
def masked(A, B):
    return (A @ B) * A


@fuse
def edges(A, B, R):
    return apply("logical_xor", apply("logical_and", A, R), apply("logical_and", B, R))


@fuse
def minimax(T):
    return reduce("maximum", reduce("minimum", reduce("maximum", T, 2), 1), 0)


@fuse
def statistics(X):
    """Rows that are scaled, and means and variances of their columns."""
    Y = ln.log1p(X * (1e4 / X.sum(axis=1, keepdims=True)))
    return Y.mean(axis=0), Y.var(axis=0)


A, B, C = matrix(), matrix(), matrix()
S, M = matrix("int64"), matrix("int64")
P, Q, R = (matrix("bool").to(PATTERN) for _ in range(3))
x, mask = ln.asarray(rng.random(n)), ln.asarray(rng.random(n) < 0.75)
truths = ln.asarray(rng.random(n) < 0.25)
D, E = matrix(fill=np.inf), matrix(fill=np.inf)
T = matrix(shape=(300, 300, 300))
X = matrix("float32", shape=(n // 10, n // 10))
# with the operands whose entries bound those of the result, or of what is made on the way to it
EXPERIMENTS = {
    "logical_xor": (lambda: apply("logical_xor", A, B), ()),
    "ldexp": (lambda: apply("ldexp", A, S), ()),
    "right_shift": (lambda: apply("right_shift", S, M), ()),
    "power": (lambda: apply("power", A, B), ()),
    "xor_and": (lambda: xor_and(A, B, C), (C,)),
    "windows": (lambda: windows(A, B), ()),
    "strides": (lambda: strides(A, B), ()),
    "mxv min plus": (lambda: min_plus(ln.empty_tensor(ln.DENSE(1)), D, x, mask), ()),
    "mxv or and": (lambda: or_and(ln.empty_tensor(ln.DENSE(1)), P, truths, mask), ()),
    "mxm min plus": (lambda: contract("ik,kj->ij", D, E, semiring=("minimum", "add")), ()),
    "masked mxm": (lambda: masked(A, B), (A,)),
    "edges": (lambda: edges(P, Q, R), (R,)),
    "minimax": (lambda: minimax(T), ()),
    "scaled log1p": (lambda: statistics(X), (X,)),
}
allocator = ctypes.CDLL(None)


def taken(run, bounds) -> tuple[int, int, int]:
    """The most that a call takes if it is not the first; the bytes of its result, and of bounds."""
    for _ in range(3):
        run()
    SPARE.drop()
    start = allocator.counted_anew()
    result = run()
    results = result if isinstance(result, tuple) else (result,)
    return allocator.counted_most() - start, sum(map(size, results)), sum(map(size, bounds))


def size(tensor) -> int:
    return sum(a.nbytes for a in tensor.buffers.values())


if __name__ == "__main__":
    allocator.counted_most.restype = allocator.counted_anew.restype = ctypes.c_longlong
    with ln.config(backend="c"):  # whose code asks the allocator of this process
        print(json.dumps({name: taken(*each) for name, each in EXPERIMENTS.items()}))
