"""How time grows with size: products (FINCH Fig. 23), sums over structures, erosion by runs.

The figures are exponents: how the time of what takes no more than it must grows with N.
`python -m benchmarks.scaling docs/pictures/scaling.svg` draws everything on logarithmic axes, where
a straight line's slope is its exponent.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks.curves import Panel, drawing
from benchmarks.harness import Case, Side, run
from benchmarks.images import discs, eroded, linnet_bytes, linnet_rows, linnet_runs, magnified
from benchmarks.spgemm import gustavson, scipy_product
from benchmarks.structures import linnet_total

SIZES = (256, 1024, 4096, 16384, 65536)
DENSE_LIMIT = 4096  # what takes N² is not asked for more
RUNS = 10_000
INTERVALS = ln.Dense(ln.SparseInterval(ln.Element(0.0)))
# What grows with what is stored; the rest grows with N² here, and is there for comparison.
LIMITS = {
    "spgemm gustavson": 1.4,
    "spgemm outer": 1.5,
    "sum of runs": 0.1,
    "sum of intervals": 0.1,
    "sum of bands": 0.1,
    "erosion by runs": 1.1,
    "erosion by runs of rows": 0.3,
}


@ln.kernel
def inner(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


@ln.kernel
def total(s, A):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j]
    return s


@ln.kernel
def outer(C, A, B):
    w = ln.temp(ln.SparseHash(ln.SparseHash(ln.Element(0.0))))
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    C[...] = 0
    for i, j in ...:
        C[i, j] = w[i, j]
    return C


@ln.kernel
def outer_dense(C, A, B):
    w = ln.temp(ln.Dense(ln.Dense(ln.Element(0.0))))
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    C[...] = 0
    for i, j in ...:
        if w[i, j] != 0:
            C[i, j] = w[i, j]
    return C


def product(kernel: ln.Kernel, left: object, right: object) -> Callable[..., Side]:
    """One way to multiply, and how it wants its factors."""

    def way(A: sp.csr_array, B: sp.csr_array) -> Side:
        a, b = ln.asarray(A).to(left), ln.asarray(B).to(right)  # type: ignore[arg-type]
        return Side(lambda: kernel(ln.empty_tensor(ln.CSR), a, b), lambda C: C.to_scipy())

    return way


PRODUCTS = {
    "spgemm inner": product(inner, ln.CSR, ln.CSC),
    "spgemm gustavson": product(gustavson, ln.CSR, ln.CSR),
    "spgemm outer": product(outer, ln.CSC, ln.CSR),
    "spgemm outer dense": product(outer_dense, ln.CSC, ln.CSR),
}


def erdos_renyi(n: int, seed: int) -> sp.csr_array:
    """Four entries in a row, on average."""
    rng = np.random.default_rng(seed)
    return sp.csr_array(sp.random_array((n, n), density=4 / n, rng=rng))


def products(sizes: tuple[int, ...] = SIZES) -> Iterator[Case]:
    for n in sizes:
        A, B = erdos_renyi(n, 0), erdos_renyi(n, 1)
        for name, way in PRODUCTS.items():
            if n <= DENSE_LIMIT or name in LIMITS:
                sides = {"linnet": way, "scipy": scipy_product}
                yield Case(name, f"N = {n}", A.nnz, (A, B), sides)


def linnet_sum(format: ln.Format, shape: tuple[int, int], arrays: dict[str, np.ndarray]) -> Side:
    matrix, sum_of_all = ln.from_buffers(format, shape, arrays), ln.scalar(0.0)
    return Side(lambda: total(sum_of_all, matrix), lambda s: s.item())


def structure_sums() -> Iterator[Case]:
    """As many runs, rows with one run each, and bands, in ever longer dimensions."""
    for length in (1, 10, 100, 1000, 10_000, 100_000):
        values = np.random.default_rng(0).random(RUNS)
        right = np.arange(1, RUNS + 1, dtype=np.int32) * length
        yield Case(
            "sum of runs", f"N = {RUNS * length}", RUNS, (right, values), {"linnet": linnet_total},
            expected=lambda x=values, n=length: x.sum() * n,
        )  # fmt: skip
        shape = (RUNS, RUNS * length)
        for name, format, arrays, count in (
            ("sum of intervals", INTERVALS, {"left1": right - length, "right1": right}, length),
            (
                "sum of bands",
                ln.BAND,
                {"idx1": right, "ofs1": np.arange(RUNS + 1, dtype=np.int32)},
                1,
            ),
        ):
            given = format, shape, {**arrays, "val": values}
            yield Case(
                name, f"N = {RUNS * length}", RUNS, given, {"linnet": linnet_sum},
                expected=lambda x=values, n=count: x.sum() * n,
            )  # fmt: skip


def erosions() -> Iterator[Case]:
    """The same picture, ever larger: drawn anew, or each of its pixels a square."""
    for n in (256, 512, 1024, 2048, 4096):
        drawn, squares = discs(n), magnified(64, n // 64)
        for name, way, img in (
            ("erosion by bytes", linnet_bytes, drawn),
            ("erosion by runs", linnet_runs, drawn),
            ("erosion by runs of rows", linnet_rows, squares),
        ):
            yield Case(
                name, f"N = {n}", n * n, (img,), {"linnet": way},
                expected=lambda img=img: eroded(img),
            )  # fmt: skip


PANELS = {
    "products of sparse matrices": products,
    "10 000 runs, intervals, bands": structure_sums,
    "two erosions of an image of N by N": erosions,
}


def measured(cases: Iterator[Case]) -> dict[str, list[tuple[int, float]]]:
    """Sizes and seconds, by name."""
    found: dict[str, list[tuple[int, float]]] = {}
    for case in cases:
        outcome = run(case, 0.2)
        if "linnet" in outcome.missing:
            raise RuntimeError(f"{case.name}, {case.data}: {outcome.missing['linnet']}")
        size = int(case.data.removeprefix("N = "))
        found.setdefault(case.name, []).append((size, outcome.timings["linnet"].best))
    return found


def figures() -> Iterator[dict[str, object]]:
    """The exponents, from the smallest size to the largest that fits the caches."""
    for panel in (partial(products, SIZES[:3]), structure_sums, erosions):
        for name, points in measured(panel()).items():
            (n, first), (m, last) = points[0], points[-1]
            if name in LIMITS:
                exponent = math.log(last / first) / math.log(m / n)
                yield {
                    "name": f"{name}: exponent of N", "value": exponent,
                    "limit": LIMITS[name], "unit": "",
                }  # fmt: skip


def plot(path: Path) -> None:
    """Time against N, a panel for each of the three."""
    panels = [Panel(title, measured(cases())) for title, cases in PANELS.items()]
    path.write_text(drawing(panels), encoding="utf-8")


if __name__ == "__main__":
    plot(Path(sys.argv[1]))
