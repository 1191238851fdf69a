"""The code on a page is run, and what the page shows is what it prints.

A page is one program. Its blocks marked `python` run in order, sharing their names; the first block
of output after one of them (`text`, `c` or `llvm`) is what it prints. A block marked
`python error` raises a LinnetError, which is its output. Of C code a page shows the kernel itself,
from where its arguments have been unpacked to where it says how long its results are.

`pytest tests/docs --update-golden` writes what is printed now into the pages.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import linnet as ln

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OUTPUTS = ("text", "c", "llvm")
_FENCE = re.compile(r"^```(\S*) ?(.*)$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words after that, its text, and the lines it takes."""

    language: str
    words: tuple[str, ...]
    text: str
    start: int
    stop: int


@dataclass(frozen=True)
class Shown:
    """A block of output, and what the code before it prints."""

    block: Block
    printed: str


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page; `start` and `stop` are the lines between its fences."""
    lines = page.splitlines()
    opened: tuple[int, str, str] | None = None
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if opened is None:
            opened = (number + 1, fence[1], fence[2])
        else:
            start, language, words = opened
            text = "\n".join(lines[start:number])
            yield Block(language, tuple(words.split()), text, start, number)
            opened = None
    assert opened is None, f"the block that begins in line {opened and opened[0]} has no end"


def run(page: str) -> list[Shown]:
    """Run all code of a page; what its blocks of output should be."""
    names: dict[str, object] = {"__name__": "example"}
    printed, found = None, []
    for block in blocks(page):
        if block.language == "python":
            printed = run_block(block, names)
        elif block.language in OUTPUTS and printed is not None:
            found.append(Shown(block, as_shown(printed, block.language)))
            printed = None
    return found


def run_block(block: Block, names: dict[str, object]) -> str:
    """Run one block as if it were a file of its own; what it prints."""
    file, text = "example.py", block.text + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            exec(compile(text, file, "exec", dont_inherit=True), names)
        except ln.LinnetError as error:
            if "error" not in block.words:
                raise
            return f"{type(error).__name__}: {error}"
    assert "error" not in block.words, f"this block raises nothing:\n{block.text}"
    return out.getvalue()


def as_shown(printed: str, language: str) -> str:
    """The part of what was printed that a page shows."""
    text = kernel_of(printed) if language == "c" else printed
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def kernel_of(code: str) -> str:
    """The statements of the last function of a C file, without the handling of its arguments."""
    lines = code.rstrip().splitlines()
    start = max(k for k, line in enumerate(lines) if re.search(r"args\[\d+\][;,]", line)) + 1
    stop = next(k for k, line in enumerate(lines) if k >= start and line.startswith("}"))
    ending = re.compile(r"  (args\[\d+\] = .*// length of|return 0;)")
    while stop > start and ending.match(lines[stop - 1]):
        stop -= 1
    return textwrap.dedent("\n".join(lines[start:stop]))


def updated(page: str) -> str:
    """The page with what its code prints now."""
    lines = page.splitlines()
    for shown in reversed(run(page)):
        lines[shown.block.start : shown.block.stop] = shown.printed.splitlines()
    return "\n".join(lines) + "\n"
