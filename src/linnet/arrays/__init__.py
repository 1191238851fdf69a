"""What is wanted, before it is said in what order: graphs of array operations, index notation.

`apply`, `reduce`, `view`, `permute`, `broadcast_to` and `contract` take tensors, lazy arrays, NumPy
and SciPy arrays and numbers. They give a `Lazy` if an operand is one, else a `Tensor`. They are
imported when they are first called, as `arrays.apply`: planning is much to import, and a process
may do without it.
"""

from typing import TYPE_CHECKING

from linnet.arrays.lazy import Lazy, compute, fuse, lazy
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet.arrays.operations import (
        Array,
        apply,
        apply_each,
        broadcast_to,
        contract,
        permute,
        reduce,
        view,
        window,
    )

__all__ = [
    "Array",
    "Lazy",
    "apply",
    "apply_each",
    "broadcast_to",
    "compute",
    "contract",
    "fuse",
    "lazy",
    "permute",
    "reduce",
    "view",
    "window",
]


def __getattr__(name: str) -> object:
    """What is in `operations`, from the first time that it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'linnet.arrays' has no attribute {name!r}")
    found: object = getattr(imported("linnet.arrays.operations"), name)
    globals()[name] = found
    return found
