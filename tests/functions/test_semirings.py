"""Products of sparse matrices over the semirings that are built in, against their definition."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import linnet as ln
from linnet.arrays import contract

NAMES = [f.name for f in fields(type(ln.semirings))]
FILLS = {"min_plus": np.inf, "max_plus": -np.inf, "min_max": np.inf, "max_min": -np.inf}


def product(semiring: ln.Semiring, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    rows = []
    for row in a:
        rows.append([])
        for column in b.T:
            terms = [semiring.multiply.numpy(*each) for each in zip(row, column, strict=True)]
            total = terms[0]
            for term in terms[1:]:
                total = semiring.add.numpy(total, term)
            rows[-1].append(total)
    return np.array(rows)


@pytest.mark.parametrize("formats", [(ln.CSR, ln.CSR), (ln.CSR, ln.CSC), (ln.DCSR, ln.DENSE(2))])
@pytest.mark.parametrize("name", NAMES)
def test_product(name, formats):
    semiring = getattr(ln.semirings, name)
    rng = np.random.default_rng(len(name))
    fill = FILLS.get(name, 0)
    dtype = "bool" if name in ("or_and", "xor_and") else "float64"
    shapes = (5, 7), (7, 4)
    a, b = (
        np.where(rng.random(s) < 0.4, rng.integers(1, 9, s), fill).astype(dtype) for s in shapes
    )
    tensors = [
        ln.asarray(x, format=f, fill_value=np.dtype(dtype).type(fill).item())
        for x, f in zip((a, b), formats, strict=True)
    ]
    found = contract("ij,jk->ik", *tensors, semiring=semiring)
    np.testing.assert_array_equal(found.to_numpy(), product(semiring, a, b))
    if formats == (ln.CSR, ln.CSR) and semiring.zero(dtype) == fill:
        assert found.format == ln.CSR.with_fill(fill).with_dtype(dtype)


@pytest.mark.parametrize("name", NAMES)
def test_multiplication_distributes(name):
    """Where it is said; `pair` and `any` are no ring, and are used for patterns only."""
    semiring = getattr(ln.semirings, name)
    if name in ("any_pair", "max_times"):
        assert not semiring.multiply.distributes(semiring.add)
    else:
        assert semiring.multiply.distributes(semiring.add)
