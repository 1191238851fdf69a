"""NumPy's ways to cut, join and choose that the standard does not have: `split` to `unique`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from linnet.algebra import table
from linnet.api import above
from linnet.api.indexing import positions
from linnet.api.operands import as_array, as_tensor, axis_number, shape_of, whole
from linnet.api.storage import DENSE_LIMIT, countable, densely, is_dense, reshaped_alike
from linnet.arrays import Lazy, apply
from linnet.errors import ArgumentError, RangeError, ShapeError
from linnet.formats.tensor import Tensor


def of_linnet(name: str) -> Any:
    """A function of this package."""
    return getattr(above.package(), name)


def flat(x: Any) -> Any:
    """All elements in one dimension."""
    return as_tensor(x).reshape(-1)


def along(x: Any, axis: int | None) -> tuple[Any, int]:
    """An array, and an axis of it: the only one of a flat array where none is given."""
    return (flat(x), 0) if axis is None else (as_tensor(x), axis)


def flattened(a: Any, order: str | None = "C") -> Any:
    """`np.ravel`: all elements in one dimension, by rows or by columns."""
    if order == "K":  # as in memory: there are no views that "A" does not tell
        order = "A"
    return reshape(a, (-1,), order)


# -- shapes ----------------------------------------------------------------------------------------


def reshape(
    a: Any,
    shape: Any = None,
    order: str | None = "C",
    *,
    newshape: Any = None,
    copy: bool | None = None,
) -> Any:
    """The same elements, by rows or, with "F", by columns, in another shape."""
    x, wanted = as_tensor(a), newshape if shape is None else shape
    if not _is_by_columns(x, order):
        return of_linnet("reshape")(x, wanted, copy=copy)
    sizes = tuple(reversed(wanted)) if isinstance(wanted, tuple | list) else (wanted,)
    found = of_linnet("reshape")(x.T, sizes, copy=copy).T
    return found if is_dense(found.format) else found.to(reshaped_alike(x, found.shape))


def _is_by_columns(x: Tensor, order: str | None) -> bool:
    """Whether the first dimension varies fastest; "A" is as a dense array lies, if that tells."""
    if order == "A":
        held = x.contents()
        format, tells = held.format, sum(n > 1 for n in held.shape) > 1
        return tells and is_dense(format) and format.order == tuple(reversed(range(x.ndim)))
    if order not in ("C", "F", None):
        raise RangeError(f'the order of elements is "C", "F" or "A", not {order!r}')
    return order == "F"


def triangle(name: str) -> Callable[..., Any]:
    """`np.tril` and `np.triu`: of a vector, those of a matrix that has it in every row."""

    def call(m: Any, k: int = 0) -> Any:
        x = as_tensor(m)
        rows = of_linnet("broadcast_to")(x, (x.size, x.size)) if x.ndim == 1 else x
        return of_linnet(name)(rows, k=k)

    return call


def at_least(ndim: int) -> Callable[..., Any]:
    """`atleast_1d` and its kin: dimensions of size 1 where NumPy adds them."""

    def with_dimensions(*arrays: Any) -> Any:
        found = tuple(_with_dimensions(as_tensor(x), ndim) for x in arrays)
        return found[0] if len(found) == 1 else found

    return with_dimensions


def _with_dimensions(x: Any, ndim: int) -> Any:
    shape = shape_of(x)
    if len(shape) >= ndim:
        return x
    if ndim == 3 and shape:  # rows and columns come first
        return x.reshape((1, *shape, 1) if len(shape) == 1 else (*shape, 1))
    return x.reshape((1,) * (ndim - len(shape)) + shape)


def broadcast_arrays(*args: Any) -> Any:
    """All arrays in the shape in which they meet; arrays of NumPy beside what holds no numbers.

    Matplotlib, say, has bars with `None` for what nobody chose.
    """
    if all(isinstance(x, Tensor | Lazy) or np.asarray(x).dtype.kind in "biufc" for x in args):
        return of_linnet("broadcast_arrays")(*args)
    given = [densely(as_tensor(x), "an array beside None") if isinstance(x, Tensor | Lazy) else x
             for x in args]  # fmt: skip
    return np.broadcast_arrays(*given)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes, each in the place of the other."""
    x = as_array(a)
    order = list(range(len(shape_of(x))))
    one, other = (axis_number(axis, len(order)) for axis in (axis1, axis2))
    order[one], order[other] = other, one
    return of_linnet("permute_dims")(x, tuple(order))


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Turned by quarters in the plane of two axes."""
    x = as_tensor(m)
    if k % 4 == 2:
        return of_linnet("flip")(x, axis=axes)
    if k % 4 == 1:
        return swapaxes(of_linnet("flip")(x, axis=axes[1]), *axes)
    return of_linnet("flip")(swapaxes(x, *axes), axis=axes[1]) if k % 4 else copy(x)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts along an axis, some longer by one."""
    x = as_tensor(ary)
    n = shape_of(x)[axis]
    if np.ndim(indices_or_sections):
        ends = [*indices_or_sections, n]
    else:
        count = int(indices_or_sections)
        if count <= 0:
            raise ShapeError("an array cannot be split into less than one part")
        countable((count,))  # parts, most of which are empty
        ends = [n // count * (k + 1) + min(k + 1, n % count) for k in range(count)]
    begins = [0, *ends[:-1]]
    lead = (slice(None),) * (axis % x.ndim)
    return [x[(*lead, slice(b, e))] for b, e in zip(begins, ends, strict=True)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Equal parts along an axis."""
    n = shape_of(as_array(ary))[axis]
    if not np.ndim(indices_or_sections) and n % indices_or_sections:
        raise ShapeError(
            f"{n} rows along axis {axis} are not {indices_or_sections} equal parts",
            hint="np.array_split makes unequal ones",
        )
    return array_split(ary, indices_or_sections, axis)


def split_along(axis: int) -> Callable[..., Any]:
    """`vsplit` and its kin."""

    def parts(ary: Any, indices_or_sections: Any) -> list[Any]:
        k = 0 if axis == 1 and as_tensor(ary).ndim == 1 else axis
        return split(ary, indices_or_sections, k)

    return parts


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """One array behind the other."""
    parts = [arr, values] if axis is not None else [flat(arr), flat(values)]
    return of_linnet("concat")(parts, axis=axis or 0)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Without some rows, or columns."""
    x, k = along(arr, axis)
    n = shape_of(x)[k]
    if n > DENSE_LIMIT and np.asarray(obj).dtype.kind in "iu":  # the parts between them
        gone = np.unique(positions(np.atleast_1d(np.asarray(obj)), n, k)).tolist()
        cuts = [cut for at in gone for cut in (at, at + 1)]
        return of_linnet("concat")(array_split(x, cuts, axis=k)[::2], axis=k)
    keep = np.ones(n, bool)
    keep[obj] = False
    return of_linnet("take")(x, np.flatnonzero(keep), axis=k)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """With other rows, or columns, before one of them."""
    x, k = along(arr, axis)
    k = axis_number(k, x.ndim)
    n, at = shape_of(x)[k], whole(obj, "where something is inserted")
    if not -n <= at <= n:
        raise ShapeError(f"there is no place {at} among {n} along axis {k}")
    new = as_tensor(values)
    if new.ndim == x.ndim - 1 and new.ndim:  # one row
        new = of_linnet("expand_dims")(new, axis=k)
    count = shape_of(new)[k] if new.ndim == x.ndim else 1
    shape = tuple(count if m == k else size for m, size in enumerate(shape_of(x)))
    new = of_linnet("broadcast_to")(new, shape).astype(x.dtype)
    before, behind = array_split(x, [at % n if at < 0 else at], axis=k)
    return of_linnet("concat")([before, new, behind], axis=k)


def column_stack(tup: Sequence[Any]) -> Any:
    """Vectors as columns, beside matrices."""
    columns = [as_tensor(x) for x in tup]
    return of_linnet("concat")([x.reshape((-1, 1)) if x.ndim == 1 else x for x in columns], axis=1)


def dstack(tup: Sequence[Any]) -> Any:
    """Matrices one behind the other."""
    return of_linnet("concat")([_with_dimensions(as_tensor(x), 3) for x in tup], axis=2)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """One axis, moved before another."""
    ndim = len(shape_of(as_array(a)))
    source, target = axis_number(axis, ndim), start + ndim if start < 0 else start
    return of_linnet("moveaxis")(a, source, target - 1 if source < target else target)


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays have an array of their levels in common."""
    held = [list(x.buffers.values()) if hasattr(x, "buffers") else [x] for x in (a, b)]
    return any(np.shares_memory(x, y) for x in held[0] for y in held[1])


def matvec(x1: Any, x2: Any) -> Any:
    """Matrices times vectors."""
    return of_linnet("matmul")(as_array(x1), as_array(x2)[..., None])[..., 0]


def vecmat(x1: Any, x2: Any) -> Any:
    """Vectors, conjugated, times matrices."""
    vectors = apply(table.conj, as_array(x1))
    return of_linnet("matmul")(vectors[..., None, :], as_array(x2))[..., 0, :]


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonals of the matrices in the plane of two axes."""
    return of_linnet("linalg").diagonal(
        of_linnet("moveaxis")(a, (axis1, axis2), (-2, -1)), offset=offset
    )


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sums of those diagonals."""
    planes = of_linnet("moveaxis")(a, (axis1, axis2), (-2, -1))
    return of_linnet("linalg").trace(planes, offset=offset, dtype=dtype)


# -- choosing elements -----------------------------------------------------------------------------


def compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    """The rows for which a condition holds; a short one holds for no more."""
    x, k = along(a, axis)
    return of_linnet("take")(x, np.flatnonzero(_in_memory(condition)), axis=k)


def extract(condition: Any, arr: Any) -> Any:
    """The elements for which a condition holds."""
    return flat(arr)[flat(condition).astype(bool)]


def _in_memory(x: Any) -> Any:
    return x.to_numpy() if hasattr(x, "to_numpy") else np.asarray(x)


def argwhere(a: Any) -> Any:
    """The coordinates of what is not zero, one in a row."""
    return of_linnet("stack")(of_linnet("nonzero")(a), axis=-1)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """By the first condition that holds, one of several arrays."""
    if len(condlist) != len(choicelist):
        raise ShapeError(f"{len(condlist)} conditions choose among {len(choicelist)} arrays")
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = of_linnet("where")(as_array(condition), choice, found)
    return found


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
) -> Any:
    """The values that occur, and what else is asked for of them. NaN is one value."""
    if axis is not None and (axis_number(axis, as_tensor(ar).ndim), as_tensor(ar).ndim) != (0, 1):
        raise ArgumentError(
            "`np.unique` of a tensor takes no axis", hint="np.unique(x.to_numpy(), axis=…)"
        )
    values, index, inverse, counts = of_linnet("unique_all")(ar)
    n = shape_of(values)[0]
    last = n - int(of_linnet("sum")(apply(table.not_equal, values, values))) if equal_nan else n
    if last < n - 1:  # NaN comes last
        counts = append(counts[:last], of_linnet("sum")(counts[last:]))
        inverse = apply(table.minimum, inverse, last)
        values, index = values[: last + 1], index[: last + 1]
    wanted = (True, return_index, return_inverse, return_counts)
    parts = zip((values, index, inverse, counts), wanted, strict=True)
    chosen = tuple(part for part, want in parts if want)
    return chosen if len(chosen) > 1 else chosen[0]


def union1d(ar1: Any, ar2: Any) -> Any:
    """The values that occur in either."""
    return unique(append(ar1, ar2))


def intersect1d(ar1: Any, ar2: Any) -> Any:
    """The values that occur in both."""
    values = unique(ar1)
    return values[of_linnet("isin")(values, ar2)]


def setdiff1d(ar1: Any, ar2: Any) -> Any:
    """The values that occur in the first and not in the second."""
    values = unique(ar1)
    return values[of_linnet("isin")(values, ar2, invert=True)]
