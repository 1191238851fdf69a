"""The schedules of the paper's evaluation for one core (SCHED §7), for formats that fit them.

`parallelize` over threads is left out: it says nothing about which iterations there are.
"""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

CSF3 = ln.CSF(3)


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def spmm(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def sddmm(A, B, C, D):
    A[...] = 0
    for i, k, j in ...:
        A[i, k] += B[i, k] * C[i, j] * D[j, k]
    return A


@ln.kernel
def ttv(A, B, c):
    A[...] = 0
    for i, j, k in ...:
        A[i, j] += B[i, j, k] * c[k]
    return A


@ln.kernel
def ttm(A, B, C):
    A[...] = 0
    for i, j, k, l in ...:
        A[i, j, l] += B[i, j, k] * C[k, l]
    return A


@ln.kernel
def mttkrp(A, B, C, D):
    A[...] = 0
    for i, k, l, j in ...:
        A[i, j] += B[i, k, l] * C[k, j] * D[l, j]
    return A


VECTOR = "parallelize(k, CPUVector, IgnoreRaces)"
CASES = [
    (spmv, "split(i,i0,i1,16) reorder(i0,i1,j)", "ij,j->i", (ln.CSR, ln.DCSR, ln.DENSE, ln.BAND)),
    (
        spmv,
        "fuse(i,j,k) pos(k,kpos,A) split(kpos,kpos0,kpos1,16)",
        "ij,j->i",
        (ln.CSR, ln.DCSR, ln.COO),
    ),
    (
        spmm,
        "split(i,i0,i1,16) pos(j,jpos,A) split(jpos,jpos0,jpos1,8) reorder(i0,i1,jpos0,k,jpos1) "
        + VECTOR,
        "ij,jk->ik",
        (ln.CSR, ln.DCSR),
    ),
    (
        sddmm,
        "split(i,i0,i1,16) pos(k,kpos,B) split(kpos,kpos0,kpos1,8) reorder(i0,i1,kpos0,j,kpos1) "
        "parallelize(kpos1,CPUVector,ParallelReduction)",
        "ik,ij,jk->ik",
        (ln.CSR, ln.DCSR),
    ),
    (spmv, "reorder(j,i) pos(j,q,x) split(q,q0,q1,16)", "ij,j->i", (ln.CSC,)),
    (
        ttv,
        "fuse(i,j,f) pos(f,fpos,B) split(fpos,chunk,fpos2,16) reorder(chunk,fpos2,k)",
        "ijk,k->ij",
        (CSF3,),
    ),
    (
        ttm,
        "fuse(i,j,f) pos(f,fpos,B) split(fpos,chunk,fpos2,16) pos(k,kpos,B)"
        " split(kpos,kpos1,kpos2,8) reorder(chunk,fpos2,kpos1,l,kpos2)"
        " parallelize(kpos2,CPUVector,ParallelReduction)",
        "ijk,kl->ijl",
        (CSF3,),
    ),
    (
        mttkrp,
        "split(i,i1,i2,16) reorder(i1,i2,k,l,j) precompute(B[i,k,l]*D[l,j],j,j,w)",
        "ikl,kj,lj->ij",
        (CSF3, ln.DENSE, ln.COO),
    ),
]
SIZES = {"i": 40, "j": 23, "k": 31, "l": 19}


def operands_of(text, equation, format):
    """Operands for an equation, the first of them in a format; and what it says of them."""
    rng = np.random.default_rng(1)
    inputs, _ = equation.split("->")
    arrays = []
    for k, indices in enumerate(inputs.split(",")):
        shape = [SIZES[i] for i in indices]
        share = 0.2 if k == 0 else 1.0
        arrays.append(rng.integers(1, 9, shape) * (rng.random(shape) < share) * 1.0)
    arrays[0][5:9] = 0  # rows that store nothing
    operands = [ln.asarray(arrays[0], format=format), *arrays[1:]]
    if "pos(j,q,x)" in text:
        arrays[1] *= rng.random(SIZES["j"]) < 0.5
        operands[1] = ln.asarray(arrays[1], format=ln.CSF(1))
    return operands, np.einsum(equation, *arrays)


@pytest.mark.parametrize(
    ("kernel", "text", "equation", "format"),
    [(k, t, e, f) for k, t, e, formats in CASES for f in formats],
    ids=[f"{k.__name__}-{n}-{f}" for n, (k, _, _, formats) in enumerate(CASES) for f in formats],
)
def test_schedules_of_the_evaluation(kernel, text, equation, format):
    operands, expected = operands_of(text, equation, format)
    scheduled = kernel.schedule().apply(text)
    found = scheduled(ln.empty_tensor(ln.DENSE(expected.ndim)), *operands)
    assert np.array_equal(found.to_numpy(), expected)


LEAF = ln.Element(0.0)
SPARSE = {
    1: (ln.CSF(1), ln.SparseByteMap(LEAF), ln.SparseHash(LEAF), ln.SparseBand(LEAF)),
    2: (ln.CSR, ln.DCSR, ln.COO(2), ln.CSC, ln.BAND, ln.Dense(ln.SparseHash(LEAF))),
    3: (
        CSF3,
        ln.COO(3),
        ln.Dense(ln.Dense(ln.SparseList(LEAF))),
        ln.SparseList(ln.SparseCOO(2, LEAF)),
    ),
}
RESULTS = [
    (k, t, e, formats[0], result)
    for k, t, e, formats in CASES
    for result in SPARSE[len(e.partition("->")[2])]
]


@pytest.mark.parametrize(
    ("kernel", "text", "equation", "format", "result"),
    RESULTS,
    ids=[f"{k.__name__}-{n}-{r}" for n, (k, _, _, _, r) in enumerate(RESULTS)],
)
def test_schedules_of_the_evaluation_with_sparse_results(kernel, text, equation, format, result):
    """What is stored is what is stored without the schedule."""
    operands, expected = operands_of(text, equation, format)
    found = kernel.schedule().apply(text)(ln.empty_tensor(result), *operands)
    assert np.array_equal(found.to_numpy(), expected)
    assert found.nnz == kernel(ln.empty_tensor(result), *operands).nnz


@pytest.mark.parametrize("text", ["", "split(j, j0, j1, 4) "])
@pytest.mark.parametrize("result", SPARSE[2][:3], ids=str)
def test_vectors_write_rows_only_where_something_is_stored(text, result):
    """Loops over coordinates come by rows in which no update is made."""
    operands, expected = operands_of("", "ij,jk->ik", ln.CSR)
    scheduled = spmm.schedule().apply(f"{text}parallelize(k, CPUVector, NoRaces)")
    found = scheduled(ln.empty_tensor(result), *operands)
    assert np.array_equal(found.to_numpy(), expected)
    assert found.nnz == np.count_nonzero(expected)
