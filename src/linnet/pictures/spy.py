"""A spy picture: a mark wherever something is stored, for tensors of any size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.formats.assemble import unpack
from linnet.formats.from_numpy import differs
from linnet.formats.show import most_places
from linnet.formats.tensor import Tensor
from linnet.pictures.shapes import DOT, FRAME, PAPER, Picture, Rect, Shape, Text

_CELLS = 64  # in each direction; what is larger is drawn coarser
_SIDE = 192.0  # of the picture
_SMALL = 12.0  # a cell is not drawn larger
_MOST = 4_000_000  # stored values: to find the places of more takes too long


def spy(tensor: Tensor) -> str:
    """The text of an SVG picture of where values are stored."""
    shapes, width, height = spy_shapes(tensor, 1.0, 1.0)
    return Picture(width + 2, height + 2, tuple(shapes), repr(tensor)).svg


def spy_shapes(tensor: Tensor, x: float, y: float) -> tuple[list[Shape], float, float]:
    """The shapes of a spy picture with its corner at (x, y), and how wide and high it is."""
    rows, columns = _page(tensor.contents().shape)
    cell = min(_SMALL, _SIDE / max(rows, columns, 1))
    width, height = max(4.0, columns * cell), max(4.0, rows * cell)
    frame: list[Shape] = [Rect(x, y, width, height, PAPER, FRAME)]
    if most_places(tensor) > _MOST:
        words = f"{tensor.nnz:,} stored"
        middle = Text(x + width / 2, y + height / 2, words, "middle")
        return [*frame, middle], width, height
    counts, plain = _counts(tensor, rows, columns)
    high, wide = height / counts.shape[0], width / counts.shape[1]
    most = counts.max(initial=0)
    exact = counts.shape == (rows, columns)
    marks: list[Shape] = []
    for i, j in zip(*map(list, np.nonzero(counts)), strict=True):
        shade = 1.0 if exact else 0.25 + 0.75 * counts[i, j] / most
        shade *= 0.2 if plain[i, j] else 1.0
        marks.append(Rect(x + j * wide, y + i * high, wide, high, _mixed(DOT, float(shade))))
    return [*frame, *marks, Rect(x, y, width, height, "none", FRAME)], width, height


def _page(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns: a vector is a row, and of more dimensions the leading ones are rows."""
    if not shape:
        return 1, 1
    return math.prod(shape[:-1]), shape[-1]


def _counts(tensor: Tensor, rows: int, columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """How many values each cell of a grid of 64 by 64 stores, and whether all of them are fill."""
    shape = tensor.contents().shape
    high, wide = max(1, min(rows, _CELLS)), max(1, min(columns, _CELLS))
    counts = np.zeros((high, wide), np.int64)
    coords, values = unpack(tensor)
    if not coords:
        counts[0, 0] = len(values)
        return counts, ~counts.astype(bool)
    row = np.zeros(len(values))
    for idx, dim in zip(coords[:-1], shape[:-1], strict=True):
        row = row * dim + idx
    i = np.minimum(row * (high / max(1, rows)), high - 1).astype(np.int64)
    j = np.minimum(coords[-1] * (wide / max(1, columns)), wide - 1).astype(np.int64)
    np.add.at(counts, (i, j), 1)
    plain = np.ones((high, wide), bool)
    other = differs(values, tensor.fill_value)
    plain[i[other], j[other]] = False
    return counts, plain


def _mixed(ink: str, part: float) -> str:
    """A colour, thinned with white."""
    parts = (int(ink[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (p - 255) * part):02x}" for p in parts)
