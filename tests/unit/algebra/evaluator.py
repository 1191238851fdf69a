"""Evaluates expressions of the imperative IR on whole arrays of values, and checks their types.

Codelets are run one element at a time, on NumPy's integers and floats, which wrap and round as
compiled code does.
"""

from __future__ import annotations

import types

import numpy as np

from linnet import imp
from linnet.algebra.codelets import CODELETS
from linnet.algebra.exact import converter, of_math


def _pow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The power of each; if there is one exponent for all, NumPy makes roots and squares of it."""
    x, y = np.broadcast_arrays(x, y)
    return np.power(np.stack([x, x]), np.stack([y, y]))[0]


_MATH = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "pow": _pow,
    "abs": np.abs,
    "conj": np.conjugate,
    "complex": lambda re, im: _complex(re, im),
}
_BINARY = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.true_divide,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": np.left_shift,
    ">>": np.right_shift,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "rem": np.fmod,
}


def evaluate(e: imp.Expr, values: dict[str, np.ndarray]) -> np.ndarray:
    """The values of `e`, given those of its variables; checks that types are as announced."""
    with np.errstate(all="ignore"):
        result = np.asarray(_evaluate(e, values))
    assert str(result.dtype) == e.dtype, f"{e} is a {result.dtype}"
    return result


def _evaluate(e: imp.Expr, values: dict[str, np.ndarray]) -> np.ndarray:
    match e:
        case imp.Const(value, dtype):
            kinds = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
            assert type(value) is kinds[dtype[0]], f"{value!r} is no {dtype}"
            return np.asarray(value, dtype)
        case imp.Var(name, _):
            return values[name]
        case imp.Unary(op, x, _):
            inner = evaluate(x, values)
            assert op != "not" or x.dtype == "bool"
            assert op != "~" or x.dtype[0] in "iu"
            return {"-": np.negative, "~": np.invert, "not": np.logical_not}[op](inner)
        case imp.Binary(op, a, b, _):
            assert a.dtype == b.dtype, f"{a.dtype} {op} {b.dtype}"
            return _binary(op, evaluate(a, values), evaluate(b, values))
        case imp.Select(cond, a, b):
            assert cond.dtype == "bool"
            assert a.dtype == b.dtype
            return np.where(evaluate(cond, values), evaluate(a, values), evaluate(b, values))
        case imp.Cast(x, dtype):
            assert not (x.dtype[0] == "c" and dtype[0] in "iuf")
            return np.asarray(converter(dtype)(evaluate(x, values)))
        case imp.Call(function, args, _) if function in CODELETS:
            return _codelet(function, np.broadcast_arrays(*(evaluate(a, values) for a in args)))
        case imp.Call(function, args, _):
            assert len({a.dtype for a in args}) == 1
            return _call(function, [evaluate(a, values) for a in args])
    raise AssertionError(e)


def _binary(op: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if op == "div":
        quotient = np.floor_divide(a, b)
        return quotient + ((np.fmod(a, b) != 0) & ((a < 0) != (b < 0))).astype(a.dtype)
    if op in ("and", "or"):
        assert a.dtype == b.dtype == bool
    return _BINARY[op](a, b)


def _call(function: str, args: list[np.ndarray]) -> np.ndarray:
    if function in ("real", "imag"):
        return getattr(args[0], function)
    return (_MATH.get(function) or getattr(np, function, None) or of_math(function))(*args)


def _complex(re: np.ndarray, im: np.ndarray) -> np.ndarray:
    re, im = np.broadcast_arrays(re, im)
    result = np.empty(re.shape, "complex64" if re.dtype == "float32" else "complex128")
    result.real, result.imag = re, im
    return result


def _codelet(name: str, args: list[np.ndarray]) -> np.ndarray:
    names = {**_NAMES, **CODELETS[name].__globals__, "math": _MATHEMATICS}
    for other, function in CODELETS.items():  # what it calls computes as it does
        names[other] = types.FunctionType(function.__code__, names)
    run, dtype = names[name], args[0].dtype
    flat = [run(*each) for each in zip(*(a.ravel() for a in args), strict=True)]
    if any(isinstance(x, complex) for x in flat):
        return np.array(flat, "complex128").reshape(args[0].shape)
    return np.array([dtype.type(x) for x in flat], dtype).reshape(args[0].shape)


def _exp2(x: float) -> np.float64:
    return np.exp2(np.float64(x))


_NAMES = {name: x for f in CODELETS.values() for name, x in f.__globals__.items()}
_MATHEMATICS = types.SimpleNamespace(
    **{name: getattr(np, name) for name in dir(np) if not name.startswith("_")},
)
for _name, _function in _MATH.items():
    setattr(_MATHEMATICS, _name, _function)
_MATHEMATICS.exp2 = _exp2
