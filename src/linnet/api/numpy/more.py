"""More of NumPy's functions, from those of this package: `trapezoid` to `tensorsolve`.

What is dense by nature is left to NumPy, of arrays that are not too large to be so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linnet import loops
from linnet.algebra import table
from linnet.algebra.dtypes import promote
from linnet.api.dtypes import astype
from linnet.api.indexing import positions
from linnet.api.numpy.shapes import flat, of_linnet, select, unique
from linnet.api.operands import (
    as_array,
    as_tensor,
    axis_number,
    axis_numbers,
    dtype_of,
    shape_of,
    whole,
)
from linnet.api.programs import moving_kernel, nest, plus, readable, stored
from linnet.api.searching import valuewise
from linnet.api.storage import alike, densely, entries, typed
from linnet.arrays import apply
from linnet.errors import ArgumentError, DTypeError, RangeError, ShapeError
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor

if TYPE_CHECKING:
    from linnet.runtime.kernel import Kernel


def _between(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    """A slice along one axis."""
    return x[(*[slice(None)] * axis_number(axis, x.ndim), slice(start, stop))]


# -- integrals, derivatives, sums of shifted copies ------------------------------------------------


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The integral along an axis, of what is straight between neighbours."""
    values = as_tensor(y)
    step: Any = dx
    if x is not None:
        at = as_tensor(x)
        step = of_linnet("diff")(at, axis=-1 if at.ndim == 1 else axis)
        if at.ndim == 1:
            d = axis_number(axis, values.ndim)
            step = step.reshape(tuple(-1 if m == d else 1 for m in range(values.ndim)))
    both = apply(table.add, _between(values, axis, 1, None), _between(values, axis, None, -1))
    parts = apply(table.multiply, apply(table.multiply, both, 0.5), step)
    return of_linnet("sum")(parts, axis=axis)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Differences over two steps, and over one at the ends, along each axis or some."""
    x = as_tensor(f)
    x = x if dtype_of(x)[0] in "fc" else x.astype("float64")
    given = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [axis_number(a, x.ndim) for a in given]
    steps = list(varargs) * (len(axes) if len(varargs) == 1 else 1) or [1.0] * len(axes)
    if edge_order != 1 or len(steps) != len(axes) or any(np.ndim(step) for step in steps):
        raise ArgumentError(
            "`np.gradient` of a tensor takes one step, or one for each axis, and edge_order=1"
        )
    found = [_slope(x, d, float(step)) for d, step in zip(axes, steps, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slope(x: Any, d: int, step: float) -> Any:
    if shape_of(x)[d] < 2:
        raise ShapeError(f"a gradient takes two elements or more along axis {d} of {x.shape}")

    def over(a: Any, b: Any, steps: int) -> Any:
        return apply(table.divide, apply(table.subtract, a, b), steps * step)

    first = over(_between(x, d, 1, 2), _between(x, d, 0, 1), 1)
    inner = over(_between(x, d, 2, None), _between(x, d, None, -2), 2)
    last = over(_between(x, d, -1, None), _between(x, d, -2, -1), 1)
    return of_linnet("concat")([first, inner, last], axis=d)


def convolve(a: Any, v: Any, mode: str | int = "full") -> Any:
    """Sums of products of elements whose indices have the same sum."""
    x, y = _vector(a), _vector(v)
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ShapeError(f"vectors with elements are convolved, not {x.shape} and {y.shape}")
    more, less = max(x.size, y.size), min(x.size, y.size)
    full, valid = (0, more + less - 1), (less - 1, more)
    same = ((less - 1) // 2, (less - 1) // 2 + more)
    ends = {"full": full, "same": same, "valid": valid, 2: full, 1: same, 0: valid}
    chosen = mode if isinstance(mode, str) else whole(mode, "the mode, if it is no text,")
    if chosen not in ends:
        raise RangeError(f"the mode is full, same or valid, not {mode!r}")
    begin, end = ends[chosen]
    return _convolved(x, y)[begin:end]


def correlate(a: Any, v: Any, mode: str | int = "valid") -> Any:
    """The same with the second vector, conjugated, back to front."""
    x, y = as_tensor(a), as_tensor(v)
    if x.ndim != 1 or y.ndim != 1:
        raise ShapeError(f"vectors are correlated, not {x.shape} and {y.shape}")
    turned = apply(table.conj, y) if dtype_of(y)[0] == "c" else y
    if x.size >= y.size:
        return convolve(x, of_linnet("flip")(turned), mode)
    found = convolve(of_linnet("flip")(x), turned, mode)  # which is as long as the second
    return of_linnet("flip")(found)


def _vector(x: Any) -> Tensor:
    """What is convolved; a number is a vector of one element."""
    given = as_tensor(x)
    return given if given.ndim else given.reshape(1)


def _convolved(x: Tensor, y: Tensor) -> Tensor:
    from linnet.runtime.compute import compute

    dtype = promote(dtype_of(x), dtype_of(y))
    x, y = (readable(_zero_filled(astype(z, dtype, copy=False))) for z in (x, y))
    kept = [z.contents().format for z in (x, y) if not z.contents().format.levels[0].full]
    format = alike(kept[0] if len(kept) == 2 else of_linnet("DENSE")(1), 1)
    target = typed(format, dtype, 0)
    room = min(stored(x) * stored(y), x.size + y.size)
    return compute(_convolution(target), target, (x, y), (), (room, x.size + y.size - 1))


def _zero_filled(x: Tensor) -> Tensor:
    """The array over zeros: it has no end where its neighbours are its fill value."""
    return x if not x.fill_value else x.to("dense")


@lru_cache(maxsize=64)
def _convolution(format: Format) -> Kernel:
    """`C[i + j] += A[i] * B[j]`."""
    i, j = loops.Index("i"), loops.Index("j")
    value = loops.Call(table.multiply, (loops.Access("A", (i,)), loops.Access("B", (j,))))
    body = loops.Assign(loops.Access("C", (plus(i, j),)), table.add, value)
    return moving_kernel("convolve", format, ("A", "B"), 1, nest(["i", "j"], body))


# -- values ----------------------------------------------------------------------------------------


def infinite(sign: float) -> Callable[..., Any]:
    """`np.isposinf` and `np.isneginf`."""
    return lambda x: apply(table.equal, as_array(x), sign * np.inf)


def sinc(x: Any) -> Any:
    """`sin(pi x) / (pi x)`, and 1 at 0."""
    angle = apply(table.multiply, as_array(x), np.pi)
    safe = of_linnet("where")(apply(table.equal, angle, 0), 1.0, angle)
    found = apply(table.divide, apply(table.sin, safe), safe)
    return of_linnet("where")(apply(table.equal, angle, 0), 1.0, found)


def polyval(p: Any, x: Any) -> Any:
    """A polynomial, whose first coefficient is that of the highest power."""
    given, at = as_tensor(p), as_tensor(x)
    at = astype(at, promote(dtype_of(at), dtype_of(given)), copy=False)
    found: Any = of_linnet("zeros_like")(at)
    for coefficient in given.to_numpy().tolist():
        found = apply(table.add, apply(table.multiply, found, at), coefficient)
    return found


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The number of the bin that each element lies in."""
    edges = as_tensor(bins)
    steps = np.diff(edges.to_numpy())
    if (steps < 0).any() and (steps > 0).any():
        raise ShapeError("the edges of bins go up, or go down")
    up = not edges.size or bool(edges[-1] >= edges[0])
    given, n = (edges if up else of_linnet("flip")(edges)), shape_of(edges)[0]
    side = "left" if right else "right"
    found = of_linnet("searchsorted")(given, flat(x), side=side).reshape(shape_of(as_tensor(x)))
    return found if up else apply(table.subtract, n, found)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> Any:
    """What is straight between points, at each element: what is not stored has one value."""
    at, points, values = as_tensor(x), _line(xp, "points"), _line(fp, "values at points")
    if points.shape != values.shape or not points.size:
        raise ShapeError(f"there are {values.size} values at {points.size} points to go between")
    if period == 0:
        raise RangeError("a period is not 0")
    if dtype_of(at)[0] == "c" or points.dtype.kind == "c":
        raise DTypeError("what lies between points is found for real numbers")
    return valuewise(at, lambda v: np.interp(v, points, values, left, right, period))


