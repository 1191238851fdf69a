"""NumPy's functions and ufuncs, called on tensors: `np.exp(A)`, `np.add.reduce(A)`, `np.sum(A)`.

What has a counterpart is called by NumPy's order and names of arguments; what has none, or takes
an argument that is not taken here, is refused with a word on what to do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any

import numpy as np

from linnet.algebra.lookup import lookup
from linnet.algebra.table import PAIRS
from linnet.api import NAMES, above
from linnet.api.calls import put
from linnet.api.dtypes import astype
from linnet.api.foreign import ARRAYS, home_of, taken_in
from linnet.api.numpy.functions import FUNCTIONS, UFUNCS
from linnet.api.numpy.more import MORE
from linnet.api.operands import as_array, as_tensor, shape_of
from linnet.api.restricted import REDUCTIONS, restricted
from linnet.arrays import Lazy, apply, reduce
from linnet.errors import ArgumentError
from linnet.formats.located import located
from linnet.formats.tensor import Tensor

_SAME = {"concatenate": "concat", "absolute": "abs", "amax": "max", "amin": "min"}
_AXIS_SECOND = set(
    "sum prod max min mean var std any all argmax argmin flip concat stack count_nonzero "
    "cumulative_sum cumulative_prod nansum nanprod nanmax nanmin nanmean nanvar nanstd nanargmax "
    "nanargmin".split()
)
# Options of NumPy's that have no effect where they are left alone.
_UNSAID = {"out": None, "dtype": None, "kind": None, "order": None, "casting": "same_kind"}
_INSTEAD = {
    "at": "x[i] += y, or ln.tensor(coordinates, values, shape, op=…)",
    "reduceat": "ln.groupby(x, labels)",
    "save": "ln.write(path, x)",
    "savez": "ln.write(path, x)",
    "ix_": "x[rows][:, columns]",
    "apply_along_axis": "an @ln.kernel",
    "piecewise": "ln.where, or np.select",
}


# -- ufuncs ----------------------------------------------------------------------------------------


@located
def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """`np.add(x, y)`, `np.add.reduce(x)`, `np.add.outer(x, y)`, `np.add.accumulate(x)`."""
    inputs = tuple([as_array(taken_in(x)) if home_of(x) in ARRAYS else x for x in inputs])
    out = named.pop("out", None)
    found = _ufunc(ufunc, method, inputs, named)
    if found is NotImplemented or out is None:
        return found
    if isinstance(found, tuple):
        return tuple(x if t is None else put(t, x) for t, x in zip(out, found, strict=True))
    return found if out[0] is None else put(out[0], found)


def _ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
    named = {k: v for k, v in named.items() if not _goes_without_saying(k, v)}
    if method == "__call__":
        wanted = named.pop("dtype", None)
        if wanted is not None:  # in which it is computed
            inputs = tuple([astype(as_array(x), wanted, copy=False) for x in inputs])
    if named.get("where") is not None and method != "reduce":
        raise _not_taken(ufunc, ["where"], "where")
    if method == "__call__" and ufunc.__name__ in UFUNCS:
        return UFUNCS[ufunc.__name__](*inputs)
    if method == "__call__" and ufunc.__name__ in PAIRS:
        return _api(ufunc.__name__)(*inputs)
    function = lookup(ufunc)
    if function is None:
        return NotImplemented
    if method == "__call__" and not named:
        return apply(function, *inputs)
    if method == "reduce":
        return _reduced(ufunc, function, *inputs, **named)
    if method == "accumulate" and function.name in _RUNNING:
        options = {"axis": named.get("axis", 0), "dtype": named.get("dtype")}
        return _api(_RUNNING[function.name])(*inputs, **options)
    if method == "outer" and not named:
        a, b = (as_tensor(x) for x in inputs)
        return apply(function, a.reshape(shape_of(a) + (1,) * b.ndim), b)
    return _refused(f"{ufunc.__name__}.{method}", method)


_RUNNING = {"add": "cumulative_sum", "multiply": "cumulative_prod"}
_REDUCED = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
            "logical_and": "all", "logical_or": "any"}  # fmt: skip


def _reduced(ufunc: Any, function: Any, x: Any, **named: Any) -> Any:
    named.setdefault("axis", 0)
    if "where" not in named:
        return reduce(function, x, **named)
    if ufunc.__name__ not in _REDUCED:
        raise _not_taken(ufunc, ["where"], "where")
    said = {k: v for k, v in named.items() if v is not None}
    return restricted(_REDUCED[ufunc.__name__], x, **said)


def _goes_without_saying(option: str, value: object) -> bool:
    """Whether an option of a ufunc makes no difference, as its result is made anew."""
    if value is np._NoValue or (option == "where" and value is True):
        return True
    return option in ("casting", "order", "subok") or (option == "dtype" and value is None)


# -- functions -------------------------------------------------------------------------------------


@located
def array_function(function: Any, types: Iterable[type], args: Any, named: Any) -> Any:
    """`np.sum(x)`, `np.concatenate([x, y])` …: the function of the same name here."""
    name = function.__name__
    target = _target(name, getattr(function, "__module__", ""))
    if target is None:
        others = [t for t in types if not issubclass(t, Tensor | Lazy | np.ndarray)]
        return NotImplemented if others else _refused(name, name)
    if len(args) > 1 and target.__name__ in _AXIS_SECOND:  # here they are named
        named = {**_named(function, args), **named}
        args = args[:1]
    said = {k: v for k, v in named.items() if not _is_default(function, target, k, v)}
    out = said.pop("out", None) if "out" not in _parameters(target) else None
    if said.keys() & {"where", "initial"} and target.__name__.removeprefix("nan") in REDUCTIONS:
        found = restricted(target.__name__, *args, **said)
    else:
        _check_taken(function, target, args, said)
        found = target(*args, **said)
    return found if out is None else put(out, found)


def _named(function: Any, args: Any) -> dict[str, Any]:
    """All arguments but the first, by the names that NumPy has for them."""
    names = tuple(_defaults(function))
    if len(args) > len(names):
        raise ArgumentError(
            f"NumPy does not tell what the arguments of `np.{function.__name__}` are called",
            why="it is not written in Python, and has lost its documentation (`python -OO`)",
            hint="name them, as in np.concatenate([x, y], axis=1), or take NumPy 2.4 or newer",
        )
    return dict(zip(names[1:], args[1:], strict=False))


def _target(name: str, module: str) -> Callable[..., Any] | None:
    """What is called for a function of NumPy's."""
    if name in FUNCTIONS or name in MORE:
        return FUNCTIONS.get(name) or MORE[name]
    if module.startswith(("numpy.linalg", "numpy.fft")):
        return getattr(_api("linalg" if "linalg" in module else "fft"), name, None)
    name = _SAME.get(name, name)
    return _api(name) if name in NAMES or name in ("real", "imag") else None


