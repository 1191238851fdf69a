"""Is the workspace that Linnet chooses the best one? Every kind, on the data of WORK §7.

Run as `python -m benchmarks.choice [rows] [columns] [near] [tensors]`. What is chosen is compared
with every kind of workspace and with the policies that are never chosen; `ratio` is what it takes
as a multiple of the best. The kind that is chosen is measured twice, by itself and as Linnet's
choice: it is the same code. Processor time, least of interleaved runs.
"""

from __future__ import annotations

import os

# Everything runs on one thread; libraries read these when they are loaded.
for _variable in ("OMP", "MKL", "OPENBLAS", "NUMBA", "LINNET"):
    os.environ.setdefault(f"{_variable}_NUM_THREADS", "1")

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from unittest import mock

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, workspaces
from benchmarks.harness import Side, differs
from linnet.formats.insertion import COORD, DENSE, MILLIONS, OPERAND, THOUSANDS
from linnet.normalize.choice import Choice, Chosen, Unpacking
from linnet.runtime import deciding, specialize

POLICIES = {"hash": ln.Hash(), "bucket": ln.Bucket()}
SECONDS, ROUNDS = 0.3, 3  # for each side of a case, or so many rounds
_MOST = 1 << 29  # bytes of a dense workspace that is tried
_SLOW = 4_000_000  # updates from which on policies that are never chosen are not tried
decide = deciding.decide


@dataclass(frozen=True)
class Computation:
    """A kernel on operands; `dims` are those of its workspace, which takes so many updates."""

    what: str
    kernel: ln.Kernel
    result: ln.Format
    operands: tuple[ln.Tensor, ...]
    dims: tuple[int, ...]
    updates: int

    def chosen(self) -> str:
        """The kind that Linnet chooses."""
        found: list[str] = []

        def listening(choice: Choice | Unpacking, held: object) -> Chosen:
            chosen = decide(choice, held)  # type: ignore[arg-type]
            if not isinstance(choice, Unpacking):
                found.append(chosen.kind)
            return chosen

        with mock.patch.object(specialize, "decide", listening):
            ln.explain(self.kernel, ln.empty_tensor(self.result), *self.operands)
        return found[0]

    def kinds(self) -> Iterator[str]:
        """The kinds that its workspace may have."""
        if 9 * int(np.prod(self.dims, dtype=float)) <= _MOST:
            yield DENSE
        yield COORD
        if self.updates > 1 << 13:
            yield THOUSANDS
        if self.updates > 1 << 17:
            yield MILLIONS
        if self.kernel is workspaces.outer:
            yield OPERAND

    def side(self, kernel: ln.Kernel, kind: str | None = None) -> Side:
        """A call of a kernel, whose workspace is of this kind from now on."""

        def call() -> ln.Tensor:
            return kernel(ln.empty_tensor(self.result), *self.operands)

        def imposed(choice: Choice | Unpacking, held: object) -> Chosen:
            inner = isinstance(choice, Unpacking) or choice.name.endswith("_w_2")
            if kind is None or inner:
                return decide(choice, held)  # type: ignore[arg-type]
            return Chosen(kind, "as is tried")

        with (
            mock.patch.object(deciding, "decide", imposed),
            mock.patch.object(specialize, "decide", imposed),
        ):
            call()  # what was decided for these operands is remembered
        return Side(call, workspaces.total)

    def sides(self) -> Iterator[tuple[str, Side]]:
        """What Linnet chooses, every kind, and the other policies."""
        yield "linnet", self.side(self.copied())
        for kind in self.kinds():
            yield kind, self.side(self.copied(), kind)
        for name, policy in POLICIES.items() if self.updates <= _SLOW else ():
            yield name, self.side(ln.insert_workspaces(self.kernel, policy))

    def copied(self) -> ln.Kernel:
        """The same kernel, which remembers nothing."""
        return ln.Kernel(self.kernel.program)

    def compared(self) -> dict[str, float]:
        """Milliseconds of all sides, which take turns."""
        sides = dict(self.sides())
        results = [side.read(side.run()) for side in sides.values()]
        assert not any(differs(result, results[0]) for result in results), self.what
        best, used = dict.fromkeys(sides, np.inf), dict.fromkeys(sides, 0.0)
        for turn in range(200):
            going = [n for n in sides if turn < ROUNDS or used[n] < SECONDS]
            for name in going:
                start = time.process_time()
                sides[name].run()
                taken = time.process_time() - start
                best[name], used[name] = min(best[name], 1e3 * taken), used[name] + taken
        return best


def products(columns: bool, pairs: Iterator[tuple[str, sp.csr_array, sp.csr_array]]):
    """Products of matrices, by rows or by columns."""
    for what, A, B in pairs:
        updates = int(np.diff(sp.csc_array(A).indptr).astype(np.int64) @ np.diff(B.indptr))
        first = ln.asarray(A).to(ln.CSC if columns else ln.CSR)
        kernel = workspaces.outer if columns else workspaces.rows
        dims = (A.shape[0], B.shape[1]) if columns else (B.shape[1],)
        per_row = updates if columns else updates // max(A.shape[0], 1)
        yield Computation(what, kernel, ln.CSR, (first, ln.asarray(B)), dims, per_row)


