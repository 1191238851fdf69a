"""Linnet: a compiler for sparse and structured array programs.

    import linnet as ln

    @ln.kernel
    def spmv(y, A, x):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j] * x[j]

    y = ln.empty_tensor(ln.DENSE(1))
    spmv(y, ln.asarray(A), x)
"""

from linnet.algebra.function import Function
from linnet.errors import LinnetError
from linnet.formats.construct import asarray, from_buffers, scalar, tensor
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.format import Format
from linnet.formats.named import COO, CSC, CSF, CSR, DCSC, DCSR, DENSE
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_hash import SparseHash
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor, empty_tensor
from linnet.frontend.kernel import kernel
from linnet.frontend.words import follow, gallop, temp, walk
from linnet.options import config
from linnet.runtime.kernel import Kernel

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`explain` brings the whole compiler along: imported when it is first asked for."""
    if name == "explain":
        from linnet.explain import explain

        return explain
    raise AttributeError(f"module 'linnet' has no attribute {name!r}")
