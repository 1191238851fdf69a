"""NumPy's statistics that the standard does not have, of sparse arrays: `median` to `histogram`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from linnet.algebra import table
from linnet.api.numpy.shapes import of_linnet
from linnet.api.operands import Axes, as_array, as_tensor, axis_numbers, dtype_of, shape_of, whole
from linnet.api.storage import refuse_large
from linnet.arrays import apply
from linnet.errors import ArgumentError, FormatError, IndexBoundsError, RangeError, ShapeError


def average(
    a: Any,
    axis: int | None = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """The mean, of values that may count more or less; and their weight, if that is asked for."""
    x = as_array(a)
    if weights is None:
        mean = of_linnet("mean")(x, axis=axis, keepdims=keepdims)
        count = x.size / mean.size if mean.size else 0.0
        return (mean, of_linnet("full")(shape_of(mean), count)) if returned else mean
    w = as_array(weights)
    if shape_of(w) != shape_of(x):
        if axis is None or shape_of(w) != (shape_of(x)[axis],):
            raise ShapeError(f"weights of shape {shape_of(w)} for an array of shape {shape_of(x)}")
        w = w.reshape(tuple(-1 if k == axis % x.ndim else 1 for k in range(x.ndim)))
    total = of_linnet("sum")(apply(table.multiply, x, w), axis=axis, keepdims=keepdims)
    weight = of_linnet("sum")(w, axis=axis, keepdims=keepdims)
    found = apply(table.divide, total, weight)
    return (found, of_linnet("broadcast_to")(weight, shape_of(found))) if returned else found


# -- quantiles -------------------------------------------------------------------------------------

_METHODS: dict[str, Callable[[float], float]] = {
    "linear": lambda part: part,
    "lower": lambda part: 0.0,
    "higher": lambda part: float(part > 0),
    "midpoint": lambda part: 0.5 * (part > 0),
}
"""How far from the value below to the one above, for a part of the way between them."""


def quantile(
    a: Any,
    q: Any,
    axis: Axes = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """The value below which a part of the others lies, between two of them in proportion."""
    return _quantiles(_between, a, q, axis, method, keepdims)


def nanquantile(
    a: Any,
    q: Any,
    axis: Axes = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """A quantile of the elements that are not NaN; NaN if there is none."""
    return _quantiles(_between_known, a, q, axis, method, keepdims)


def _quantiles(
    one: Callable[..., Any], a: Any, q: Any, axis: Axes, method: str, keepdims: bool
) -> Any:
    if method not in _METHODS:
        raise ArgumentError(
            f"quantiles by the method {method!r} are not there for tensors",
            hint=f"method= takes {', '.join(_METHODS)}",
        )
    parts = np.asarray(q, float)
    if not ((parts >= 0) & (parts <= 1)).all():
        raise ShapeError(f"a quantile lies between 0 and 1, and not at {q}")
    x, k, kept = _in_one_line(a, axis)
    if shape_of(x)[k] == 0:
        if x.size == 0 and 0 in (shape_of(x)[:k] + shape_of(x)[k + 1 :]):  # so has the result
            return of_linnet("mean")(x, axis=k, keepdims=keepdims)
        raise IndexBoundsError("an array without elements has no quantiles")
    ordered = of_linnet("moveaxis")(of_linnet("sort")(x, axis=k), k, -1)
    found = [one(ordered, float(p), _METHODS[method]) for p in parts.ravel()]
    if keepdims:
        found = [each.reshape(kept) for each in found]
    if not parts.ndim:
        return found[0]
    return of_linnet("stack")(found).reshape(parts.shape + shape_of(found[0]))


def _in_one_line(a: Any, axis: Axes) -> tuple[Any, int, tuple[int, ...]]:
    """The elements of each quantile along one axis; and the shape of a result that keeps all."""
    x = as_tensor(a)
    axes = axis_numbers(axis, x.ndim)
    kept = tuple(1 if m in axes else n for m, n in enumerate(shape_of(x)))
    if len(axes) == 1:
        return x, axes[0], kept
    left = tuple(n for m, n in enumerate(shape_of(x)) if m not in axes)
    behind = of_linnet("moveaxis")(x, axes, tuple(range(-len(axes), 0)))
    size = math.prod(shape_of(x)[m] for m in axes)
    return behind.reshape((*left, size)), len(left), kept


def _between(ordered: Any, part: float, way: Callable[[float], float]) -> Any:
    """The value at a part of the way from the least to the greatest; NaN where there is one."""
    below, rest = divmod(part * (shape_of(ordered)[-1] - 1), 1)
    weight = way(rest)
    found: Any = ordered[..., int(below) + int(weight)]
    if weight % 1:
        more = apply(table.multiply, ordered[..., int(below) + 1], weight)
        found = apply(table.add, apply(table.multiply, found, 1 - weight), more)
    found = found if dtype_of(found)[0] in "fc" else found.astype("float64")
    if dtype_of(ordered)[0] != "f":
        return found
    last = ordered[..., -1]  # NaN comes last
    return of_linnet("where")(apply(table.isnan, last), last, found)


def _between_known(ordered: Any, part: float, way: Callable[[float], float]) -> Any:
    """The same among the elements that are not NaN, as many as there are in each row."""
    if dtype_of(ordered)[0] != "f":
        return _between(ordered, part, way)
    missing = of_linnet("sum")(apply(table.isnan, ordered), axis=-1).to_numpy()
    count = shape_of(ordered)[-1] - missing
    place = np.maximum(part * (count - 1), 0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    weight = np.vectorize(way, otypes=[float])(place - below)
    low, high = (
        of_linnet("take_along_axis")(ordered, at[..., None], axis=-1)[..., 0]
        for at in (below, above)
    )
    both = apply(table.add, apply(table.multiply, low, 1 - weight), high * weight)
    found = of_linnet("where")(weight % 1 == 0, of_linnet("where")(weight > 0, high, low), both)
    return of_linnet("where")(count > 0, found, np.nan).astype(dtype_of(ordered))


def percentile(
    a: Any,
    q: Any,
    axis: Axes = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """A quantile, in hundredths."""
    return quantile(a, np.asarray(q, float) / 100, axis, False, method, keepdims)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Axes = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """A quantile of the elements that are not NaN, in hundredths."""
    return nanquantile(a, np.asarray(q, float) / 100, axis, False, method, keepdims)


def median(a: Any, axis: Axes = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The value in the middle, or between the two that are; NaN of nothing, with a warning."""
    if _is_of_nothing(a, axis):
        return _of_nothing(a, axis, keepdims)
    return quantile(a, 0.5, axis, keepdims=keepdims)