def _line(x: Any, what: str) -> NDArray[Any]:
    """A vector that is looked through."""
    vector = as_tensor(x)
    if vector.ndim != 1:
        raise ShapeError(f"the {what} are a vector, not of shape {vector.shape}")
    return densely(vector, f"the {what}")


def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether two arrays are equal in the shape in which they meet."""
    a, b = as_tensor(a1), as_tensor(a2)
    try:
        of_linnet("broadcast_shapes")(shape_of(a), shape_of(b))
    except ShapeError:
        return False
    return bool(of_linnet("all")(apply(table.equal, a, b)))


def setxor1d(ar1: Any, ar2: Any) -> Any:
    """The values that occur in one of two arrays."""
    isin = of_linnet("isin")
    alone = [a[isin(a, b, invert=True)] for a, b in ((unique(ar1), ar2), (unique(ar2), ar1))]
    return of_linnet("sort")(of_linnet("concat")(alone))


def choose(a: Any, choices: Sequence[Any], mode: str = "raise") -> Any:
    """Of several arrays, the one whose number stands at each place."""
    x: Any = as_tensor(a)
    n = len(choices)
    if mode == "raise" and x.size and not 0 <= int(x.min()) <= int(x.max()) < n:
        raise ShapeError(f"numbers from 0 to {n - 1} choose among {n} arrays")
    if mode == "wrap":
        x = apply(table.remainder, x, n)
    x = of_linnet("clip")(x, 0, n - 1)
    return select([apply(table.equal, x, k) for k in range(n)], [as_array(c) for c in choices])


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """An array without the zeros at the ends of some dimensions, or of all."""
    x = as_tensor(filt)
    places, values = entries(x) if not x.fill_value else (np.indices(shape_of(x)), x.to_numpy())
    parts = [slice(None)] * x.ndim
    for d in axis_numbers(axis, x.ndim):
        kept, n = places[d][values != 0], shape_of(x)[d]
        begin = int(kept.min(initial=n)) if "f" in trim.lower() else 0
        end = int(kept.max(initial=-1)) + 1 if "b" in trim.lower() else n
        parts[d] = slice(begin, max(end, begin))
    return x[tuple(parts)]


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """A function along one axis after the other."""
    x = as_tensor(a)
    for axis in axes if isinstance(axes, tuple | list) else (axes,):
        found = as_tensor(func(x, axis))
        x = found if found.ndim == x.ndim else of_linnet("expand_dims")(found, axis=axis)
    return x


# -- places ----------------------------------------------------------------------------------------


def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with all elements of an array on a diagonal."""
    return of_linnet("diag")(flat(v), k=k)


