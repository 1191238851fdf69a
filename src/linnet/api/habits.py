"""What the methods under SciPy's, NumPy's and PyData/Sparse's names do."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet import loops
from linnet.algebra import table
from linnet.algebra.dtypes import Number
from linnet.algebra.exact import same
from linnet.api import linalg, products, running, searching
from linnet.api.calls import held
from linnet.api.gaps import pattern
from linnet.api.numpy import functions
from linnet.api.operands import Array, Axes, as_tensor, shape_of, whole
from linnet.api.programs import (
    assignment,
    indices,
    is_large,
    listed,
    moving_kernel,
    name_of,
    nest,
    readable,
    run,
    same_kind,
    stored,
)
from linnet.api.storage import DENSE_LIMIT, alike, build, entries, is_dense, refuse_large
from linnet.arrays import apply, reduce
from linnet.errors import ArgumentError, IndexBoundsError, ShapeError
from linnet.formats.format import Format
from linnet.formats.level import APPEND
from linnet.formats.located import located
from linnet.formats.named import BSR, FormatLike
from linnet.formats.tensor import Tensor
from linnet.records import dataclass
from linnet.runtime.kernel import Kernel

# -- conversions -----------------------------------------------------------------------------------


@located
def to_array(x: Tensor) -> NDArray[Any]:
    """All elements, in memory of their own."""
    found = x.to_numpy()
    return found if found.flags.writeable else found.copy(order="K")


@located
def as_format(x: Tensor, format: FormatLike, copy: bool) -> Tensor:
    """The array in another format."""
    found = x.to(format)
    return found.copy() if copy and found is x else found


@located
def to_blocks(x: Tensor, blocksize: tuple[int, int] | None, copy: bool) -> Tensor:
    """The matrix by blocks; how large they are has to be said."""
    if blocksize is None:
        raise ArgumentError("how large are the blocks?", hint="A.tobsr(blocksize=(3, 3))")
    return as_format(x, BSR(*blocksize), copy)


def to_scipy_sparse(x: Tensor, copy: bool = False) -> Any:
    """An array of SciPy."""
    return x.to_scipy(copy=copy)


# -- parts -----------------------------------------------------------------------------------------


@located
def diagonal(x: Tensor, k: int = 0, *, offset: int | None = None) -> Tensor:
    """The k-th diagonal of a matrix, or of every matrix in a stack; NumPy calls k an offset."""
    found = linalg.diagonal(x, offset=k if offset is None else offset)
    found.contents().part = "diagonal"
    return found


@located
def trace(x: Tensor, offset: int = 0) -> Tensor:
    """The sum of a diagonal."""
    return linalg.trace(x, offset=offset)


@located
def count_stored(x: Tensor, axis: Axes = None) -> int | Tensor:
    """How many values are stored, in all or along dimensions."""
    if axis is None:
        return x.nnz
    return reduce(table.add, pattern(x), axis=axis, dtype="int64")  # type: ignore[return-value]


@located
def compressed(x: Tensor, name: str) -> NDArray[Any]:
    """An array of a matrix that is stored by rows or by columns."""
    if x.format.name not in ("CSR", "CSC"):
        raise AttributeError(name)
    return x.buffers[name]


@located
def coordinate(x: Tensor, dimension: int) -> NDArray[Any]:
    """The coordinates of what is stored along one of the dimensions of a matrix."""
    if x.ndim != 2:
        raise AttributeError(dimension)
    found: NDArray[Any] = x.coords[dimension]
    return found


def item(x: Tensor, index: tuple[Any, ...]) -> Number:
    """One element, as a number; an index by itself counts all elements by rows."""
    given = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    at = tuple([whole(i, "an index of item") for i in given])
    shape = shape_of(x)
    if len(at) == 1 and x.ndim != 1:
        (place,) = at
        if not -x.size <= place < x.size:
            raise IndexBoundsError(f"there is no element {place} among {x.size}")
        at, place = (), place % x.size
        for n in reversed(shape):
            place, i = divmod(place, n)
            at = (i, *at)
    if len(at) != x.ndim:
        raise ArgumentError(
            f"item takes one index, or {x.ndim}, of an array with {x.ndim} dimensions",
            hint="A.item(k), A.item(i, j)",
        )
    return x[at].item()


@dataclass(frozen=True)
class Flags:
    """What NumPy's `flags` say of an array."""

    c_contiguous: bool
    f_contiguous: bool
    owndata: bool = True
    writeable: bool = True
    aligned: bool = True
    writebackifcopy: bool = False

    def __getattr__(self, name: str) -> bool:
        """The words that NumPy has for several at once."""
        by_rows, by_columns = self.c_contiguous, self.f_contiguous
        found = {"contiguous": by_rows, "fortran": by_columns, "forc": by_rows or by_columns,
                 "behaved": True, "fnc": by_columns and not by_rows, "carray": by_rows,
                 "farray": by_columns and not by_rows}  # fmt: skip
        if name not in found:
            raise AttributeError(f"arrays have no flag {name!r}")
        return found[name]

    def __getitem__(self, name: str) -> bool:
        known = _SHORT.get(name, str(name).lower())
        if known.startswith("_") or not hasattr(self, known):
            raise KeyError(f"arrays have no flag {name!r}")
        return getattr(self, known)

    def __repr__(self) -> str:
        return "\n".join([f"  {name.upper()} : {value}" for name, value in vars(self).items()])


