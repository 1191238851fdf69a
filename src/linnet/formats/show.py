"""How a tensor prints: one line that says what it is, and its values where they are few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from linnet.errors import ArgumentError, Location
from linnet.handed import Above

if TYPE_CHECKING:
    from linnet.formats.tensor import Tensor

_FEW, _HEAD = 20, 10  # stored values that are all printed; how many there are of more of them
_LISTED = 1 << 16  # stored values: of more, not all are listed to print the first


# What users of other libraries ask an array for, and how it is written here.
_above = Above("formats")
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


# What is not set, and how an array with another one is made.
UNSET = {
    "data": "A *= 2; or with any values at the same places "
    "ln.tensor(A.coords, values, A.shape, format=A.format)",
    "fill_value": "ln.asarray(A, fill_value=value), which has the same elements; or, to read it "
    "where nothing is stored, ln.tensor(A.coords, A.data, A.shape, fill_value=value)",
    "shape": "A.reshape(shape)",
}


def refuse_to_set(name: str) -> NoReturn:
    """Say what to write instead."""
    raise ArgumentError(
        f"the {name} of an array is not set", at=Location.of_caller(), hint=UNSET[name]
    )


def written_instead(name: str) -> str | None:
    """How something is written that is no method here: it is often a function."""
    if name in ELSEWHERE or name.startswith("_"):
        return ELSEWHERE.get(name)
    return f"ln.{name}(A, …)" if callable(getattr(_above.package(), name, None)) else None


def one_line(tensor: Tensor) -> str:
    """`Tensor(shape=(3, 4), dtype=float64, format=CSR, stored=5, fill=0.0, 84 bytes)`

    Without dimensions it is a number: `Tensor(2.5, dtype=float64)`.
    """
    parts = [f"dtype={tensor.dtype or 'open'}", f"format={tensor.format!r}"]
    if tensor.shape is None:
        return f"Tensor(not declared, {', '.join(parts)})"
    if not tensor.shape:
        plain = not tensor.format.leaf.unstored
        return f"Tensor({', '.join([_number(tensor), *(parts[:1] if plain else parts)])})"
    parts = [f"shape={tensor.shape}", *parts]
    parts += [f"stored={tensor.nnz}", f"fill={tensor.fill_value!r}", human_bytes(tensor.nbytes)]
    return f"Tensor({', '.join(parts)})"


def with_values(tensor: Tensor) -> str:
    """A number or a dense array as NumPy prints it; else one line, and a few values below."""
    if tensor.shape is None:
        return one_line(tensor)
    if not tensor.shape or tensor.format.dense:
        return str(tensor.to_numpy())
    coordinates, values = _first(tensor)
    if len(values) > _FEW:
        coordinates, values = [idx[:_HEAD] for idx in coordinates], values[:_HEAD]
    columns = [[str(i) for i in idx] for idx in coordinates]
    columns = [[text.rjust(max(map(len, column))) for text in column] for column in columns]
    places = zip(*columns, strict=True)
    rows = [f"  [{', '.join(at)}]  {value}" for at, value in zip(places, values, strict=True)]
    more = ["  …"] if rows and tensor.nnz > len(rows) else []
    return "\n".join([one_line(tensor), *rows, *more])


def _number(tensor: Tensor) -> str:
    """The digits of a tensor without dimensions, as NumPy prints them."""
    return str(tensor.to_numpy())


def _first(tensor: Tensor) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Some of what is stored, and if it is little, all; none where it takes long to find.

    A level that has lists is looked at as if it stored the first few entries alone; where all of
    these have nothing below them, more of them are looked at.
    """
    from linnet.formats.packing import unpack_levels

    if most_places(tensor) <= _LISTED:
        return _unpacked(tensor)
    contents = tensor.shared()
    levels, lists = contents.levels(), contents.format.levels
    if any(level.runs for level in lists) or not any("ptr" in arrays for arrays in levels):
        return [], np.zeros(0)
    wanted = _FEW + 1
    while True:
        clipped = [_clipped(arrays, wanted) for arrays in levels]
        found = unpack_levels(clipped, contents.shape, contents.format)
        if len(found[1]) > _FEW or wanted > tensor.nnz:
            return found
        wanted *= 16


def _clipped(arrays: dict[str, NDArray[Any]], count: int) -> dict[str, NDArray[Any]]:
    """The arrays of a level that has lists, as if these had so many entries together."""
    ptr = arrays.get("ptr")
    return arrays if ptr is None else arrays | {"ptr": np.minimum(ptr, count)}


def most_places(tensor: Tensor) -> int:
    """How many elements are stored, or more: a value may be that of a run of them."""
    runs = any(level.runs for level in tensor.format.levels)
    return tensor.size if runs else tensor.nnz


def coordinates(tensor: Tensor) -> NDArray[Any]:
    """The coordinates of what is stored, one row for every dimension; read-only."""
    found, values = _unpacked(tensor)
    return _read_only(np.array(found) if found else np.zeros((0, len(values)), np.int64))


