"""A tour of Linnet in a few seconds: `python examples/tour.py`.

Reads a real matrix, runs a fused sparse kernel over it, compares the answer and the time with
SciPy, and shows the code that ran.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from market import read

import linnet as ln

DATA = Path(__file__).parent / "data" / "bcsstk13.mtx.gz"
RANK = 16


# A matrix with unit diagonal: S = A / sqrt(d d.T). Written as loops, over whatever A is stored in.
@ln.kernel
def equilibrate(S, d, A):
    d[...] = 0
    for i in ...:
        d[i] = np.sqrt(A[i, i])
    S[...] = 0
    for i, j in ...:
        S[i, j] = A[i, j] / (d[i] * d[j])
    return S


# How far is a model of low rank, U @ V.T, from the entries of A that are stored? The loops say it
# for every i and j; what runs is a walk over the entries of A. Nothing in between is ever formed.
@ln.kernel
def misfit(E, total, A, U, V):
    model = ln.scalar(0.0)
    E[...] = 0
    total[...] = 0
    for i, j in ...:
        if A[i, j] != 0:
            model[...] = 0
            for k in ...:
                model[()] += U[i, k] * V[j, k]
            error = A[i, j] - model[()]
            E[i, j] = error
            total[()] += error * error
    return E, total


def main() -> None:
    say("1. A matrix from a file, scaled to unit diagonal")
    A = equilibrate(ln.empty_tensor(ln.CSR), ln.empty_tensor(ln.DENSE(1)), read(DATA))
    print(f"{DATA.name}: {A!r}")

    say(f"2. One pass: the misfit of a rank-{RANK} model, entry by entry and in total")
    U, V = np.random.default_rng(0).standard_normal((2, A.shape[0], RANK)) / RANK
    E, total = ln.empty_tensor(ln.CSR), ln.scalar(0.0)
    first = seconds(lambda: misfit(E, total, A, U, V), repeat=1)
    warm = seconds(lambda: misfit(E, total, A, U, V))
    print(f"E     = {E!r}")
    print(f"total = {float(total.to_numpy()):.6e}")
    print(f"first call (compiles, or loads from the cache)   {first * 1e3:8.2f} ms")
    print(f"every later call                                 {warm * 1e3:8.2f} ms")
    compare_with_scipy(A, U, V, E, total, warm)

    say("3. The same program, other formats: only the code differs")
    for format in (ln.DCSR, ln.COO, ln.Dense(ln.SparseHash(ln.Element()))):
        B, F, again = A.to(format), ln.empty_tensor(ln.COO(2)), ln.scalar(0.0)
        misfit(F, again, B, U, V)
        assert np.isclose(again.to_numpy(), total.to_numpy())
        spent = seconds(lambda: misfit(F, again, B, U, V))  # noqa: B023
        print(f"{B.format!r:<50} {spent * 1e3:7.2f} ms, same answer")

    say("4. The C code of step 2")
    code = misfit.code(E, total, A, U, V)
    print(code[code.index("i64 misfit(") :].rstrip())

    say("5. How it came about: ln.explain")
    explanation = ln.explain(misfit, E, total, A, U, V)
    for stage, text in explanation.stages.items():
        print(f"{stage:<12} {len(text.splitlines()):4} lines")
    print("\nThe program with everything said that was left unsaid:\n")
    print(explanation["lifecycles"].rstrip())


def compare_with_scipy(
    A: ln.Tensor, U: np.ndarray, V: np.ndarray, E: ln.Tensor, total: ln.Tensor, ours: float
) -> None:
    """SciPy has no such operation. Its users form a dense product, or gather rows of U and V."""
    try:
        import scipy.sparse as sp
    except ImportError:
        print("SciPy is not installed: nothing to compare with")
        return
    S = A.to_scipy()
    mask = (S != 0).astype(float)
    rows = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))

    def by_dense_product() -> tuple[sp.csr_array, float]:
        error = S - mask.multiply(U @ V.T)
        return error.tocsr(), float((error.data**2).sum())

    def by_gathering() -> tuple[sp.csr_array, float]:
        error = S.data - np.einsum("qk,qk->q", U[rows], V[S.indices])
        return sp.csr_array((error, S.indices, S.indptr), S.shape), float(error @ error)

    for name, run in (("a dense product", by_dense_product), ("gathering", by_gathering)):
        error, sum_of_squares = run()
        assert np.isclose(sum_of_squares, total.to_numpy())
        assert abs(E.to_scipy() - error).max() < 1e-12
        spent = seconds(run, repeat=5)
        text = f"SciPy by {name}, same answer"
        print(f"{text:<48} {spent * 1e3:8.2f} ms  {spent / ours:5.1f} x")


def seconds(run: Callable[[], object], repeat: int = 20) -> float:
    """The shortest of a few runs."""
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def say(title: str) -> None:
    print(f"\n{title}\n{'-' * len(title)}")


if __name__ == "__main__":
    main()
