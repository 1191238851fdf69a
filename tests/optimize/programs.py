"""The kernels of the corpus, family by family: those of the files in `kernels`."""

from __future__ import annotations

from pathlib import Path

from tests.optimize.corpus import Program, read

FILES = sorted((Path(__file__).parent / "kernels").glob("*.txt"))
FAMILIES = tuple(path.stem.replace("_", " ") for path in FILES)
CORPUS: tuple[Program, ...] = tuple(
    program
    for family, path in zip(FAMILIES, FILES, strict=True)
    for program in read(family, path.read_text(encoding="utf-8"))
)
