"""Offsets that are read, and masks of any form: right for all numbers, and walked, not tested."""

from __future__ import annotations

import numpy as np
import pytest
from tests.visits import work

import linnet as ln
from linnet.errors import IndexBoundsError
from linnet.frontend.text import parse_text

N = 40
ELEMENT = ln.Element(0.0)
FORMATS = [
    ln.DENSE(1), ln.CSF(1), ln.COO(1), ln.SparseByteMap(ELEMENT), ln.RunList(ELEMENT),
    ln.SparseBlockList(ELEMENT), ln.SparseBand(ELEMENT),
]  # fmt: skip
SHIFTED = {
    "a shift": "for i in range(8):\n    y[i] = x[i + lo[()]]",
    "backward": "for i in range(8):\n    y[i] = x[lo[()] - i]",
    "by two": "for i in range(8):\n    y[i] = x[2 * i + lo[()]]",
    "a name": "c = lo[()]\nfor i in range(8):\n    y[i] = x[i + c]",
    "a named sum": "c = lo[()] - 1\nfor i in range(8):\n    k = i + c\n    y[i] = x[k + 1]",
    "a row's": "for j in range(1):\n    for i in range(8):\n        y[i] = x[i + lows[j]]",
    "what may lie outside": "for i in range(8):\n    y[i] = ln.coalesce(x[~(i + lo[()])], 0)",
    "where it is needed": "for i in range(8):\n  if i + lo[()] < 9:\n    y[i] = x[i + lo[()]]",
}
EXTREME = (0, 7, 9, 20, -1, N, 2**31, 2**61 + 5, 2**62, 2**63 - 1, -(2**62), -(2**63))


def kernel(body: str) -> ln.Kernel:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return ln.Kernel(parse_text(f"def f(y, x, lo, lows):\n    y[...] = 0\n{lines}\n    return y\n"))


def operands(format: ln.Format, lo: np.integer | int, n: int = N) -> tuple[object, ...]:
    values = np.where(np.arange(n) // 3 % 4 == 1, np.arange(n) // 3, 0.0)
    if isinstance(format, ln.SparseBand):
        values[24:] = 0
    low = np.asarray(lo)
    return ln.empty_tensor(ln.DENSE(1)), ln.asarray(values, format=format), low, low.reshape(1)


def outcome(run, args):
    """The result, or that an index was out of bounds."""
    try:
        return np.asarray(run(*args)["y"] if run.__name__ == "reference" else run(*args).to_numpy())
    except IndexBoundsError:
        return None


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("body", SHIFTED.values(), ids=SHIFTED)
def test_offsets_that_are_read_are_added_to_an_index(body, format):
    """Also where the sum of index and offset has no place in 64 bits: it is out of bounds."""
    subject = kernel(body)
    for lo in (*EXTREME, np.int8(3), np.int32(-1), np.uint8(200)):
        if "if" in body and abs(int(lo)) > 2**61:
            continue  # what a sum that wraps around is less than is not said (`imp.linear`)
        args = operands(format, lo)
        expected = outcome(subject.reference, args)
        found = outcome(subject.__call__, args)
        assert (expected is None) == (found is None), lo
        assert expected is None or np.array_equal(expected, found), lo


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("body", [b for b in SHIFTED.values() if "if" not in b], ids=str)
def test_they_are_walked(body, format):
    """A longer vector, in which more is stored elsewhere, takes no more work."""
    subject = kernel(body)
    short, long = (work(subject, *operands(format, 9, n)) for n in (N, 40 * N))
    assert long <= short + 40  # for searches


MASKED = [
    "j < lo[()]", "j >= lo[()]", "lo[()] == j", "j != lo[()]", "i - j == 2", "i - j <= 1",
    "-1 <= i - j <= 1", "2 * j <= i", "2 * j == i", "2 * j != i", "3 - j >= i", "7 - 3 * j < i",
    "i // 3 == j // 3", "i // 3 != j // 3", "j // 3 > i", "(9 - j) // 4 <= i", "(i - j) % 3 == 1",
    "1 == (j + i) % 2", "i + j < 2 * j - 3", "j - lo[()] <= i", "2 * j < lo[()]", "j < N / 3",
    "-3 * j > lo[()]", "N / 3 <= j", "j < i / 2",
]  # fmt: skip


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("mask", MASKED)
def test_masks_of_any_form(mask, format):
    mask = mask.replace("N", "x.shape[0]")
    subject = kernel(
        f"for i in range(8):\n    for j in ...:\n        if {mask}:\n            y[i] += x[j]"
    )
    for lo in (5, 0, -7, 2**63 - 1, -(2**63), np.int8(-128)):
        if "j - lo" in mask and abs(int(lo)) > 2**61:
            continue
        args = operands(format, lo)
        assert np.array_equal(subject.reference(*args)["y"], subject(*args).to_numpy()), lo


def test_what_is_compared_with_a_float_is_not_taken_for_an_integer():
    """`i < n / 2` left out the last index of an odd number of them."""
    subject = kernel("for i in range(5):\n    if i < lo[()] / 2:\n        y[i] = x[i + 3]")
    args = operands(ln.DENSE(1), 5)
    assert np.array_equal(subject(*args).to_numpy(), [1, 1, 1, 0, 0])


@ln.kernel
def renewed(y, x, c):
    y[...] = 0
    for i in range(4):
        c[...] = i
        for j in range(5):
            y[i] += x[j + c[()]]
    return y


def test_an_offset_that_changes_is_read_anew():
    x, c = ln.asarray(np.arange(12.0), format=ln.CSF(1)), ln.scalar(0)
    expected = renewed.reference(ln.empty_tensor(ln.DENSE(1)), x, c)["y"]
    assert np.array_equal(renewed(ln.empty_tensor(ln.DENSE(1)), x, c).to_numpy(), expected)
