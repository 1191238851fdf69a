"""Code as users write it, for type checkers: `tools/user_types.py` runs them on it."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import linnet as ln


@ln.kernel
def spmv(y: ln.Tensor, A: Any, x: Any) -> ln.Tensor:
    y[...] = 0
    for i, j in ln.extents:
        y[i] += A[i, j] * ln.sqrt(x[j])
    return y


A = ln.asarray(np.eye(3), format=ln.CSR)
y = spmv(ln.empty_tensor(ln.DENSE(1)), A, np.ones(3))
assert_type(y, ln.Tensor)
assert_type(spmv.code(y, A, np.ones(3)), str)
assert_type(spmv.loops(y, A, np.ones(3)), str)
spmv.reference(y, A, np.ones(3))["y"].sum()
print(A.shape[0] + 1, A.dtype.kind, abs(A.fill_value), len(A.T.shape))
inserted = ln.insert_workspaces(spmv, ln.Coord())
inserted(y, A, np.ones(3)).to_numpy().sum()
spmv("y", A, np.ones(3))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
spmv.nonsense()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]

i, j, i0, i1 = ln.indices("i j i0 i1")
out = ln.output()
out[i] = A[i, j] * y[j]
plan = ln.schedule(out).split(i, i0, i1, 32).reorder("i0", "i1", "j")
assert_type(plan.run(), ln.Tensor)
assert_type(plan.loops + plan.code + plan.commands, str)
plan.split(3, i0, i1, 32)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert_type(ln.einsum("y[i] += A[i,j]", A=A, schedule=plan), ln.Tensor)
tiled = spmv.schedule().split("i", "i0", "i1", 32, direction="up")
assert_type(tiled.loops(y, A, np.ones(3)), str)


@ln.fuse
def normalized(X: ln.Tensor) -> ln.Tensor:
    return X / ln.sum(X, axis=1, keepdims=True)


assert_type(normalized(A), ln.Tensor)
normalized("A")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


class Model:
    @ln.fuse
    def doubled(self, X: ln.Tensor) -> ln.Tensor:
        return X + X


Model().doubled(A).to_numpy()
print(normalized.explain(A))


@ln.function(commutative=True)
def larger(a: float, b: float) -> float:
    return a if a > b else b


assert_type(larger, ln.Function)
print(ln.einsum("y[i] max= A[i, j]", A=A).to_numpy().sum(), ln.linalg.vector_norm(A), ln.config)
ln.nonsense  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
