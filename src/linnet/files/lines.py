"""Entries of a text file as arrays: calls the compiled parser, and explains what it refuses."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.errors import FileError
from linnet.files import entries as e
from linnet.files.powers import powers
from linnet.files.stream import Source
from linnet.formats.validate import LARGEST
from linnet.records import dataclass
from linnet.runtime.routine import Routine

_read_entries = Routine(e.read_entries)
_PATIENCE = 4096  # values in one call that may be left to Python
_FIRST = 1 << 16  # entries to make room for where nothing tells how many there are
_COMPRESSED = 32  # times as large is what a compressed file may well hold
DIGITS = 19  # no size has more
_FITS = 2**31 - 1
_BLANK, _DIGITS = re.compile(rb"[ \t\r]+"), re.compile(rb"[0-9]+")


@dataclass(frozen=True, slots=True)
class Layout:
    """What a line holds: coordinates below `dims`, then numbers.

    `count` is how many lines there should be, if that is known.
    """

    dims: tuple[int, ...]
    parts: int  # numbers in a line: none, one, or two of a complex one
    whole: bool  # they are integers
    comment: str
    count: int | None = None
    unsigned: bool = False  # and none of those is negative

    @property
    def names(self) -> tuple[str, ...]:
        """What to call the parts of a line in an error."""
        indices = ("row", "column") if len(self.dims) == 2 else ("coordinate",) * len(self.dims)
        kind = "integer" if self.whole else "number"
        values = {0: (), 1: (kind,), 2: ("real part", "imaginary part")}[self.parts]
        return indices + values


class Lines:
    """Reads entries, and makes room for them."""

    def __init__(self, source: Source, layout: Layout, room: int | None = None) -> None:
        self.source, self.layout = source, layout
        narrow = all(dim <= _FITS for dim in layout.dims)
        self._dtype = np.int32 if narrow else np.int64
        self._dims = np.array(layout.dims or (0,), np.int64)
        self._state = np.zeros(e.STATE, np.int64)
        self._state[e.LINE] = self._head = source.lines
        self._hard = np.empty(4 * _PATIENCE, np.int64)
        self._room = 0
        self._coords = np.empty(0, self._dtype)
        self._values = np.empty(0, np.uint64)
        self._make_room(self._guess() if room is None else room)

    def read(self) -> tuple[list[NDArray[Any]], NDArray[np.uint64]]:
        """All entries: their coordinates by dimension, and the bits of their values."""
        for text, end in self.source.blocks():
            self._state[e.AT] = 0
            while self._state[e.AT] < end:
                self._call(text, end)
                if self._state[e.COUNT] == self._room:
                    self._make_room(2 * self._room)
        count, expected = int(self._state[e.COUNT]), self.layout.count
        if expected is not None and count < expected:
            raise self.source.problem(
                f"the file ends after {count} of {expected} entries",
                line=int(self._state[e.LINE]),
                why="it was cut off, or its header is wrong",
            )
        coords = [self._row(d)[:count] for d in range(len(self.layout.dims))]
        values = self._values[: count * self.layout.parts]
        return coords, values

    def line_of(self, entry: int) -> int:
        """The line of an entry that turns out to be wrong: those up to it are read again."""
        with Source(self.source.path) as source:
            for _ in range(self._head):
                source.line()
            lines = Lines(source, self.layout, entry + 1)
            for text, end in source.blocks():
                lines._state[e.AT] = 0
                while lines._state[e.AT] < end:
                    lines._call(text, end)
                    if lines._state[e.COUNT] > entry:
                        return int(lines._state[e.LINE])
        return self._head

    def _guess(self) -> int:
        """How many entries there will be; never more than the file can hold."""
        layout = self.layout
        if layout.count is None:
            return _FIRST
        size = self.source.size * (_COMPRESSED if self.source.compressed else 1)
        shortest = max(1, 2 * (len(layout.dims) + layout.parts))
        return min(layout.count + 1, size // shortest + 2)  # one too many is noticed

    def _make_room(self, room: int) -> None:
        ndim, parts, count = len(self.layout.dims), self.layout.parts, int(self._state[e.COUNT])
        coords, values = np.empty(ndim * room, self._dtype), np.empty(parts * room, np.uint64)
        for d in range(ndim):
            coords[d * room : d * room + count] = self._row(d)[:count]
        values[: parts * count] = self._values[: parts * count]
        self._coords, self._values, self._room = coords, values, room

    def _row(self, d: int) -> NDArray[Any]:
        return self._coords[d * self._room : (d + 1) * self._room]

    def _call(self, text: NDArray[np.uint8], end: int) -> None:
        layout, state = self.layout, self._state
        state[e.HARD] = 0
        _read_entries(
            text, end, state, self._dims, len(layout.dims), self._coords, self._room,
            self._values, layout.parts, layout.whole + layout.unsigned, self._hard, _PATIENCE,
            ord(layout.comment), powers(),
        )  # fmt: skip
        for at, start, stop, line in self._hard[: 4 * state[e.HARD]].reshape(-1, 4).tolist():
            self._read_otherwise(at, bytes(text[start:stop]), line + 1)
        if state[e.PROBLEM]:
            raise self._refusal(text)
        if layout.count is not None and state[e.COUNT] > layout.count:
            raise self.source.problem(
                f"this is one entry more than the {layout.count} that the header announces",
                line=int(state[e.LINE]),
            )

    def _read_otherwise(self, at: int, token: bytes, line: int) -> None:
        """A value that takes Python to read."""
        plain = token if b"_" not in token else b""
        try:
            if self.layout.unsigned:
                if int(plain) < 0:
                    raise ValueError
                self._values[at] = int(plain)
            elif self.layout.whole:
                self._values.view(np.int64)[at] = int(plain)
            else:
                self._values.view(np.float64)[at] = float(plain.lower().replace(b"d", b"e"))
        except (ValueError, OverflowError) as error:
            kind = "an integer of 64 bits" if self.layout.whole else "a number"
            kind += " that is not negative" if self.layout.unsigned else ""
            raise self._expected(kind, token, line) from error

    def _refusal(self, text: NDArray[np.uint8]) -> FileError:
        """What is wrong in the line at which the parser has stopped."""
        state, names = self._state, self.layout.names
        start, line = int(state[e.AT]), int(state[e.LINE]) + 1
        tokens = _BLANK.split(
            bytes(text[start:][: int(np.argmax(text[start:] == 10))]).strip(b" \t\r")
        )
        if state[e.PROBLEM] == e.TOO_SHORT:
            wanted = f"{len(names)} fields ({', '.join(names)})"
            return self.source.problem(f"expected {wanted}, found {len(tokens)}", line=line)
        field = min(int(state[e.FIELD]), len(tokens) - 1)
        if state[e.PROBLEM] == e.TOO_LONG:
            return self._expected("the end of the line", tokens[field], line)
        if tokens[field].isdigit() and (
            len(tokens[field]) > DIGITS or int(tokens[field]) > LARGEST
        ):
            found = tokens[field][:40].decode()
            why = "coordinates are 64-bit integers of at most 19 digits"
            return self.source.problem(f"{names[field]} {found} is too large", line=line, why=why)
        if state[e.PROBLEM] == e.NOT_AN_INDEX:
            return self._expected(f"a {names[field]} (a whole number)", tokens[field], line)
        said = self.layout.dims[field] < LARGEST
        limits = f"between 1 and {self.layout.dims[field]}" if said else "1 or more"
        size = "the header gives the size, and " if said else ""
        return self.source.problem(
            f"{names[field]} {int(_DIGITS.findall(tokens[field])[0])} is not {limits}",
            line=line,
            why=f"{size}coordinates in files count from 1",
        )

    def _expected(self, what: str, token: bytes, line: int) -> FileError:
        found = token[:40].decode("utf-8", "replace")
        return self.source.problem(f"expected {what}, found {found!r}", line=line)
