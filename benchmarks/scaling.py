"""How time grows with size: products of sparse matrices (FINCH Fig. 23), sums and erosion of runs.

The figures are exponents: how the time of what takes no more than it must grows with N.
`python -m benchmarks.scaling plot.svg` draws everything on logarithmic axes, where a straight
line's slope is its exponent.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks.harness import Case, Side, run
from benchmarks.images import discs, eroded, linnet_bytes, linnet_runs
from benchmarks.spgemm import gustavson, scipy_product
from benchmarks.structures import linnet_total

SIZES = (256, 1024, 4096, 16384, 65536)
DENSE_LIMIT = 4096  # what takes N² is not asked for more
RUNS = 10_000
# What grows with what is stored; the rest grows with N² here, and is there for comparison.
LIMITS = {
    "spgemm gustavson": 1.4,
    "spgemm outer": 1.5,
    "sum of runs": 0.1,
    "erosion by runs": 1.1,
}


@ln.kernel
def inner(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


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


def run_sums() -> Iterator[Case]:
    """The same number of runs, ever longer."""
    for length in (1, 100, 10_000, 100_000):
        right = np.arange(1, RUNS + 1, dtype=np.int32) * length
        args = right, np.random.default_rng(0).random(RUNS)
        yield Case(
            "sum of runs", f"N = {RUNS * length}", RUNS, args, {"linnet": linnet_total},
            expected=lambda a=args, length=length: a[1].sum() * length,
        )  # fmt: skip


def erosions() -> Iterator[Case]:
    """The same picture, ever larger."""
    for n in (256, 512, 1024, 2048, 4096):
        img = discs(n)
        for name, way in (("erosion by bytes", linnet_bytes), ("erosion by runs", linnet_runs)):
            yield Case(
                name, f"N = {n}", n * n, (img,), {"linnet": way},
                expected=lambda img=img: eroded(img),
            )  # fmt: skip


PANELS = (products, run_sums, erosions)


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
    for panel in (partial(products, SIZES[:3]), run_sums, erosions):
        for name, points in measured(panel()).items():
            (n, first), (m, last) = points[0], points[-1]
            if name in LIMITS:
                exponent = math.log(last / first) / math.log(m / n)
                yield {
                    "name": f"{name}: exponent of N", "value": exponent,
                    "limit": LIMITS[name], "unit": "",
                }  # fmt: skip


def plot(path: str) -> None:
    """Time against N, a panel for each of the three."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, panels = pyplot.subplots(1, len(PANELS), figsize=(13, 4), layout="constrained")
    for panel, cases in zip(panels, PANELS, strict=True):
        for name, points in measured(cases()).items():
            panel.loglog(*zip(*points, strict=True), "o-", label=name)
        low, high = panel.get_ylim()
        panel.set(xlabel="N", ylabel="seconds", ylim=(low / 3, max(high, 1000 * low)))
        panel.minorticks_off()
        panel.legend(loc="upper left", fontsize="small")
    drawing.savefig(path)


if __name__ == "__main__":
    plot(sys.argv[1])
