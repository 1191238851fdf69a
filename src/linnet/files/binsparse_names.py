"""What binsparse calls formats: names for the common ones, and a JSON object for any other.

A structure is a stack of levels, each dense or sparse and of some number of dimensions (its rank),
with the order in which the dimensions are stored.
"""

from __future__ import annotations

from typing import Any

from linnet.formats.format import Format
from linnet.formats.level import Level as Level
from linnet.records import dataclass

MOST = 64  # dimensions
_D, _S, _S2 = ("dense", 1), ("sparse", 1), ("sparse", 2)
_NAMES: dict[str, tuple[tuple[tuple[str, int], ...], tuple[int, ...]]] = {
    "DVEC": ((_D,), (0,)),
    "CVEC": ((_S,), (0,)),
    "VEC": ((_S,), (0,)),
    "DMATR": ((_D, _D), (0, 1)),
    "DMAT": ((_D, _D), (0, 1)),
    "DMATC": ((_D, _D), (1, 0)),
    "CSR": ((_D, _S), (0, 1)),
    "CSC": ((_D, _S), (1, 0)),
    "DCSR": ((_S, _S), (0, 1)),
    "DCSC": ((_S, _S), (1, 0)),
    "COOR": ((_S2,), (0, 1)),
    "COO": ((_S2,), (0, 1)),
    "COOC": ((_S2,), (1, 0)),
}


@dataclass(frozen=True, slots=True)
class Structure:
    """Levels, outermost first: their kind and their rank; and the order of the dimensions."""

    levels: tuple[tuple[str, int], ...]
    order: tuple[int, ...]


def structure_of(format: Format) -> Structure | None:
    """The structure of a format; None if it has levels that binsparse does not know."""
    levels = []
    for level in format.levels[:-1]:
        names = [array.name for array in level.arrays]
        indices = ["idx"] if level.width == 1 else [f"idx{k}" for k in range(level.width)]
        if level.full and not names:
            levels.append(("dense", 1))
        elif names in (["ptr", *indices], ["ptr", "idx0"]):
            levels.append(("sparse", level.width))
        else:
            return None
    return Structure(tuple(levels), format.order)


def name_of(structure: Structure) -> str:
    """The name of a structure, or "custom"."""
    for name, known in _NAMES.items():
        if known == (structure.levels, structure.order):
            return name
    return "custom"


def described(structure: Structure) -> dict[str, object]:
    """A structure without a name, as a JSON object."""
    found: dict[str, object] = {"level_desc": "element"}
    for kind, rank in reversed(structure.levels):
        found = {"level_desc": kind, "rank": rank, "level": found}
    return {"transpose": list(structure.order), "level": found}


def by_name(name: object, custom: Any) -> Structure | None:
    """The structure that a file tells, by name or in full."""
    if isinstance(name, str) and name in _NAMES:
        return Structure(*_NAMES[name])
    if not isinstance(custom, dict):
        return None
    levels: list[tuple[str, int]] = []
    level = custom.get("level")
    while isinstance(level, dict) and level.get("level_desc") in ("dense", "sparse"):
        rank = level.get("rank")
        if type(rank) is not int or not 0 < rank <= MOST:
            return None
        levels.append((level["level_desc"], rank))
        level = level.get("level")
    ndim = sum(rank for _, rank in levels)
    if not isinstance(level, dict) or level.get("level_desc") != "element" or ndim > MOST:
        return None
    order = custom.get("transpose", list(range(ndim)))
    if not isinstance(order, list) or not all(type(mode) is int for mode in order):
        return None
    return Structure(tuple(levels), tuple(order))
