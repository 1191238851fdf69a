"""Rows that belong together: `ln.groupby(labels).sum(X)`, mean, variance, count.

Groups are summed by a product with the matrix that says which row is in which group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra import table
from linnet.api.dtypes import astype
from linnet.api.operands import Array, as_tensor, shape_of
from linnet.api.products import matmul
from linnet.api.storage import build, dense, typed
from linnet.arrays import apply
from linnet.errors import ShapeError
from linnet.formats.located import located
from linnet.formats.named import CSR
from linnet.formats.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by label: `keys` are the different labels, in order, one row of every result each."""

    keys: NDArray[Any]
    codes: NDArray[Any]

    @property
    def member(self) -> Tensor:
        """The matrix with a one where a row (column) is in a group (row)."""
        shape = (len(self.keys), len(self.codes))
        rows = np.arange(len(self.codes))
        ones = np.ones(len(self.codes))
        return build([self.codes, rows], ones, shape, typed(CSR, "float64", 0.0))

    def count(self) -> Tensor:
        """How many rows are in each group."""
        return dense(np.bincount(self.codes, minlength=len(self.keys)).astype(np.int64))

    @located
    def sum(self, x: Array) -> Tensor:
        """The sum of the rows of each group."""
        return matmul(self.member, self._rows(x))

    @located
    def mean(self, x: Array) -> Tensor:
        """The mean of the rows of each group."""
        return apply(table.divide, self.sum(x), self._sizes())  # type: ignore[return-value]

    @located
    def var(self, x: Array, *, correction: float = 0.0) -> Tensor:
        """The variance of the rows of each group, by squares of distances from the overall mean."""
        from linnet.api.statistics import mean

        rows = self._rows(x)
        shift = mean(rows, axis=0)
        total, sizes = self.sum(rows), self._sizes()
        # sums of (x - s) and (x - s)**2 from those of x and x**2, with s the mean of all rows
        squares = matmul(self.member, apply(table.square, rows))
        first = apply(table.subtract, total, apply(table.multiply, sizes, shift))
        cross = apply(table.multiply, apply(table.multiply, total, shift), 2.0)
        second = apply(table.subtract, squares, cross)
        second = apply(table.add, second, apply(table.multiply, sizes, apply(table.square, shift)))
        spread = apply(table.divide, apply(table.square, first), sizes)
        top = apply(table.maximum, apply(table.subtract, second, spread), 0.0)
        return apply(table.divide, top, apply(table.subtract, sizes, float(correction)))  # type: ignore[return-value]

    def _rows(self, x: Array) -> Tensor:
        rows = as_tensor(x)
        if not rows.ndim or shape_of(rows)[0] != len(self.codes):
            raise ShapeError(f"there are {len(self.codes)} labels, and the shape is {rows.shape}")
        return astype(rows, "float64", copy=False)

    def _sizes(self) -> Tensor:
        return dense(np.bincount(self.codes, minlength=len(self.keys))[:, None].astype(float))


@located
def groupby(labels: Any) -> Groups:
    """Rows grouped by labels: numbers, strings, anything that can be sorted.

    >>> groups = ln.groupby(["b", "a", "b"])
    >>> groups.sum(ln.eye(3)).to_numpy().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    given = np.asarray(labels.to_numpy() if isinstance(labels, Tensor) else labels)
    if given.ndim != 1:
        raise ShapeError(f"labels are a vector, and these have shape {given.shape}")
    keys, codes = np.unique(given, return_inverse=True)
    return Groups(keys, codes.reshape(-1).astype(np.int64))
