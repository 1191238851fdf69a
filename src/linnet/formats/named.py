"""Formats with names (CSR, COO …), and every way in which a user may say a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from linnet.algebra.dtypes import Number, as_python
from linnet.errors import FormatError, Location
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.format import Format
from linnet.formats.level import Inner, Level
from linnet.formats.run_list import RunList
from linnet.formats.sparse_band import SparseBand
from linnet.formats.sparse_block_list import SparseBlockList
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_list import SparseList
from linnet.formats.sparse_pinpoint import SparsePinpoint
from linnet.formats.sparse_run_list import SparseRunList
from linnet.formats.sparse_symmetric import SparseSymmetric
from linnet.formats.sparse_symmetric_tiles import SparseSymmetricTiles
from linnet.formats.sparse_tiles import SparseTiles
from linnet.formats.validate import MOST_MODES
from linnet.records import dataclass

_OPEN = Element()


def stack(tree: Level, order: tuple[int, ...] | None = None, name: str | None = None) -> Format:
    """The format that a nest of levels describes: `stack(Dense(SparseList(Element(0.0))))`."""
    levels: list[Level] = []
    while isinstance(tree, Inner):
        # What is below a level is the next level's affair: two formats with the same levels over
        # different leaves share the upper ones.
        levels.append(replace(tree, child=_OPEN))
        tree = tree.child
    levels.append(tree)
    ndim = sum(level.width for level in levels)
    if ndim > MOST_MODES:
        raise _too_many(ndim)
    return Format(tuple(levels), tuple(range(ndim)) if order is None else order, name)


def _remembered(tree: Level) -> Format:
    """The same, kept with the tree itself: trees that compare equal may differ (0.0 and -0.0)."""
    found: Format | None = tree.__dict__.get("_format")
    if found is None:
        found = tree.__dict__["_format"] = stack(tree)
    return found


SCALAR = stack(Element(), name="Scalar")
CSR = stack(Dense(SparseList(Element())), name="CSR")
CSC = stack(Dense(SparseList(Element())), (1, 0), "CSC")
DCSR = stack(SparseList(SparseList(Element())), name="DCSR")
DCSC = stack(SparseList(SparseList(Element())), (1, 0), "DCSC")
BAND = stack(Dense(SparseBand(Element())), name="BAND")
TRIANGULAR = stack(Dense(SparseBand(Element())), name="TRIANGULAR")  # a band that ends at a corner
RAGGED = stack(Dense(SparseBand(Element())), name="RAGGED")  # one that begins at the first column
BLOCK = stack(Dense(SparseBlockList(Element())), name="BLOCK")
RLE = stack(Dense(RunList(Element())), name="RLE")
SRLE = stack(Dense(SparseRunList(Element())), name="SRLE")
PERM = stack(Dense(SparsePinpoint(Pattern())), name="PERM")
SYMMETRIC = stack(SparseSymmetric(Element()), name="SYMMETRIC")
SYMMETRIC_TILES = stack(SparseSymmetricTiles(Element()), name="SYMMETRIC_TILES")


def BSR(rows: int, columns: int | None = None) -> Format:
    """Matrices in dense blocks of this size: `ln.BSR(2, 3)`, or `ln.BSR(4)` for square ones."""
    columns = rows if columns is None else columns
    return stack(Dense(SparseTiles(rows, columns, Element())), name=f"BSR({rows}, {columns})")


@dataclass(frozen=True)
class Family:
    """Formats alike for every number of dimensions: `CSF(3)`, or `CSF` where the data tell."""

    name: str
    wrap: Callable[[int, Level], Level]
    leaf: Element | Pattern = _OPEN

    def __call__(self, ndim: int) -> Format:
        """The member with this many dimensions."""
        if not isinstance(ndim, int) or isinstance(ndim, bool) or ndim < 0:
            raise _no_dimensions(self.name, ndim)
        if ndim > MOST_MODES:
            raise _too_many(ndim)
        # Leaves that compare equal may differ (0.0 and -0.0), so only the open one is remembered.
        return _open_member(self, ndim) if self.leaf is _OPEN else _member(self, ndim)

    def with_fill(self, fill: Number) -> Family:
        """The same formats with another fill value."""
        return replace(self, leaf=self.leaf.with_(fill=fill))

    def with_dtype(self, dtype: object) -> Family:
        """The same formats with another dtype."""
        return replace(self, leaf=self.leaf.with_(dtype=dtype))

    def __repr__(self) -> str:
        return self.name


def _no_dimensions(name: str, given: object) -> FormatError:
    """The error for what is no number of dimensions: often an array that is to have the format."""
    array = f"ln.asarray(x, format=ln.{name})"
    return FormatError(
        f"{name} takes a number of dimensions, not {given!r}".partition("\n")[0],
        at=Location.of_caller(),
        hint=f"ln.{name}(2) is the format of matrices; an array becomes one of it by {array}",
    )


def _too_many(ndim: int) -> FormatError:
    return FormatError(
        f"a format has {MOST_MODES} dimensions at most, not {ndim}", at=Location.of_caller()
    )


def _member(family: Family, ndim: int) -> Format:
    if ndim == 0:
        return stack(family.leaf, name=SCALAR.name)
    return stack(family.wrap(ndim, family.leaf), name=f"{family.name}({ndim})")


_open_member = lru_cache(maxsize=256)(_member)


def _lists(ndim: int, tree: Level) -> Level:
    """A leaf in as many lists as there are dimensions."""
    for _ in range(ndim):
        tree = SparseList(tree)
    return tree


def _grid(ndim: int, tree: Level) -> Level:
    """A leaf in as many dense levels as there are dimensions."""
    for _ in range(ndim):
        tree = Dense(tree)
    return tree


COO = Family("COO", SparseCOO)
CSF = Family("CSF", _lists)
DENSE = Family("DENSE", _grid)

FormatLike = Format | Level | Family | str
NAMES: dict[str, Format | Family] = {
    "scalar": SCALAR, "csr": CSR, "csc": CSC, "dcsr": DCSR, "dcsc": DCSC,
    "band": BAND, "triangular": TRIANGULAR, "ragged": RAGGED, "block": BLOCK,
    "rle": RLE, "srle": SRLE, "perm": PERM, "symmetric": SYMMETRIC,
    "symmetric_tiles": SYMMETRIC_TILES,
    "coo": COO, "csf": CSF, "dense": DENSE,
}  # fmt: skip


def as_format(format: FormatLike, ndim: int | None = None) -> Format:
    """A format said in any way, for `ndim` dimensions where that is known."""
    found = _find(format, ndim)
    if ndim is not None and found.ndim != ndim:
        raise FormatError(
            f"the format {found!r} stores {found.ndim} dimensions, and the data has {ndim}",
            hint="COO, CSF and DENSE take any number of dimensions",
        )
    return found.written if found.leaf.unstored else found  # what is put there is stored


def _find(format: FormatLike, ndim: int | None) -> Format:
    match format:
        case Format():
            return format
        case Level():
            return _remembered(format)
        case Family() if ndim is not None:
            return format(ndim)
        case Family():
            raise FormatError(
                f"{format} is a family of formats, and nothing tells the number of dimensions here",
                hint=f"say it: {format}(2)",
            )
        case str() if format.lower() in NAMES:
            return _find(NAMES[format.lower()], ndim)
    if format in (BSR, "bsr", "BSR"):
        raise FormatError("BSR has blocks of a certain size", hint="say it: ln.BSR(2, 2)")
    raise FormatError(
        f"{format!r} is not a format",
        hint=f"a level such as Dense(SparseList(Element(0.0))), or one of {_listed()}",
    )


def _listed() -> str:
    return ", ".join(repr(known) for known in NAMES.values())


def settle(format: Format, dtype: str, fill: object = None) -> Format:
    """The format with dtype and fill value fixed: its own where it has them, else these, else 0."""
    if format.dtype is None:
        format = _with_dtype(format, format.name, dtype)
    if format.fill_value is not None:
        return format
    if fill is None:
        return _with_zero(format, format.name)
    assert format.dtype is not None
    value = as_python(fill, format.dtype)
    return _with_fill(format, format.name, value, repr(value))


@lru_cache(maxsize=1024)
def _with_fill(format: Format, name: str | None, fill: Number, text: str) -> Format:
    # Fill values that are equal may differ: -0.0 is not 0.0 by its text.
    return format.with_fill(fill)


@lru_cache(maxsize=1024)
def _with_dtype(format: Format, name: str | None, dtype: str) -> Format:
    # Formats are equal whatever their names; the result keeps the name.
    return format.with_dtype(dtype)


@lru_cache(maxsize=1024)
def _with_zero(format: Format, name: str | None) -> Format:
    assert format.dtype is not None
    return format.with_fill(as_python(0, format.dtype))


def override(format: Format, dtype: str | None, fill: object = None) -> Format:
    """The format with a dtype and a fill value that the user gave, where they did."""
    if dtype is not None:
        format = format.with_dtype(dtype)
    if fill is not None:
        known = format.dtype
        format = format.with_fill(as_python(fill, known) if known else fill)  # type: ignore[arg-type]
    return format


@lru_cache(maxsize=256)
def recognize(format: Format) -> Format:
    """The same format, under its name if it has one."""
    n, leaf = format.ndim, type(format.leaf)
    tiles = [BSR(x.rows, x.columns) for x in format.levels if isinstance(x, SparseTiles)]
    named = [f for f in NAMES.values() if isinstance(f, Format)]
    for known in (*tiles, *named, DENSE(n), COO(n), CSF(n)):
        alike = (known.levels[:-1], known.order) == (format.levels[:-1], format.order)
        if alike and type(known.leaf) is leaf:
            return Format(format.levels, format.order, known.name)
    return Format(format.levels, format.order)


def permute(format: Format, axes: tuple[int, ...]) -> Format:
    """The format of a tensor whose mode m is mode `axes[m]` of a tensor in this one."""
    place = {old: new for new, old in enumerate(axes)}
    return recognize(Format(format.levels, tuple(place[mode] for mode in format.order)))
