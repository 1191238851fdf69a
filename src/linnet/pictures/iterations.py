"""The iteration space of a schedule: every element of an operand, by its tile (SCHED Figs. 12-16).

Colours are tiles, and numbers say in which order what is stored is come by.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linnet.errors import ArgumentError, Location
from linnet.formats.assemble import unpack
from linnet.formats.tensor import Tensor
from linnet.pictures.shapes import FRAME, INK, PALE, PAPER, WIDTH, Picture, Rect, Shape, Text
from linnet.runtime.visited import Visited

# of tiles, one after the other: a strong tone for what is stored, and a pale one for what is not
_COLOURS = (
    ("#79c0ff", "#e7f3ff"),
    ("#ffc680", "#fff4e5"),
    ("#7ee2a8", "#e6f9ee"),
    ("#d2a8ff", "#f6eeff"),
    ("#ffa8b8", "#ffeef1"),
    ("#f2df7b", "#fdf9e3"),
)
_CELL, _MARGIN, _MOST = 24.0, 12.0, 64


def iterations(seen: Visited, tensor: Tensor, title: str) -> Picture:
    """The elements of a vector or a matrix in the colours of their tiles."""
    stored = np.zeros(tensor.contents().shape, bool)
    stored[tuple(unpack(tensor)[0])] = True
    tile = _numbered(seen)
    if stored.ndim > 2 or max(stored.shape, default=0) > _MOST:
        raise ArgumentError(
            f"a space of shape {stored.shape} is not drawn",
            at=Location.of_caller(),
            hint=f"a vector or a matrix, with {_MOST} or fewer elements in a row",
        )
    ranks = np.full(stored.shape, -1)
    places = stored & (seen.order >= 0)
    ranks[places] = np.argsort(np.argsort(seen.order[places]))
    rows, columns = (1, *stored.shape)[-2:]
    shapes: list[Shape] = [Text(_MARGIN, _MARGIN + 10, title)]
    top = _MARGIN + 22
    for i in range(rows):
        for j in range(columns):
            at = (i, j)[-stored.ndim :]
            x, y = _MARGIN + j * _CELL, top + i * _CELL
            fill = _fill(int(tile[at]), bool(stored[at]))
            shapes.append(Rect(x, y, _CELL, _CELL, fill, FRAME))
            if ranks[at] >= 0:
                words = str(ranks[at])
                shapes.append(Text(x + _CELL / 2, y + 16, words, "middle", INK))
            elif stored[at]:
                shapes.append(Text(x + _CELL / 2, y + 16, "·", "middle", PALE))
    width = max(columns * _CELL, len(title) * WIDTH)
    return Picture(width + 2 * _MARGIN, top + rows * _CELL + _MARGIN, tuple(shapes), title)


def _numbered(seen: Visited) -> NDArray[np.int64]:
    """The tiles that several loops count, by one number each; -1 where nobody comes by."""
    number = np.where(seen.order < 0, -1, 0)
    for counted in seen.indices.values():
        number = np.where(number < 0, -1, number * (counted.max(initial=0) + 1) + counted)
    return number


def _fill(tile: int, stored: bool) -> str:
    """Strong where something is stored, pale elsewhere, and white where nobody comes by."""
    if tile < 0:
        return PAPER
    strong, pale = _COLOURS[tile % len(_COLOURS)]
    return strong if stored else pale