def values(tensor: Tensor) -> NDArray[Any]:
    """The values that are stored, in the order of their coordinates: a read-only view.

    It is a copy where they are not stored so, as those of runs are not.
    """
    from linnet.formats.assemble import enough_memory
    from linnet.formats.packing import unpack_levels

    contents = tensor.shared()
    *levels, leaf = contents.levels()
    if "val" not in leaf:  # of a pattern
        return _read_only(_unpacked(tensor)[1])
    held = leaf["val"]
    with enough_memory():
        numbered = [*levels, leaf | {"val": np.arange(len(held))}]
        at = unpack_levels(numbered, contents.shape, contents.format)[1]
        first = int(at[0]) if len(at) else 0
        if (at == np.arange(first, first + len(at))).all():
            return _read_only(held[first : first + len(at)])
        return _read_only(held[at])


def _unpacked(tensor: Tensor) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    from linnet.formats.assemble import unpack

    return unpack(tensor)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """An array that nobody writes to: what it was taken from would not change."""
    array.flags.writeable = False
    return array


def human_bytes(count: int) -> str:
    """`84 bytes`, `1.5 KiB`, `20.0 MiB`."""
    if count < 1024:
        return f"{count} bytes"
    power = min(4, (count.bit_length() - 1) // 10)
    return f"{count / 1024**power:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"


# -- in notebooks ----------------------------------------------------------------------------------

_SIDE = 120  # pixels of the longer side of a picture
_CELLS = 60  # along the longer side, at most: a cell takes some 6 bytes
_LONG = 400  # characters of what a format or a shape is
_SHADES = 4  # by how much of a cell is stored
_SHOWN = 4_000_000  # stored values beyond which no picture is made


def html(tensor: Tensor) -> str:
    """A table of what the tensor is, with a picture of where it stores something; or the number."""
    if tensor.shape == ():
        return escaped(_number(tensor))
    rows = [("format", repr(tensor.format)), ("dtype", str(tensor.dtype or "open"))]
    if tensor.shape is not None:
        share = tensor.nnz / tensor.size if tensor.size else 0.0
        rows += [
            ("shape", " × ".join(map(str, tensor.shape)) or "scalar"),
            ("stored", f"{tensor.nnz} ({share:.2%})"),
            ("fill value", repr(tensor.fill_value)),
            ("memory", human_bytes(tensor.nbytes)),
        ]
    lines = "".join([f"<tr><th>{n}</th><td>{escaped(_cut(text))}</td></tr>" for n, text in rows])
    return f"<table><tr><td><table>{lines}</table></td><td>{picture(tensor)}</td></tr></table>"


def _cut(text: str) -> str:
    """Text that is not too long: of many dimensions, the first ones."""
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def escaped(text: str) -> str:
    """Text as HTML shows it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def picture(tensor: Tensor) -> str:
    """Where something is stored, along the last two dimensions: dark is dense."""
    if not tensor.shape or not tensor.size or most_places(tensor) > _SHOWN:
        return ""
    found = coordinates(tensor)
    rows, cols = (tensor.shape if tensor.ndim > 1 else (1, *tensor.shape))[-2:]
    scale = min(1.0, _CELLS / max(rows, cols))
    high, wide = max(1, round(rows * scale)), max(1, round(cols * scale))
    y = _part(found[-2], rows, high) if tensor.ndim > 1 else 0
    counts = np.bincount(y * wide + _part(found[-1], cols, wide), minlength=high * wide)
    share = counts.reshape(high, wide) * (high * wide / tensor.size)
    shades = np.maximum(np.ceil(np.minimum(share, 1.0) * _SHADES), counts.reshape(high, wide) > 0)
    paths = [
        f'<path d="{_cells(shades == shade)}" stroke-opacity="{shade / _SHADES:.2f}"/>'
        for shade in range(1, _SHADES + 1)
        if (shades == shade).any()
    ]
    size = f'width="{_SIDE * wide // max(high, wide)}" height="{_SIDE * high // max(high, wide)}"'
    frame = f'<rect width="{wide}" height="{high}" fill="none" stroke="gray" stroke-width="0.2"/>'
    view = f'viewBox="0 0 {wide} {high}" stroke="black"'
    return f"<svg {size} {view}>{frame}{''.join(paths)}</svg>"


def _part(idx: NDArray[Any], size: int, parts: int) -> NDArray[Any]:
    """In which of so many parts of a dimension indices lie."""
    if size < 1 << 56:
        return idx * parts // size
    return np.minimum((idx / size * parts).astype(np.int64), parts - 1)


def _cells(there: NDArray[Any]) -> str:
    """A path along the cells that are there, row after row."""
    rows, edges = np.nonzero(np.diff(there.astype(np.int8), prepend=0, append=0))
    steps, last = [], (-1, 0)
    ends = zip(rows[::2].tolist(), edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    for row, begin, end in ends:
        new = row != last[0]
        steps.append(f"M{begin} {row}.5" if new else f"m{begin - last[1]} 0")
        steps.append(f"h{end - begin}")
        last = row, end
    return "".join(steps)
