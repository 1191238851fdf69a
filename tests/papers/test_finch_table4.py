"""FINCH, Table 4: what every level stores, row by row, packed and as the result of a kernel.

Indices count from 0, and where the paper stores the last index of a run or block, the one behind it
is stored here.
"""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

E = ln.Element(0.0)
RED, BLUE, BLACK = (9, 0, 0), (0, 0, 9), (0, 0, 0)
MATRIX = np.array([[0, 2, 2, 0, 5], [0, 0, 0, 0, 0], [7, 7, 0, 0, 0]], float)

# Levels below a dense one, the matrix that they store, and the arrays of the table.
ROWS = {
    "Dense": (ln.Dense(E), MATRIX, {"val": MATRIX.ravel()}),
    "RunList": (
        ln.RunList(E),
        MATRIX,
        {"ptr1": [0, 4, 5, 7], "right1": [1, 3, 4, 5, 5, 2, 5], "val": [0, 2, 0, 5, 0, 7, 0]},
    ),
    "SparseList": (
        ln.SparseList(E),
        MATRIX,
        {"ptr1": [0, 3, 3, 5], "idx1": [1, 2, 4, 0, 1], "val": [2, 2, 5, 7, 7]},
    ),
    "SparsePinpoint": (
        ln.SparsePinpoint(E),
        np.diag([1.0, 2.0, 3.0])[[1, 2, 0]],
        {"idx1": [1, 2, 0], "val": [2, 3, 1]},
    ),
    "SparseRunList": (
        ln.SparseRunList(E),
        MATRIX,
        {"ptr1": [0, 2, 2, 3], "left1": [1, 4, 0], "right1": [3, 5, 2], "val": [2, 5, 7]},
    ),
    "SparseInterval": (
        ln.SparseInterval(E),
        np.array([[0, 2, 2], [4, 4, 4], [0, 0, 3]], float),
        {"left1": [1, 0, 2], "right1": [3, 3, 3], "val": [2, 4, 3]},
    ),
    "SparseBlockList": (
        ln.SparseBlockList(E),
        MATRIX,
        {
            "ptr1": [0, 2, 2, 3],
            "idx1": [3, 5, 2],
            "ofs1": [0, 2, 3, 5],
            "val": [2, 2, 5, 7, 7],
        },
    ),
    "SparseBand": (
        ln.SparseBand(E),
        MATRIX,
        {"idx1": [5, 0, 2], "ofs1": [0, 4, 4, 6], "val": [2, 2, 0, 5, 7, 7]},
    ),
    "SparseHash": (
        ln.SparseHash(E),
        MATRIX,
        {"ptr1": [0, 3, 3, 5], "idx1": [1, 2, 4, 0, 1], "val": [2, 2, 5, 7, 7]},
    ),
    "SparseByteMap": (
        ln.SparseByteMap(E),
        MATRIX,
        {"ptr1": [0, 3, 3, 5], "idx1": [1, 2, 4, 0, 1], "tbl1": (MATRIX != 0).ravel()},
    ),
    "Element": (ln.Dense(ln.Element(2.0)), MATRIX, {"val": MATRIX.ravel()}),
    "Pattern": (ln.SparseList(ln.Pattern()), MATRIX != 0, {"idx1": [1, 2, 4, 0, 1]}),
}


@ln.kernel
def copy(B, A):
    B[...] = 0
    for i, j in ...:
        B[i, j] = A[i, j]


@ln.kernel
def copy_truth(B, A):
    B[...] = False
    for i, j in ...:
        B[i, j] = A[i, j]


@pytest.mark.parametrize("row", ROWS)
def test_table4(row):
    level, array, arrays = ROWS[row]
    packed = ln.asarray(array, format=ln.Dense(level))
    written = ln.empty_tensor(packed.format)
    (copy_truth if array.dtype == bool else copy)(written, packed)
    for tensor in (packed, written):
        assert np.array_equal(tensor.to_numpy(), array)
        for name, expected in arrays.items():
            assert np.array_equal(tensor.buffers[name], expected), name


# -- scalars ---------------------------------------------------------------------------------------


@ln.kernel
def total(s, x):
    s[...] = 0
    for i in ...:
        s[()] += x[i]


@ln.kernel
def scaled(y, s, x):
    y[...] = 0
    for i in ...:
        y[i] = s[()] * x[i]


@ln.kernel
def found(s, x):
    s[...] = False
    for i in ...:
        s[()] |= x[i] > 1


def test_table4_scalar():
    s = ln.scalar(0.0)
    total(s, np.array([1.0, 2.0, 3.0]))
    assert s.item() == 6


