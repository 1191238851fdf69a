"""Which formats a program is tried in: nests of levels, in many orders, and samples of tuples."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

import linnet as ln
from linnet.formats.format import Format
from linnet.formats.named import as_format

_LEVELS = {
    "D": ln.Dense,
    "S": ln.SparseList,
    "B": ln.SparseByteMap,
    "H": ln.SparseHash,
    "1": lambda child: ln.SparseCOO(1, child),
    "2": lambda child: ln.SparseCOO(2, child),
    "3": lambda child: ln.SparseCOO(3, child),
}


def nest(letters: str) -> Format:
    """`nest("DS")` is Dense(SparseList(Element())), `nest("DS 10")` stores mode 1 outside."""
    levels, _, order = letters.partition(" ")
    tree: object = ln.Element()
    for letter in reversed(levels):
        tree = _LEVELS[letter](tree)
    format = as_format(tree)  # type: ignore[arg-type]
    return format.with_order(*map(int, order)) if order else format


def patterned(format: Format) -> Format | None:
    """The same levels over Pattern, where the last one can say what is stored."""
    if format.ndim == 0 or isinstance(format.levels[-2], ln.Dense):
        return None
    return Format((*format.levels[:-1], ln.Pattern()), format.order)


SCALARS = [""]
VECTORS = ["S", "D", "B", "H", "1"]
_NESTS = ["".join(pair) for pair in itertools.product("SDBH", repeat=2)]
_ROWS = ["DS", *(n for n in _NESTS if n != "DS"), "2", "D1", "1S"]
MATRICES = [*_ROWS, *(f"{n} 10" for n in _ROWS)]
APPENDED = ["DS", "SS", "2", "DD"]
CUBES = [
    "SSS", "DDD", "DSS", "3", "2S", "S2", "BHS", "HDB", "D2", "SDS", "HHH", "BBB", "DDS",
    *(f"SSS {a}{b}{c}" for a, b, c in itertools.permutations(range(3)) if (a, b, c) != (0, 1, 2)),
    "DSS 201", "3 120", "2S 021", "DDD 210", "HSD 102", "B2 201",
]  # fmt: skip
FOUR = ["SSSS", "DDDD", "DSSS", "22", "SHSB", "SSSS 3210", "D2S 1203", "DDSS"]
FIVE = ["SSSSS", "DSSSS", "2SSS", "SDSDS", "SSSSS 42031", "32"]

_BY_NDIM = {0: SCALARS, 1: VECTORS, 2: MATRICES, 3: CUBES, 4: FOUR, 5: FIVE}


def of_ndim(ndim: int) -> list[str]:
    """The formats of a number of dimensions; the first is the usual one."""
    return _BY_NDIM[ndim]


def spread(choices: Sequence[Sequence[str]], count: int, seed: str) -> list[tuple[str, ...]]:
    """Tuples in which every choice comes equally often at every place; the usual one is first."""
    drawn = random.Random(seed)
    columns = []
    for options in choices:
        column: list[str] = []
        while len(column) < count:
            column += drawn.sample(list(options), len(options))
        columns.append(column[:count])
    usual = tuple(options[0] for options in choices)
    return list(dict.fromkeys([usual, *zip(*columns, strict=True)]))


def one_at_a_time(choices: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Every choice at every place, with the usual ones elsewhere."""
    usual = tuple(options[0] for options in choices)
    for place, options in enumerate(choices):
        for option in options[1:]:
            yield (*usual[:place], option, *usual[place + 1 :])
