"""`Source`: a text file, plain or compressed, as lines and then as blocks of whole lines.

Whether a file is compressed is told by its first bytes, not by its name.
"""

from __future__ import annotations

import gzip
import io
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from linnet.errors import FileError

_MAGIC = b"\x1f\x8b"
_BLOCK = 1 << 20  # bytes: it stays in the processor's cache
PADDING = 8  # bytes behind the text that a parser may look at
_LONGEST = 1 << 16  # a line of a header
_TAIL = 1 << 16  # where the last line of a block is looked for first
_PATIENCE = 1.0  # seconds before progress is shown


class Source:
    """A text file that is being read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = 0  # of the header, as far as it has been read
        self._file = path.open("rb")
        try:
            self.compressed = self._file.read(2) == _MAGIC
            self._file.seek(0)
            self.size = path.stat().st_size
            self._text: IO[bytes] = self._file
            if self.compressed:
                self._text = gzip.GzipFile(fileobj=self._file)  # type: ignore[assignment]
                if self._peek(2) == _MAGIC:
                    raise self.problem(
                        "is compressed twice", hint="decompress it once: gunzip takes one layer off"
                    )
        except BaseException:
            self._file.close()
            raise
        self._progress = Progress(path.name, self.size)

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.close()
        self._file.close()

    def problem(
        self, what: str, *, line: int | None = None, why: str | None = None, hint: str | None = None
    ) -> FileError:
        """An error that says which file, and which line of it."""
        place = f"{self.path.name}, line {line}: " if line else f"{self.path.name} "
        return FileError(place + what, why=why, hint=hint)

    def line(self) -> str:
        """The next line of the header, without its end; "" at the end of the file."""
        text = self._read(lambda: self._text.readline(_LONGEST))
        if not text:
            return ""
        self.lines += 1
        if len(text) == _LONGEST or b"\0" in text:
            raise self.problem("this is not text", line=self.lines)
        return text.decode("utf-8", "replace").rstrip("\r\n") or " "

    def blocks(self) -> Iterator[tuple[NDArray[np.uint8], int]]:
        """The rest of the file: an array, valid until the next one, and where its lines end."""
        buffer = np.zeros(_BLOCK + 1 + PADDING, np.uint8)
        kept = 0
        while filled := self._fill(buffer, kept):
            if filled < _BLOCK:  # the end of the file
                buffer[filled] = 10
                yield buffer, filled + 1
                return
            stop = _last_line(buffer, filled)
            if not stop:
                raise self.problem(f"a line has more than {_BLOCK} characters")
            yield buffer, stop
            kept = filled - stop
            buffer[:kept] = buffer[stop:filled]

    def _fill(self, buffer: NDArray[np.uint8], kept: int) -> int:
        """Read until the buffer is full, or the file at its end; how much there is now."""
        view = buffer.data[:_BLOCK]
        while kept < len(view):
            got = self._read(lambda at=kept: self._text.readinto(view[at:]))  # type: ignore
            if not got:
                break
            kept += got
        self._progress.show(self._file.tell())
        return kept

    def _peek(self, count: int) -> bytes:
        found: bytes = self._read(lambda: self._text.read(count))
        self._text.seek(0)
        return found

    def _read(self, read: Any) -> Any:
        """What a read gives; a compressed file that is damaged is an error of ours."""
        try:
            return read()
        except EOFError:
            raise self.problem(
                "ends in the middle of its compressed data", why="the file was cut off"
            ) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self.problem("cannot be decompressed", why=str(error)) from None


def _last_line(buffer: NDArray[np.uint8], filled: int) -> int:
    """Where the last whole line ends; 0 if there is none."""
    for start in (max(0, filled - _TAIL), 0):
        ends = np.flatnonzero(buffer[start:filled] == 10)
        if len(ends):
            return start + int(ends[-1]) + 1
    return 0


class Progress:
    """A line on the terminal that says how far a long read or write has come."""

    def __init__(self, name: str, total: int, stream: IO[str] | None = None) -> None:
        self.name, self.total = name, max(1, total)
        self._stream = sys.stderr if stream is None else stream
        self._start = self._last = time.monotonic()
        self._shown = 0

    def show(self, done: int, size: int | None = None) -> None:
        """Say how far it is, if it has taken a while and somebody is there to see it.

        `size` is how many bytes that is, where what is counted are not bytes.
        """
        now = time.monotonic()
        if now - self._start < _PATIENCE or now - self._last < 0.1 or not self._seen():
            return
        self._last = now
        part = min(1.0, done / self.total)
        bar = "#" * round(30 * part)
        rate = (done if size is None else size) / (now - self._start) / 1e6
        text = f"{self.name} [{bar:<30}] {part:4.0%} {rate:.0f} MB/s"
        self._write("\r" + text.ljust(self._shown))
        self._shown = len(text)

    def close(self) -> None:
        """Take the line away."""
        if self._shown:
            self._write("\r" + " " * self._shown + "\r")
            self._shown = 0

    def _seen(self) -> bool:
        try:
            return self._stream is not None and self._stream.isatty()
        except (AttributeError, ValueError):  # closed, or not a file at all
            return False

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError, io.UnsupportedOperation):
            self._shown = 0
