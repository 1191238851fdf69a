"""Functions of arrays keep what is lazy lazy, and give what they give of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.api.operands import close, matrix

import linnet as ln
from linnet.errors import ShapeError

KEPT: dict[str, Any] = {
    "sum": (lambda x: x.sum(axis=0), lambda a: a.sum(0)),
    "mean": (lambda x: x.mean(axis=1), lambda a: a.mean(1)),
    "var": (lambda x: x.var(axis=0), lambda a: a.var(0)),
    "max": (lambda x: x.max(axis=1), lambda a: a.max(1)),
    "any": (lambda x: x.any(axis=1), lambda a: a.any(1)),
    "part": (lambda x: x[1:4, ::2], lambda a: a[1:4, ::2]),
    "row": (lambda x: x[2], lambda a: a[2]),
    "transpose": (lambda x: x.mT, lambda a: a.T),
    "product": (lambda x: x @ x.T, lambda a: a @ a.T),
    "astype": (lambda x: x.astype(np.float32), lambda a: a.astype(np.float32)),
    "clip": (lambda x: x.clip(-1.0, 1.0), lambda a: a.clip(-1, 1)),
    "where": (lambda x: ln.where(x > 0, x, 0.0), lambda a: np.where(a > 0, a, 0)),
    "broadcast": (lambda x: ln.broadcast_to(x, (2, 4, 6)), lambda a: np.broadcast_to(a, (2, 4, 6))),
    "count": (lambda x: ln.count_nonzero(x, axis=0), lambda a: np.count_nonzero(a, axis=0)),
    "numpy": (np.exp, np.exp),
}
COMPUTED: dict[str, Any] = {
    "reshape": (lambda x: x.reshape(8, 3), lambda a: a.reshape(8, 3)),
    "concat": (lambda x: ln.concat([x, x]), lambda a: np.concatenate([a, a])),
    "positions": (lambda x: x[[2, 0]], lambda a: a[[2, 0]]),
}


@pytest.mark.parametrize("name", [*KEPT, *COMPUTED])
def test_lazy_arrays(name: str):
    x, a = matrix("csr")
    ours, theirs = (KEPT | COMPUTED)[name]
    found = ours(ln.lazy(x))
    assert isinstance(found, ln.Lazy if name in KEPT else ln.Tensor)
    close(ln.compute(found), theirs(a))


def test_a_lazy_array_is_not_assigned_to():
    with pytest.raises(TypeError, match="compute it first"):
        ln.lazy(matrix("csr")[0])[0] = 1.0


@ln.kernel
def doubled(y, x):
    y[...] = 0
    for i in ...:
        y[i] = 2 * x[i]


@pytest.mark.parametrize("given", [np.ones(5), np.ones(3, np.float32)], ids=["shape", "dtype"])
def test_an_operand_that_is_not_what_it_was_is_told(given: Any):
    """Not computed to an array of another shape or dtype than the lazy one says it has."""
    x = ln.empty_tensor(ln.Dense(ln.Element()))
    doubled(x, ln.asarray(np.arange(3.0)))
    later = ln.lazy(x) * 10
    np.testing.assert_array_equal(later.compute().to_numpy(), [0, 20, 40])
    doubled(x, ln.asarray(given))
    with pytest.raises(ShapeError, match=r"had the shape \(3,\).* is now of") as caught:
        later.compute()
    assert "copy" in str(caught.value)
