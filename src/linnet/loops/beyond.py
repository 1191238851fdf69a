"""Out of bounds, in the reference interpreter: values that are missing, and places that are not."""

from __future__ import annotations

from typing import TypeAlias

from linnet.errors import IndexBoundsError, Location
from linnet.loops.cells import Cell
from linnet.loops.evaluate import MISSING, Env, Missing, Run, Structural, plain

Beyond: TypeAlias = Missing | Structural
"""What is read out of bounds: nothing, or a fill value where nothing is stored anyway."""

UNSURE = "?"
"""Stands among the names where it is not known whether a statement is reached."""


def present(value: object, at: Location | None) -> object:
    """A number, unless it is missing."""
    if value is MISSING:
        raise IndexBoundsError(
            "a value outside the bounds of a tensor is used",
            at=at,
            hint="say what it is there: ln.coalesce(x[~i], 0)",
        )
    return plain(value)


def is_there(value: Run, env: Env) -> bool:
    """Whether a value can be used."""
    try:
        return value(env) is not MISSING
    except IndexBoundsError:
        return False


def existing(
    cell: Cell, place: tuple[int, ...] | Beyond, at: Location | None, env: Env
) -> tuple[int, ...]:
    """A place to be written to, unless there is none."""
    if UNSURE in env:
        present(MISSING, at)
    if not isinstance(place, tuple):
        raise IndexBoundsError(f"an update is outside the bounds of {cell.name}", at=at)
    return place


def out_of_bounds(cell: Cell, mode: int, found: int, at: Location | None) -> IndexBoundsError:
    """The error for an index that leaves its dimension."""
    return IndexBoundsError(
        f"index {found} is out of bounds for dimension {mode} of {cell.name}, "
        f"which has size {cell.values.shape[mode]}",
        at=at,
    )
