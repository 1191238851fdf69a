"""ARRAY, Table 1, last row: any function, any representation, any dimensions, slices; all at once.

Every function is applied to slices of operands of every representation, in one to four dimensions,
as one fused expression: element by element, and from three dimensions on reduced along an axis.
"""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.runtime.watch import watch
from linnet.testing import dense

SHAPE = (5, 4, 6, 3)
SLICES = {1: np.s_[1:4], 2: np.s_[:, ::2], 3: np.s_[::-1], 4: np.s_[..., 1:, 1]}
"""By numbers of dimensions."""


@ln.function
def foo(x, y):
    return 2 * x - y if y > 1 else x * y


# combine, reduce, and what NumPy has for them; the reduction begins with its identity
FUNCTIONS = {
    "(+, x)": (ln.multiply, ln.sum, np.multiply, np.sum),
    "(min, +)": (ln.add, ln.min, np.add, np.min),
    "(max, min)": (ln.minimum, ln.max, np.minimum, np.max),
    "(or, and)": (ln.logical_and, ln.any, np.logical_and, np.any),
    "(xor, and)": (ln.bitwise_and, ln.bitwise_xor, np.bitwise_and, np.bitwise_xor.reduce),
    "foo": (foo, ln.sum, lambda x, y: np.where(y > 1, 2 * x - y, x * y), np.sum),
    "power": (ln.power, ln.max, np.power, np.max),
}
REPRESENTATIONS = {"dense": (ln.DENSE, 0), "zero fill": (ln.CSF, 0), "coordinates": (ln.COO, 0),
                   "fill 1": (ln.CSF, 1), "fill 3": (ln.COO, 3)}  # fmt: skip


def operands(ndim: int, format, fill: int, dtype: str) -> list[tuple[np.ndarray, ln.Tensor]]:
    rng = np.random.default_rng(ndim)
    found = []
    for _ in range(2):
        values = rng.integers(0, 4, SHAPE[:ndim])
        array = np.where(rng.random(SHAPE[:ndim]) < 0.4, values, fill).astype(dtype)
        found.append((array, ln.asarray(array, format=format, fill_value=fill)))
    return found


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_last_row(name, representation, ndim):
    combine, reduce, numpy_combine, numpy_reduce = FUNCTIONS[name]
    format, fill = REPRESENTATIONS[representation]
    dtype = "bool" if name == "(or, and)" else "int64"
    (a, A), (b, B) = operands(ndim, format, min(fill, 1) if dtype == "bool" else fill, dtype)
    index = SLICES[ndim]
    want = numpy_combine(a[index], b[index])
    made = combine(ln.lazy(A)[index], ln.lazy(B)[index])
    if ndim > 2:
        want, made = numpy_reduce(want, axis=0), _reduced(reduce, made)
    np.testing.assert_array_equal(dense(ln.compute(made)), want)


def _reduced(reduce, x):
    if isinstance(reduce, ln.Function):
        return ln.arrays.reduce(reduce, x, 0)
    return reduce(x, axis=0)


@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO], ids=repr)
def test_two_passes_and_no_array_of_the_size_of_the_operand(format):
    """`log1p(X * (target / X.sum(1)))`, then means and variances of columns."""

    @ln.fuse
    def statistics(X):
        Y = ln.log1p(X * (1e4 / X.sum(axis=1, keepdims=True)))
        return Y.mean(axis=0), Y.var(axis=0)

    rng = np.random.default_rng(0)
    x = np.where(rng.random((40, 30)) < 0.2, rng.integers(1, 9, (40, 30)), 0).astype(np.float32)
    x[:, 0] = 1
    X = ln.asarray(x, format=format)
    for _ in range(3):
        with watch() as seen:
            mean, variance = statistics(X)
        passes = [entry for entry, tensors in seen if any(t is X for t in tensors)]
        assert 1 <= len(passes) <= 2
        for entry, _ in seen:
            assert all(len(result.dims or ()) <= 1 for result in entry.results), entry.name
    y = np.log1p(x * (np.float32(1e4) / x.sum(1, keepdims=True)))
    np.testing.assert_allclose(dense(mean), y.mean(0), rtol=1e-5)
    np.testing.assert_allclose(dense(variance), y.var(0), rtol=1e-4)
