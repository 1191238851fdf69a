"""CP decomposition of a sparse tensor from a `.tns` file, by alternating least squares.

The step that costs is MTTKRP: the tensor times two factors, summed over two of its indices. It is
one equation, and is compiled for the format of the tensor; nothing of the tensor's size is made.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import linnet as ln

EQUATIONS = (
    "M[i,r] += X[i,j,k] * B[j,r] * C[k,r]",
    "M[j,r] += X[i,j,k] * B[i,r] * C[k,r]",
    "M[k,r] += X[i,j,k] * B[i,r] * C[j,r]",
)


def cp_als(X: ln.Tensor, rank: int, rounds: int) -> list[np.ndarray]:
    """Factors whose products, summed, come near the tensor."""
    rng = np.random.default_rng(0)
    factors = [rng.random((n, rank)) for n in X.shape]
    for _ in range(rounds):
        for mode in range(3):
            B, C = (f for m, f in enumerate(factors) if m != mode)
            M = ln.einsum(EQUATIONS[mode], X=X, B=B, C=C, format=ln.DENSE)
            gram = (B.T @ B) * (C.T @ C)
            factors[mode] = np.linalg.solve(gram, M.to_numpy().T).T
    return factors


def sample(path: Path) -> None:
    """A file with a tensor of rank 2 whose factors are mostly zero."""
    rng = np.random.default_rng(3)
    parts = [rng.random((n, 2)) * (rng.random((n, 2)) < 0.5) for n in (12, 15, 10)]
    ln.write(path, ln.asarray(np.einsum("ir,jr,kr->ijk", *parts), format="csf"))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.tns"
        sample(path)
        X = ln.asarray(ln.read(path), format=ln.CSF)
    print(repr(X))
    A, B, C = cp_als(X, 2, 60)
    near = np.einsum("ir,jr,kr->ijk", A, B, C)
    error = np.linalg.norm(near - X.to_numpy()) / np.linalg.norm(X.to_numpy())
    assert error < 1e-4, error
    M = ln.einsum(EQUATIONS[0], X=X, B=B, C=C)
    assert np.allclose(M.to_numpy(), np.einsum("ijk,jr,kr->ir", X.to_numpy(), B, C))
    print("relative error below 1e-4 after 60 rounds")


if __name__ == "__main__":
    main()
