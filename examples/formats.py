"""Formats are values: the same program over many of them, and what each costs to keep.

`python examples/formats.py`
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from market import read

import linnet as ln

Element, Dense, SparseList = ln.Element, ln.Dense, ln.SparseList
SparseCOO, SparseByteMap, SparseHash = ln.SparseCOO, ln.SparseByteMap, ln.SparseHash

# A format is a stack of levels, outermost first, over a leaf of values.
FORMATS = {
    "CSR": Dense(SparseList(Element())),
    "CSC": ln.CSC,  # the same levels, storing the second dimension outside
    "doubly compressed": SparseList(SparseList(Element())),
    "coordinates": SparseCOO(2, Element()),
    "rows of hash tables": Dense(SparseHash(Element())),
    "rows of byte maps": Dense(SparseByteMap(Element())),
    "dense": Dense(Dense(Element())),
}


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def product_by_columns(y, A, x):
    y[...] = 0
    for j, i in ...:
        y[i] += A[i, j] * x[j]
    return y


def main() -> None:
    A = read(Path(__file__).parent / "data" / "bcsstk13.mtx.gz")
    a, x = A.to_numpy(), np.random.default_rng(0).random(A.shape[1])
    expected = a @ x
    print(f"{'':22}{'stored':>10} {'bytes':>12}   levels")
    for name, format in FORMATS.items():
        B = A.to(format)  # conversions are compiled loop programs, too
        size = sum(array.nbytes for array in B.buffers.values())
        print(f"{name:22}{B.nnz:>10} {size:>12}   {B.format.describe()}")
        run = product_by_columns if B.format == A.to(ln.CSC).format else product
        y = run(ln.empty_tensor(ln.DENSE(1)), B, x)
        assert np.allclose(y.to_numpy(), expected)

    print("\nResults are written in any format as well. The product with a sparse vector:")
    v = np.zeros(A.shape[1])
    v[[5, 700, 1999]] = 1.0
    for name, format in {"sparse list": SparseList(Element()), "dense": Dense(Element())}.items():
        x = ln.asarray(v, format=SparseList(Element()))
        y = product_by_columns(ln.empty_tensor(format), A.to(ln.CSC), x)
        assert np.allclose(y.to_numpy(), a @ v)
        print(f"{name:22}{y!r}")


if __name__ == "__main__":
    main()
