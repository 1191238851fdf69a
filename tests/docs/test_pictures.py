"""The pictures of the documentation are what `ln.draw` draws: one for every named format.

`pytest tests/docs --update-golden` draws them anew.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.docs.pages import ROOT, blocks, run_block

import linnet as ln
from linnet.formats.named import NAMES
from linnet.pictures.derived import derived
from linnet.pictures.shapes import Picture

FOLDER = ROOT / "docs" / "pictures"
PAGE = ROOT / "docs" / "guide" / "formats.md"

SPARSE = np.array([[0, 1, 0, 2, 0], [0, 0, 0, 0, 0], [3, 0, 0, 4, 4], [0, 0, 5, 0, 0]], float)
BAND = np.array([[1, 2, 0, 0, 0], [3, 4, 5, 0, 0], [0, 6, 7, 8, 0], [0, 0, 9, 1, 2]], float)
RUNS = np.array([[5, 5, 5, 0, 0], [0, 0, 0, 0, 0], [6, 6, 7, 7, 7], [0, 8, 8, 8, 8]], float)
DATA = {
    "band": BAND,
    "triangular": np.tril(BAND + 1)[:, :4],
    "ragged": np.array([[1, 2, 0, 0], [3, 0, 0, 0], [4, 5, 6, 7], [0, 0, 0, 0]], float),
    "block": np.array([[1, 2, 0, 0, 3], [0, 0, 0, 0, 0], [0, 4, 5, 6, 0], [7, 0, 0, 8, 9]], float),
    "rle": RUNS,
    "srle": RUNS,
    "perm": np.eye(4, dtype=bool)[[2, 0, 3, 1]],
    "dense": SPARSE[:, :4],
    "symmetric_tiles": np.array([[1, 2, 0, 7], [2, 3, 8, 4], [0, 8, 5, 0], [7, 4, 0, 6]], float),
    "symmetric": np.array([[1, 2, 0, 0], [2, 3, 0, 4], [0, 0, 5, 0], [0, 4, 0, 6]], float),
    "bsr": np.kron([[1, 0], [1, 1]], [[1.0, 2.0], [3.0, 4.0]]),
}
SHOWN = [
    "csr", "csc", "dcsr", "dcsc", "coo", "csf", "dense", "band", "triangular", "ragged", "block",
    "rle", "srle", "perm", "symmetric", "symmetric_tiles", "bsr",
]  # fmt: skip
FORMATS = NAMES | {"bsr": ln.BSR(2, 2)}


@pytest.mark.parametrize("name", SHOWN)
def test_picture_is_up_to_date(name: str, request: pytest.FixtureRequest):
    path = FOLDER / f"{name}.svg"
    picture = ln.draw(ln.asarray(DATA.get(name, SPARSE), format=FORMATS[name]))
    if request.config.getoption("--update-golden"):
        FOLDER.mkdir(exist_ok=True)
        picture.save(path)
    assert path.read_text(encoding="utf-8") == picture.svg


def _spaces() -> dict[str, Picture]:
    """What the page about schedules draws."""
    page = (ROOT / "docs" / "guide" / "schedules.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "example"}
    for block in blocks(page):
        if block.language == "python" and "error" not in block.words:
            run_block(block, names)
    i, i0, i1, j, j0, p, p0, p1 = (names[n] for n in "i i0 i1 j j0 p p0 p1".split())
    A, v, z, D = (names[n] for n in "A v z D".split())
    vector = ln.schedule(z)
    return {
        "rows": names["tiled"].draw(A[i, j], i0),
        "blocks": names["blocks"].draw(A[i, j], i0, j0),
        "strided": names["strided"].draw(A[i, j], i1),
        "vector_coordinates": vector.split(i, i0, i1, 6).draw(v[i], i0),
        "vector_positions": vector.pos(i, p, v[i]).split(p, p0, p1, 4).draw(v[i], p0),
        "halves_rows": names["by_rows"].draw(A[i, j], i0),
        "halves_stored_rows": names["by_stored_rows"].draw(D[i, j], p0),
        "halves_stored": names["balanced"].draw(A[i, j], p0),
        "between": names["tiles"].draw(A[i, j], p0),
        "provenance": derived(names["balanced"].provenance),
    }


def test_pictures_of_schedules_are_up_to_date(request: pytest.FixtureRequest):
    folder, pictures = FOLDER / "schedules", _spaces()
    for name, picture in pictures.items():
        if request.config.getoption("--update-golden"):
            folder.mkdir(exist_ok=True)
            picture.save(folder / f"{name}.svg")
        assert (folder / f"{name}.svg").read_text(encoding="utf-8") == picture.svg
    page = (ROOT / "docs" / "guide" / "schedules.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]+\]\(\.\./pictures/schedules/(\w+)\.svg\)", page)
    assert sorted(shown) == sorted(pictures) == sorted(p.stem for p in folder.glob("*.svg"))


def test_every_named_format_has_one():
    assert set(NAMES) - {"scalar"} <= set(SHOWN)


def test_every_picture_is_on_the_page():
    shown = re.findall(r"!\[[^\]]+\]\(\.\./pictures/(\w+)\.svg\)", PAGE.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(SHOWN)
    others = {"scaling"}  # drawn by benchmarks, and on the page about performance
    assert {path.stem for path in FOLDER.glob("*.svg")} - others == set(SHOWN)
    page = ROOT / "docs" / "performance" / "structures.md"
    assert "(../pictures/scaling.svg)" in page.read_text("utf-8")
