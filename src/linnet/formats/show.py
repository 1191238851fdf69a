"""How a tensor prints: one line that says what it is, and its values where they are few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet.formats.packing import unpack_levels

if TYPE_CHECKING:
    from linnet.formats.tensor import Tensor

_FEW = 40  # stored values that are worth listing


def one_line(tensor: Tensor) -> str:
    """`Tensor(shape=(3, 4), dtype=float64, format=CSR, stored=5, fill=0.0, 84 bytes)`"""
    parts = [f"dtype={tensor.dtype or 'open'}", f"format={tensor.format!r}"]
    if tensor.shape is None:
        return f"Tensor(not declared, {', '.join(parts)})"
    parts = [f"shape={tensor.shape}", *parts]
    parts += [f"stored={tensor.nnz}", f"fill={tensor.fill_value!r}", human_bytes(tensor.nbytes)]
    return f"Tensor({', '.join(parts)})"


def with_values(tensor: Tensor) -> str:
    """The one line, and below it the values that are stored, if they are few."""
    line = one_line(tensor)
    if tensor.shape is None or not 0 < tensor.nnz <= _FEW:
        return line
    contents = tensor.contents()
    coordinates, values = unpack_levels(contents.levels(), contents.shape, contents.format)
    places = [", ".join(map(str, place)) for place in zip(*map(list, coordinates), strict=True)]
    width = max(map(len, places), default=0)
    rows = zip(places or [""], values.tolist(), strict=True)
    return "\n".join([line, *(f"  [{place:>{width}}]  {value!r}" for place, value in rows)])


def human_bytes(count: int) -> str:
    """`84 bytes`, `1.5 KiB`, `20.0 MiB`."""
    if count < 1024:
        return f"{count} bytes"
    power = min(4, (count.bit_length() - 1) // 10)
    return f"{count / 1024**power:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"
