"""Rows that belong together: `ln.groupby(X, labels).sum()`, mean, variance, extremes, count.

Groups are summed by a product with the matrix that says which row is in which group.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra import table
from linnet.api import statistics
from linnet.api.dtypes import DType, astype
from linnet.api.indexing import take
from linnet.api.joining import concat
from linnet.api.operands import Array, as_tensor, axis_number, check_kind, dtype_of, real, shape_of
from linnet.api.products import tensordot
from linnet.api.shapes import moveaxis, reshape
from linnet.api.statistics import accumulated_in, summed_dtype
from linnet.api.storage import build, dense, densely, is_dense, typed
from linnet.arrays import apply
from linnet.errors import ArgumentError, ShapeError
from linnet.formats.located import located
from linnet.formats.named import CSR, DENSE, FormatLike
from linnet.formats.tensor import Tensor, empty_tensor
from linnet.options import limit
from linnet.records import dataclass

_SMALL = 1 << 22  # elements of a result that is dense in any case


@dataclass(frozen=True, slots=True)
class Groups:
    """Parts of arrays by label: `keys` are the different labels, in order, one part each.

    The functions take the array, unless `groupby` was given one.
    """

    keys: NDArray[Any]
    codes: NDArray[Any]
    array: Tensor | None = None
    axis: int = 0

    def count(self) -> Tensor:
        """How many parts are in each group."""
        return dense(self._counts())

    @located
    def sum(
        self,
        x: Array = None,
        *,
        dtype: DType = None,
        acc_dtype: DType = None,
        format: FormatLike | None = None,
    ) -> Tensor:
        """The sum of each group, in the types that `ln.sum` has."""
        array, axis = self._grouped(x)
        wanted = summed_dtype(dtype_of(array), dtype)
        found = self._summed(array, axis, accumulated_in(wanted, acc_dtype))
        return _in_format(astype(found, wanted, copy=False), format)

    @located
    def mean(self, x: Array = None, *, format: FormatLike | None = None) -> Tensor:
        """The mean of each group."""
        array, axis = self._grouped(x)
        held = dtype_of(array)
        inside = "complex128" if held.startswith("c") else "float64"
        total = self._summed(array, axis, inside)
        found: Any = apply(table.divide, total, self._sizes(array, axis))
        return _in_format(astype(found, _floating(held), copy=False), format)

    @located
    def var(
        self,
        x: Array = None,
        *,
        correction: float = 0.0,
        ddof: float | None = None,
        format: FormatLike | None = None,
    ) -> Tensor:
        """The variance of each group; `ddof` is NumPy's name for the correction."""
        array, axis = self._grouped(x)
        check_kind(array, "biuf", "var")
        degrees = real(correction if ddof is None else ddof, "a correction")
        found = self._variance(astype(array, "float64", copy=False), axis, degrees)
        return _in_format(astype(found, _floating(dtype_of(array)), copy=False), format)

    @located
    def std(
        self,
        x: Array = None,
        *,
        correction: float = 0.0,
        ddof: float | None = None,
        format: FormatLike | None = None,
    ) -> Tensor:
        """The standard deviation of each group: the root of the variance."""
        found: Any = apply(table.sqrt, self.var(x, correction=correction, ddof=ddof))
        return _in_format(found, format)

    @located
    def max(self, x: Array = None, *, format: FormatLike | None = None) -> Tensor:
        """The largest element of each group."""
        return _in_format(self._each(statistics.max, *self._grouped(x)), format)

    @located
    def min(self, x: Array = None, *, format: FormatLike | None = None) -> Tensor:
        """The smallest element of each group."""
        return _in_format(self._each(statistics.min, *self._grouped(x)), format)

    @located
    def any(self, x: Array = None, *, format: FormatLike | None = None) -> Tensor:
        """Whether an element of each group is not zero."""
        return _in_format(self._each(statistics.any, *self._grouped(x)), format)

    @located
    def all(self, x: Array = None, *, format: FormatLike | None = None) -> Tensor:
        """Whether no element of each group is zero."""
        return _in_format(self._each(statistics.all, *self._grouped(x)), format)

    def _each(self, reduction: Callable[..., Any], array: Tensor, axis: int) -> Tensor:
        """A reduction of the parts of each group, which are brought together first."""
        together = take(array, np.argsort(self.codes, kind="stable"), axis=axis)
        ends = np.cumsum(self._counts())
        lead = (slice(None),) * axis
        parts = [
            reduction(together[(*lead, slice(int(end - size), int(end)))], axis=axis, keepdims=True)
            for end, size in zip(ends, self._counts(), strict=True)
        ]
        return concat(parts, axis=axis)

    def _grouped(self, x: Array) -> tuple[Tensor, int]:
        """The array whose parts are grouped, and along which dimension."""
        if (x is None) == (self.array is None):
            raise ArgumentError(
                "which array is grouped?" if x is None else "there is an array already",
                hint="ln.groupby(X, labels).sum(), or ln.groupby(labels).sum(X)",
            )
        if self.array is not None:
            return self.array, self.axis
        array = as_tensor(x)
        _check_labels(array, 0, len(self.codes))
        return array, 0

    def _counts(self) -> NDArray[Any]:
        return np.bincount(self.codes, minlength=len(self.keys)).astype(np.int64)

    def _sizes(self, array: Tensor, axis: int) -> Tensor:
        """How many parts are in each group, along the grouped dimension."""
        shape = [1] * array.ndim
        shape[axis] = len(self.keys)
        return reshape(dense(self._counts().astype(np.float64)), tuple(shape))

    def _summed(self, array: Tensor, axis: int, inside: str) -> Tensor:
        """The sums of groups, accumulated in a dtype: by rows where little memory holds them."""
        shape = (len(self.keys), len(self.codes))
        if (
            array.ndim == 2
            and not array.fill_value
            and shape[0] * shape_of(array)[1 - axis] <= limit(_SMALL)
        ):
            return self._summed_by_rows(array, axis, inside)
        array = astype(array, inside, copy=False)
        ones = np.ones(len(self.codes), inside)
        of_group = typed(CSR, inside, 0)
        member = build([self.codes, np.arange(len(self.codes))], ones, shape, of_group)
        found = tensordot(member, array, axes=((1,), (axis,)))
        return moveaxis(found, 0, axis) if axis else found

    def _summed_by_rows(self, array: Tensor, axis: int, inside: str) -> Tensor:
        total = empty_tensor(typed(DENSE(2), inside, 0))
        rows = _as_rows(array, axis)
        sums()(total, rows if is_dense(rows.format) else rows.to(CSR), *self._numbers())
        found = total.T if axis else total
        return found if is_dense(array.format) else found.to(typed(CSR, inside, 0))

    def _numbers(self) -> tuple[Tensor, Tensor]:
        """The number of the group of each part, and of each group the size."""
        return dense(self.codes), dense(self._counts())

    def _variance(self, array: Tensor, axis: int, correction: float) -> Any:
        """By squares of distances from the mean of each group.

        What is not stored is at one distance: those are counted, so that nothing gets dense.
        """
        fill: Any = array.fill_value
        if np.isfinite(fill):
            array = apply(table.subtract, array, fill)  # type: ignore[assignment]
        else:  # at no distance from anything, and not what is counted: that is 0
            array = dense(densely(array, "an array of variances whose fill value is not finite"))
        total = self._summed(array, axis, "float64")
        means: Any = apply(table.divide, total, self._sizes(array, axis))
        shape, mean = shape_of(means), _as_rows(means, axis)
        mean = mean.to(DENSE) if mean.size <= limit(_SMALL) else mean
        squares, count = distances()(
            empty_tensor(mean.format),
            empty_tensor(mean.format),
            _as_rows(array, axis).to(CSR),
            mean,
            dense(self.codes),
        )
        sizes = dense(self._counts().astype(np.float64)[:, None])
        rest = apply(table.multiply, apply(table.subtract, sizes, count), apply(table.square, mean))
        rest = apply(table.where, apply(table.equal, count, sizes), 0.0, rest)  # 0 times inf
        degrees = apply(table.maximum, apply(table.subtract, sizes, correction), 0.0)
        found: Any = apply(table.divide, apply(table.add, squares, rest), degrees)
        moved = (shape[axis], *shape[:axis], *shape[axis + 1 :])
        return moveaxis(reshape(found, moved), 0, axis)


