"""Dense tiles of one size (BSR): read by any index, written anywhere, beside every other level."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import ALL, LEVELS, agree, array_for, nest

import linnet as ln
from linnet.errors import FormatError
from linnet.formats.format import Format
from linnet.formats.named import as_format, stack
from linnet.testing import assert_equal

SIZES = [(1, 1), (2, 3), (3, 1), (1, 4)]


def tiled(size: tuple[int, int], above: str = "D", below: str = "") -> Format:
    """`tiled((2, 3))` is BSR(2, 3); other levels may lie above and below."""
    tree = ln.Element(0.0, "float64")
    for letter in reversed(below):
        tree = LEVELS[letter](tree)
    tree = ln.SparseTiles(*size, tree)
    for letter in reversed(above):
        tree = LEVELS[letter](tree)
    return stack(tree)


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def sum_of_both(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + 2 * B[i, j]
    return C


@ln.kernel
def transposed(C, A):
    C[...] = 0
    for i, j in ...:
        C[j, i] += A[i, j]
    return C


@ln.kernel
def masked(y, A):
    y[...] = 0
    for i, j in ...:
        if i <= j and j < i + 4:
            y[i] += A[i, j]
    return y


@ln.kernel
def around(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += ln.coalesce(A[i, ~(j - 1)], 0) * A[i, j] + A[i, 3]
    return y


def matrix(seed: int, shape: tuple[int, int] = (7, 8)) -> np.ndarray:
    return array_for("DS", shape, np.random.default_rng(seed))


@pytest.mark.parametrize("above", list("DSBHKRU"))
@pytest.mark.parametrize("size", SIZES)
def test_reading(size, above):
    a = matrix(1)
    A = ln.asarray(a, format=tiled(size, above))
    assert_equal(A, a)
    x = ln.asarray(np.arange(1.0, 9))
    for kernel, operands in ((product, {"x": x}), (masked, {}), (around, {})):
        agree(kernel, {"y": ln.empty_tensor(ln.DENSE(1)), "A": A, **operands}, ("llvm",))


@pytest.mark.parametrize("letter", ALL)
def test_beside_other_levels(letter):
    b = array_for("D" + letter, (7, 8), np.random.default_rng(2))
    args = {"A": ln.asarray(matrix(3), format=ln.BSR(2, 3))}
    args |= {"B": ln.asarray(b, format=nest("D" + letter))}
    for format in (ln.DENSE(2), ln.CSR, ln.BSR(3, 2)):
        agree(sum_of_both, {"C": ln.empty_tensor(format), **args}, ("llvm",))


@pytest.mark.parametrize("size", SIZES)
def test_writing(size):
    A, B = (ln.asarray(matrix(k), format=f) for k, f in ((4, ln.CSR), (5, ln.BSR(2))))
    for above in "DSH":
        C = ln.empty_tensor(tiled(size, above))
        agree(sum_of_both, {"C": C, "A": A, "B": B}, ("llvm",))
        agree(transposed, {"C": ln.empty_tensor(tiled(size, above)), "A": A}, ("c",))


def test_a_tile_is_stored_once_and_whole():
    a = np.zeros((4, 6))
    a[0, 5] = a[1, 3] = a[3, 0] = 1
    A = ln.asarray(a, format=ln.CSR).to(ln.BSR(2, 3))
    assert A.buffers["ptr1"].tolist() == [0, 1, 2]
    assert A.buffers["idx1"].tolist() == [1, 0]
    assert A.nnz == 12
    assert_equal(transposed(ln.empty_tensor(ln.BSR(3, 2)), A), a.T)


@pytest.mark.parametrize("below", ["D", "B", "H"])
def test_levels_below(below):
    a = array_for("DSS", (4, 5, 3), np.random.default_rng(6))
    A = ln.asarray(a, format=tiled((2, 2), "D", below))
    assert_equal(A, a)
    assert_equal(A.to(ln.CSF).to(A.format), a)


def test_every_conversion():
    a = matrix(7)
    for size in ((2, 3), (1, 4)):
        for format in ("csr", "csc", "coo", "dense", "block", "rle", ln.BSR(2)):
            B = ln.asarray(a, format=ln.BSR(*size)).to(as_format(format, 2))
            assert_equal(B, a)
            assert_equal(B.to(ln.BSR(*size)), a)


def test_names():
    assert repr(ln.BSR(2, 3)) == "BSR(2, 3)"
    assert ln.BSR(4) == ln.BSR(4, 4)
    assert ln.BSR(2, 3) != ln.BSR(3, 2)
    A = ln.asarray(matrix(8), format=ln.BSR(2, 3))
    assert A.format.name == "BSR(2, 3)"
    assert A.format.describe() == "Dense(SparseTiles(2, 3, Element(0.0, 'float64')))"
    for unsaid in (ln.BSR, "bsr"):
        with pytest.raises(FormatError, match="blocks of a certain size"):
            ln.asarray(matrix(8), format=unsaid)


@pytest.mark.parametrize("sizes", [(0, 2), (2, -1), (1.5, 2), (True, 2)])
def test_tiles_have_a_size(sizes):
    with pytest.raises(FormatError, match="at least one row and one column"):
        ln.BSR(*sizes)


def test_a_pattern_is_not_tiled():
    """A tile is stored whole, and would be true all over."""
    pattern = stack(ln.Dense(ln.SparseTiles(2, 2, ln.Pattern())))
    with pytest.raises(FormatError, match="more than is true"):
        sum_of_both(ln.empty_tensor(pattern), np.eye(3, dtype=bool), np.eye(3, dtype=bool))
    with pytest.raises(FormatError, match="more than is true"):
        ln.asarray(np.eye(3, dtype=bool), format=pattern)


def test_what_is_written_in_order_is_not_tiled():
    with pytest.raises(FormatError, match="SparseList cannot be stored in tiles"):
        ln.SparseTiles(2, 2, ln.SparseList(ln.Element(0.0)))


GOOD = {"ptr1": [0, 1, 3], "idx1": [1, 0, 1], "val": np.arange(12.0)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ptr1": [0, 1]}, r"level1\.ptr"),
        ({"ptr1": [0, 2, 1]}, r"level1\.ptr"),
        ({"idx1": [1, 1, 0]}, r"row of tiles 1 of level1\.idx has 0 at position 2, after 1"),
        ({"idx1": [1, 0, 2]}, r"level1\.idx\[2\] is 2"),
        ({"sub1": [0, 0, 1]}, r"level1\.sub"),
        ({"val": np.arange(11.0)}, r"level2\.val"),
    ],
)
def test_bad_arrays(changes, message):
    assert ln.from_buffers(ln.BSR(2, 2), (3, 4), GOOD).nnz == 12
    with pytest.raises(FormatError, match=message):
        ln.from_buffers(ln.BSR(2, 2), (3, 4), GOOD | changes)
