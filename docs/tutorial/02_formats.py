"""Formats: the same program, other code.

Run it: python docs/tutorial/02_formats.py
"""

import numpy as np
import scipy.sparse as sp

import linnet as ln


@ln.kernel
def inner(s, A, B):
    """The sum of an element-wise product."""
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j] * B[i, j]
    return s


M = sp.random_array((200, 300), density=0.05, format="csr", rng=0)
N = sp.random_array((200, 300), density=0.10, format="csr", rng=1)
expected = (M * N).sum()

# A SciPy matrix is used where it is, without a copy.
A, B = ln.asarray(M), ln.asarray(N)
assert np.shares_memory(A.buffers["val"], M.data)

# Two sparse rows meet in a merge loop: what only one of them stores cannot change a product.
s = ln.scalar(0.0)
assert np.isclose(inner(s, A, B).item(), expected)
print("sparse with sparse:", inner.code(s, A, B), sep="\n")

# If B is dense, the entries of A alone drive the loop.
assert np.isclose(inner(s, A, B.to(ln.DENSE)).item(), expected)
print("sparse with dense:", inner.code(s, A, B.to(ln.DENSE)), sep="\n")

# Any nesting of levels will do. Here rows are found by a hash table.
hashed = A.to(ln.SparseHash(ln.SparseList(ln.Element(0.0))))
for format in (ln.COO, ln.DCSR, hashed.format):
    assert np.isclose(inner(s, A.to(format), B).item(), expected)

# A matrix that is stored by columns wants its loops the other way around. Both orders of loops
# give the same sum; Linnet warns where an order makes the work larger.
by_columns = A.to(ln.CSC)


@ln.kernel
def inner_by_columns(s, A, B):
    """The same sum, column by column."""
    s[...] = 0
    for j, i in ...:
        s[()] += A[i, j] * B[i, j]
    return s


assert np.isclose(inner_by_columns(s, by_columns, B.to(ln.CSC)).item(), expected)
print("by columns:", inner_by_columns.code(s, by_columns, B.to(ln.CSC)), sep="\n")
