"""Array expressions from many threads at once: plans and kernels are shared."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import linnet as ln
from linnet.arrays import apply, compute, contract, lazy, reduce, view

RNG = np.random.default_rng(11)
A = np.where(RNG.random((40, 30)) < 0.3, RNG.random((40, 30)), 0.0)


def work(number: int) -> None:
    x = ln.asarray(A * number, format=ln.CSR)
    rows = slice(number, number + 9)
    part = view(x, rows)
    np.testing.assert_allclose(part.to_numpy(), A[rows] * number)
    total = compute(reduce("add", apply("multiply", lazy(x), number), 0))
    np.testing.assert_allclose(total.to_numpy(), (A * number * number).sum(0))
    product = contract("ij,kj->ik", x, part)
    np.testing.assert_allclose(product.to_numpy(), A @ A[rows].T * number**2)


def test_many_threads():
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, 1 + k % 7) for k in range(40)]:
            done.result()
