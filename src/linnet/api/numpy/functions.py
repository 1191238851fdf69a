"""NumPy's functions that the standard does not have, from those that it has.

`np.median(x)` and its kin come here by `dispatch`, with NumPy's names for their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linnet.algebra import table
from linnet.api.dtypes import astype
from linnet.api.numpy import shapes, statistics
from linnet.api.numpy.shapes import flat, of_linnet
from linnet.api.operands import as_array, as_tensor, axis_number, dtype_of, kind_of, shape_of
from linnet.api.storage import alike
from linnet.arrays import apply
from linnet.errors import FormatError, ShapeError


def inner(a: Any, b: Any) -> Any:
    """Sums of products along the last axes of both."""
    x, y = as_tensor(a), as_tensor(b)
    if not x.ndim or not y.ndim:
        return apply(table.multiply, x, y)
    return of_linnet("tensordot")(x, y, axes=((-1,), (-1,)))


def vdot(a: Any, b: Any) -> Any:
    """The sum of products of all elements, the first ones conjugated."""
    return of_linnet("vecdot")(flat(a), flat(b))


def multi_dot(arrays: Sequence[Any]) -> Any:
    """A product of many matrices, in the order that is cheapest."""
    given = [as_tensor(x) for x in arrays]
    if len(given) < 2 or any(x.ndim not in (1, 2) for x in given):
        raise ShapeError("multi_dot takes two matrices or more; the first and last may be vectors")
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    here, terms = next(letters), []
    first = here if given[0].ndim == 2 else ""
    for x in given:
        if x.ndim == 1:
            terms.append(here)
            continue
        there = next(letters)
        terms.append(here + there)
        here = there
    last = here if given[-1].ndim == 2 else ""
    return of_linnet("einsum")(f"{','.join(terms)}->{first}{last}", *given)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """A norm of vectors, or of matrices, as NumPy tells them apart."""
    t, linalg = as_tensor(x), of_linnet("linalg")
    pair = axis if isinstance(axis, tuple) else None
    if ord is None or (axis is None and t.ndim == 1) or (axis is not None and pair is None):
        return linalg.vector_norm(t, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)
    if pair is None and t.ndim != 2:
        raise ShapeError(f"a norm of order {ord!r} is of vectors or matrices", hint="axis=…")
    pair = pair or (0, 1)
    found = linalg.matrix_norm(of_linnet("moveaxis")(t, pair, (-2, -1)), ord=ord)
    return of_linnet("expand_dims")(found, axis=pair) if keepdims else found


def of_flat(name: str, axis: int | None) -> Callable[..., Any]:
    """A function along an axis; where there is none, of all elements one after the other."""

    def along(a: Any, axis: int | None = axis, kind: Any = None, **named: Any) -> Any:
        said = {k: v for k, v in named.items() if v is not None}
        if axis is None:
            return of_linnet(name)(flat(a), axis=0, **said)
        return of_linnet(name)(a, axis=axis, **said)

    return along


def partition(name: str) -> Callable[..., Any]:
    """What is sorted is partitioned, wherever that is."""

    def parted(a: Any, kth: Any, axis: int | None = -1, kind: Any = None) -> Any:
        return of_flat(name, -1)(a, axis)

    return parted


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours; what is put before and behind may be a number."""
    x = as_tensor(a)
    shape = list(shape_of(x))
    if shape:
        shape[axis_number(axis, x.ndim)] = 1

    def beside(given: Any) -> Any:
        if given is None:
            return None
        y = as_tensor(given)
        return y if y.ndim else of_linnet("broadcast_to")(y, tuple(shape))

    return of_linnet("diff")(x, n=n, axis=axis, prepend=beside(prepend), append=beside(append))


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Between two bounds, by either of the names that NumPy has for them, in a dtype for all."""
    given: Any = as_array(a)
    lower, upper = a_min if min is None else min, a_max if max is None else max
    bounds = [
        b if isinstance(b, int | float) else dtype_of(as_array(b))
        for b in (lower, upper)
        if b is not None
    ]
    meet = np.result_type(dtype_of(given), *bounds)
    return of_linnet("clip")(astype(given, meet, copy=False), lower, upper)


def is_close(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Where elements differ by little: infinities if they are equal, NaN if that is said."""
    a, b = as_array(a), as_array(b)
    if dtype_of(a) == dtype_of(b) == "bool":
        return apply(table.equal, a, b)
    if kind_of(b) not in "fc":
        b = astype(b, "float64")  # the difference of integers would wrap around
    near = apply(table.absolute, apply(table.subtract, a, b))
    limit = apply(table.add, apply(table.multiply, apply(table.absolute, b), rtol), atol)
    found = apply(table.logical_and, apply(table.less_equal, near, limit), apply(table.isfinite, b))
    found = apply(table.logical_or, found, apply(table.equal, a, b))
    return apply(table.logical_or, found, _both_missing(a, b)) if equal_nan else found


