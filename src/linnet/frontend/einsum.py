"""`ln.einsum`: index notation in a string.

What reads and plans equations (`frontend.equations`) is imported when there is one that nobody has
computed before, of operands in these formats and sizes.
"""

from __future__ import annotations

from importlib import import_module

from linnet.algebra.dtypes import Number
from linnet.errors import ArgumentError
from linnet.formats.located import located
from linnet.formats.named import FormatLike
from linnet.formats.tensor import Tensor
from linnet.runtime.operation import operation


@located
def einsum(
    equation: object,
    *tensors: object,
    format: FormatLike | None = None,
    fill_value: Number | None = None,
    schedule: str = "auto",
    **operands: object,
) -> Tensor:
    """Compute what an equation in index notation says; the result is a new tensor.

    The update may be `=`, `+=`, `*=`, `min=`, `max=`, `|=`, `&=` or any function by name. An index
    that the left side does not have is reduced over. NumPy's subscripts are accepted too, or
    a list of numbers behind each operand, with NumPy's options `dtype`, `casting` and `optimize`.
    The format of the result is chosen if it is not given: sparse where the operands make it so.
    With a lazy operand, the result is lazy.

    >>> C = ln.einsum("C[i,j] += A[i,k] * B[k,j]", A=A, B=B)
    >>> d = ln.einsum("d[j] min= d0[i] + G[i,j]", d0=d0, G=G)
    >>> C = ln.einsum("ij,jk->ik", A, B)
    """
    if schedule != "auto":
        raise ArgumentError(f"there is no schedule {schedule!r}", hint='"auto" is the only one yet')
    if not isinstance(equation, str):
        from_lists = import_module("linnet.arrays.subscripts").from_lists
        equation, tensors = from_lists((equation, *tensors))
    named = {"format": format, "fill_value": fill_value, **operands}
    found: Tensor = operation(_computed, "einsum", (equation, *tensors), named)
    return found


def _computed(*given: object, **named: object) -> Tensor:
    found: Tensor = import_module("linnet.frontend.equations").computed(*given, **named)
    return found
