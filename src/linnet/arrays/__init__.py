"""What is wanted, before it is said in what order: graphs of array operations, index notation.

`apply`, `reduce`, `view`, `permute`, `broadcast_to` and `contract` take tensors, lazy arrays, NumPy
and SciPy arrays and numbers. They give a `Lazy` if an operand is one, else a `Tensor`.
"""

from linnet.arrays.evaluate import evaluate
from linnet.arrays.lazy import Lazy, compute, fuse, lazy
from linnet.arrays.nodes import Notation
from linnet.arrays.operations import (
    Array,
    apply,
    apply_each,
    broadcast_to,
    contract,
    permute,
    reduce,
    view,
)

__all__ = [
    "Array",
    "Lazy",
    "Notation",
    "apply",
    "apply_each",
    "broadcast_to",
    "compute",
    "contract",
    "evaluate",
    "fuse",
    "lazy",
    "permute",
    "reduce",
    "view",
]
