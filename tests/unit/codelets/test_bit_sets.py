"""Sets of numbers as bits of words, compiled: they are listed in order, and cleared."""

from __future__ import annotations

import numpy as np
import pytest

from linnet.codelets.bit_sets import sort_by_bits
from linnet.imp.floats import count_bits, lowest_bit

WIDTHS = ("int32", "int64")


def bits_of(keys: np.ndarray, n: int) -> np.ndarray:
    """A bit for each key, and words for the levels above."""
    bits = np.zeros((n >> 5) + 3, "int64")
    np.bitwise_or.at(bits, keys >> 6, np.left_shift(np.int64(1), keys.astype("int64") & 63))
    return bits


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("n", [1, 20, 64, 65, 129, 1000, 4097, 300_000])
def test_bits_that_are_listed(compiled, dtype, n):
    """However many there are: the list is in order, and bits stay as they are until cleared."""
    order = compiled("order_bits", "int64*", "int64", f"{dtype}*", "int64")
    roughly = compiled("order_bits_if_cheap", "int64*", "int64", f"{dtype}*", "int64")
    clear = compiled("clear_bits", "int64*", "int64", f"{dtype}*", "int64")
    rng = np.random.default_rng(n)
    for count in {0, 1, 16, 17, n // 200, n // 100, n // 20, n // 10, n // 3, n - 1, n}:
        keys = rng.permutation(n)[:count].astype(dtype)
        for listed in (keys, np.sort(keys), np.sort(keys)[::-1]):
            bits, idx = bits_of(keys, n), np.full(n, -1, dtype)
            before = bits.copy()
            idx[: len(keys)] = listed
            roughly(bits, n, idx, len(keys))
            in_order = np.sort(keys) if len(keys) * 4 > n else listed
            np.testing.assert_array_equal(idx[: len(keys)], in_order)
            idx[: len(keys)] = listed
            order(bits, n, idx, len(keys))
            np.testing.assert_array_equal(idx[: len(keys)], np.sort(keys))
            np.testing.assert_array_equal(bits, before)
            clear(bits, n, idx, len(keys))
            assert not bits.any()


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("n", [1, 63, 64, 65, 4096, 4097, 262_144, 262_145, 1_000_000])
def test_numbers_by_their_bits(compiled, dtype, n):
    """All of them, the ends of words among them, and the words are as they were."""
    sort = compiled(sort_by_bits, f"{dtype}*", "int64", "int64", "int64*", "int64")
    rng, words = np.random.default_rng(n), (n >> 5) + 3
    for count in (0, 1, n // 1000, n // 10, n):
        ends = [k for k in (0, 63, 64, 4095, 4096, n - 1) if k < n]
        keys = np.unique([*ends, *rng.permutation(n)[:count]]).astype(dtype)
        keys = rng.permutation(keys)
        bits = np.zeros(7 + words, "int64")
        bits[:7] = -1
        expected = np.sort(keys)
        sort(keys, len(keys), n, bits, 7)
        np.testing.assert_array_equal(keys, expected)
        assert (bits[:7] == -1).all()
        assert not bits[7:].any()


def test_lowest_bit(compiled):
    def lowest(n: int) -> int:
        return lowest_bit(n)

    find = compiled(lowest, "int64")
    for k in range(64):
        for n in (-1 << k, *([1 << k, 5 << k] if k < 61 else [])):
            assert find(n) == k == lowest_bit(n)


def test_count_bits(compiled):
    def how_many(n: int) -> int:
        return count_bits(n)

    find = compiled(how_many, "int64")
    for k in range(64):
        for n, count in ((-1 << k, 64 - k), ((1 << k) - 1, k), (5 << k if k < 61 else 3, 2)):
            assert find(n) == count == count_bits(n)