def test_table4_sparse_scalar():
    """Where it holds its fill value, nothing is done."""
    y, x = ln.empty_tensor(ln.SparseList(E)), np.array([1.0, 2.0])
    for value, stored in ((0.0, 0), (3.0, 2)):
        scaled(y, ln.scalar(value, sparse=True), x)
        assert y.nnz == stored
        assert np.array_equal(y.to_numpy(), value * x)


def test_table4_short_circuit_scalar():
    s = ln.scalar(False, short_circuit=True)
    assert "break;" in found.code(s, np.array([1.0, 2.0, 3.0]))
    found(s, np.array([1.0, 2.0, 3.0]))
    assert s.item() is True


# -- runs of colours -------------------------------------------------------------------------------


@ln.kernel
def copy_image(out, img):
    out[...] = 0
    for y, x, c in ...:
        out[y, x, c] = img[y, x, c]


@ln.kernel
def without_blue(out, img):
    out[...] = 0
    for y, x, c in ...:
        if c < 2:
            out[y, x, c] = img[y, x, c]


@ln.kernel
def blended(out, first, second):
    out[...] = 0
    for y, x, c in ...:
        out[y, x, c] = first[y, x, c] + second[y, x, c]


IMAGE = np.array(
    [
        [RED, RED, RED, BLUE, BLACK, BLACK],
        [BLACK, BLACK, BLACK, BLACK, BLACK, BLACK],
        [BLUE, BLACK, RED, RED, BLUE, BLUE],
    ],
    float,
)
COLOURS = {
    "dense": ln.Dense(E),
    "list": ln.SparseList(E),
    "runs": ln.RunList(E),
    "sparse runs": ln.SparseRunList(E),
    "band": ln.SparseBand(E),
    "blocks": ln.SparseBlockList(E),
}
every_colour = pytest.mark.parametrize("colour", COLOURS.values(), ids=COLOURS)


@every_colour
@pytest.mark.parametrize("source", [ln.DENSE(3), ln.CSF(3)], ids=str)
def test_table4_run_list_merges_colours(colour, source):
    out = ln.empty_tensor(ln.Dense(ln.RunList(colour)))
    copy_image(out, ln.asarray(IMAGE, format=source))
    assert np.array_equal(out.to_numpy(), IMAGE)
    assert out.buffers["ptr1"].tolist() == [0, 3, 4, 8]
    assert out.buffers["right1"].tolist() == [3, 4, 6, 6, 1, 2, 4, 6]


@every_colour
@pytest.mark.parametrize("source", [ln.DENSE(3), ln.CSF(3)], ids=str)
def test_table4_sparse_run_list_merges_colours(colour, source):
    """Black is not stored where nothing says so; what is said of it in a dense image is."""
    out = ln.empty_tensor(ln.Dense(ln.SparseRunList(colour)))
    copy_image(out, ln.asarray(IMAGE, format=source))
    assert np.array_equal(out.to_numpy(), IMAGE)
    if source == ln.CSF(3):
        assert out.buffers["ptr1"].tolist() == [0, 2, 2, 5]
        assert out.buffers["left1"].tolist() == [0, 3, 0, 2, 4]
        assert out.buffers["right1"].tolist() == [3, 4, 1, 4, 6]


@every_colour
def test_table4_runs_become_longer_where_colours_become_equal(colour):
    """Blue and black are the same without blue: neighbours are compared as they are now."""
    out = ln.empty_tensor(ln.Dense(ln.RunList(colour)))
    without_blue(out, ln.asarray(IMAGE, format=ln.Dense(ln.RunList(ln.Dense(E)))))
    assert np.array_equal(out.to_numpy(), IMAGE * [1, 1, 0])
    assert out.buffers["right1"].tolist() == [3, 6, 6, 2, 4, 6]


@every_colour
def test_table4_runs_of_two_images_meet(colour):
    """Red and blue in one image, the opposite in the other: together they are one run."""
    other = IMAGE[..., ::-1]
    runs = ln.Dense(ln.RunList(ln.Dense(E)))
    out = ln.empty_tensor(ln.Dense(ln.RunList(colour)))
    blended(out, ln.asarray(IMAGE, format=runs), ln.asarray(other, format=runs))
    assert np.array_equal(out.to_numpy(), IMAGE + other)
    assert out.buffers["right1"].tolist() == [4, 6, 6, 1, 2, 6]


def test_table4_runs_of_runs_of_colours():
    """Rows that are the same are one, and so are their pixels."""
    image = IMAGE[[0, 0, 1, 1, 1, 2]]
    out = ln.empty_tensor(ln.RunList(ln.RunList(ln.Dense(E))))
    copy_image(out, ln.asarray(image))
    assert np.array_equal(out.to_numpy(), image)
    assert out.buffers["right0"].tolist() == [2, 5, 6]
    assert out.buffers["right1"].tolist() == [3, 4, 6, 6, 1, 2, 4, 6]
