"""The meaning of an equation, on dense arrays: every element from its definition. An oracle."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet import loops
from linnet.algebra.table import add
from linnet.arrays.check import check, index_sizes, indices
from linnet.arrays.nodes import Notation
from linnet.errors import InternalError

Arrays = Mapping[str, NDArray[Any]]


def run(notation: Notation, arrays: Arrays) -> NDArray[Any]:
    """The result; its dtype is NumPy's for these operations."""
    shapes = {name: array.shape for name, array in arrays.items()}
    check(notation, shapes)
    sizes = index_sizes(notation, shapes)
    free = notation.free
    reduced = [i for i in indices(notation) if i not in free]
    result: NDArray[Any] | None = None
    op = notation.op or add
    for at in product(*(range(sizes[i]) for i in free)):
        total: Any = None
        for below in product(*(range(sizes[i]) for i in reduced)):
            env = dict(zip((*free, *reduced), (*at, *below), strict=True))
            value = _value(notation.value, arrays, env)
            total = value if total is None else op.numpy(total, value)
        if total is None:
            continue
        if result is None:
            result = np.zeros([sizes[i] for i in free], np.asarray(total).dtype)
        result[at] = total
    return np.zeros([sizes[i] for i in free]) if result is None else result


def _value(expr: loops.Expr, arrays: Arrays, env: dict[str, int]) -> Any:
    match expr:
        case loops.Literal(value):
            return value
        case loops.Index(name):
            return np.int64(env[name])
        case loops.Access(str(tensor), where):
            return arrays[tensor][tuple(int(_value(i, arrays, env)) for i in where)]
        case loops.Call(function, args):
            return function.numpy(*(_value(a, arrays, env) for a in args))
        case _:
            raise InternalError(f"{expr} does not belong in index notation")
