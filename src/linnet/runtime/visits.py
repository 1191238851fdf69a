"""How much work a call is: every turn of every loop of its code, by what the loop walks.

The code is that which the back end gets for these arguments. It is run by its interpreter, on
copies, so that what is counted is what is done: searches, sorts and hash probes turn loops, too.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from linnet import imp
from linnet.formats.buffers import Buffer
from linnet.formats.contents import Contents, Signature
from linnet.formats.tensor import Tensor
from linnet.imp.evaluate import Array
from linnet.imp.interpret import Operand, run
from linnet.runtime.call import Frame
from linnet.runtime.kernel import Kernel
from linnet.runtime.specialize import lowered_for
from linnet.runtime.status import failure


class Visits(Mapping[str, int]):
    """What a call does, counted; `total` is the work in all, and `print` shows it line by line.

    A loop is called by what it walks (`j in A[i, j]`, or else its variable), a routine by its name,
    such as `search`; `fill y` are elements that are set at once. A turn is one if it does several
    elements side by side.
    """

    __slots__ = ("_counts",)
    _counts: Mapping[str, int]

    def __init__(self, counts: Mapping[str, int]) -> None:
        known = MappingProxyType({what: count for what, count in counts.items() if count})
        object.__setattr__(self, "_counts", known)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"what was counted does not change: `{name}` cannot be set")

    @property
    def total(self) -> int:
        """All turns, and all elements that are filled."""
        return sum(self._counts.values())

    def __getitem__(self, what: str) -> int:
        return self._counts[what]

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __repr__(self) -> str:
        rows = [*self._counts.items(), ("in all", self.total)]
        width = max(len(f"{count:,}") for _, count in rows)
        return "\n".join(f"{count:>{width},}  {what}" for what, count in rows)


def visits(
    kernel: Kernel,
    signatures: Sequence[Signature],
    tensors: Sequence[Tensor],
    held: Sequence[Contents | None],
) -> Visits:
    """Interpret the code for arguments that hold these pinned contents, and count."""
    entry, lowered = lowered_for(kernel, signatures, held)
    frame = entry.frame(entry.slots(tensors, held), held)
    if frame is None:  # coordinates of results take 64 bits
        entry, lowered = lowered_for(kernel, signatures, held, wide=True)
        frame = entry.frame(entry.slots(tensors, held), held)
    assert frame is not None
    counts: Counter[str] = Counter()
    contents = dict(zip(entry.params, held, strict=True))
    status, _ = run(lowered.kernel, _operands(lowered.kernel, contents, frame), counts)
    if status:
        raise failure(status, entry.name, entry.sites)
    return Visits(counts)


def _operands(
    code: imp.Kernel, contents: Mapping[str, Contents | None], frame: Frame
) -> dict[str, Operand]:
    """The dimensions of all arguments, as a call has them, and copies of what they hold."""
    found: dict[str, Operand] = {}
    at = 0
    for argument in code.arguments:
        dims = frame.block[at : at + len(argument.dims)].tolist()
        at += len(dims) + 3 * len(argument.buffers)
        held = contents.get(argument.name)
        pairs = () if held is None else zip(argument.buffers, held.buffers, strict=True)
        found[argument.name] = dims, {b.name: _copy(buffer, b.dtype) for b, buffer in pairs}
    assert at == len(frame.block)
    return found


def _copy(buffer: Buffer, dtype: str) -> Array:
    """The elements of a buffer; to look at its array would take it from kernels that reuse it."""
    memory = ctypes.string_at(buffer.address, buffer.nbytes) if buffer.length else b""
    return np.frombuffer(bytearray(memory), buffer.dtype).astype(dtype, copy=False)