_SHORT = {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable",
          "A": "aligned", "X": "writebackifcopy", "B": "behaved", "CA": "carray",
          "FA": "farray"}  # fmt: skip


def flags(x: Tensor) -> Flags:
    """How the elements lie: by rows, by columns, or neither, as where not all are stored."""
    held = x.contents()
    wide = [m for m in held.format.order if held.shape[m] > 1]  # others can be anywhere
    dense, empty = is_dense(held.format), not x.size
    by_rows, by_columns = wide == sorted(wide), wide == sorted(wide, reverse=True)
    return Flags(dense and (by_rows or empty), dense and (by_columns or empty))


def density(x: Tensor) -> float:
    """The part of the elements that is stored."""
    return x.nnz / x.size if x.size else 0.0


# -- arithmetic ------------------------------------------------------------------------------------


@located
def multiply(x: Tensor, other: Array) -> Any:
    """The product of each element with its counterpart."""
    return apply(table.multiply, x, other)


@located
def power(x: Tensor, n: Array, dtype: Any = None) -> Any:
    """Each element to a power."""
    return apply(table.power, x if dtype is None else x.astype(dtype), n)


@located
def maximum(x: Tensor, other: Array) -> Any:
    """The larger one of each element and its counterpart."""
    return apply(table.maximum, x, other)


@located
def minimum(x: Tensor, other: Array) -> Any:
    """The smaller one of each element and its counterpart."""
    return apply(table.minimum, x, other)


@located
def tensordot(x: Tensor, other: Array, axes: Any = 2) -> Any:
    """Sums of products over several dimensions."""
    return products.tensordot(x, other, axes=axes)


@located
def rounded(x: Tensor, decimals: int = 0) -> Any:
    """Rounded to so many digits after the point."""
    return functions.rounded(x, whole(decimals, "a number of digits"))


