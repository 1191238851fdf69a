"""Erosion of binary images (two iterations) and a masked histogram (FINCH §7.4, Fig. 26).

Twice eroded with a square of 3 is once eroded with a square of 5, and OpenCV and the C code use
that; so do all programs. Beyond the border is the border: erosion does not see the difference.
Images are given and returned in the format that is named; what is timed is the erosion alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side, Unavailable
from benchmarks.peers import peer

BAR = 0.9
RUNS = ln.Dense(ln.SparseRunList(ln.Pattern()))
ROWS = ln.RunList(ln.SparseRunList(ln.Pattern()))
ROW = ln.SparseRunList(ln.Pattern())
BYTE = ln.Dense(ln.Element(0, "uint8"))
WORD = ln.Dense(ln.Element(0, "uint64"))
ON = 255
ALL = 2**64 - 1
SQUARE = np.ones((3, 3), np.uint8)


@ln.kernel
def erode_bytes(out, img):
    row = ln.temp(BYTE)
    out[...] = 0
    for y in ...:
        last = img.shape[0] - 1
        row[...] = 0
        for x in ...:
            above = img[max(y - 2, 0), x] & img[max(y - 1, 0), x]
            below = img[min(y + 1, last), x] & img[min(y + 2, last), x]
            row[x] = above & img[y, x] & below
        for x in ...:
            left = ln.coalesce(row[~(x - 2)], ON) & ln.coalesce(row[~(x - 1)], ON)
            right = ln.coalesce(row[~(x + 1)], ON) & ln.coalesce(row[~(x + 2)], ON)
            out[y, x] = left & row[x] & right
    return out


@ln.kernel
def erode_bits(out, img):
    row = ln.temp(WORD)
    out[...] = 0
    for y in ...:
        last = img.shape[0] - 1
        row[...] = 0
        for x in ...:
            above = img[max(y - 2, 0), x] & img[max(y - 1, 0), x]
            below = img[min(y + 1, last), x] & img[min(y + 2, last), x]
            row[x] = above & img[y, x] & below
        for x in ...:
            w = row[x]
            l = ln.coalesce(row[~(x - 1)], ALL)
            r = ln.coalesce(row[~(x + 1)], ALL)
            left = (w << 1 | l >> 63) & (w << 2 | l >> 62)
            right = (w >> 1 | r << 63) & (w >> 2 | r << 62)
            out[y, x] = left & w & right
    return out


@ln.kernel
def erode_runs(out, img):
    row = ln.temp(ROW)
    out[...] = False
    for y in ...:
        last = img.shape[0] - 1
        row[...] = False
        for x in ...:
            above = img[max(y - 2, 0), x] & img[max(y - 1, 0), x]
            below = img[min(y + 1, last), x] & img[min(y + 2, last), x]
            row[x] = above & img[y, x] & below
        for x in ...:
            left = ln.coalesce(row[~(x - 2)], True) & ln.coalesce(row[~(x - 1)], True)
            right = ln.coalesce(row[~(x + 1)], True) & ln.coalesce(row[~(x + 2)], True)
            out[y, x] = left & row[x] & right
    return out


# Short runs are gone when each row is eroded for itself, before five of them are compared.
@ln.kernel
def erode_across(out, img):
    mid = ln.temp(RUNS)
    out[...] = False
    mid[...] = False
    for y, x in ...:
        left = ln.coalesce(img[y, ~(x - 2)], True) & ln.coalesce(img[y, ~(x - 1)], True)
        right = ln.coalesce(img[y, ~(x + 1)], True) & ln.coalesce(img[y, ~(x + 2)], True)
        mid[y, x] = left & img[y, x] & right
    for y in ...:
        last = img.shape[0] - 1
        for x in ...:
            above = mid[max(y - 2, 0), x] & mid[max(y - 1, 0), x]
            below = mid[min(y + 1, last), x] & mid[min(y + 2, last), x]
            out[y, x] = above & mid[y, x] & below
    return out


# Rows are walked by runs here, and not looked up: beyond the border all is on.
@ln.kernel
def erode_rows(out, img):
    row = ln.temp(ROW)
    out[...] = False
    for y in ...:
        row[...] = False
        for x in ...:
            above = ln.coalesce(img[~(y - 2), x], True) & ln.coalesce(img[~(y - 1), x], True)
            below = ln.coalesce(img[~(y + 1), x], True) & ln.coalesce(img[~(y + 2), x], True)
            row[x] = above & img[y, x] & below
        for x in ...:
            left = ln.coalesce(row[~(x - 2)], True) & ln.coalesce(row[~(x - 1)], True)
            right = ln.coalesce(row[~(x + 1)], True) & ln.coalesce(row[~(x + 2)], True)
            out[y, x] = left & row[x] & right
    return out


@ln.kernel
def histogram(bins, img, mask):
    ln.declare(bins, 0, (16,))
    for y, x in ...:
        if mask[y, x]:
            bins[img[y, x] // 16] += 1
    return bins


# -- erosion -------------------------------------------------------------------------------------


def linnet_bytes(img: np.ndarray) -> Side:
    given, out = ln.asarray(img.astype(np.uint8)), ln.empty_tensor(ln.DENSE(2))
    return Side(lambda: erode_bytes(out, given), lambda out: out.to_numpy() != 0)


def linnet_bits(img: np.ndarray) -> Side:
    given, out = ln.asarray(pack(img)), ln.empty_tensor(ln.DENSE(2))
    return Side(lambda: erode_bits(out, given), lambda out: unpack(out.to_numpy(), img.shape[1]))


def linnet_runs(img: np.ndarray) -> Side:
    given, out = ln.asarray(img).to(RUNS), ln.empty_tensor(RUNS)
    return Side(lambda: erode_runs(out, given), lambda out: out.to_numpy())


def linnet_across(img: np.ndarray) -> Side:
    given, out = ln.asarray(img).to(RUNS), ln.empty_tensor(RUNS)
    return Side(lambda: erode_across(out, given), lambda out: out.to_numpy())


def linnet_rows(img: np.ndarray) -> Side:
    given, out = ln.asarray(img).to(ROWS), ln.empty_tensor(ROWS)
    return Side(lambda: erode_rows(out, given), lambda out: out.to_numpy())


def opencv(img: np.ndarray) -> Side:
    cv2 = one_thread()
    given, out = img.astype(np.uint8), np.empty(img.shape, np.uint8)
    return Side(lambda: cv2.erode(given, SQUARE, out, iterations=2), lambda out: out != 0)


def c_bytes(img: np.ndarray) -> Side:
    out = np.empty(img.shape, np.uint8)
    run = native.call("images", "erode_bytes", *img.shape, img.astype(np.uint8), out)
    return Side(run, lambda _: out != 0)


def c_bits(img: np.ndarray) -> Side:
    words = pack(img)
    out = np.empty_like(words)
    run = native.call("images", "erode_bits", *words.shape, words, out)
    return Side(run, lambda _: unpack(out, img.shape[1]))


def c_runs(img: np.ndarray, function: str = "erode_runs") -> Side:
    def read(result: native.Result) -> np.ndarray:
        arrays = {"ptr1": result.ints(0), "left1": result.ints(1), "right1": result.ints(2)}
        return ln.from_buffers(RUNS, img.shape, arrays).to_numpy()

    return native.building("images", function, read, *img.shape, *run_arrays(img))


def c_across(img: np.ndarray) -> Side:
    return c_runs(img, "erode_runs_across")


def one_thread() -> object:
    cv2 = peer("cv2")
    cv2.setNumThreads(1)
    return cv2


def run_arrays(img: np.ndarray) -> list[np.ndarray]:
    buffers = ln.asarray(img).to(RUNS).buffers
    return [buffers[name].astype(np.int32) for name in ("ptr1", "left1", "right1")]


def pack(img: np.ndarray) -> np.ndarray:
    """64 pixels in a word; those that fill up the last one are on."""
    wide = np.pad(img, ((0, 0), (0, -img.shape[1] % 64)), constant_values=True)
    return np.packbits(wide, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def unpack(words: np.ndarray, width: int) -> np.ndarray:
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:, :width] != 0


def eroded(img: np.ndarray) -> np.ndarray:
    """What all must find: a square of 5 around each pixel is on."""
    for axis, length in enumerate(img.shape):
        wide = np.pad(
            img, [(2, 2) if axis == k else (0, 0) for k in range(2)], constant_values=True
        )
        img = np.logical_and.reduce([wide.take(range(k, k + length), axis) for k in range(5)])
    return img


# -- histogram -----------------------------------------------------------------------------------


def linnet_histogram(img: np.ndarray, mask: np.ndarray) -> Side:
    bins, given, runs = ln.empty_tensor(ln.DENSE(1)), ln.asarray(img), ln.asarray(mask).to(RUNS)
    return Side(lambda: histogram(bins, given, runs), lambda bins: bins.to_numpy())


def opencv_histogram(img: np.ndarray, mask: np.ndarray) -> Side:
    cv2, given = one_thread(), mask.astype(np.uint8)
    return Side(lambda: cv2.calcHist([img], [0], given, [16], [0, 256]), np.ravel)


def c_histogram(img: np.ndarray, mask: np.ndarray) -> Side:
    bins = np.empty(16, np.int64)
    return native.into("images", "histogram", bins, *img.shape, img, *run_arrays(mask))


BYTES = {"linnet": linnet_bytes, "c": c_bytes, "opencv": opencv}
BITS = {"linnet": linnet_bits, "c": c_bits, "opencv": opencv}
BY_RUNS = {"linnet": linnet_runs, "c": c_runs, "opencv": opencv}
ACROSS = {"linnet": linnet_across, "c": c_across, "opencv": opencv}
BY_ROWS = {"linnet": linnet_rows, "c": c_runs, "opencv": opencv}
HISTOGRAM = {"linnet": linnet_histogram, "c": c_histogram, "opencv": opencv_histogram}


# -- images --------------------------------------------------------------------------------------


def discs(size: int, count: int = 12) -> np.ndarray:
    """A square image of some discs, the same at every size."""
    rng = np.random.default_rng(0)
    y, x = np.ogrid[:size, :size]
    img = np.zeros((size, size), bool)
    for _ in range(count):
        (v, u), r = rng.random(2) * size, rng.uniform(0.05, 0.2) * size
        img |= (y - v) ** 2 + (x - u) ** 2 < r * r
    return img


def magnified(size: int, times: int) -> np.ndarray:
    """An image each of whose pixels is a square."""
    return np.kron(discs(size), np.ones((times, times), bool))


def noise(size: int) -> np.ndarray:
    """No structure at all."""
    return np.random.default_rng(0).random((size, size)) < 0.9


def real(name: str) -> np.ndarray:
    path: Path = data.FOLDER / "image" / name
    if not path.exists():
        raise Unavailable(f"there is no {path.name}")
    return peer("cv2").imread(str(path), 0) > 0


def mean_run(img: np.ndarray) -> float:
    return img.size / (1 + np.count_nonzero(np.diff(img.ravel())))


def images(load: data.Load) -> Iterator[tuple[str, np.ndarray]]:
    for size in (512, 2048) if "medium" in load.sizes or "large" in load.sizes else (512,):
        yield f"discs {size}", discs(size)
        yield f"noise {size}", noise(size)
    if "large" in load.sizes:
        yield "discs 8192", discs(8192)
    if load.real:
        try:
            yield "ocean 4320x2160", real("ocean_mask_4320x2160.png")
        except Unavailable as reason:
            print(f"left out: {reason}")


def erosion(
    kind: str, name: str, img: np.ndarray, sides: dict[str, Callable[..., Side]], goal: float | None
) -> Case:
    goals = {"opencv": goal} if goal else {}
    return Case(
        f"erosion by {kind}", name, img.size, (img,), sides, BAR,
        expected=lambda: eroded(img), goals=goals,
    )  # fmt: skip


def cases(load: data.Load) -> Iterator[Case]:
    for name, img in images(load):
        yield erosion("bytes", name, img, BYTES, 1.0)
        yield erosion("bits", name, img, BITS, 4.0 if img.size >= 2048**2 else None)
        goal = 10.0 if mean_run(img) >= 200 else None
        yield erosion("runs", name, img, BY_RUNS, goal)
        yield erosion("runs, across first", name, img, ACROSS, goal)
    for size, times in ((128, 4), *(((256, 8), (128, 16)) if len(load.sizes) > 1 else ())):
        img = magnified(size, times)
        yield erosion("runs of rows", f"discs {size} times {times}", img, BY_ROWS, None)
    size = 2048
    picture = np.random.default_rng(0).integers(0, 256, (size, size), np.uint8)
    for name, mask in (("discs", discs(size, 8)), ("band", band(size))):
        yield Case(
            "masked histogram", f"{name}, {mask.mean():.0%}", int(mask.sum()), (picture, mask),
            HISTOGRAM, BAR, goals={"opencv": 3.0},
            expected=lambda m=mask: np.bincount(picture[m] // 16, minlength=16),
        )  # fmt: skip


def band(size: int) -> np.ndarray:
    """A third of each row."""
    img = np.zeros((size, size), bool)
    img[:, size // 3 : 2 * size // 3] = True
    return img
