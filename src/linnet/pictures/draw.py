"""`draw`: a tensor as its users think of it, and as it is stored: level by level, a tree of fibers.

What a level stores is asked of the level itself, in the same way for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.errors import ArgumentError
from linnet.formats.contents import buffer_names
from linnet.formats.located import located
from linnet.formats.packing import Arrays, unpack_leaf, unpack_level
from linnet.formats.show import most_places
from linnet.formats.tensor import Tensor
from linnet.pictures.shapes import FRAME, PALE, WIDTH, Line, Picture, Rect, Shape, Text
from linnet.pictures.spy import spy_shapes
from linnet.records import dataclass

_MOST = 48  # nodes in one level that a tree is drawn with
_LISTED = 16  # elements of an array that are shown
_GAP, _ROW, _BOX, _MARGIN = 6.0, 46.0, 20.0, 12.0


@dataclass(frozen=True, slots=True)
class Node:
    """An entry of a fiber: its coordinates, the entry above, and the position below."""

    label: str
    owner: int
    at: int


@located
def draw(tensor: object) -> Picture:
    """A picture of a tensor: where values are stored, and the tree of fibers that stores them.

    It shows itself in a notebook; `.save(path)` writes an SVG or, with matplotlib, a PNG file.

    >>> ln.draw(ln.asarray([[1.0, 0.0], [0.0, 2.0]], format=ln.CSR))
    Picture(CSR (2, 2))
    """
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"draw shows a tensor, not {type(tensor).__name__}")
    shape = tensor.contents().shape
    title = f"{tensor.format!r} {shape}"
    marks, wide, high = spy_shapes(tensor, _MARGIN, 2 * _MARGIN + 16)
    left = _MARGIN + wide + 3 * _MARGIN
    levels = _tree(tensor)
    drawn = _rows(tensor, levels, left) if levels is not None else _lists(tensor, left)
    head = Text(_MARGIN, _MARGIN + 10, f"{title}  {tensor.nnz} stored, else {tensor.fill_value!r}")
    shapes = (head, *marks, *drawn)
    width = max([left + 240.0, *(_right(each) for each in shapes)]) + _MARGIN
    height = max([high + 3 * _MARGIN, *(_bottom(each) for each in shapes)]) + _MARGIN
    return Picture(width, height, shapes, title)


def _tree(tensor: Tensor) -> list[list[Node]] | None:
    """The nodes of every level, values included; None if they are too many to draw."""
    contents = tensor.shared()
    at: NDArray[Any] = np.zeros(1, np.int64)
    owners: NDArray[Any] = np.zeros(1, np.int64)
    levels, held = [], contents.levels()
    for k, level in enumerate(contents.format.levels[:-1]):
        dims = [contents.shape[mode] for mode in contents.format.modes_of(k)]
        if (
            len(at) > _MOST
            or (level.full and len(at) * dims[0] > _MOST)
            or most_places(tensor) > 10**5
        ):
            return None
        entries = unpack_level(level, held[k], at, dims)
        nodes = _merged(entries.owner, entries.coordinates, entries.at)
        levels.append(nodes)
        at = np.array([node.at for node in nodes], np.int64)
    if len(at) > _MOST:
        return None
    values = unpack_leaf(contents.format.leaf, held[-1], at)
    owners = np.arange(len(at))
    leaves = zip(values.tolist(), owners.tolist(), at.tolist(), strict=True)
    return [*levels, [Node(_short(value), owner, p) for value, owner, p in leaves]]


def _merged(owner: NDArray[Any], coords: list[NDArray[Any]], at: NDArray[Any]) -> list[Node]:
    """One node for each position below: neighbours that share one are a run."""
    nodes: list[Node] = []
    first: list[int] = []
    for q in range(len(at)):
        here = [int(idx[q]) for idx in coords]
        run = len(here) == 1 and q > 0 and owner[q] == owner[q - 1] and at[q] == at[q - 1]
        if run:
            nodes[-1] = Node(f"{first[0]}–{here[0]}", int(owner[q]), int(at[q]))
            continue
        first = here
        nodes.append(Node(",".join(map(str, here)), int(owner[q]), int(at[q])))
    return nodes


def _rows(tensor: Tensor, levels: list[list[Node]], left: float) -> list[Shape]:
    """A row of boxes for every level, joined to the row above, over the arrays of the level."""
    places = _places(levels)
    shapes: list[Shape] = []
    top, above = 3 * _MARGIN, [(left + 90.0, 3 * _MARGIN)]
    names = _labels(tensor)
    listed = _listed(tensor)
    words = (*names, *(text for texts in listed for text in texts))
    start = left + WIDTH * max(map(len, words)) + 2 * _MARGIN
    for k, nodes in enumerate(levels):
        shapes.append(Text(left, top + 14, names[k]))
        here = []
        for node, (x, width) in zip(nodes, places[k], strict=True):
            x += start
            if k:
                px, py = above[node.owner]
                shapes.append(Line(px, py, x + width / 2, top))
            shapes.append(Rect(x, top, width, _BOX, _fill(tensor, k), FRAME))
            shapes.append(Text(x + width / 2, top + 14, node.label, "middle"))
            here.append((x + width / 2, top + _BOX))
        above = here
        for text in listed[k]:
            top += 16
            shapes.append(Text(left, top + 18, text, ink=PALE))
        top += _ROW if k + 1 < len(levels) else 0
    return shapes


def _places(levels: list[list[Node]]) -> list[list[tuple[float, float]]]:
    """Where each box begins, and how wide it is: a parent stands over the middle of its own."""
    widths = [[max(_BOX, len(n.label) * WIDTH + 8) for n in nodes] for nodes in levels]
    if len(levels) > 1:  # a value is as wide as the entry that it belongs to
        widths[-1] = widths[-2] = list(map(max, widths[-1], widths[-2]))
    found: list[list[tuple[float, float]]] = []
    for k, nodes in reversed(list(enumerate(levels))):
        middles: dict[int, list[float]] = {}
        if found:
            for child, (x, width) in zip(levels[k + 1], found[0], strict=True):
                middles.setdefault(child.owner, []).append(x + width / 2)
        right, row = 0.0, []
        for number, _ in enumerate(nodes):
            width = widths[k][number]
            below = middles.get(number)
            wanted = (below[0] + below[-1]) / 2 - width / 2 if below else right
            x = max(right, wanted)
            row.append((x, width))
            right = x + width + _GAP
        found.insert(0, row)
    return found


def _fill(tensor: Tensor, k: int) -> str:
    """Values are tinted; what a level does not store but implies is white."""
    level = tensor.format.levels[k]
    return "#ddf4ff" if level.leaf else "#f6f8fa" if level.arrays else "#ffffff"


def _lists(tensor: Tensor, left: float) -> list[Shape]:
    """The levels and their arrays by length, for a tensor that is too large for a tree."""
    shapes: list[Shape] = []
    top = 3 * _MARGIN
    for name, texts in zip(_labels(tensor), _listed(tensor), strict=True):
        shapes.append(Text(left, top + 14, name))
        for text in texts:
            top += 18
            shapes.append(Text(left + 2 * _MARGIN, top + 14, text, ink=PALE))
        top += 26
    return shapes


def _labels(tensor: Tensor) -> list[str]:
    """The names of the levels, and which dimension each stores."""
    names = []
    for k, level in enumerate(tensor.format.levels):
        modes = ",".join(f"dim {mode}" for mode in tensor.format.modes_of(k))
        names.append(f"{type(level).__name__} {modes}".strip())
    return names


def _listed(tensor: Tensor) -> list[list[str]]:
    """The arrays of every level, with their first elements."""
    contents = tensor.shared()
    names, found = iter(buffer_names(contents.format)), []
    for arrays in contents.levels():
        found.append([_array_text(next(names), array) for array in _in_order(arrays)])
    return found


def _in_order(arrays: Arrays) -> list[NDArray[Any]]:
    return list(arrays.values())


def _array_text(name: str, array: NDArray[Any]) -> str:
    shown = " ".join(_short(value) for value in array[:_LISTED].tolist())
    more = f" … ({len(array):,})" if len(array) > _LISTED else ""
    return f"{name} [{shown}{more}]"


def _short(value: object) -> str:
    """A value in few letters."""
    if isinstance(value, bool):
        return "T" if value else "F"
    return f"{value:.4g}" if isinstance(value, int | float | complex) else str(value)


def _right(shape: Shape) -> float:
    match shape:
        case Rect(x, _, width):
            return x + width
        case Text(x, _, words, anchor):
            return x + len(words) * WIDTH * {"start": 1.0, "middle": 0.5, "end": 0.0}[anchor]
        case Line(x, _, to_x, _):
            return max(x, to_x)


def _bottom(shape: Shape) -> float:
    match shape:
        case Rect(_, y, _, height):
            return y + height
        case Text(_, y):
            return y + 4
        case Line(_, y, _, to_y):
            return max(y, to_y)
