"""`ln.asarray`: anything that holds numbers as a tensor, arrays of other libraries included."""

from __future__ import annotations

from typing import Any

from linnet.errors import FormatError
from linnet.formats import construct
from linnet.formats.located import located
from linnet.formats.named import FormatLike
from linnet.formats.tensor import Tensor

_FOREIGN = ("torch", "cupy", "cupyx", "sparse", "networkx", "pandas")


@located
def asarray(
    obj: Any,
    /,
    dtype: Any = None,
    format: FormatLike | None = None,
    fill_value: object = None,
    copy: bool | None = None,
    *,
    device: object = None,
) -> Tensor:
    """A tensor of what `obj` holds: a NumPy or SciPy array, nested lists, a number, a tensor.

    With `copy=None`, memory is shared with NumPy and SciPy arrays wherever their layout is one of
    ours; with False, another layout is refused; with True nothing is shared. Index arrays that are
    shared must not be changed afterwards: they are checked here, and not again.

    Without a format, a NumPy array stays dense, in its own order of memory, and a SciPy array keeps
    its layout (dia and lil become CSR, dok becomes COO). In a sparse format, what equals
    `fill_value` (0) in a NumPy array is not stored. What a SciPy array does not store reads as
    `fill_value`. What is lazy is computed.

    >>> ln.asarray([[1.0, 0.0], [0.0, 2.0]], format="csr")
    Tensor(shape=(2, 2), dtype=float64, format=CSR, stored=2, fill=0.0, 36 bytes)
    """
    if device not in (None, "cpu"):
        raise FormatError(f"there is no device {device!r}", hint="tensors live on 'cpu'")
    module = type(obj).__module__
    if module.partition(".")[0] in _FOREIGN or module == "linnet.arrays.lazy":
        from linnet.api.foreign import taken_in

        obj = taken_in(obj)
    return construct.asarray(obj, dtype, format, fill_value, copy)
