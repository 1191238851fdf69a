"""NumPy's functions that the standard does not have, from those that it has.

`np.median(x)` and its kin come here by `__array_function__`. Options that are not taken are refused
by Python, as unknown arguments are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linnet.algebra import table
from linnet.api import numpy_shapes as shapes
from linnet.api import numpy_statistics as statistics
from linnet.api.numpy_shapes import flat, of_linnet
from linnet.api.operands import as_tensor
from linnet.arrays import apply
from linnet.errors import ShapeError


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

    def along(a: Any, axis: int | None = axis, **named: Any) -> Any:
        said = {k: v for k, v in named.items() if v is not None}
        if axis is None:
            return of_linnet(name)(flat(a), axis=0, **said)
        return of_linnet(name)(a, axis=axis, **said)

    return along


FUNCTIONS: dict[str, Callable[..., Any]] = {
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
    "cov": statistics.cov,
    "corrcoef": statistics.corrcoef,
    "bincount": statistics.bincount,
    "histogram": statistics.histogram,
    "inner": inner,
    "vdot": vdot,
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
    "take": lambda a, indices, axis=None: of_linnet("take")(
        flat(a) if axis is None else a, indices, axis=axis or 0
    ),
    "tril": lambda m, k=0: of_linnet("tril")(m, k=k),
    "triu": lambda m, k=0: of_linnet("triu")(m, k=k),
    "roll": lambda a, shift, axis=None: of_linnet("roll")(a, shift, axis=axis),
    "tile": lambda A, reps: of_linnet("tile")(A, reps if isinstance(reps, tuple) else (reps,)),
    "isreal": lambda x: apply(table.equal, of_linnet("imag")(x), 0),
    "iscomplex": lambda x: apply(table.not_equal, of_linnet("imag")(x), 0),
}
"""By the names that NumPy has for them."""
