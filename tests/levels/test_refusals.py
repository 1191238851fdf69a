"""Arrays that do not form a tensor: each is refused, and the message names the place."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import nest

import linnet as ln
from linnet.errors import FormatError

VALUES = {"val": np.arange(3.0)}


def message(letters: str, shape: tuple[int, ...], **arrays: list[int]) -> str:
    """What is said of these arrays."""
    stored = arrays.pop("stored", 3)
    with pytest.raises(FormatError) as error:
        ln.from_buffers(nest(letters), shape, arrays | {"val": np.arange(float(stored))})
    return error.value.message


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ([2, 2, 5], "level0.right[1] is 2, where a run of fiber 0 ends that begins at 2"),
        ([2, 1, 5], "level0.right[1] is 1, where a run of fiber 0 ends that begins at 2"),
        ([0, 2, 5], "level0.right[0] is 0, where a run of fiber 0 ends that begins at 0"),
        ([1, 2, 4], "the runs of fiber 0 of level0.right end before 4 at position 2"),
        ([1, 2, 6], "level0.right[2] is 6, outside its dimension of size 6"),
        ([-1, 2, 5], "level0.right[0] is -1, outside its dimension of size 6"),
    ],
)
def test_run_list(right, expected):
    assert message("R", (5,), ptr0=[0, 3], right0=right) == expected


def test_runs_cover_every_fiber():
    expected = "the runs of fiber 1 of level1.right end before 0"
    assert message("DR", (3, 5), ptr1=[0, 2, 2, 3], right1=[1, 5, 5]) == expected
    empty = ln.from_buffers(nest("DR"), (2, 0), {"ptr1": [0, 0, 0], "right1": [], "val": []})
    assert empty.shape == (2, 0)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([0, 1, 4], [2, 3, 5], "run 1 of level0 begins at 1, and run 0 ends at 2"),
        (
            [0, 2, 4],
            [1, 2, 5],
            "level0.right[1] is 2, where a run of fiber 0 ends that begins at 2",
        ),
        (
            [0, 3, 1],
            [1, 4, 2],
            "level0.right[2] is 2, where a run of fiber 0 ends that begins at 4",
        ),
        ([0, 2, 4], [1, 3, 6], "level0.right[2] is 6, outside its dimension of size 6"),
        ([0, 2], [1, 3, 5], "level0.left has 2 elements, and 3 are called for"),
    ],
)
def test_sparse_run_list(left, right, expected):
    assert message("U", (5,), ptr0=[0, 3], left0=left, right0=right) == expected


def test_runs_of_different_fibers_are_independent():
    arrays = {"ptr1": [0, 1, 2], "left1": [3, 0], "right1": [5, 1], "val": [1.0, 2.0]}
    x = ln.from_buffers(nest("DU"), (2, 5), arrays)
    assert x.to_numpy().tolist() == [[0, 0, 0, 1, 1], [2, 0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([0, 4, 0], [1, 3, 5], "the run of fiber 1 of level1 ends at 3, before it begins at 4"),
        ([0, 4, 0], [1, 4, 6], "level1.right[2] is 6, outside its dimension of size 6"),
        ([0, -1, 0], [1, 4, 5], "level1.left[1] is -1, outside its dimension of size 6"),
        ([0, 1], [1, 2], "level1.left has 2 elements, and 3 are called for"),
    ],
)
def test_interval(left, right, expected):
    assert message("DV", (3, 5), left1=left, right1=right) == expected


@pytest.mark.parametrize(
    ("idx", "expected"),
    [
        ([0, 5, 6], "level1.idx[2] is 6, outside its dimension of size 6"),
        ([0, -1, 3], "level1.idx[1] is -1, outside its dimension of size 6"),
        ([0, 1], "level1.idx has 2 elements, and 3 are called for"),
    ],
)
def test_pinpoint(idx, expected):
    assert message("DP", (3, 5), idx1=idx) == expected


@pytest.mark.parametrize(
    ("idx", "ofs", "expected"),
    [
        ([1, 1], [0, 1, 3], "band 1 of level1 begins at -1, outside its dimension"),
        ([1, 6], [0, 1, 3], "level1.idx[1] is 6, outside its dimension of size 6"),
        ([1, 5], [0, 3, 1], "level1.ofs falls from 3 to 1 at position 2"),
        ([1, 5], [1, 2, 3], "level1.ofs[0] is 1, and must be 0"),
        ([1, 5], [0, 3], "level1.ofs has 2 elements, and 3 are called for"),
        ([1, 5, 5], [0, 1, 3], "level1.idx has 3 elements, and 2 are called for"),
    ],
)
def test_band(idx, ofs, expected):
    assert message("DN", (2, 5), idx1=idx, ofs1=ofs) == expected


def test_band_without_values():
    assert message("DN", (1, 5), idx1=[4], ofs1=[0, 4]) == (
        "level2.val has 3 elements, and 4 are called for"
    )


@pytest.mark.parametrize(
    ("idx", "ofs", "expected"),
    [
        ([2, 3], [0, 1, 3], "block 1 of level0 begins at 1, and block 0 ends at 2"),
        ([2, 1], [0, 2, 3], "level0.idx[1] is 1, where a block of fiber 0 ends that begins at 2"),
        ([2, 4], [0, 3, 3], "block 0 of level0 begins at -1, outside its dimension"),
        ([2, 4], [0, 2, 2], "level0.idx[1] is 4, where a block of fiber 0 ends that begins at 4"),
        ([2, 6], [0, 2, 3], "level0.idx[1] is 6, outside its dimension of size 6"),
    ],
)
def test_block_list(idx, ofs, expected):
    assert message("K", (5,), ptr0=[0, 2], idx0=idx, ofs0=ofs, stored=ofs[-1]) == expected


def test_neighbouring_runs_and_blocks_may_touch():
    runs = {"ptr0": [0, 2], "left0": [0, 2], "right0": [2, 4], "val": [1.0, 1.0]}
    assert ln.from_buffers(nest("U"), (5,), runs).to_numpy().tolist() == [1, 1, 1, 1, 0]
    blocks = {"ptr0": [0, 2], "idx0": [2, 3], "ofs0": [0, 1, 2], "val": [1.0, 2.0]}
    assert ln.from_buffers(nest("K"), (5,), blocks).to_numpy().tolist() == [0, 1, 2, 0, 0]