@located
def cumsum(x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """At every place, the sum of the elements up to it; without an axis, of all in one line."""
    flat = x.reshape(-1) if axis is None else x
    return running.cumulative_sum(flat, axis=axis or 0, dtype=dtype)


@located
def cumprod(x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """At every place, the product of the elements up to it."""
    flat = x.reshape(-1) if axis is None else x
    return running.cumulative_prod(flat, axis=axis or 0, dtype=dtype)


@located
def argsort(
    x: Tensor, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Tensor:
    """The positions of the elements in order along a dimension, or of all in one line."""
    if order is not None:
        raise ArgumentError("the values of an array have no fields to be sorted by")
    return functions.FUNCTIONS["argsort"](x, axis)


@located
def searchsorted(x: Tensor, v: Array, side: str = "left", sorter: Array | None = None) -> Tensor:
    """Where values would go in a sorted vector."""
    return searching.searchsorted(x, v, side=side, sorter=sorter)


# -- in place --------------------------------------------------------------------------------------


@located
def eliminate(x: Tensor) -> None:
    """What is stored and equals the fill value is stored no more."""
    if not is_dense(x.contents().format) and x.contents().format.leaf.arrays:
        held(x, _without_fill(x))


def _without_fill(x: Tensor) -> Tensor:
    wanted = same_kind(x)
    if is_large(x):
        read = readable(x)
        kernel = _kept(listed(wanted), repr(wanted.fill_value))
        return run(kernel, read, wanted, (), stored(read), *shape_of(x))
    coordinates, values = entries(x)
    fill = np.asarray(wanted.fill_value, wanted.dtype)
    kept = np.flatnonzero(~((values == fill) | ((values != values) & (fill != fill))))
    return build([idx[kept] for idx in coordinates], values[kept], shape_of(x), wanted)


@lru_cache(maxsize=256)
def _kept(format: Format, fill: str) -> Kernel:
    """`if A[…] != fill: C[…] = A[…]`, in the order in which both are stored."""
    at = indices(format.ndim)
    read = loops.Access("A", tuple(at))
    last = format.order[-1]
    write = assignment(at, last, APPEND, read)
    missing = format.fill_value != format.fill_value
    nan = loops.Call(table.logical_not, (loops.Call(table.isnan, (read,)),))
    fill_value = loops.Literal(format.fill_value, format.dtype)  # type: ignore[arg-type]
    other = nan if missing else loops.Call(table.not_equal, (read, fill_value))
    body = nest([name_of(m) for m in format.order], loops.If(other, write, loops.Block(())))
    return moving_kernel("eliminate_zeros", format, ("A",), format.ndim, body)


@located
def set_diagonal(x: Tensor, values: Array, k: int) -> None:
    """Other values on the k-th diagonal; those of a vector that is too long are left out."""
    k = whole(k, "a diagonal")
    if x.ndim != 2:
        raise ShapeError(f"a diagonal is set in a matrix, and the shape is {x.shape}")
    rows, cols = shape_of(x)
    size = min(rows + min(k, 0), cols - max(k, 0))
    if size <= 0:
        raise ShapeError(f"an array of shape {x.shape} has no diagonal {k}")
    given = as_tensor(values)
    size = min(size, shape_of(given)[0]) if given.ndim else size
    if size > DENSE_LIMIT:
        held(x, _with_diagonal(x, given, k, size))
        return
    at = np.arange(size)
    x[at + max(-k, 0), at + max(k, 0)] = given[:size] if given.ndim else given


def _with_diagonal(x: Tensor, values: Tensor, k: int, size: int) -> Tensor:
    """The same where a diagonal is so long that only what is stored can be listed."""
    fill = x.contents().format.fill_value
    alone = values.ndim == 0
    held_there = values.to_numpy().item() if alone else values.contents().format.fill_value
    if fill is None or not same(fill, held_there):
        refuse_large(size, "a diagonal on which every element is stored")
    at, added = ([np.zeros(0, np.int64)], np.zeros(0)) if alone else entries(values[:size])
    (i, j), old = entries(x)
    kept = np.flatnonzero((j - i != k) | (np.minimum(i, j) >= size))
    places = [
        np.concatenate([i[kept], at[0] + max(-k, 0)]),
        np.concatenate([j[kept], at[0] + max(k, 0)]),
    ]
    both = np.concatenate([old[kept], added.astype(old.dtype)])
    return build(places, both, shape_of(x), alike(x.contents().format, 2))
