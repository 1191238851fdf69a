"""How a tensor prints: one line that says what it is, and its values where they are few."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from linnet.formats.tensor import Tensor

_FEW = 40  # stored values that are worth listing
_LISTED = 1 << 16  # elements, of which they are picked


# What users of other libraries ask an array for, and how it is written here.
ELSEWHERE = {
    "todia": 'A.to(ln.BAND), or A.to_scipy("dia")',
    "tolil": "A[i, j] = value on any format, or ln.tensor(coordinates, values, shape)",
    "todok": "A[i, j] = value on any format, or ln.tensor(coordinates, values, shape)",
    "indptr": '.buffers["ptr1"] of a CSR or CSC matrix: A.to("csr")',
    "indices": '.buffers["idx1"] of a CSR or CSC matrix: A.to("csr")',
    "row": ".coords[0]",
    "col": ".coords[1]",
    "H": "A.conj().T",
    "A": "A.to_numpy()",
    "getrow": "A[i]",
    "getcol": "A[:, j]",
    "resize": "A[:n, :m], or ln.pad",
    "sort": "ln.sort(A), which is another array",
    "fill": "A[...] = value",
    "items": "zip(A.coords.T, A.data)",
    "keys": "A.coords.T",
    "values": "A.data",
    "setdefault": "A[i, j] = value",
    "blocksize": "A.format.levels[1]",
    "sorted_indices": "A: what is stored is in order",
    "prune": "nothing: no memory is kept in reserve",
    "check_format": "nothing: what is stored is checked when it comes in",
    "change_compressed_axes": "A.to(format)",
    "compressed_axes": "A.format",
    "from_scipy_sparse": "ln.asarray(a)",
    "from_numpy": "ln.asarray(a, format=…)",
    "from_iter": "ln.tensor(coordinates, values, shape)",
    "linear_loc": "np.ravel_multi_index(A.coords, A.shape)",
    "maybe_densify": "A.to_numpy()",
    "chunks": "dask.array.from_array(A)",
}


def written_instead(name: str) -> str | None:
    """How something is written that is no method here: it is often a function."""
    if name in ELSEWHERE or name.startswith("_"):
        return ELSEWHERE.get(name)
    package = sys.modules.get("linnet")
    return f"ln.{name}(A, …)" if callable(getattr(package, name, None)) else None


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
    if tensor.shape is None or not 0 < tensor.nnz <= _FEW or most_places(tensor) > _LISTED:
        return line
    coordinates, values = _unpacked(tensor)
    if len(values) > _FEW:
        return line
    places = [", ".join(map(str, place)) for place in zip(*map(list, coordinates), strict=True)]
    width = max(map(len, places), default=0)
    rows = zip(places if coordinates else [""], values.tolist(), strict=True)
    return "\n".join([line, *(f"  [{place:>{width}}]  {value!r}" for place, value in rows)])


def most_places(tensor: Tensor) -> int:
    """How many elements are stored, or more: a value may be that of a run of them."""
    runs = any(level.runs for level in tensor.format.levels)
    return tensor.size if runs else tensor.nnz


def coordinates(tensor: Tensor) -> NDArray[Any]:
    """The coordinates of what is stored, one row for every dimension."""
    found, values = _unpacked(tensor)
    return np.array(found) if found else np.zeros((0, len(values)), np.int64)


def values(tensor: Tensor) -> NDArray[Any]:
    """The values that are stored, in the order of their coordinates."""
    return _unpacked(tensor)[1]


def _unpacked(tensor: Tensor) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    from linnet.formats.assemble import unpack

    return unpack(tensor)


def human_bytes(count: int) -> str:
    """`84 bytes`, `1.5 KiB`, `20.0 MiB`."""
    if count < 1024:
        return f"{count} bytes"
    power = min(4, (count.bit_length() - 1) // 10)
    return f"{count / 1024**power:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"


# -- in notebooks ----------------------------------------------------------------------------------

_SIDE = 120  # pixels of the longer side of a picture
_SHOWN = 4_000_000  # stored values beyond which no picture is made


def html(tensor: Tensor) -> str:
    """A table of what the tensor is, with a picture of where it stores something."""
    rows = [("format", repr(tensor.format)), ("dtype", str(tensor.dtype or "open"))]
    if tensor.shape is not None:
        share = tensor.nnz / tensor.size if tensor.size else 0.0
        rows += [
            ("shape", " × ".join(map(str, tensor.shape)) or "scalar"),
            ("stored", f"{tensor.nnz} ({share:.2%})"),
            ("fill value", repr(tensor.fill_value)),
            ("memory", human_bytes(tensor.nbytes)),
        ]
    lines = "".join(f"<tr><th>{name}</th><td>{escaped(text)}</td></tr>" for name, text in rows)
    return f"<table><tr><td><table>{lines}</table></td><td>{picture(tensor)}</td></tr></table>"


def escaped(text: str) -> str:
    """Text as HTML shows it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def picture(tensor: Tensor) -> str:
    """Where something is stored, along the last two dimensions: dark is dense."""
    if not tensor.shape or not tensor.size or most_places(tensor) > _SHOWN:
        return ""
    found = coordinates(tensor)
    rows, cols = (tensor.shape if tensor.ndim > 1 else (1, *tensor.shape))[-2:]
    scale = min(1.0, _SIDE / max(rows, cols))
    high, wide = max(1, round(rows * scale)), max(1, round(cols * scale))
    y = (found[-2] if tensor.ndim > 1 else np.zeros_like(found[-1])) * high // rows
    counts = np.bincount(y * wide + found[-1] * wide // cols, minlength=high * wide)
    shade = counts / (tensor.size / (high * wide))
    cells = [
        f'<rect x="{k % wide}" y="{k // wide}" width="1" height="1" '
        f'fill-opacity="{max(0.25, min(1.0, shade[k])):.2f}"/>'
        for k in np.flatnonzero(counts).tolist()
    ]
    size = f'width="{_SIDE * wide // max(high, wide)}" height="{_SIDE * high // max(high, wide)}"'
    frame = f'<rect width="{wide}" height="{high}" fill="none" stroke="gray" stroke-width="0.2"/>'
    return f'<svg {size} viewBox="0 0 {wide} {high}">{frame}{"".join(cells)}</svg>'
