"""What may be wrong in a field of a file: mutations that know what the field is.

What is drawn depends on the generator alone, so that a case is found again by its number.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Fields = dict[str, Any]

NUMBERS = (-(2**63), -(2**31) - 1, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 63, 255, 2**31 - 1, 2**31)
NUMBERS += (2**32, 2**53 + 1, 10**18, 2**63 - 1)
DTYPES = "b1 i1 u1 i2 i4 i8 u4 u8 >i4 >i8 f2 f4 f8 >f8 g c8 c16 S3 U3 M8[s] i4,i4".split()
VALUES: tuple[Any, ...] = (
    *(None, True, False, *NUMBERS, 2**64, 1.5, -0.0, float("nan"), 1e300, "", "x", [], {}, [1]),
    *({"a": 1}, [[[]]], b"csr", b"bsr", b"dia", b"coo", b"csc"),
    *"CSR COO DVEC custom bint8 int8 iso[float64] iso[bint8] complex[float64]".split(),
    *"complex[float32] symmetric_lower skew_symmetric_upper hermitian_lower general".split(),
    *"csr_matrix csc array sparse dense element 1.0 <f4 |O >c16 <U2".split(),
)
TOKENS: tuple[str, ...] = (
    *"0 1 2 3 5 6 -1 +1 -0 01 1.0 x % # nan inf 1e400 1e-320 1d3 1_0 ² \0".split(),
    *(*map(str, NUMBERS), str(2**63), str(2**64), "9" * 30),
    *"pattern real integer unsigned-integer complex symmetric skew-symmetric hermitian".split(),
    *"general array coordinate # shape: dtype: int8 bool".split(),
)


def mutate(random: Random, fields: Fields, others: list[Fields]) -> Fields:
    """The fields with one to three things changed; now and then one that another file has."""
    result = copy.deepcopy(fields)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        name = random.choice(sorted(result))
        kind = random.randrange(20)
        if kind == 0 and len(result) > 1:
            del result[name]
        elif kind == 1:
            other = random.choice(others)
            result[name] = copy.deepcopy(other[random.choice(sorted(other))])
        elif kind == 2:
            result[name] = copy.deepcopy(result[random.choice(sorted(result))])
        elif name == "lines":
            result[name] = _lines(random, result[name])
        elif isinstance(result[name], dict):
            result[name] = _json(random, result[name])
        elif isinstance(result[name], (np.ndarray, list, tuple)) and kind != 3:
            result[name] = _array(random, result[name])
        else:
            result[name] = random.choice(VALUES)
    return result


def damage(random: Random, content: bytes) -> bytes:
    """Some bytes changed, left out or repeated."""
    found = bytearray(content)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(found) + 1)
        kind = random.randrange(4)
        if kind == 0:
            found[at : at + 1] = random.randbytes(random.randrange(1, 4))
        elif kind == 1:
            del found[at : at + random.randrange(1, 9)]
        elif kind == 2:
            found[at:at] = found[at : at + random.randrange(1, 99)]
        else:
            del found[at:]
    return bytes(found)


# -- arrays ----------------------------------------------------------------------------------------


def _array(random: Random, value: Any) -> Any:
    """An array with other elements, dtype, length or dimensions."""
    change = random.choice(_OF_ARRAYS)
    try:
        with np.errstate(all="ignore"):
            return change(random, np.array(value))
    except (ValueError, TypeError, IndexError, ArithmeticError, RuntimeError):
        return value  # such an array does not exist


def _element(random: Random, array: Array) -> Array:
    flat = array.reshape(-1)
    if flat.size:
        flat[random.randrange(flat.size)] = random.choice(NUMBERS)
    return flat.reshape(array.shape)


def _odd_value(random: Random, array: Array) -> Array:
    flat = array.reshape(-1)
    if flat.size:
        flat[random.randrange(flat.size)] = random.choice((np.nan, np.inf, -np.inf, 1e300, -0.0))
    return flat.reshape(array.shape)


def _nearby(random: Random, array: Array) -> Array:
    flat = array.reshape(-1)
    if flat.size:
        flat[random.randrange(flat.size)] += random.choice((-2, -1, 1, 2))
    return flat.reshape(array.shape)


def _shifted(random: Random, array: Array) -> Array:
    return array + np.asarray(random.choice(NUMBERS)).astype(array.dtype)


def _swapped(random: Random, array: Array) -> Array:
    if len(array) > 1:
        a, b = random.randrange(len(array)), random.randrange(len(array))
        array[[a, b]] = array[[b, a]]
    return array


def _reversed(random: Random, array: Array) -> Array:
    return array[::-1].copy()


def _repeated(random: Random, array: Array) -> Array:
    if len(array) > 1:
        array[random.randrange(len(array))] = array[random.randrange(len(array))]
    return array


def _shorter(random: Random, array: Array) -> Array:
    return array[: max(0, len(array) - random.choice((1, 1, 2, 5, 10**6)))]


def _longer(random: Random, array: Array) -> Array:
    count = random.choice((1, 1, 2, 100))
    return np.concatenate([array, np.resize(array, (count, *array.shape[1:]))])


def _retyped(random: Random, array: Array) -> Array:
    return array.astype(random.choice(DTYPES))


def _bits(random: Random, array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(random.choice(DTYPES))


def _reshaped(random: Random, array: Array) -> Array:
    shapes = ((-1, 1), (1, -1), (-1,), (1, 1, -1), (-1, 2), (3, -1), (0, 3))
    shape = random.choice(shapes)
    return array[:0].reshape(shape) if 0 in shape else array.reshape(shape)


def _single(random: Random, array: Array) -> Array:
    return array.reshape(-1)[0] if array.size else np.array(0)


def _by_columns(random: Random, array: Array) -> Array:
    return np.asfortranarray(array) if array.ndim > 1 else array[:0]


_OF_ARRAYS: tuple[Callable[[Random, Array], Array], ...] = (
    *(_element, _element, _element, _odd_value, _nearby, _nearby, _nearby, _shifted, _swapped),
    *(_swapped, _reversed, _repeated, _repeated, _shorter, _longer, _retyped, _retyped, _bits),
    *(_reshaped, _single, _by_columns),
)


# -- JSON ------------------------------------------------------------------------------------------


def _json(random: Random, value: Any) -> Any:
    """A tree with a value changed, left out or wrapped somewhere."""
    inner = isinstance(value, (dict, list)) and value
    if not inner or random.randrange(5) == 0:
        return random.choice(([value], {"binsparse": value}, *(_plain(v) for v in VALUES)))
    key = random.choice(sorted(value)) if isinstance(value, dict) else random.randrange(len(value))
    kind = random.randrange(8)
    if kind == 0:
        del value[key]
    elif kind == 1 and isinstance(value, list):
        value.append(value[key])
    elif kind == 2 and isinstance(value[key], int):
        value[key] += random.choice((-1, 1))
    else:
        value[key] = _json(random, value[key])
    return value


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


# -- text ------------------------------------------------------------------------------------------


def _lines(random: Random, lines: Any) -> Any:
    """Lines with a token or a line changed, left out, repeated or moved."""
    if not isinstance(lines, list) or not lines or not isinstance(lines[0], list):
        return [["1"]]
    at = random.randrange(len(lines))
    line, kind = lines[at], random.randrange(9)
    if kind < 4 and line:
        line[random.randrange(len(line))] = random.choice(TOKENS)
    elif kind == 4 and line:
        del line[random.randrange(len(line))]
    elif kind == 5:
        line.insert(random.randrange(len(line) + 1), random.choice(TOKENS))
    elif kind == 6:
        lines.insert(random.randrange(len(lines) + 1), random.choice((line.copy(), [], ["%"])))
    elif kind == 7 and len(lines) > 1:
        del lines[at]
    else:
        other = random.randrange(len(lines))
        lines[at], lines[other] = lines[other], line
    return lines