def _is_default(function: Any, target: Any, option: str, value: object) -> bool:
    """Whether an option of NumPy's has no effect: it says what goes without saying."""
    taken = option in _parameters(target)
    if option == "casting" and taken:
        return False
    if not taken and value is _defaults(function).get(option, np._NoValue):
        return True
    if value is np._NoValue or (option == "where" and value is True):
        return True
    return option in _UNSAID and value is _UNSAID[option]


def _check_taken(function: Any, target: Any, args: Any, said: dict[str, Any]) -> None:
    """Refuse arguments that the function has no parameter for."""
    try:
        signature(target).bind(*args, **said)
    except TypeError as error:
        takes = signature(target).parameters
        unknown = [option for option in said if option not in takes]
        if unknown:
            raise _not_taken(function, unknown, function.__name__) from None
        raise ArgumentError(f"`np.{function.__name__}` of a tensor: {error}") from None


def _not_taken(function: Any, options: list[str], name: str) -> ArgumentError:
    return ArgumentError(
        f"`np.{function.__name__}` of a tensor takes no {', '.join(options)}",
        hint=_INSTEAD.get(name, "ln.where(condition, x, 0) chooses elements; .to_numpy() is dense"),
    )


def _refused(name: str, key: str) -> Any:
    raise ArgumentError(
        f"`np.{name}` is not there for tensors",
        hint=_INSTEAD.get(key, f"np.{name} of x.to_numpy(), if x may become dense"),
    )


@lru_cache(maxsize=256)
def _defaults(function: Callable[..., Any]) -> dict[str, object]:
    """The parameters of a function of NumPy's, and what they are where nothing is said."""
    try:
        parameters = signature(function).parameters
    except ValueError:  # it is not written in Python
        return _documented(function.__doc__ or "")
    return {name: p.default for name, p in parameters.items()}


def _documented(text: str) -> dict[str, object]:
    """The same by the first words on a function: `concatenate((a1, a2, ...), axis=0, out=None)`.

    So they begin where NumPy is older than 2.4; newer ones tell the signature.
    """
    head = re.sub(r",\s*[/*](?=[,)])", "", text.strip().partition("\n\n")[0])
    try:
        call = ast.parse(head, mode="eval").body
    except SyntaxError:
        return {}
    if not isinstance(call, ast.Call):
        return {}
    found = {ast.unparse(each): Parameter.empty for each in call.args}
    return {**found, **{str(o.arg): ast.literal_eval(o.value) for o in call.keywords}}


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(signature(function).parameters)


def _api(name: str) -> Any:
    return getattr(above.package(), name)
