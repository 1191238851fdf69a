"""Text in blocks, and progress on a terminal."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

import linnet as ln
from linnet.files import stream
from linnet.files.stream import Progress, Source


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("block", [20, 64, 1 << 20])
def test_blocks_are_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, packed: bool, block: int
):
    monkeypatch.setattr(stream, "_BLOCK", block)
    lines = [f"line {k} {'x' * (k % 9)}" for k in range(200)]
    text = ("head\n" + "\n".join(lines) + end).encode()
    (tmp_path / "a").write_bytes(gzip.compress(text) if packed else text)
    with Source(tmp_path / "a") as source:
        assert source.line() == "head"
        parts = [bytes(buffer[:stop]) for buffer, stop in source.blocks()]
    assert all(part.endswith(b"\n") for part in parts)
    assert b"".join(parts).decode().split("\n")[:200] == lines


def test_a_line_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream, "_BLOCK", 100)
    (tmp_path / "a").write_bytes(b"1" * 1000)
    with (
        Source(tmp_path / "a") as source,
        pytest.raises(ln.errors.FileError, match="a line has more than 100 characters"),
    ):
        list(source.blocks())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    monkeypatch.setattr(stream.time, "monotonic", lambda: now[0])
    terminal = Terminal()
    progress = Progress("a.mtx", 1000, terminal)
    progress.show(100)
    assert terminal.getvalue() == ""  # nobody has waited yet
    now[0] = 2.0
    progress.show(500)
    assert "a.mtx [###############               ]  50%" in terminal.getvalue()
    progress.close()
    assert terminal.getvalue().endswith("\r")


def test_progress_is_not_shown_elsewhere(monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    monkeypatch.setattr(stream.time, "monotonic", lambda: now[0])
    silent, closed = io.StringIO(), io.StringIO()
    closed.close()
    for target in (silent, closed):
        progress = Progress("a.mtx", 1000, target)
        now[0] += 5
        progress.show(500)
        progress.close()
    assert silent.getvalue() == ""


def test_progress_of_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    terminal, now = Terminal(), [0.0]

    def clock() -> float:
        now[0] += 2.0
        return now[0]

    monkeypatch.setattr(stream.time, "monotonic", clock)
    monkeypatch.setattr(stream.sys, "stderr", terminal)
    n = 200_000
    ln.write(tmp_path / "a.tns", ln.tensor([range(n)], range(n), (n,)))
    assert "a.tns [" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")
    assert ln.read(tmp_path / "a.tns").nnz == n
