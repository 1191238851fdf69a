"""Index notation as Python objects."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.arrays.lazy import compute, lazy
from linnet.errors import ArgumentError, FormatError, LifecycleError, ShapeError
from linnet.frontend.index import indices, output

RNG = np.random.default_rng(3)
A = np.where(RNG.random((4, 5)) < 0.5, RNG.integers(1, 9, (4, 5)), 0).astype(float)
B = np.where(RNG.random((5, 3)) < 0.5, RNG.integers(1, 9, (5, 3)), 0).astype(float)
x, b = np.arange(1.0, 6.0), np.arange(4.0)
i, j, k = indices("i j k")
csr, other = ln.asarray(A, format=ln.CSR), ln.asarray(B, format=ln.CSR)
vector, offset = ln.asarray(x), ln.asarray(b)


def test_a_product():
    y = output()
    y[i] = csr[i, j] * vector[j]
    np.testing.assert_array_equal(y.run().to_numpy(), A @ x)
    np.testing.assert_array_equal(compute(y).to_numpy(), A @ x)
    assert repr(y) == "Output(out[i] = A[i, j] * B[j])"
    assert "for i, j in ...:" in ln.explain(y)["program"]


def test_formats():
    C = output(ln.CSC)
    C[i, j] = csr[i, k] * other[k, j]
    assert C.run().format.name == "CSC"
    np.testing.assert_array_equal(C.run().to_numpy(), A @ B)


def test_updates():
    m = output()
    m[i] = ln.maximum(m[i], csr[i, j])
    np.testing.assert_array_equal(m.run().to_numpy(), A.max(1))
    s = output()
    s[i] += csr[i, j] * 2
    np.testing.assert_array_equal(s.run().to_numpy(), A.sum(1) * 2)


def test_terms_are_summed_by_themselves():
    y = output()
    y[i] = csr[i, j] * vector[j] + offset[i] - 1
    np.testing.assert_array_equal(y.run().to_numpy(), A @ x + b - 1)
    found = ln.einsum("y[i] = A[i,j] * x[j] + b[i]", A=csr, x=vector, b=offset)
    np.testing.assert_array_equal(found.to_numpy(), A @ x + b)


def test_indices_are_values():
    lower = output(ln.CSR)
    lower[i, j] = ln.where(j <= i, csr[i, j], 0.0)
    np.testing.assert_array_equal(lower.run().to_numpy(), np.tril(A))
    moved = output()
    moved[i, j] = csr[i, j] * vector[4 - j]
    np.testing.assert_array_equal(moved.run().to_numpy(), A * x[::-1])


def test_lazy_operands_and_several_outputs():
    twice = lazy(csr) * 2
    y, z = output(), output()
    y[i] = twice[i, j] * vector[j]
    z[j] = csr[i, j]
    found = compute(y, z)
    np.testing.assert_array_equal(found[0].to_numpy(), 2 * A @ x)
    np.testing.assert_array_equal(found[1].to_numpy(), A.sum(0))


def test_einsum_of_parts():
    found = ln.einsum("y[i] = A[1:3, ::2][i, j] * x[:3][j]", A=csr, x=vector)
    np.testing.assert_array_equal(found.to_numpy(), A[1:3, ::2] @ x[:3])
    noted = ln.einsum("y[i] = A[i, j]", A=lazy(csr))
    assert noted.shape == (4,)
    np.testing.assert_array_equal(compute(noted).to_numpy(), A.sum(1))


def test_refused():
    with pytest.raises(ArgumentError, match="does not name indices"):
        indices("2")
    with pytest.raises(ArgumentError, match="named twice"):
        indices("i i")
    with pytest.raises(LifecycleError, match="no equation yet"):
        output().run()
    y = output()
    with pytest.raises(FormatError, match="not an index of a result"):
        y[i + 1] = csr[i, j]
    with pytest.raises(ShapeError, match="1 indices for 2"):
        y[i] = csr[i]
    with pytest.raises(ArgumentError, match="not a value"):
        y[i] = csr[i, j] * vector
    y[i] = csr[i, j]
    with pytest.raises(LifecycleError, match="has an equation already"):
        y[i] = csr[i, j]
    with pytest.raises(ArgumentError, match="no truth value"):
        bool(csr[i, j] > 0)
    wrong = output()
    wrong[i] = csr[j, i] * csr[i, j]
    with pytest.raises(ShapeError, match="`i` is"):
        wrong.run()
    unbound = output()
    unbound[i, k] = csr[i, j]
    with pytest.raises(ShapeError, match="nothing says how far `k` runs"):
        unbound.run()


def test_places_are_marked():
    with pytest.raises(ln.LinnetError) as caught:
        ln.einsum("y[i] = A[i,j] * * x[j]", A=csr, x=vector)
    assert "        y[i] = A[i,j] * * x[j]\n                        ^" in str(caught.value)
