"""What other libraries ask of an array: NumPy's dispatch, DLPack, the Array API, Dask."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np

from linnet.algebra import table
from linnet.algebra.lookup import lookup
from linnet.algebra.table import PAIRS
from linnet.api import NAMES
from linnet.api.dtypes import astype
from linnet.api.foreign import ARRAYS, home_of
from linnet.api.numpy_functions import FUNCTIONS
from linnet.api.operands import as_array, as_tensor, check_device, dtype_of
from linnet.api.storage import is_dense
from linnet.arrays import apply, reduce
from linnet.errors import ArgumentError, FormatError, Location
from linnet.formats.named import DENSE
from linnet.formats.tensor import Tensor

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def namespace(api_version: str | None) -> Any:
    """The module that holds the functions of the Array API."""
    if api_version is not None and api_version not in VERSIONS:
        raise FormatError(
            f"the Array API has no version {api_version!r} here",
            at=Location.of_caller(),
            hint=f"one of {', '.join(VERSIONS)}",
        )
    return sys.modules["linnet"]


def to_device(x: Tensor, device: object, stream: object) -> Tensor:
    """The array itself, on the only device."""
    check_device(device)
    if stream is not None:
        raise FormatError("there are no streams on 'cpu'", at=Location.of_caller())
    return x


class NotDenseError(FormatError, BufferError):
    """A sparse array was asked for its memory as if it were dense."""


def dlpack(
    x: Tensor,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """The memory of a dense array, for another library."""
    if not is_dense(x.contents().format):
        raise NotDenseError(
            f"{x!r} is not dense, and DLPack has no other arrays",
            at=Location.of_caller(),
            hint="x.to(ln.DENSE), or .buffers for the arrays of the levels",
        )
    array = x.to_numpy()
    if max_version is None or max_version < (1, 0):
        # an older consumer does not know of memory that must not be written to
        if copy is False:
            raise BufferError("this memory cannot be shared with a consumer of old DLPack")
        return np.array(array).__dlpack__()
    return array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)


def token(x: Tensor) -> Any:
    """What tells a tensor from others, to Dask."""
    contents = x.contents()
    return (
        "linnet",
        repr(contents.format.describe()),
        contents.shape,
        tuple(a.tobytes() for a in contents.arrays()),
    )


def matvec(x: Tensor, vector: Any) -> Any:
    """A matrix times a vector, or a matrix of one column, of NumPy."""
    from linnet.api.products import matmul

    flat = np.asarray(vector).reshape(-1)
    return matmul(x, flat, format=DENSE).to_numpy(copy=True).reshape(-1, *np.shape(vector)[1:])


def adjoint(x: Tensor) -> Any:
    """The conjugate transpose."""
    from linnet.algebra.table import conj

    return x.T if x.dtype is None or x.dtype.kind != "c" else apply(conj, x.T)


# -- NumPy -----------------------------------------------------------------------------------------


def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """`np.add(x, y)` and `np.add.reduce(x)`."""
    inputs = tuple([as_array(x) if home_of(x) in ARRAYS else x for x in inputs])
    out = named.pop("out", None)
    found = _ufunc(ufunc, method, inputs, named)
    if found is NotImplemented or out is None:
        return found
    if isinstance(found, tuple):
        return tuple(_put(t, x) for t, x in zip(out, found, strict=True))
    return _put(out[0], found)


def _put(target: Any, found: Any) -> Any:
    """What was found, in the place that is given for it."""
    if target is None:
        return found
    if isinstance(target, Tensor):
        from linnet.api.calls import held

        return held(target, found)
    target[...] = found.to_numpy()
    return target


def _ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
    if method == "__call__":
        named = {k: v for k, v in named.items() if not _goes_without_saying(k, v)}
        wanted = named.pop("dtype", None)
        if wanted is not None:  # in which it is computed
            inputs = tuple([astype(as_array(x), wanted, copy=False) for x in inputs])
    if ufunc in _PRODUCTS and method == "__call__" and not named:
        return _api(_PRODUCTS[ufunc])(*inputs)
    if ufunc.__name__ in PAIRS and method == "__call__" and not named:
        return _api(ufunc.__name__)(*inputs)
    function = lookup(ufunc)
    if function is None:
        return NotImplemented
    if method == "__call__" and not named:
        return apply(function, *inputs)
    if method == "reduce":
        wanted = {k: v for k, v in named.items() if k in ("axis", "keepdims", "initial", "dtype")}
        wanted.setdefault("axis", 0)
        if wanted.get("initial") is np._NoValue:
            del wanted["initial"]
        return reduce(function, *inputs, **wanted)
    if method == "outer" and not named:
        a, b = (as_tensor(x) for x in inputs)
        from linnet.api.shapes import reshape

        assert a.shape is not None
        return apply(function, reshape(a, a.shape + (1,) * b.ndim), b)
    return NotImplemented


def _goes_without_saying(option: str, value: object) -> bool:
    """Whether an option of a ufunc makes no difference, as its result is made anew."""
    return option in ("casting", "order", "subok") or (option == "where" and value is True)


_PRODUCTS = {np.matmul: "matmul", np.vecdot: "vecdot"} if hasattr(np, "vecdot") else {}

# NumPy's functions that have another name here, or another place.
_OTHERS: dict[str, str] = {
    "concatenate": "concat",
    "transpose": "_transpose",
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "ravel": "_ravel",
    "round": "_round",
    "copy": "_copy",
    "shape": "_shape",
    "ndim": "_ndim",
    "size": "_size",
    "result_type": "result_type",
    "where": "_where",
    "iscomplexobj": "_is_complex",
    "isclose": "_is_close",
    "allclose": "_all_close",
    "array_equal": "_equal",
    "ptp": "_spread",
    "real": "real",
    "imag": "imag",
    "einsum": "einsum",
}
_OWN: dict[str, Callable[..., Any]] = {
    "_where": lambda c, *xy: _api("where")(c, *xy) if xy else _api("nonzero")(c),
    "_is_complex": lambda x: dtype_of(as_array(x))[0] == "c",
    "_is_close": lambda a, b, *how, **named: _is_close(a, b, *how, **named),
    "_all_close": lambda a, b, *how, **named: bool(_api("all")(_is_close(a, b, *how, **named))),
    "_equal": lambda a, b, equal_nan=False: _equal(as_tensor(a), as_tensor(b), equal_nan),
    "_spread": lambda x, axis=None, **named: apply(
        table.subtract, _api("max")(x, axis=axis, **named), _api("min")(x, axis=axis, **named)
    ),
    "_round": lambda x, decimals=0: rounded(as_tensor(x), decimals),
    "_transpose": lambda x, axes=None: as_tensor(x).transpose(*(() if axes is None else (axes,))),
    "_ravel": lambda x, order="C": as_tensor(x).reshape(-1),
    "_copy": lambda x, order="K", subok=False: as_tensor(x).copy(),
    "_shape": lambda x: as_tensor(x).shape,
    "_ndim": lambda x: as_tensor(x).ndim,
    "_size": lambda x: as_tensor(x).size,
}


def _is_close(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Where elements differ by little: infinities if they are equal, NaN if that is said."""
    a, b = as_array(a), as_array(b)
    if dtype_of(a) == dtype_of(b) == "bool":
        return apply(table.equal, a, b)
    near = apply(table.absolute, apply(table.subtract, a, b))
    limit = apply(table.add, apply(table.multiply, apply(table.absolute, b), rtol), atol)
    found = apply(table.logical_and, apply(table.less_equal, near, limit), apply(table.isfinite, b))
    found = apply(table.logical_or, found, apply(table.equal, a, b))
    return apply(table.logical_or, found, _both_missing(a, b)) if equal_nan else found


