"""Value types: their names, their limits, and how they combine (NumPy's rules, NEP 50).

A Python number in a program is *weak*: it takes the type of its company. Weak types are the names
`"weak_bool"`, `"weak_int"`, `"weak_float"`, `"weak_complex"`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from linnet.errors import DTypeError

DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
_WEAK = {
    "weak_bool": "bool",
    "weak_int": "int64",
    "weak_float": "float64",
    "weak_complex": "complex128",
}
_WEAK_VALUE = {"weak_bool": False, "weak_int": 0, "weak_float": 0.0, "weak_complex": 0j}

Number = bool | int | float | complex


def canonical(dtype: object) -> str:
    """The name of a dtype given in any of NumPy's ways; refuses those that Linnet cannot hold."""
    try:
        found = np.dtype(dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError):  # NumPy reads some strings as Python
        raise DTypeError(f"{dtype!r} is not a dtype", hint=f"one of {', '.join(DTYPES)}") from None
    return _name(found)


@lru_cache(maxsize=256)
def _name(found: np.dtype[np.generic]) -> str:
    name = str(found.newbyteorder("=")) if found.byteorder in "<>" else str(found)
    if name not in DTYPES:
        raise DTypeError(
            f"Linnet does not hold values of dtype {found}",
            why="a tensor holds booleans, integers, floats and complex numbers",
            hint=f"convert to one of {', '.join(DTYPES)}",
        )
    return name


def kind(dtype: str) -> str:
    """b, i, u, f or c; a weak type has the kind of its Python number."""
    return dtype.removeprefix("weak_")[0]


def weak_dtype(value: Number) -> str:
    """The weak type of a Python number."""
    for python in (bool, int, float):
        if isinstance(value, python):
            return f"weak_{python.__name__}"
    return "weak_complex"


def concrete(dtype: str) -> str:
    """A dtype that memory can hold."""
    return _WEAK.get(dtype, dtype)


@lru_cache(maxsize=4096)
def promote(*dtypes: str) -> str:
    """The type in which values of these types meet. Weak only if all of them are."""
    strong = [d for d in dtypes if d not in _WEAK]
    weak = [d for d in dtypes if d in _WEAK]
    if not strong:
        return max(weak, key=list(_WEAK).index)
    result = np.result_type(*strong, *(_WEAK_VALUE[d] for d in weak))
    return str(result)


def bits(dtype: str) -> int:
    """The width of a type in bits, as it lies in memory."""
    return int(np.dtype(dtype).itemsize) * 8


def lowest(dtype: str) -> Number:
    """The least value: the identity of `max`."""
    return _limit(dtype, least=True)


def highest(dtype: str) -> Number:
    """The greatest value: the identity of `min`."""
    return _limit(dtype, least=False)


def comparable(value: Number, dtype: str) -> Number:
    """A Python number, to be compared with values of a type: an integer beyond all is infinite."""
    if type(value) is not int or kind(dtype) not in "biu" or dtype.startswith("weak_"):
        return value
    wide = "uint64" if dtype == "uint64" else "int64"
    if value > highest(wide):  # type: ignore[operator]
        return float("inf")
    return float("-inf") if value < lowest(wide) else value  # type: ignore[operator]


def _limit(dtype: str, least: bool) -> Number:
    match kind(dtype):
        case "b":
            return not least
        case "i" | "u":
            info = np.iinfo(concrete(dtype))
            return int(info.min if least else info.max)
        case _:
            return float("-inf" if least else "inf")


def as_python(value: object, dtype: str) -> Number:
    """`value` as a Python number of exactly this type; refuses what does not fit."""
    if type(value) is float and dtype == "float64":
        return value  # as most fill values are, in every conversion
    try:
        with np.errstate(all="raise", under="ignore"):
            result = _convert(value, dtype)
    except (OverflowError, FloatingPointError, ValueError, TypeError):
        raise DTypeError(f"the value {value!r} does not fit the dtype {dtype}") from None
    return result


def fits(value: object, dtype: str) -> bool:
    """Whether a type holds this number as it is."""
    try:
        as_python(value, dtype)
    except DTypeError:
        return False
    return True


def _convert(value: object, dtype: str) -> Number:
    if isinstance(value, int):  # may have more bits than any dtype, which `asarray` would not say
        result: Number = np.dtype(dtype).type(value).item()
    else:
        array = np.asarray(value)
        if array.dtype.kind == "c" and kind(dtype) != "c":
            if array.imag != 0:
                raise ValueError
            array = array.real
        result = array.astype(dtype).item()
    if result != value and kind(dtype) in "biu":
        raise ValueError
    return result
