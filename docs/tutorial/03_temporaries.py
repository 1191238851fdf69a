"""Temporaries: a product of sparse matrices, by rows.

Run it: python docs/tutorial/03_temporaries.py
"""

import numpy as np
import scipy.sparse as sp

import linnet as ln


@ln.kernel
def by_rows(C, A, B):
    """A product, row by row.

    Row i is a sum of rows of B, which come one after the other, so that the columns of the result
    come out of order: a temporary takes them in any order, and gives them back sorted.
    """
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]
    return C


M = sp.random_array((300, 400), density=0.02, format="csr", rng=0)
N = sp.random_array((400, 200), density=0.02, format="csr", rng=1)
expected = (M @ N).toarray()

C = by_rows(ln.empty_tensor(ln.CSR), M, N)
assert np.allclose(C.to_numpy(), expected)
print(repr(C))


@ln.kernel
def product(C, A, B):
    """The same without the temporary: the compiler completes the program, see `loops`."""
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


assert np.allclose(product(ln.empty_tensor(ln.CSR), M, N).to_numpy(), expected)
print(product.loops(ln.empty_tensor(ln.CSR), M, N))
print(product.code(ln.empty_tensor(ln.CSR), M, N))


@ln.kernel
def scaled_rows(C, A):
    """Rows divided by their largest entry; a temporary can be a number, too."""
    C[...] = 0
    for i in ...:
        largest = ln.scalar(0.0)
        for j in ...:
            largest[()] = max(largest[()], abs(A[i, j]))
        for j in ...:
            C[i, j] = A[i, j] / largest
    return C


S = scaled_rows(ln.empty_tensor(ln.CSR), M).to_scipy()
rows = np.diff(M.indptr) > 0
assert np.allclose(abs(S).max(axis=1).toarray()[rows], 1.0)
print(scaled_rows.code(ln.empty_tensor(ln.CSR), M))
