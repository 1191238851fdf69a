"""Sparse results under schedules: what is accepted is right, and stores what it does without."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

LEAF = ln.Element(0.0)
FORMATS = {
    "CSR": ln.CSR,
    "CSC": ln.CSC,
    "COO": ln.COO(2),
    "DCSR": ln.DCSR,
    "hash": ln.SparseHash(ln.SparseHash(LEAF)),
    "byte map": ln.SparseByteMap(ln.SparseByteMap(LEAF)),
    "RLE": ln.RLE,
    "SRLE": ln.SRLE,
    "BAND": ln.BAND,
    "BLOCK": ln.BLOCK,
}


@ln.kernel
def scale(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * 2
    return C


@ln.kernel
def transpose(C, A):
    C[...] = 0
    for i, j in ...:
        C[j, i] = A[i, j]
    return C


@ln.kernel
def deep(C, A):
    C[...] = 0
    for i, j, k, l in ...:
        C[i, j, k, l] = A[i, j, k, l] * 2
    return C


def numbers(*shape, density=0.25):
    rng = np.random.default_rng([1, *shape])
    return rng.integers(1, 9, shape) * (rng.random(shape) < density) * 1.0


M = numbers(12, 13)
WRITTEN_ONCE = [
    "split(i, i0, i1, 5) split(j, j0, j1, 4) reorder(i0, j0, i1, j1)",
    "split(i, i0, i1, 5) reorder(i1, i0)",
    "split(i, i0, i1, 6) reorder(i1, i0) split(i1, i2, i3, 2) reorder(i3, i2, i0)",
    "collapse(i, j, f) split(f, f0, f1, 7)",
    "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 7)",
    "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 8) split(p1, p2, p3, 3)",
]


@pytest.mark.parametrize("text", WRITTEN_ONCE)
@pytest.mark.parametrize("kernel", [scale, transpose], ids=lambda k: k.__name__)
@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_what_is_written_once_is_not_written_where_nothing_is_stored(kernel, format, text):
    A = ln.asarray(M, format=ln.CSR)
    plain = kernel(ln.empty_tensor(format), A)
    found = kernel.schedule().apply(text)(ln.empty_tensor(format), A)
    assert np.array_equal(found.to_numpy(), plain.to_numpy())
    assert found.nnz == plain.nnz


@pytest.mark.parametrize("format", [ln.CSF(4), ln.COO(4)], ids=str)
@pytest.mark.parametrize("size", [1, 3, 8, 100])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_tiles_of_positions_of_many_dimensions(depth, size, format):
    T = numbers(4, 3, 5, 4)
    A = ln.asarray(T, format=ln.CSF(4))
    scheduled = deep.schedule().collapse("i", "j", "f2")
    for k in range(2, depth):
        scheduled = scheduled.collapse(f"f{k}", "ijkl"[k], f"f{k + 1}")
    scheduled = scheduled.pos(f"f{depth}", "p", "A").split("p", "p0", "p1", size)
    found = scheduled(ln.empty_tensor(format), A)
    assert np.array_equal(found.to_numpy(), T * 2)
    assert found.nnz == A.nnz
