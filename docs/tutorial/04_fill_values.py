"""Fill values and other operators: paths, patterns, and results that are nowhere zero.

Run it: python docs/tutorial/04_fill_values.py
"""

import math

import numpy as np

import linnet as ln

# In a matrix of distances, "not stored" means "no way": the fill value is infinite.
inf = math.inf
roads = ln.tensor(
    coords=[[0, 0, 1, 2, 3], [1, 2, 3, 3, 0]],
    values=[4.0, 1.0, 1.0, 5.0, 2.0],
    shape=(4, 4),
    format=ln.CSR,
    fill_value=inf,
)


@ln.kernel
def relax(new, d, W):
    """One step further on all shortest paths: least instead of sum, sum instead of product."""
    new[...] = inf
    for i, j in ...:
        new[j] = min(new[j], d[i] + W[i, j])
    return new


@ln.kernel
def shorter(best, old, new):
    """The shorter of two ways to every place."""
    best[...] = inf
    for i in ...:
        best[i] = min(old[i], new[i])
    return best


d = ln.asarray([0.0, inf, inf, inf])
for _ in range(3):
    new = relax(ln.empty_tensor(ln.DENSE(1)), d, roads)
    d = shorter(ln.empty_tensor(ln.DENSE(1)), d, new)
print(d.to_numpy())
assert d.to_numpy().tolist() == [0.0, 4.0, 1.0, 5.0]
print(relax.code(ln.empty_tensor(ln.DENSE(1)), d, roads))


@ln.kernel
def reach(R, E):
    """Neighbours of neighbours, by `or` and `and`."""
    R[...] = False
    for i, k, j in ...:
        R[i, j] |= E[i, k] and E[k, j]
    return R


# A pattern holds no values: only where something is.
pattern = ln.Dense(ln.SparseList(ln.Pattern()))
edges = ln.asarray(np.isfinite(roads.to_numpy()), format=pattern)
print(reach(ln.empty_tensor(pattern), edges))
print(reach.code(ln.empty_tensor(pattern), edges))


@ln.kernel
def exponential(B, A):
    """exp(0) is 1: a result that is nowhere zero can still be sparse, with the fill value 1."""
    B[...] = 1
    for i, j in ...:
        B[i, j] = ln.exp(A[i, j])
    return B


A = ln.asarray(np.diag([1.0, 2.0, 3.0]), format=ln.CSR)
B = exponential(ln.empty_tensor(ln.CSR), A)
print(B)
assert B.nnz == 3
assert np.allclose(B.to_numpy(), np.exp(A.to_numpy()))
print(exponential.code(ln.empty_tensor(ln.CSR), A))
