"""How a result is assembled (WORK §2): appended or scattered, densely or sparsely.

The loops say in which order elements come, the format in which order they are to be stored. Where
the two part, elements must be collected; over how many dimensions is the *order* of the assembly.
"""

from __future__ import annotations

from collections.abc import Sequence

from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Assembly:
    """The assembly of a result whose indices, in storage order, are `access`.

    `loops` are the indices of the loops around an update, the outermost first.
    """

    loops: tuple[str, ...]
    access: tuple[str, ...]

    @property
    def scatters(self) -> bool:
        """Whether one element is combined of many values, and not written once."""
        return any(i not in self.access for i in self.loops)

    @property
    def order(self) -> int:
        """Of how many dimensions a workspace must at least be: `max(N + 1 - p1, p2)`."""
        return max(len(self.access) - self.agreement, self._inside_reduction)

    @property
    def sparse(self) -> bool:
        """Whether that is more than a vector, for which dense memory would do."""
        return self.order > 1

    @property
    def agreement(self) -> int:
        """How many indices come, reductions aside, in the order of storage."""
        return _common_start(self.input_order, self.access)

    @property
    def _inside_reduction(self) -> int:
        """How many indices of the result lie inside the first loop that is reduced over."""
        first = next((k for k, i in enumerate(self.loops) if i not in self.access), None)
        return 0 if first is None else sum(i in self.access for i in self.loops[first:])

    @property
    def concordant(self) -> bool:
        """Whether the indices of the result come in the order in which it is stored."""
        return self.input_order == self.access

    @property
    def input_order(self) -> tuple[str, ...]:
        """The indices of the result, in the order of the loops."""
        return tuple(i for i in self.loops if i in self.access)

    @property
    def ow_order(self) -> tuple[int, ...]:
        """Where each index of the input order is stored: `input[k] == access[ow_order[k]]`."""
        return tuple(self.access.index(i) for i in self.input_order)

    @property
    def hoisted(self) -> tuple[str, ...]:
        """The outermost loops that iterate over the result as it is stored."""
        return self.loops[: _common_start(self.loops, self.access)]

    @property
    def dense_suffices(self) -> bool:
        """Whether a dense workspace is in order (WORK §6.2): one index inside the reduction."""
        return self.concordant and self._inside_reduction == 1

    def __str__(self) -> str:
        how = "scattered" if self.scatters else "appended"
        density = f"sparsely, in {self.order} dimensions" if self.sparse else "densely"
        if not self.order:
            density = "in order"
        loops, access = ", ".join(self.loops), ", ".join(self.access)
        return f"stored by {access}; the loops run over {loops}: {how} {density}"


def _common_start(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """How many elements two tuples have in common, from the first on."""
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count


def classify(loops: Sequence[str], access: Sequence[str]) -> Assembly:
    """The assembly of a result.

    >>> classify("ikj", "ij").order, classify("kij", "ij").order, classify("ijk", "ij").order
    (1, 2, 0)
    """
    return Assembly(tuple(loops), tuple(access))