@cache
def sums() -> Any:
    """The kernel that adds up the rows of each group."""
    from linnet.frontend.kernel import kernel
    from linnet.frontend.words import declare

    def of_groups(total: Any, x: Any, group: Any, sizes: Any) -> Any:
        declare(total, 0, (sizes.shape[0], x.shape[1]))
        for i, j in ...:
            total[group[i], j] += x[i, j]
        return total

    return kernel(of_groups)


@cache
def distances() -> Any:
    """The kernel that adds up squares of distances of what is stored from the mean of its group."""
    from linnet.frontend.kernel import kernel
    from linnet.frontend.words import declare

    def of_groups(squares: Any, count: Any, x: Any, mean: Any, group: Any) -> Any:
        declare(squares, 0.0, (mean.shape[0], mean.shape[1]))
        declare(count, 0.0, (mean.shape[0], mean.shape[1]))
        for i, j in ...:
            if x[i, j] != 0:
                squares[group[i], j] += (x[i, j] - mean[group[i], j]) ** 2
                count[group[i], j] += 1.0
        return squares, count

    return kernel(of_groups)


def _as_rows(x: Tensor, axis: int) -> Tensor:
    """A matrix with one row for each part along a dimension."""
    return reshape(moveaxis(x, axis, 0), (shape_of(x)[axis], -1))


def _floating(dtype: str) -> str:
    return dtype if dtype[0] in "fc" else "float64"


def _in_format(x: Tensor, format: FormatLike | None) -> Tensor:
    return x if format is None else x.to(format)


def _check_labels(array: Tensor, axis: int, count: int) -> None:
    if not array.ndim or shape_of(array)[axis] != count:
        raise ShapeError(f"there are {count} labels, and the shape is {array.shape}")


@located
def groupby(x: Any, labels: Any = None, /, *, axis: int = 0) -> Groups:
    """Parts of an array along a dimension, grouped by labels: numbers, strings, what can be sorted.

    With labels alone, the functions of what is returned take the array.

    >>> X = ln.asarray([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]], format="csr")
    >>> ln.groupby(X, ["b", "a", "b"]).sum().to_numpy().tolist()
    [[0.0, 2.0], [4.0, 0.0]]
    >>> ln.groupby(["b", "a", "b"]).mean(X).to_numpy().tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    array, given = (None, x) if labels is None else (as_tensor(x), labels)
    names = np.asarray(given.to_numpy() if isinstance(given, Tensor) else given)
    if names.ndim != 1:
        raise ShapeError(f"labels are a vector, and these have shape {names.shape}")
    try:
        keys, codes = np.unique(names, return_inverse=True)
    except TypeError as error:
        raise ArgumentError("these labels cannot be put in order", why=str(error)) from None
    codes = codes.reshape(-1).astype(np.int64)
    if array is None:
        return Groups(keys, codes)
    place = axis_number(axis, array.ndim)
    _check_labels(array, place, len(codes))
    return Groups(keys, codes, array, place)
