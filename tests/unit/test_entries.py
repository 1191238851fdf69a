"""What a call knows of the memory of results and temporaries is what the code makes of it."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.runtime.convert import copy_kernel


@ln.kernel
def product(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


@ln.kernel
def turned(B, A):
    B[...] = 0
    for i, j in ...:
        B[j, i] = A[i, j]
    return B


def test_dtypes_of_arrays():
    """Counts of entries are narrow where positions are: their blocks are half as large."""
    A = ln.asarray(np.eye(3), format=ln.CSR)
    C = ln.empty_tensor(ln.CSC.with_dtype("float64").with_fill(0.0))
    calls = [(product, (ln.empty_tensor(ln.CSR), A, A)), (turned, (ln.empty_tensor(ln.CSR), A))]
    own = copy_kernel.__wrapped__(A.format, C.format)  # which nobody has called for other arrays
    for kernel, args in [*calls, (own, (C, A))]:
        kernel(*args)
        made = {a.name: a.buffers for a in kernel.lowered(*args).kernel.arguments}
        (entry,) = kernel._entries.values()
        for result in entry.results:
            assert list(result.dtypes) == [b.dtype for b in made[result.name]], result.name
            assert list(result.kinds) == [np.dtype(b.dtype) for b in made[result.name]]
    assert any(name.endswith("_count") for name in made)


@pytest.mark.parametrize("n", [5000, 9000, 17000])
def test_memory_of_temporaries_serves_others(n):
    index = np.arange(n)
    A = ln.tensor([index, index[::-1]], index + 1.0, (n, n), format=ln.CSR)
    for _ in range(4):  # with what one conversion has left, the product is computed
        B = A.to(ln.CSC)
        C = product(ln.empty_tensor(ln.CSR), A, B.to(ln.CSR))
        assert C.nnz == n
        assert C.buffers["val"].sum() == ((index + 1.0) * (n - index)).sum()


@ln.kernel
def visit(G, P, F, A):
    G[...] = False
    for j, k in ...:
        if F[j] and A[j, k] and P[k] < 0:
            G[k] |= True
    for k in ...:
        if G[k]:
            P[k] += 2
    return G, P


@ln.kernel
def place(P, I):
    for i in ...:
        P[I[i]] += 1
    return P


def test_what_is_updated_stays_where_it_is_unless_something_may_fail_later():
    frontier = ln.SparseByteMap(ln.Pattern())
    A = ln.asarray(np.eye(4, k=1) != 0, format=ln.Dense(ln.SparseList(ln.Pattern())))
    P, F = ln.asarray(np.full(4, -1)).copy(), ln.asarray(np.arange(4) == 1, format=frontier)
    visit(ln.empty_tensor(frontier), P, F, A)  # the first time a copy is updated
    at = P.contents().buffers[0].address
    visit(ln.empty_tensor(frontier), P, F, A)
    assert P.contents().buffers[0].address == at
    assert P.to_numpy().tolist() == [-1, -1, 1, -1]
    (entry,) = visit._entries.values()
    assert {r.name: r.in_place for r in entry.results} == {"G": False, "P": True}
    Q = ln.asarray(np.zeros(3, int)).copy()
    place(Q, np.array([0, 2]))
    with pytest.raises(ln.errors.IndexBoundsError):
        place(Q, np.array([1, 5]))
    assert Q.to_numpy().tolist() == [1, 0, 1]
