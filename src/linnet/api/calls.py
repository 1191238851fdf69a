"""Operators, indexing and updates of a tensor, as the Python object calls them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from functools import lru_cache
from typing import Any

import numpy as np

from linnet import api, arrays
from linnet.algebra.function import Function
from linnet.algebra.lookup import by_name
from linnet.api import indexing
from linnet.api.conversion import asarray
from linnet.api.dtypes import astype
from linnet.api.foreign import ARRAYS, home_of
from linnet.api.operands import as_array, shape_of
from linnet.api.single import element
from linnet.api.storage import alike, is_dense, is_plain
from linnet.arrays import Lazy
from linnet.arrays.written import access, refers
from linnet.errors import ArgumentError, DTypeError, LinnetError, Location, ShapeError
from linnet.formats.contents import Signature
from linnet.formats.format import Format
from linnet.formats.from_numpy import share
from linnet.formats.from_scipy import is_scipy_sparse
from linnet.formats.located import bordered, located
from linnet.formats.tensor import Tensor
from linnet.shortage import RAISED, imported, retold

_PLAIN = (Tensor, Lazy, bool, int, float, complex, np.ndarray, np.generic)
_COMPARISONS = {"equal", "not_equal"}


def operator(name: str, *args: Any) -> Any:
    """`x + y` and its kin; operands that are no arrays or lists are left to their operators."""
    try:
        for k, arg in enumerate(args):
            if type(arg) is np.ndarray:
                args = (*args[:k], share(arg), *args[k + 1 :])
            elif not isinstance(arg, _PLAIN) and not _is_array(arg):
                if not isinstance(arg, list | tuple) and home_of(arg) not in ARRAYS:
                    return NotImplemented
                args = (*args[:k], asarray(arg), *args[k + 1 :])
        if name == "matmul":
            return api.products.matmul(*args)
        if name in _COMPARISONS and api.small.is_small(args):
            return api.small.compared(name, args)
        if name == "pow" and type(args[1]) is int and args[1] == 2 and args[0].dtype == bool:
            return arrays.apply(
                by_name["square"], args[0]
            )  # int8, and pow(x, 2) int64, as in NumPy
        return arrays.apply(by_name[name], *args)
    except LinnetError as error:
        error.at = error.at or Location.of_caller()
        raise
    except RAISED as error:
        retold(error)


@bordered
def call(function: Function, args: tuple[Any, ...], format: Any = None) -> Any:
    """`ln.add(x, y)`: a function of values, of arrays."""
    if len(args) != function.arity:
        raise ArgumentError(
            f"{function.name} takes {function.arity} arguments, not {len(args)}",
            at=Location.of_caller(),
        )
    try:
        return (
            arrays.apply(function, *args)
            if format is None
            else arrays.apply(function, *args, format=format)
        )
    except LinnetError as error:
        error.at = error.at or Location.of_caller()
        raise


def _is_array(arg: object) -> bool:
    """A lazy array, an array of SciPy."""
    return is_scipy_sparse(arg) or isinstance(arg, Lazy)


def update(name: str, x: Tensor, other: Any) -> Any:
    """`x += y`: the object holds the result; memory that it shared is left as it was."""
    found = operator(name, x, other)
    if found is NotImplemented:
        return found
    if not isinstance(found, Tensor):
        return found  # lazy
    if found.shape != x.shape:
        raise ShapeError(
            f"an array of shape {x.shape} cannot hold a result of shape {found.shape}",
            at=Location.of_caller(),
        )
    if found.dtype != x.dtype:
        if not np.can_cast(found.dtype, x.dtype, "same_kind"):
            raise DTypeError(
                f"an array of {x.dtype} cannot hold a result of {found.dtype}",
                at=Location.of_caller(),
            )
        found = astype(found, x.dtype)
    return _rebound(x, found)


def part(name: str, x: Any) -> Any:
    """What NumPy shows in the place of an array, and is an array of its own here: read-only."""
    found = operator(name, x)
    if isinstance(found, Tensor):
        found = copy(found) if found.contents() is x.contents() else found
        found.contents().part = name
    return found


def held(x: Tensor, found: Tensor) -> Tensor:
    """The object `x`, which is written to, holds from now on what another tensor does."""
    _check_part(x)
    return _rebound(x, found)


def _check_part(x: Tensor) -> None:
    """What is written to is no part of an array that would stay as it is."""
    name = x.contents().part
    if name is not None:
        raise ArgumentError(
            f"what .{name} gives of an array is not written to",
            at=Location.of_caller(),
            why=f"it is an array of its own: the one that .{name} is asked of would stay as it is",
            hint=_PARTS[name],
        )


_PARTS = {
    "real": "A = values + 1j * A.imag; or write to a copy, r = A.real.copy()",
    "imag": "A = A.real + 1j * values; or write to a copy, r = A.imag.copy()",
    "diagonal": "A.setdiag(values, k); or write to a copy, d = A.diagonal().copy()",
}


def _rebound(x: Tensor, found: Tensor) -> Tensor:
    contents = found.shared()
    x._rebind(contents.format, contents.shape, contents.buffers)
    return x


@located
def put(target: Any, found: Any) -> Any:
    """What was found, in the place that is given for it: `out=`."""
    found = found.compute() if isinstance(found, Lazy) else found
    if not isinstance(target, Tensor | np.ndarray):
        raise ArgumentError(
            f"a result is put into a tensor or an array of NumPy, not {target!r}",
            hint="out=ln.zeros(shape), or leave it out and take what is returned",
        )
    shape = shape_of(target) if isinstance(target, Tensor) else target.shape
    if shape != shape_of(found):
        raise ShapeError(f"a result of shape {found.shape} does not fit one of {shape}")
    if not np.can_cast(found.dtype, target.dtype, "same_kind"):
        raise DTypeError(
            f"a result of dtype {found.dtype} does not fit one of {target.dtype}",
            hint=f"out= of dtype {found.dtype}, or .astype(…) of what is returned",
        )
    if isinstance(target, Tensor):
        return held(target, astype(found, target.dtype, copy=False))
    target[...] = found.to_numpy()
    return target


def getitem(x: Tensor, key: object) -> Tensor:
    """`x[key]`; with indices of index notation, an expression over them."""
    try:
        first = key[0] if type(key) is tuple and key else key
        quick = indexing.at_arrays if type(first) is np.ndarray else _quick_part
        found = quick(x, key) if type(x) is Tensor else None
        if found is not None:
            return found
        if refers(key):
            return access(x, key)  # type: ignore[return-value]
        return _lazy_part(x, key) if isinstance(x, Lazy) else indexing.getitem(x, key)
    except LinnetError as error:
        error.at = error.at or Location.of_caller()
        raise


def _quick_part(x: Tensor, key: object) -> Tensor | None:
    """One element, or slices of lists of lists: what is asked for most often; None for the rest."""
    parts = key if type(key) is tuple else (key,)
    contents = x.contents()
    if {*map(type, parts)} == {int} and len(parts) == len(contents.shape):
        outside = [i for i, n in zip(parts, contents.shape, strict=True) if not 0 <= i < n]
        return None if outside else element(x, parts)
    for part in parts:
        if type(part) is not slice or part.step not in (None, 1):
            return None
    wanted = _of_slices(contents.signature)
    if wanted is None or len(parts) > len(contents.shape):
        return None
    try:
        found = arrays.window(x, (*parts, *[slice(None)] * (len(contents.shape) - len(parts))))
    except TypeError:  # the bounds are no integers, which is told elsewhere
        return None
    return found if found is None or found.format == wanted else found.to(wanted)


@lru_cache(maxsize=1024)
def _of_slices(signature: Signature) -> Format | None:
    """The format of slices of a tensor whose kernels choose it themselves."""
    format = signature.format
    return alike(format, format.ndim) if is_plain(format) and not is_dense(format) else None


def _lazy_part(x: Lazy, key: object) -> Any:
    """A part of a lazy array is lazy; for what arrays of positions select it is computed."""
    if type(key) is tuple and {*map(type, key)} <= {slice, int}:
        return arrays.view(x, key)
    parts = indexing.normalized(key, x.shape)
    if any(isinstance(p, np.ndarray) for p in parts):
        return indexing.getitem(x.compute(), key)
    return arrays.view(x, parts)


def setitem(x: Tensor, key: object, value: object) -> None:
    """`x[key] = value`."""
    try:
        if not isinstance(x, Tensor):
            raise ArgumentError("a lazy array holds nothing to assign to", hint="compute it first")
        _check_part(x)
        held(x, api.assign.assigned(x, key, value))
    except LinnetError as error:
        error.at = error.at or Location.of_caller()
        raise


def iterate(x: Tensor) -> Iterator[Tensor]:
    """The parts of an array along its first dimension."""
    if not x.ndim:
        raise ArgumentError("an array without dimensions has no parts", at=Location.of_caller())
    return (getitem(x, i) for i in range(shape_of(x)[0]))


def reshape(x: Tensor, shape: Any, order: str | None, copy: bool | None) -> Tensor:
    """The same elements in another shape, by rows unless told."""
    if order in ("C", None):
        return api.shapes.reshape(x, shape, copy=copy)
    found: Tensor = imported("linnet.api.numpy.shapes").reshape(x, shape, order, copy=copy)
    return found


@located
def transpose(x: Any, axes: tuple[int, ...] | None = None, copy: bool = False) -> Any:
    """With dimensions in reverse, or in the order given; nothing is copied unless told."""
    array = as_array(x)
    order: Any = tuple(axes) if isinstance(axes, Iterable) else (axes,)
    found = array.T if axes is None else api.shapes.permute_dims(array, order)
    return found.copy() if copy and isinstance(found, Tensor) else found