def all_close(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements differ by little."""
    return bool(of_linnet("all")(is_close(a, b, rtol, atol, equal_nan)))


def _both_missing(a: Any, b: Any) -> Any:
    return apply(table.logical_and, apply(table.isnan, a), apply(table.isnan, b))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and all elements are equal."""
    a, b = as_tensor(a1), as_tensor(a2)
    if a.shape != b.shape:
        return False
    same = apply(table.equal, a, b)
    if equal_nan:
        same = apply(table.logical_or, same, _both_missing(a, b))
    return bool(of_linnet("all")(same))


def rounded(a: Any, decimals: int = 0) -> Any:
    """Rounded to so many digits after the point, as NumPy does: scaled, rounded, scaled back."""
    x = as_tensor(a)
    if not decimals:
        return apply(table.rounded, x)
    scale, there, back = 10.0 ** abs(decimals), table.multiply, table.divide
    if decimals < 0:
        there, back = back, there
    return astype(apply(back, apply(table.rounded, apply(there, x, scale)), scale), x.dtype)


def spread(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The largest element less the smallest."""
    largest, smallest = (of_linnet(f)(a, axis=axis, keepdims=keepdims) for f in ("max", "min"))
    return apply(table.subtract, largest, smallest)


def where(condition: Any, *xy: Any) -> Any:
    """Elements of one array or of the other; of a condition alone, where it holds."""
    return of_linnet("where")(condition, *xy) if xy else of_linnet("nonzero")(condition)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Other elements for an array: all, or those for which a condition holds."""
    dst[...] = src if where is True else of_linnet("where")(where, src, dst)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Any:
    """One value everywhere, in the kind of format of an array; with a shape of its own if given."""
    if shape is None:
        return of_linnet("full_like")(a, fill_value, dtype=dtype)
    x, sizes = as_tensor(a), shape if np.ndim(shape) else (shape,)
    kind = alike(x.contents().format, len(sizes))
    wanted = kind.with_dtype(dtype or x.dtype).with_fill(fill_value)
    return of_linnet("full")(tuple(sizes), fill_value, dtype=dtype or x.dtype, format=wanted)


def like(value: int) -> Callable[..., Any]:
    """`np.zeros_like` and its kin."""

    def made(a: Any, *given: Any, **named: Any) -> Any:
        return full_like(a, value, *given, **named)

    return made


def einsum(*operands: Any, casting: str = "safe", order: str = "K", **options: Any) -> Any:
    """Index notation, with NumPy's options."""
    return of_linnet("einsum")(*operands, casting=casting, **options)


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Any:
    """`np.array(…, like=x)`: a tensor of what is given."""
    found = of_linnet("asarray")(object, dtype=dtype, copy=copy)
    return found.reshape((1,) * (ndmin - found.ndim) + found.shape) if ndmin > found.ndim else found


def as_given(a: Any, dtype: Any = None, order: Any = None, *, copy: bool | None = None) -> Any:
    """`np.asarray(…, like=x)` and its kin: a tensor of what is given, or that itself."""
    return of_linnet("asarray")(a, dtype=dtype, copy=copy)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Other elements on the diagonal of a matrix."""
    if wrap:
        raise FormatError("`np.fill_diagonal` of a tensor goes along one diagonal: wrap=False")
    a.setdiag(val)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "array": array,
    "asarray": as_given,
    "asanyarray": as_given,
    "ascontiguousarray": as_given,
    "common_type": lambda *arrays: np.common_type(
        *[np.empty(0, as_array(a).dtype) for a in arrays]
    ),
    "atleast_1d": shapes.at_least(1),
    "atleast_2d": shapes.at_least(2),
    "atleast_3d": shapes.at_least(3),
    "swapaxes": shapes.swapaxes,
    "rot90": shapes.rot90,
    "fliplr": lambda m: of_linnet("flip")(m, axis=1),
    "flipud": lambda m: of_linnet("flip")(m, axis=0),
    "array_split": shapes.array_split,
    "split": shapes.split,
    "vsplit": shapes.split_along(0),
    "hsplit": shapes.split_along(1),
    "dsplit": shapes.split_along(2),
    "append": shapes.append,
    "delete": shapes.delete,
    "insert": shapes.insert,
    "column_stack": shapes.column_stack,
    "dstack": shapes.dstack,
    "diagonal": shapes.diagonal,
    "trace": shapes.trace,
    "compress": shapes.compress,
    "extract": shapes.extract,
    "argwhere": shapes.argwhere,
    "flatnonzero": lambda a: of_linnet("nonzero")(flat(a))[0],
    "select": shapes.select,
    "unique": shapes.unique,
    "union1d": shapes.union1d,
    "intersect1d": shapes.intersect1d,
    "setdiff1d": shapes.setdiff1d,
    "average": statistics.average,
    "quantile": statistics.quantile,
    "percentile": statistics.percentile,
    "median": statistics.median,
    "nanquantile": statistics.nanquantile,
    "nanpercentile": statistics.nanpercentile,
    "nanmedian": statistics.nanmedian,
    "cov": statistics.cov,
    "corrcoef": statistics.corrcoef,
    "bincount": statistics.bincount,
    "histogram": statistics.histogram,
    "inner": inner,
    "vdot": vdot,
    "outer": lambda a, b: of_linnet("outer")(flat(a), flat(b)),
    "cross": lambda a, b, axis=-1: of_linnet("linalg").cross(a, b, axis=axis),
    "multi_dot": multi_dot,
    "norm": norm,
    "tensordot": lambda a, b, axes=2: of_linnet("tensordot")(a, b, axes=axes),
    "take_along_axis": lambda arr, indices, axis=-1: of_linnet("take_along_axis")(
        arr, indices, axis=axis
    ),
    "cumsum": of_flat("cumulative_sum", None),
    "cumprod": of_flat("cumulative_prod", None),
    "nancumsum": of_flat("nancumsum", None),
    "nancumprod": of_flat("nancumprod", None),
    "sort": of_flat("sort", -1),
    "argsort": of_flat("argsort", -1),
    "partition": partition("sort"),
    "argpartition": partition("argsort"),
    "diff": diff,
    "ediff1d": lambda ary: diff(flat(ary)),
    "clip": clip,
    "einsum": einsum,
    "zeros_like": like(0),
    "ones_like": like(1),
    "empty_like": like(0),
    "full_like": full_like,
    "where": where,
    "round": rounded,
    "around": rounded,
    "fix": lambda x: apply(table.trunc, as_array(x)),
    "angle": lambda z: apply(table.atan2, of_linnet("imag")(z), of_linnet("real")(z)),
    "isclose": is_close,
    "allclose": all_close,
    "array_equal": array_equal,
    "ptp": spread,
    "rollaxis": shapes.rollaxis,
    "ravel": shapes.flattened,
    "reshape": shapes.reshape,
    "copy": lambda a, order="K", subok=False: as_tensor(a).copy(),
    "copyto": copyto,
    "putmask": lambda a, mask, values: copyto(a, values, where=mask),
    "fill_diagonal": fill_diagonal,
    "shape": lambda a: as_tensor(a).shape,
    "ndim": lambda a: as_tensor(a).ndim,
    "size": lambda a, axis=None: as_tensor(a).size if axis is None else a.shape[axis],
    "iscomplexobj": lambda x: dtype_of(as_array(x))[0] == "c",
    "isrealobj": lambda x: dtype_of(as_array(x))[0] != "c",
    "array_repr": lambda arr: repr(arr),
    "array_str": lambda a: str(a),
    "array2string": lambda a: str(a),
    "may_share_memory": shapes.shares_memory,
    "shares_memory": shapes.shares_memory,
    "take": lambda a, indices, axis=None: of_linnet("take")(
        flat(a) if axis is None else a, indices, axis=axis or 0
    ),
    "broadcast_arrays": shapes.broadcast_arrays,
    "tril": shapes.triangle("tril"),
    "triu": shapes.triangle("triu"),
    "roll": lambda a, shift, axis=None: of_linnet("roll")(a, shift, axis=axis),
    "tile": lambda A, reps: of_linnet("tile")(A, reps if isinstance(reps, tuple) else (reps,)),
    "isreal": lambda x: apply(table.equal, of_linnet("imag")(x), 0),
    "iscomplex": lambda x: apply(table.not_equal, of_linnet("imag")(x), 0),
}
"""By the names that NumPy has for them."""

UFUNCS: dict[str, Callable[..., Any]] = {
    "matmul": lambda a, b: of_linnet("matmul")(a, b),
    "vecdot": lambda a, b: of_linnet("vecdot")(a, b),
    "matvec": shapes.matvec,
    "vecmat": shapes.vecmat,
}
"""Those that work on vectors and matrices, not on one element at a time."""
