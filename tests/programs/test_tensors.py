"""Contractions of order 3, 4 and 5: TTV, TTM, MTTKRP, inner products; Kronecker; triangles."""

from __future__ import annotations

import numpy as np
import pytest
from tests.programs.cases import Case, cases, program
from tests.programs.meaning import einsum, widened

import linnet as ln


@ln.kernel
def ttv3(C, T, x):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += T[i, j, k] * x[k]


@ln.kernel
def ttv3_first(C, T, x):
    C[...] = 0
    for i, j, k in ...:
        C[j, k] += T[i, j, k] * x[i]


@ln.kernel
def ttv4(C, T, x):
    C[...] = 0
    for i, j, k, l in ...:
        C[i, j, k] += T[i, j, k, l] * x[l]


@ln.kernel
def ttv5(C, T, x):
    C[...] = 0
    for i, j, k, l, m in ...:
        C[i, j, k, l] += T[i, j, k, l, m] * x[m]


@ln.kernel
def ttm3(C, T, A):
    C[...] = 0
    for i, j, k, l in ...:
        C[i, j, l] += T[i, j, k] * A[k, l]


@ln.kernel
def ttm4(C, T, A):
    C[...] = 0
    for i, j, k, l, m in ...:
        C[i, j, k, m] += T[i, j, k, l] * A[l, m]


@ln.kernel
def ttm5(C, T, A):
    C[...] = 0
    for i, j, k, l, m, n in ...:
        C[i, j, k, l, n] += T[i, j, k, l, m] * A[m, n]


@ln.kernel
def mttkrp3(M, T, B, C):
    M[...] = 0
    for i, k, l, j in ...:
        M[i, j] += T[i, k, l] * B[k, j] * C[l, j]


@ln.kernel
def mttkrp4(M, T, B, C, D):
    M[...] = 0
    for i, k, l, m, j in ...:
        M[i, j] += T[i, k, l, m] * B[k, j] * C[l, j] * D[m, j]


@ln.kernel
def mttkrp5(M, T, B, C, D, E):
    M[...] = 0
    for i, k, l, m, n, j in ...:
        M[i, j] += T[i, k, l, m, n] * B[k, j] * C[l, j] * D[m, j] * E[n, j]


@ln.kernel
def inner2(s, A, B):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j] * B[i, j]


@ln.kernel
def inner3(s, A, B):
    s[...] = 0
    for i, j, k in ...:
        s[()] += A[i, j, k] * B[i, j, k]


@ln.kernel
def inner4(s, A, B):
    s[...] = 0
    for i, j, k, l in ...:
        s[()] += A[i, j, k, l] * B[i, j, k, l]


@ln.kernel
def triangles(s, A):
    s[...] = 0
    for i, j, k in ...:
        s[()] += A[i, j] * A[j, k] * A[i, k]


@ln.kernel
def kronecker(C, A, B):
    C[...] = 0
    for i, k, j, l in ...:
        C[i, k, j, l] = A[i, j] * B[k, l]


CONTRACTIONS = {
    ttv3: "ijk,k->ij", ttv3_first: "ijk,i->jk", ttv4: "ijkl,l->ijk", ttv5: "ijklm,m->ijkl",
    ttm3: "ijk,kl->ijl", ttm4: "ijkl,lm->ijkm", ttm5: "ijklm,mn->ijkln",
    mttkrp3: "ikl,kj,lj->ij", mttkrp4: "iklm,kj,lj,mj->ij", mttkrp5: "iklmn,kj,lj,mj,nj->ij",
    inner2: "ij,ij->", inner3: "ijk,ijk->", inner4: "ijkl,ijkl->", triangles: "ii->",
    kronecker: "ij,kl->ikjl",
}  # fmt: skip


def contraction(kernel: ln.Kernel, spec: str):
    operands, result = spec.split("->")
    return program(result, *operands.split(","))(kernel)(lambda *arrays: einsum(spec, *arrays))


def count_triangles(a: np.ndarray) -> np.ndarray:
    return einsum("ij,jk,ik->", a, a, a)


PROGRAMS = [contraction(k, spec) for k, spec in CONTRACTIONS.items() if k is not triangles]
PROGRAMS.append(program("", "ii")(triangles)(count_triangles))


@pytest.mark.parametrize("case", cases(PROGRAMS))
def test_tensors(case: Case):
    case.check()


@ln.kernel
def kronecker_matrix(C, A, B):
    ln.declare(C, 0, (A.shape[0] * B.shape[0], A.shape[1] * B.shape[1]))
    for i, k, j, l in ...:
        C[i * B.shape[0] + k, j * B.shape[1] + l] += A[i, j] * B[k, l]


MATRIX = program("ij", "ij", "kl")(kronecker_matrix)(lambda a, b: widened(np.kron(a, b)))


@pytest.mark.parametrize("case", cases([MATRIX]))
def test_kronecker_as_a_matrix(case: Case):
    case.check()