def uniform(*sizes: tuple[int, int]) -> Iterator[tuple[str, sp.csr_array, sp.csr_array]]:
    """Matrices with as many values in every row, anywhere."""
    for n, per_row in sizes:
        A, B = (data.uniform(n * per_row, per_row, seed) for seed in (0, 1))
        yield f"uniform, n = {n}, {per_row} in a row", A, B


def used_columns(*counts: int) -> Iterator[tuple[str, sp.csr_array, sp.csr_array]]:
    """Figures 15 and 16: of 4000 columns, some are used."""
    for count in counts:
        A = workspaces.filled_columns(4000, count, 1)
        yield f"{count} of 4000 columns in use", A, sp.csr_array(A.T)


def real(*names: str) -> Iterator[tuple[str, sp.csr_array, sp.csr_array]]:
    """Squares of real matrices."""
    for name, A in data.real_matrices(*names):
        yield name, A, A


def near(*sizes: tuple[int, int, int]) -> Iterator[tuple[str, sp.csr_array, sp.csr_array]]:
    """Matrices whose values lie at random, at most so far from the diagonal."""
    for n, stored, width in sizes:
        rng = np.random.default_rng(0)
        i = rng.integers(0, n, stored)
        j = np.clip(i + rng.integers(-width, width + 1, stored), 0, n - 1)
        A = sp.csr_array((np.ones(stored), (i, j)), shape=(n, n))
        A.sum_duplicates()
        yield f"within {width} of the diagonal, n = {n}, {stored} stored", A, A


def by_rows() -> Iterator[Computation]:
    yield from products(False, uniform((10_000, 4), (10_000, 30), (60_000, 10), (300_000, 4)))
    yield from products(False, used_columns(1, 8, 64, 512))
    yield from products(False, real("bcsstk16", "memplus", "email-Enron", "wing"))


def by_columns() -> Iterator[Computation]:
    yield from products(True, uniform((100, 5), (300, 3), (1_000, 4), (3_000, 2)))
    yield from products(True, uniform((2_000, 20), (20_000, 8), (200_000, 4)))
    yield from products(True, used_columns(1, 4, 16, 64))
    yield from products(True, real("bcsstk16", "memplus", "wing"))


def by_columns_near() -> Iterator[Computation]:
    sizes = ((100_000, 400_000, 50), (300_000, 600_000, 50), (300_000, 600_000, 3000))
    yield from products(True, near(*sizes))


def contractions() -> Iterator[Computation]:
    """Figures 19 and 20: tensors in CSF and factors in DCSR, into coordinates."""
    for name, t in workspaces.given(data.Load(("small",), True)):
        B = ln.tensor(tuple(t.coords), t.values, t.shape, format=ln.CSF(3))
        for count in (4, 16, 64):
            factors = [workspaces.factor(n, count, 0.1, k) for k, n in enumerate(t.shape[:2])]
            C, D = (ln.asarray(f, format=ln.DCSR) for f in factors)
            n_k, n_i, n_j = t.shape
            what, stored = f"{name}, {count} columns", B.nnz
            updates = int(stored * count * 0.1)
            yield Computation(
                f"mttkrp, {what}", workspaces.mttkrp, ln.COO(2), (B, C, D), (n_j, count), updates
            )
            yield Computation(
                f"ttm, {what}", workspaces.ttm, ln.COO(3), (B, C), (n_i, n_j, count), updates
            )
            yield Computation(
                f"ttm-i, {what}", workspaces.ttm_i, ln.COO(3), (B, D), (n_j, count), updates // n_k
            )


PARTS = {
    "rows": by_rows,
    "columns": by_columns,
    "near": by_columns_near,
    "tensors": contractions,
}


def line(part: str, computation: Computation) -> str:
    """A row of the table: what is chosen, what is best, and how they compare."""
    times, kind = computation.compared(), computation.chosen()
    taken = min(times["linnet"], times.get(kind, np.inf))
    best = min(times, key=lambda name: times[name])
    best = kind if best == "linnet" else best
    others = ", ".join(f"{k} {t:.3g}" for k, t in times.items() if k not in ("linnet", kind))
    ratio = taken / min(times.values())
    cells = (part, computation.what, kind, f"{taken:.3g}", best, f"{ratio:.2f}", others)
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table of the parts that are named, or of all."""
    print("| | data | chosen | ms | best | ratio | others, ms |")
    print("| --- | --- | --- | ---: | --- | ---: | --- |", flush=True)
    for part in sys.argv[1:] or PARTS:
        for computation in PARTS[part]():
            print(line(part, computation), flush=True)


if __name__ == "__main__":
    main()