def nanmedian(
    a: Any, axis: Axes = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The median of the elements that are not NaN; NaN of nothing, with a warning."""
    if _is_of_nothing(a, axis):
        return _of_nothing(a, axis, keepdims)
    return nanquantile(a, 0.5, axis, keepdims=keepdims)


def _is_of_nothing(a: Any, axis: Axes) -> bool:
    """Whether along the axes there are no elements."""
    x = as_tensor(a)
    return 0 in [shape_of(x)[m] for m in axis_numbers(axis, x.ndim)]


def _of_nothing(a: Any, axis: Axes, keepdims: bool) -> Any:
    """As in NumPy, the mean of nothing."""
    found = of_linnet("mean")(a, axis=axis, keepdims=keepdims)
    if found.size:
        warnings.warn("a median of no elements is NaN", RuntimeWarning, stacklevel=2)
    return found


# -- covariances and counts ------------------------------------------------------------------------


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None
) -> Any:
    """The covariances of rows: products of distances from their means."""
    x = _observed(m, rowvar)
    if y is not None:
        x = of_linnet("concat")([x, _observed(y, rowvar)])
    less = (0 if bias else 1) if ddof is None else ddof
    found = apply(table.divide, _spread(x), float(shape_of(x)[1] - less))
    return found if shape_of(x)[0] > 1 else found.reshape(())


def _spread(x: Any) -> Any:
    """Sums of products of distances, of what is stored; what is not is at one distance in a row.

    So nothing gets dense, and no large numbers are subtracted that are nearly equal.
    """
    n, dense = shape_of(x)[1], of_linnet("DENSE")
    mean = of_linnet("mean")(x, axis=1, keepdims=True).to(dense)
    there = apply(table.not_equal, x, x.fill_value)
    lazy = of_linnet("lazy")
    distances = of_linnet("where")(lazy(there), apply(table.subtract, lazy(x), mean), 0.0).compute()
    mark, matmul = there.astype(dtype_of(distances)), of_linnet("matmul")
    rest = apply(table.subtract, x.fill_value, mean)  # the distance of what is not stored
    conj, total_of = apply(table.conj, rest), of_linnet("sum")
    # one of two rows stores an element there, or neither does
    alone = apply(
        table.subtract,
        total_of(distances, axis=1, keepdims=True).to(dense),
        matmul(distances, mark.T).to(dense),
    )
    count = total_of(mark, axis=1, keepdims=True).to(dense)
    either = apply(table.subtract, apply(table.add, count, count.T), matmul(mark, mark.T).to(dense))
    neither = apply(table.subtract, n, either)
    both = matmul(distances, apply(table.conj, distances).T).to(dense)
    total = apply(table.add, both, apply(table.multiply, alone, conj.T))
    total = apply(table.add, total, apply(table.multiply, rest, apply(table.conj, alone).T))
    corner = apply(table.multiply, apply(table.multiply, rest, conj.T), neither)
    return apply(table.add, total, corner)


def _observed(m: Any, rowvar: bool) -> Any:
    x = as_tensor(m)
    if x.ndim > 2:
        raise ShapeError(f"covariances are of matrices, and not of {x.ndim} dimensions")
    if x.ndim < 2:
        return x.reshape((1, -1))
    return x if rowvar else x.T


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """Covariances, each over the deviations of its row and its column."""
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return apply(table.divide, c, c)
    spread = apply(table.sqrt, of_linnet("real")(of_linnet("linalg").diagonal(c)))
    return apply(table.divide, apply(table.divide, c, spread[:, None]), spread[None, :])


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each integer occurs."""
    if weights is not None:
        raise FormatError("`bincount` takes no weights here", hint="ln.groupby(weights, x).sum()")
    least = whole(minlength, "the least length")
    if least < 0:
        raise RangeError(f"the least length is 0 or more, not {least}")
    values, counts = _counted(x)
    if values.dtype.kind not in "biu" or (values < 0).any():
        raise FormatError("`bincount` counts integers that are not negative")
    size = max(least, int(values.max()) + 1 if len(values) else 0)
    refuse_large(size, "the count of every integer up to the largest")
    found = np.zeros(size, np.int64)
    found[values.astype(np.int64)] = counts
    return of_linnet("asarray")(found)


def histogram(a: Any, bins: Any = 10, range: tuple[float, float] | None = None) -> Any:
    """How many elements lie in each bin, those that are not stored included; and the bins."""
    values, counts = _counted(a)
    found, edges = np.histogram(values, bins, range, weights=counts)
    return of_linnet("asarray")(found), of_linnet("asarray")(edges)


def _counted(x: Any) -> tuple[Any, Any]:
    found = of_linnet("unique_counts")(x)
    return found.values.to_numpy(), found.counts.to_numpy()
