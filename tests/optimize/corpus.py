"""Kernels that have nothing to do with each other: what transformations of loops are tried on.

A kernel is a line of its operands, and its text. `y:i=D <- A:ij=DS x:j=D` says that it writes y, a
vector that is stored densely, and reads a matrix and a vector; sizes are those of the indices. A
letter is a level (`LEVELS`), `/10` the order in which dimensions are stored, `:int64` a dtype, `<k`
what is in a vector of indices. What a kernel does in the first place begins with `@`: there small
changes are made (`tests.optimize.changes`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import linnet as ln
from linnet import loops
from linnet.formats.format import Format
from linnet.formats.named import stack
from linnet.frontend.text import parse_text

SIZES = {"i": 7, "j": 9, "k": 6, "l": 5, "m": 4, "b": 4}
LEVELS = {
    "D": ln.Dense, "S": ln.SparseList, "B": ln.SparseByteMap, "H": ln.SparseHash,
    "1": lambda child: ln.SparseCOO(1, child), "2": lambda child: ln.SparseCOO(2, child),
    "3": lambda child: ln.SparseCOO(3, child), "R": ln.RunList, "r": ln.SparseRunList,
    "V": ln.SparseBlockList, "b": ln.SparseBand, "P": ln.SparsePinpoint,
    "T": lambda child: ln.SparseTiles(4, 4, child), "Y": ln.SparseSymmetric,
    "y": ln.SparseSymmetricTiles,
}  # fmt: skip
_TOKEN = re.compile(r"(\w+):(\w*)=(\w*)(\.?)(?:/(\d+))?(?::(\w+))?(?:<(\w))?$")


@dataclass(frozen=True)
class Operand:
    """A parameter: the indices of its dimensions, its levels outside in, and what it holds."""

    name: str
    indices: str
    levels: str
    pattern: bool = False  # over Pattern, and not values
    order: tuple[int, ...] = ()
    dtype: str = ""
    below: str = ""  # the index in whose dimension its values lie

    @property
    def format(self) -> Format:
        """What it is stored in."""
        tree: object = ln.Pattern() if self.pattern else ln.Element()
        for letter in reversed(self.levels):
            tree = LEVELS[letter](tree)
        return stack(tree, self.order or None)  # type: ignore[arg-type]

    @property
    def shape(self) -> tuple[int, ...]:
        """Its size."""
        return tuple(SIZES[index] for index in self.indices)


@dataclass(frozen=True)
class Program:
    """A kernel of the corpus: what it writes, what it reads, and its text."""

    family: str
    name: str
    results: tuple[Operand, ...]
    operands: tuple[Operand, ...]
    text: str

    @property
    def source(self) -> str:
        """The text of the whole kernel."""
        params = ", ".join(o.name for o in (*self.results, *self.operands))
        lines = [line.replace("@", "") for line in self.text.splitlines()]
        return "\n".join([f"def kernel({params}):", *(f"    {line}" for line in lines), ""])

    @property
    def program(self) -> loops.Program:
        """It as loops."""
        return parse_text(self.source, dict(NAMES))


NAMES = {
    "BYTES": ln.SparseByteMap(ln.Element(0.0)), "SEEN": ln.SparseByteMap(ln.Pattern()),
    "ROW": ln.Dense(ln.Element(0.0)), "HASHED": ln.SparseHash(ln.SparseHash(ln.Element(0.0))),
    "LIST": ln.SparseList(ln.Pattern()), "RUNS": ln.SparseRunList(ln.Pattern()),
    "FAR": float("inf"), "FLAGS": ln.Dense(ln.Element(False)),
}  # fmt: skip
"""What the texts speak of besides their operands."""


def operand(token: str) -> Operand:
    """`A:ij=DS/10` as an operand."""
    found = _TOKEN.match(token)
    assert found is not None, token
    name, indices, levels, pattern, order, dtype, below = found.groups()
    places = tuple(map(int, order or ""))
    assert len(indices) == sum({"2": 2, "3": 3, "Y": 2, "y": 2}.get(c, 1) for c in levels), token
    return Operand(name, indices, levels, bool(pattern), places, dtype or "", below or "")


def read(family: str, text: str) -> list[Program]:
    """The programs of a family: a line with a name and operands, then indented lines."""
    found = []
    for block in text.strip().split("\n\n"):
        head, *body = block.splitlines()
        name, _, tokens = head.partition(": ")
        written, _, given = tokens.partition("<-")
        results, operands = (tuple(map(operand, part.split())) for part in (written, given))
        lines = "\n".join(line.removeprefix("    ") for line in body)
        found.append(Program(family, name, results, operands, lines))
    return found
