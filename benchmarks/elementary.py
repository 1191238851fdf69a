"""Elementary functions of stored values: nanoseconds per value, and those of SciPy beside them.

python -m benchmarks.elementary prints a table. SciPy computes NumPy's function of the values, and
copies the structure: that is what it does for those that it has.
"""

from __future__ import annotations

import os

# Everything runs on one thread; libraries read these when they are loaded.
for _variable in ("OMP", "MKL", "OPENBLAS", "NUMBA", "LINNET"):
    os.environ.setdefault(f"{_variable}_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data
from benchmarks.harness import Case, Side, run

STORED, PER_ROW = 1_000_000, 50
SECONDS = 0.3
NAMES = (
    "sqrt", "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "arcsin",
    "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arctanh", "cbrt",
)  # fmt: skip


def is_right(values: np.ndarray, A: sp.csr_array, name: str) -> bool:
    return np.allclose(values, getattr(np, name)(A.data.astype(np.float64)), rtol=1e-5)


def linnet(A: sp.csr_array, name: str) -> Side:
    X, function = ln.asarray(A), getattr(ln, name)
    return Side(lambda: function(X), lambda found: is_right(found.buffers["val"], A, name))


def scipy_values(A: sp.csr_array, name: str) -> Side:
    function = getattr(np, name)

    def values() -> sp.csr_array:
        found = function(A.data)
        return sp.csr_array((found, A.indices.copy(), A.indptr.copy()), shape=A.shape)

    return Side(values, lambda found: is_right(found.data, A, name))


def times(name: str, dtype: str) -> list[float]:
    """Nanoseconds per value, of Linnet and of SciPy."""
    A = data.uniform(STORED, PER_ROW)
    values = np.random.default_rng(0).uniform(0.01, 0.99, A.nnz).astype(dtype)
    X = sp.csr_array((values, A.indices, A.indptr), shape=A.shape)
    ways = {"linnet": linnet, "scipy": scipy_values}
    case = Case(name, "uniform", X.nnz, (X, name), ways, expected=lambda: True)
    outcome = run(case, SECONDS)
    if outcome.missing:
        raise SystemExit(f"{name}: {outcome.missing}")
    return [1e9 * outcome.timings[side].best / X.nnz for side in ways]


def main() -> None:
    print("| function | float64 | SciPy | float32 | SciPy |\n| --- | ---: | ---: | ---: | ---: |")
    for name in NAMES:
        found = [f"{t:.2f}" for dtype in ("float64", "float32") for t in times(name, dtype)]
        print(f"| {name} | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main()
