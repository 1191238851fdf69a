"""A Poisson problem: the matrix from Kronecker products, solved by SciPy's CG with our matrix."""

from __future__ import annotations

import numpy as np

import linnet as ln


def laplacian(n: int) -> ln.Tensor:
    """The five-point Laplacian on an n × n grid, as CSR."""
    line = 2.0 * ln.eye(n) - ln.eye(n, k=1) - ln.eye(n, k=-1)
    return ln.kron(line, ln.eye(n)) + ln.kron(ln.eye(n), line)


def conjugate_gradients(A: ln.Tensor, b: ln.Tensor, tolerance: float = 1e-10) -> ln.Tensor:
    """The solution of A x = b, for a positive definite A."""
    x, r = ln.zeros_like(b), b
    p, size = r, float(ln.vecdot(r, r))
    while size > tolerance**2:
        Ap = A @ p
        alpha = size / float(ln.vecdot(p, Ap))
        x, r = x + alpha * p, r - alpha * Ap
        size, last = float(ln.vecdot(r, r)), size
        p = r + (size / last) * p
    return x


def main() -> None:
    A, b = laplacian(20), ln.ones((400,))
    print(repr(A))
    x = conjugate_gradients(A, b)
    assert np.allclose(np.linalg.solve(A.to_numpy(), np.ones(400)), x.to_numpy())
    print("residual:", f"{float(ln.max(abs(A @ x - b))):.0e}")
    try:
        from scipy.sparse.linalg import cg
    except ImportError:
        return
    theirs, status = cg(A, b.to_numpy(), rtol=1e-10)  # a Tensor is a linear operator to SciPy
    assert status == 0
    assert np.allclose(theirs, x.to_numpy())


if __name__ == "__main__":
    main()
