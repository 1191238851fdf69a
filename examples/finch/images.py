"""Erosion by words, by bits and by runs, and a masked histogram (FINCH §7.4, Fig. 26).

Erosion turns a pixel off unless all its neighbours are on; beyond the border all are. It is done
in two parts, first among rows and then within each. The same program erodes an image of bytes, a
pixel each, and one of runs, where it works only at the ends of runs; where rows are runs, too, rows
that are the same are eroded once. The other one has 64 pixels in a word.

`python examples/finch/images.py`
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import linnet as ln

BYTES = ln.DENSE(2)
ROW_OF_BYTES = ln.DENSE(1)
RUNS = ln.Dense(ln.SparseRunList(ln.Pattern()))
ROWS = ln.RunList(ln.SparseRunList(ln.Pattern()))  # runs of equal rows
ROW_OF_RUNS = ln.SparseRunList(ln.Pattern())
ALL = 2**64 - 1  # a word of pixels that are on
BINS = 16


# `~` lets an index leave the image; `coalesce` says what is found there.
@ln.kernel
def erode(out, row, img):
    out[...] = False
    for y in ...:
        row[...] = False
        for x in ...:
            above = ln.coalesce(img[~(y - 1), x], True)
            below = ln.coalesce(img[~(y + 1), x], True)
            row[x] = above & img[y, x] & below
        for x in ...:
            left = ln.coalesce(row[~(x - 1)], True)
            right = ln.coalesce(row[~(x + 1)], True)
            out[y, x] = left & row[x] & right
    return out


# Pixel 64 x + b is bit b of word x: neighbours are shifts, and one bit of the next word.
@ln.kernel
def erode_bits(out, img):
    row = ln.temp(ln.Dense(ln.Element(0, "uint64")))
    out[...] = 0
    for y in ...:
        row[...] = 0
        for x in ...:
            above = ln.coalesce(img[~(y - 1), x], ALL)
            below = ln.coalesce(img[~(y + 1), x], ALL)
            row[x] = above & img[y, x] & below
        for x in ...:
            w = row[x]
            left = (w << 1) | (ln.coalesce(row[~(x - 1)], ALL) >> 63)
            right = (w >> 1) | (ln.coalesce(row[~(x + 1)], ALL) << 63)
            out[y, x] = left & w & right
    return out


# Only what the mask covers is looked at: runs of it, where it is stored as runs.
@ln.kernel
def masked_histogram(bins, img, mask):
    ln.declare(bins, 0, (BINS,))
    for y, x in ...:
        if mask[y, x]:
            bins[img[y, x] // (256 // BINS)] += 1
    return bins


def by_bytes(img: np.ndarray) -> Callable[[], ln.Tensor]:
    source, row, out = ln.asarray(img), ln.empty_tensor(ROW_OF_BYTES), ln.empty_tensor(BYTES)
    return lambda: erode(out, row, source)


def by_runs(img: np.ndarray, format: ln.Format = RUNS) -> Callable[[], ln.Tensor]:
    source = ln.asarray(img, format=format)
    row, out = ln.empty_tensor(ROW_OF_RUNS), ln.empty_tensor(format)
    return lambda: erode(out, row, source)


def by_bits(img: np.ndarray) -> Callable[[], ln.Tensor]:
    source, out = ln.asarray(pack(img)), ln.empty_tensor(BYTES)
    return lambda: erode_bits(out, source)


def pack(img: np.ndarray) -> np.ndarray:
    """Pixels as bits of words; those that fill up the last word of a row are on."""
    spare = -img.shape[1] % 64
    wide = np.pad(img, ((0, 0), (0, spare)), constant_values=True)
    return np.packbits(wide, axis=1, bitorder="little").view("<u8").astype("uint64")


def unpack(words: np.ndarray, width: int) -> np.ndarray:
    """The opposite of `pack`."""
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:, :width].astype(bool)


def eroded(img: np.ndarray) -> np.ndarray:
    """Erosion by shifting the whole image, to check against."""
    height, width = img.shape
    wide = np.pad(img, 1, constant_values=True)
    shifts = [(y, x) for y in range(3) for x in range(3)]
    return np.logical_and.reduce([wide[y : y + height, x : x + width] for y, x in shifts])


def discs(size: int, count: int = 12, seed: int = 0) -> np.ndarray:
    """A square image of some discs: the larger the image, the longer its runs."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((size, size)) / size
    img = np.zeros((size, size), bool)
    for _ in range(count):
        (v, u), r = rng.random(2), rng.uniform(0.05, 0.2)
        img |= (y - v) ** 2 + (x - u) ** 2 < r * r
    return img


def milliseconds(call: Callable[[], object]) -> float:
    """The time of the fastest of some calls."""
    spent = []
    for _ in range(7):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return 1e3 * min(spent)


def compare(img: np.ndarray) -> None:
    """All three ways on one image, checked and measured."""
    expected, width = eroded(img), img.shape[1]
    words, bits, runs = by_bytes(img), by_bits(img), by_runs(img)
    assert (words().to_numpy() == expected).all()
    assert (unpack(bits().to_numpy(), width) == expected).all()
    assert (runs().to_numpy() == expected).all()
    times = " ".join(f"{milliseconds(way):8.3f} ms" for way in (words, bits, runs))
    print(f"{width:6} pixels wide {times}   {runs().buffers['left1'].size} runs")


def main() -> None:
    print("erosion:               bytes        bits        runs")
    for size in (256, 512, 1024, 2048):
        compare(discs(size))
    compare(np.random.default_rng(1).random((100, 333)) < 0.9)  # runs are short here

    print("\nan image of 64 pixels, magnified, by runs, and by runs of equal rows:")
    for times in (4, 16, 32):
        img = np.kron(discs(64), np.ones((times, times), bool))
        ways = by_runs(img), by_runs(img, ROWS)
        assert all((way().to_numpy() == eroded(img)).all() for way in ways)
        spent = " ".join(f"{milliseconds(way):8.3f} ms" for way in ways)
        print(f"{img.shape[1]:6} pixels wide {spent}")

    size = 1024
    mask, img = discs(size), np.random.default_rng(2).integers(0, 256, (size, size), np.uint8)
    expected = np.bincount(img[mask] // (256 // BINS), minlength=BINS)
    print(f"\nhistogram of the {mask.mean():.0%} of an image that a mask covers:")
    for name, format in (("bytes", BYTES), ("runs", RUNS)):
        bins, given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(mask, format=format)
        masked_histogram(bins, img, given)
        assert (bins.to_numpy() == expected).all()
        spent = milliseconds(lambda b=bins, m=given: masked_histogram(b, img, m))
        print(f"  the mask as {name:6} {spent:8.3f} ms")


if __name__ == "__main__":
    main()