def _both_missing(a: Any, b: Any) -> Any:
    return apply(table.logical_and, apply(table.isnan, a), apply(table.isnan, b))


def _equal(a: Tensor, b: Tensor, equal_nan: bool) -> bool:
    """Whether shapes and all elements are equal."""
    if a.shape != b.shape:
        return False
    same = apply(table.equal, a, b)
    if equal_nan:
        same = apply(table.logical_or, same, _both_missing(a, b))
    return bool(_api("all")(same))


def rounded(x: Tensor, decimals: int) -> Any:
    """Rounded to so many digits after the point, as NumPy does: scaled, rounded, scaled back."""
    if not decimals:
        return apply(table.rounded, x)
    scale, there, back = 10.0 ** abs(decimals), table.multiply, table.divide
    if decimals < 0:
        there, back = back, there
    return astype(apply(back, apply(table.rounded, apply(there, x, scale)), scale), x.dtype)


# Options of NumPy's that have no effect where they are left alone.
_UNSAID = {"out": None, "dtype": None, "kind": None, "order": None, "casting": "same_kind"}


def array_function(function: Any, args: Any, named: Any) -> Any:
    """`np.sum(x)`, `np.concatenate([x, y])` …: the function of the same name here."""
    name = function.__name__
    module = getattr(function, "__module__", "")
    if name in FUNCTIONS:
        return FUNCTIONS[name](*args, **named)
    if module.startswith(("numpy.linalg", "numpy.fft")):
        space = "linalg" if "linalg" in module else "fft"
        target = getattr(_api(space), name, None)
    else:
        name = _OTHERS.get(name, name)
        known = name in NAMES or name in _OTHERS.values()
        target = _OWN.get(name) or (_api(name) if known else None)
    if target is None:
        return NotImplemented
    if len(args) > 1 and target.__name__ in _AXIS_SECOND:  # here they are named
        rest = zip(_parameters(function)[1:], args[1:], strict=False)
        args, named = args[:1], {**dict(rest), **named}
    said = {k: v for k, v in named.items() if not _is_default(k, v)}
    refused = said.keys() & _NOT_TAKEN - {*_parameters(target)}
    if refused:
        raise ArgumentError(
            f"`np.{function.__name__}` of a tensor takes no {', '.join(sorted(refused))}",
            at=Location.of_caller(),
            hint="the function of Linnet has what there is instead: ln.where(condition, x, 0) …",
        )
    return target(*args, **said)


def _is_default(option: str, value: object) -> bool:
    """Whether an option of NumPy's has no effect: it says what goes without saying."""
    if value is np._NoValue or (option == "where" and value is True):
        return True
    return option in _UNSAID and value is _UNSAID[option]


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(signature(function).parameters)


_NOT_TAKEN = {"out", "where", "initial", "mean", "order", "kind", "casting"}
_AXIS_SECOND = set(
    "sum prod max min mean var std any all argmax argmin flip sort argsort concat stack "
    "cumulative_sum cumulative_prod count_nonzero nansum nanprod nanmax nanmin nanmean nanvar "
    "nanstd nanargmax nanargmin nancumsum nancumprod".split()
)


def _api(name: str) -> Any:
    return getattr(sys.modules["linnet"], name)
