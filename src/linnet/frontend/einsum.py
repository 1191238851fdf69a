"""`ln.einsum`: index notation in a string.

What reads and plans equations (`frontend.equations`) is imported when there is one that nobody has
computed before, of operands in these formats and sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet.algebra.dtypes import Number
from linnet.errors import ArgumentError
from linnet.formats.located import located
from linnet.formats.named import FormatLike
from linnet.formats.tensor import Tensor
from linnet.runtime.operation import operation
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet.runtime.scheduled import Commanded


@located
def einsum(
    equation: object,
    *tensors: object,
    format: FormatLike | None = None,
    fill_value: Number | None = None,
    schedule: str | Commanded = "auto",
    **operands: object,
) -> Tensor:
    """Compute what an equation in index notation says; the result is a new tensor.

    The update may be `=`, `+=`, `*=`, `min=`, `max=`, `|=`, `&=` or any function by name. An index
    that the left side does not have is reduced over. NumPy's subscripts are accepted too, or
    a list of numbers behind each operand, with NumPy's options `dtype`, `casting` and `optimize`.
    The format of the result is chosen if it is not given: sparse where the operands make it so.
    With a lazy operand, the result is lazy.

    With a `schedule`, a text or another schedule, the equation is one nest of loops under these
    commands (`ln.schedule`), and is computed at once.

    >>> C = ln.einsum("C[i,j] += A[i,k] * B[k,j]", A=A, B=B)
    >>> d = ln.einsum("d[j] min= d0[i] + G[i,j]", d0=d0, G=G)
    >>> C = ln.einsum("ij,jk->ik", A, B)
    >>> y = ln.einsum("y[i] += A[i,j] * x[j]", A=A, x=x, schedule="split(i, i0, i1, 32)")
    """
    if not isinstance(schedule, str) or schedule != "auto":
        return _scheduled(equation, tensors, operands, format, fill_value, schedule)
    if not isinstance(equation, str):
        from_lists = imported("linnet.arrays.subscripts").from_lists
        equation, tensors = from_lists((equation, *tensors))
    named = {"format": format, "fill_value": fill_value, **operands}
    found: Tensor = operation(_computed, "einsum", (equation, *tensors), named)
    return found


def _scheduled(
    equation: object,
    tensors: tuple[object, ...],
    operands: dict[str, object],
    format: FormatLike | None,
    fill_value: Number | None,
    schedule: str | Commanded,
) -> Tensor:
    """What an equation says, by loops under a schedule."""
    if tensors or not isinstance(equation, str):
        raise ArgumentError(
            "a schedule speaks of the names of indices and operands, which are not given here",
            hint='ln.einsum("y[i] += A[i,j] * x[j]", A=A, x=x, schedule=…)',
        )
    module = imported("linnet.frontend.equations")
    found: Tensor = module.scheduled(equation, operands, format, fill_value, schedule).run()
    return found


def _computed(*given: object, **named: object) -> Tensor:
    found: Tensor = imported("linnet.frontend.equations").computed(*given, **named)
    return found
