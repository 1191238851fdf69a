"""Index notation: one equation between elements of tensors, without an order of evaluation.

    notation = Notation(target, op, value)        C[i, j] += A[i, k] * B[k, j]

The value is an expression of the loop language over accesses to whole operands. An index of the
value that the target does not have is reduced over, by `op`; the sum, if the equation is an `=`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from linnet import loops
from linnet.algebra.function import Function
from linnet.errors import Location


@dataclass(frozen=True, slots=True)
class Notation:
    """`target op= value`; without an `op`, `target = value`."""

    target: loops.Access
    op: Function | None
    value: loops.Expr
    at: Location | None = field(default=None, compare=False)

    @property
    def result(self) -> str:
        """The name of the tensor that is computed."""
        assert isinstance(self.target.tensor, str)
        return self.target.tensor

    @property
    def free(self) -> tuple[str, ...]:
        """The indices of the result."""
        return tuple(i.name for i in self.target.indices if isinstance(i, loops.Index))
