"""Rows picked and tensors joined fiber by fiber: right values, and arrays that form a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linnet as ln

E = ln.Element()
FORMATS: dict[int, list[Any]] = {
    2: [ln.CSR, ln.CSC, ln.DCSR, ln.DCSC, ln.SparseList(ln.Dense(E))],
    3: [
        ln.CSF(3),
        ln.Dense(ln.SparseList(ln.SparseList(E))),
        ln.SparseList(ln.Dense(ln.SparseList(E))),
    ],
}
CASES = [(ndim, k) for ndim, formats in FORMATS.items() for k in range(len(formats))]


def sample(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return np.where(rng.random(shape) < 0.4, rng.integers(1, 9, shape), 0).astype(float)


def agree(found: ln.Tensor, expected: Any) -> None:
    np.testing.assert_array_equal(found.to_numpy(), expected)
    ln.from_buffers(found.format, found.shape, dict(found.buffers))  # which checks them


@pytest.mark.parametrize(("ndim", "k"), CASES)
def test_parts_and_joints(ndim: int, k: int):
    rng = np.random.default_rng(k)
    for _ in range(12):
        shape = tuple(int(n) for n in rng.integers(0, 6, ndim))
        a, d = sample(rng, shape), int(rng.integers(ndim))
        x = ln.asarray(a, format=FORMATS[ndim][k])
        if n := shape[d]:
            at = rng.integers(-n, n, rng.integers(0, 7))
            agree(ln.take(x, ln.asarray(at), axis=d), np.take(a, at, d))
            key = (*[slice(None)] * d, rng.random(n) < 0.5)
            agree(x[key], a[key])
        b = sample(rng, tuple(int(rng.integers(5)) if m == d else n for m, n in enumerate(shape)))
        y = ln.asarray(b, format=FORMATS[ndim][k])
        agree(ln.concat([x, y, x], axis=d), np.concatenate([a, b, a], d))