def of_matrix(name: str) -> Callable[..., Any]:
    """`np.triu_indices_from` and its kin: positions, whatever the matrix stores."""

    def places(arr: Any, *k: Any, **named: Any) -> Any:
        shape = shape_of(as_tensor(arr))
        if name == "diag_indices":
            if len(shape) < 2 or len(set(shape)) > 1:
                raise ShapeError(f"an array of shape {shape} has no diagonal from corner to corner")
            return np.diag_indices(shape[0], len(shape))
        if len(shape) != 2:
            raise ShapeError(f"a triangle is part of a matrix, and this has shape {shape}")
        return getattr(np, name)(shape[0], *k, **named, m=shape[1])

    return places


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Other elements where a mask is true: values one after the other, again and again."""
    chosen = as_tensor(mask).astype(bool)
    values = np.ravel(as_tensor(vals).to_numpy())
    count = int(of_linnet("count_nonzero")(chosen))
    if count and not values.size:
        raise ShapeError(f"there are no values for {count} elements")
    arr[chosen] = np.resize(values, count)


def put(a: Any, ind: Any, v: Any) -> None:
    """Other elements at positions of the flat array; none if no values are given."""
    given, values = (np.ravel(as_tensor(x).to_numpy()) for x in (ind, v))
    if values.size:
        at = positions(given, a.size, 0)
        a[np.unravel_index(at, a.shape)] = np.resize(values, len(at))


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int = -1) -> None:
    """Other elements, for every place at a position along an axis."""
    at, d = as_tensor(indices).to_numpy(), axis_number(axis, arr.ndim)
    if at.ndim != arr.ndim:
        raise ShapeError(f"positions along an axis have {arr.ndim} dimensions, not {at.ndim}")
    grid = list(np.ix_(*[range(1 if m == d else n) for m, n in enumerate(arr.shape)]))
    grid[d] = at
    arr[tuple(np.broadcast_arrays(*grid))] = values


def densely_by(module: Any, name: str) -> Callable[..., Any]:
    """A function of NumPy's whose result is dense, whatever it is taken of."""

    def done(*args: Any, **named: Any) -> Any:
        given = [densely(x, f"what {name} takes") if isinstance(x, Tensor) else x for x in args]
        try:
            found = getattr(module, name)(*given, **named)
        except (ValueError, IndexError) as error:
            raise ShapeError(f"{name}: {error}") from None
        parts = found if isinstance(found, tuple) else (found,)
        made = tuple(as_tensor(np.asarray(part)) for part in parts)
        return made if isinstance(found, tuple) else made[0]

    return done


MORE: dict[str, Callable[..., Any]] = {
    "trapezoid": trapezoid,
    "gradient": gradient,
    "convolve": convolve,
    "correlate": correlate,
    "isposinf": infinite(1.0),
    "isneginf": infinite(-1.0),
    "sinc": sinc,
    "polyval": polyval,
    "digitize": digitize,
    "interp": interp,
    "array_equiv": array_equiv,
    "setxor1d": setxor1d,
    "choose": choose,
    "trim_zeros": trim_zeros,
    "apply_over_axes": apply_over_axes,
    "diagflat": diagflat,
    "diag_indices_from": of_matrix("diag_indices"),
    "tril_indices_from": of_matrix("tril_indices"),
    "triu_indices_from": of_matrix("triu_indices"),
    "place": place,
    "put": put,
    "put_along_axis": put_along_axis,
    "cond": densely_by(np.linalg, "cond"),
    "lstsq": densely_by(np.linalg, "lstsq"),
    "tensorinv": densely_by(np.linalg, "tensorinv"),
    "tensorsolve": densely_by(np.linalg, "tensorsolve"),
    "fft2": densely_by(np.fft, "fft2"),
    "ifft2": densely_by(np.fft, "ifft2"),
    "rfft2": densely_by(np.fft, "rfft2"),
    "irfft2": densely_by(np.fft, "irfft2"),
}
"""By the names that NumPy has for them."""
