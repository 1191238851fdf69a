"""Pictures: every level is drawn, what is too large is summed up, files are whole."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import linnet as ln
from linnet.pictures.shapes import DOT
from linnet.pictures.spy import spy

A = np.array([[0, 1.0, 0, 2, 0], [0, 0, 0, 0, 0], [3, 0, 0, 4, 4]])
FORMATS = [
    ln.CSR, ln.CSC, ln.DCSR, ln.COO, ln.CSF, ln.DENSE, ln.BAND, ln.BLOCK, ln.RLE, ln.SRLE,
    ln.Dense(ln.SparseByteMap(ln.Element())), ln.Dense(ln.SparseHash(ln.Element())),
    ln.Dense(ln.SparseInterval(ln.Element())), ln.Dense(ln.SparsePinpoint(ln.Element())),
    ln.Dense(ln.SparseList(ln.Pattern())), ln.SparseRunList(ln.SparseBand(ln.Element())),
]  # fmt: skip


def words(svg: str) -> list[str]:
    """All texts of a picture, which is well-formed."""
    return [e.text or "" for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def data(format: object) -> np.ndarray:
    if "Pinpoint" in repr(format) or "Interval" in repr(format):
        return np.eye(4)
    return A != 0 if "Pattern" in repr(format) else A


@pytest.mark.parametrize("format", FORMATS, ids=repr)
def test_every_format_is_drawn(format: object):
    tensor = ln.asarray(data(format), format=format)
    texts = words(ln.draw(tensor).svg)
    for level in tensor.format.levels:
        assert any(text.startswith(type(level).__name__) for text in texts)
    for name in tensor.buffers:
        assert any(text.startswith(f"{name} [") for text in texts)


def test_the_tree_of_csr():
    texts = words(ln.draw(ln.asarray(A, format=ln.CSR)).svg)
    assert texts[0] == "CSR (3, 5)  5 stored, else 0.0"
    boxes = texts[1:]
    assert boxes[0:4] == ["Dense dim 0", "0", "1", "2"]
    assert boxes[4:10] == ["SparseList dim 1", "1", "3", "0", "3", "4"]
    assert boxes[10:12] == ["ptr1 [0 2 2 5]", "idx1 [1 3 0 3 4]"]
    assert boxes[12:] == ["Element", "1", "2", "3", "4", "4", "val [1 2 3 4 4]"]


def test_runs_are_one_node():
    texts = words(ln.draw(ln.asarray(A, format=ln.RLE)).svg)
    assert {"0–4", "1–2", "3–4"} <= set(texts)


@pytest.mark.parametrize("shape", [(), (3,), (0,), (0, 4), (2, 3, 4), (1, 1, 1, 1)])
def test_any_number_of_dimensions(shape: tuple[int, ...]):
    tensor = ln.asarray(np.ones(shape))
    assert "stored" in words(ln.draw(tensor).svg)[0]
    assert ET.fromstring(spy(tensor)) is not None


def test_large_tensors_are_summed_up():
    n = 1000
    tensor = ln.tensor(np.arange(n)[None].repeat(2, 0), np.ones(n), (n, n), format=ln.CSR)
    picture = ln.draw(tensor)
    assert "val [1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 … (1,000)]" in words(picture.svg)
    assert len(picture.svg) < 20_000
    squares = spy(tensor).count("<rect")
    assert squares == 64 + 3  # the diagonal, the frame twice, and the page


def test_spy_marks_what_is_stored():
    assert spy(ln.asarray(A, format=ln.CSR)).count("<rect") == 5 + 3
    covered = spy(ln.asarray(A, format=ln.RLE))  # all is stored, and what is fill is pale
    assert covered.count("<rect") == 15 + 3
    assert covered.count(DOT) == 5


def test_names_are_escaped():
    picture = ln.draw(ln.asarray([[1.0]], format=ln.CSR))
    odd = type(picture)(10, 10, picture.shapes, "<&>")
    assert "&lt;&amp;&gt;" in odd.svg
    assert ET.fromstring(odd.svg) is not None


def test_files(tmp_path: Path):
    picture = ln.draw(ln.asarray(A, format=ln.CSR))
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg == picture._repr_svg_()
    with pytest.raises(ln.errors.FileError, match=r"one of \.svg \.png"):
        picture.save(tmp_path / "a.bmp")
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]


def test_png(tmp_path: Path):
    pytest.importorskip("matplotlib")
    ln.draw(ln.asarray(A, format=ln.CSR)).save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_png_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ln.errors.FileError, match="pip install matplotlib"):
        ln.draw(ln.asarray(A)).save(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_only_tensors_are_drawn():
    with pytest.raises(ln.errors.ArgumentError, match="draw shows a tensor, not ndarray"):
        ln.draw(A)
    with pytest.raises(ln.errors.LifecycleError):
        ln.draw(ln.empty_tensor(ln.CSR))
