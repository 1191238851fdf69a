"""Basic indexing as a view: slices with any step, integers, new axes, an ellipsis."""

from __future__ import annotations

import operator
from types import EllipsisType
from typing import Any, TypeAlias

from linnet.arrays.graph import view_of
from linnet.arrays.moving import is_moving
from linnet.arrays.nodes import Axis, Node
from linnet.errors import ArgumentError, IndexBoundsError, RangeError

Part: TypeAlias = int | slice | EllipsisType | None
Index: TypeAlias = Part | tuple[Part, ...]


def viewed(node: Node, index: Index) -> Node:
    """The part of a node that an index selects, in NumPy's sense."""
    given: tuple[object, ...] = index if isinstance(index, tuple) else (index,)
    whole = len(given) == len(node.shape) and {*map(type, given)} == {slice}
    axes: list[Axis] = []
    shape: list[int] = []
    for part in given if whole else _expanded(given, len(node.shape)):
        if part is None:
            shape.append(1)
            continue
        size = node.shape[len(axes)]
        if isinstance(part, slice):
            start, count, step = _range(part, size)
            axes.append(Axis(len(shape), start, step))
            shape.append(count)
        else:
            axes.append(Axis(None, _position(part, size, len(axes))))
    return view_of(node, axes, tuple(shape))


def _expanded(parts: tuple[object, ...], ndim: int) -> list[object]:
    """One part for every dimension, and the new axes."""
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexBoundsError("an index has one `...` at most")
    given = sum(part is not None and part is not Ellipsis for part in parts)
    if given > ndim:
        raise IndexBoundsError(
            f"there are {given} indices for {ndim} dimensions",
            hint="give one index for each dimension",
        )
    at = dots[0] if dots else len(parts)
    return [*parts[:at], *[slice(None)] * (ndim - given), *parts[at + 1 :]]


def _range(part: slice, size: int) -> tuple[int, int, int]:
    """Where a slice begins, how many elements it has, and its step."""
    if part.step == 0:
        raise RangeError("the step of a slice is not 0")
    if is_moving(part.start) or is_moving(part.stop) or is_moving(size):
        return _moving_range(part.start, part.stop, operator.index(part.step or 1), size)
    try:
        start, stop, step = part.indices(size)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{part} is not a slice of a dimension: {error}") from None
    count = len(range(start, stop, step))
    return (start if count else 0), count, _taken(step, count)


def _moving_range(start: Any, stop: Any, step: int, size: int) -> tuple[Any, Any, int]:
    """The same, by questions that are noted of bounds which may be others in the next call."""
    if step < 0:
        bounds = slice(start, stop, step).indices(size)
        count = len(range(*bounds))
        return bounds[0], count, _taken(step, count)
    first = 0 if start is None else _clipped(start, size)
    count = (size if stop is None else _clipped(stop, size)) - first
    if step > 1:
        count = (count + (step - 1)) // step
    return (first, count, _taken(step, count)) if count > 0 else (0, 0, 1)


def _taken(step: int, count: Any) -> int:
    """The step, if one is taken: what nobody takes may be larger than any index."""
    return step if step in (1, -1) or count > 1 else 1


def _clipped(bound: Any, size: int) -> Any:
    """A bound counted from the front, and not beyond an end."""
    if bound < 0:
        bound = bound + size
        return bound if bound > 0 else 0
    return bound if bound < size else size


def _position(part: object, size: int, axis: int) -> int:
    """An index counted from the front."""
    if isinstance(part, bool) or not hasattr(part, "__index__"):
        raise ArgumentError(
            f"{part!r} is not an index",
            why="an index is an integer, a slice, `None`, `...`, or a tuple of them",
        )
    position: Any = part if is_moving(part) else operator.index(part)
    if not -size <= position < size:
        raise IndexBoundsError(
            f"index {position} is outside dimension {axis}, whose size is {size}"
        )
    return position if position >= 0 else position + size  # type: ignore[no-any-return]
