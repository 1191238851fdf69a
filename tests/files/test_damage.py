"""Files that were damaged in any way are read or refused, and never more than that."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import linnet as ln

SEEDS = {
    ".mtx": b"%%MatrixMarket matrix coordinate real general\n% c\n"
    b"4 5 3\n1 2 0.5\n4 5 -1e-3\n2 1 7\n",
    ".tns": b"# shape: 3 4 5\n1 2 3 0.5\n3 4 5 -1e300\n",
}


def outcome(path: Path, format: object = None) -> ln.Tensor | str:
    """What is read, or why nothing is."""
    try:
        return ln.read(path, format=format)
    except ln.LinnetError as error:
        return str(error)


def damaged(data: st.DataObject, seed: bytes) -> bytes:
    """Some bytes replaced, removed, repeated, or the end cut off."""
    content = bytearray(seed)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        match data.draw(st.sampled_from(["replace", "insert", "remove", "repeat", "cut"])):
            case "replace":
                content[at : at + 1] = data.draw(st.binary(min_size=1, max_size=3))
            case "insert":
                content[at:at] = data.draw(
                    st.sampled_from([b"9" * 30, b"\n", b" ", b"-", b"\0", b"%"])
                )
            case "remove":
                del content[at : at + data.draw(st.integers(1, 9))]
            case "repeat":
                content += content[at:]
            case _:
                del content[at:]
    return bytes(content)


@pytest.mark.parametrize("end", SEEDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_text(tmp_path: Path, end: str, data: st.DataObject):
    path = tmp_path / f"a{end}"
    path.write_bytes(damaged(data, SEEDS[end]))
    found = outcome(path, ln.COO)
    if isinstance(found, str):
        assert f"a{end}" in found or "dimension" in found
        return
    coords = list(found.buffers.values())[1:-1]
    for idx, dim in zip(coords, found.shape, strict=True):
        assert ((idx >= 0) & (idx < dim)).all()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_compression(tmp_path: Path, data: st.DataObject):
    path = tmp_path / "a.mtx.gz"
    path.write_bytes(damaged(data, gzip.compress(SEEDS[".mtx"])))
    found = outcome(path, ln.COO)
    assert not isinstance(found, str) or "a.mtx.gz" in found


@pytest.mark.parametrize("end", [".npz", ".npy", ".bsp.h5"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_binary(tmp_path: Path, end: str, data: st.DataObject):
    if end == ".bsp.h5":
        pytest.importorskip("h5py")
    path = tmp_path / f"a{end}"
    ln.write(path, ln.asarray(np.eye(4), format=ln.DENSE if end == ".npy" else ln.CSR))
    path.write_bytes(damaged(data, path.read_bytes()))
    found = outcome(path)
    assert not isinstance(found, str) or f"a{end}" in found


@pytest.mark.parametrize("kind", ["mtx", "npz", "bsp.h5"])
def test_a_folder_that_is_not_there_is_named(tmp_path: Path, kind: str):
    if kind == "bsp.h5":
        pytest.importorskip("h5py")
    with pytest.raises(FileNotFoundError) as caught:
        ln.write(tmp_path / "nowhere" / f"a.{kind}", ln.eye(2))
    assert caught.value.filename == str(tmp_path / "nowhere")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path):
    folder = tmp_path / "a.mtx"
    folder.mkdir()
    with pytest.raises(OSError) as caught:  # noqa: PT011 - which one depends on the system
        ln.write(folder, ln.eye(2))
    assert ".part" not in str(caught.value.filename)
    assert [p.name for p in tmp_path.iterdir()] == ["a.mtx"]
