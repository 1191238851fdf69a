"""`compute`: a kernel of one new result, called with tensors, arrays of NumPy and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from linnet.formats.format import Format
from linnet.formats.from_numpy import share
from linnet.formats.tensor import Tensor
from linnet.runtime.slices import sizes

if TYPE_CHECKING:
    from linnet.runtime.kernel import Kernel


def compute(
    kernel: Kernel,
    target: Format,
    tensors: Sequence[Tensor],
    arrays: Sequence[NDArray[Any]] = (),
    numbers: tuple[int, ...] = (),
) -> Tensor:
    """The result of a kernel, in this format.

    Needs: arrays that nobody changes meanwhile, and numbers, if any, that are not negative.
    """
    result = Tensor(target, None)
    kernel(result, *tensors, *map(share, arrays), *([sizes(numbers)] if numbers else ()))
    return result
