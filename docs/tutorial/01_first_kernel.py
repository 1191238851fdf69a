"""A first kernel: a matrix times a vector.

Run it: python docs/tutorial/01_first_kernel.py
"""

import numpy as np

import linnet as ln


@ln.kernel
def spmv(y, A, x):
    """The loops say what is meant; `...` is the extent that the accesses imply.

    i runs over the rows of A, j over its columns. Nothing here says that A is sparse.
    """
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


A = ln.tensor(
    coords=[[0, 0, 2, 3], [1, 3, 0, 3]],
    values=[1.0, 2.0, 3.0, 4.0],
    shape=(4, 4),
    format=ln.CSR,
)
x = np.array([1.0, 10.0, 100.0, 1000.0])

# A result is a tensor of the format that you want. The kernel gives it its shape and its values.
y = ln.empty_tensor(ln.DENSE(1))
spmv(y, A, x)
print(y.to_numpy())
assert np.array_equal(y.to_numpy(), A.to_numpy() @ x)

# The first call compiled this code, for a CSR matrix and dense vectors. Later calls run it, for any
# matrix in that format.
print(spmv.code(y, A, x))

# The same program for a matrix that is stored dense is other code: there is nothing to skip.
dense = A.to(ln.DENSE)
print(spmv.code(y, dense, x))
assert np.array_equal(spmv(y, dense, x).to_numpy(), A.to_numpy() @ x)

# What the program means, computed one element at a time without the compiler.
print(spmv.reference(y, A, x)["y"])
