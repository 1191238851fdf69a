"""Functions of single elements that are not stored, where these decide the result.

`x[i] * y[i]` is `(x * y)[i]`: what an array does not store is no 0 that was computed, and does not
become one when it is taken out of the array. Then nothing is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linnet.algebra.dtypes import Number, as_python, concrete
from linnet.algebra.lookup import lookup
from linnet.arrays.graph import map_of, node_of, rounded
from linnet.arrays.scalars import is_telling, known_fill, scalar
from linnet.formats.assemble import unstored
from linnet.formats.tensor import Tensor
from linnet.runtime.memory import Memory

_NUMBERS = frozenset((bool, int, float, complex))
_FOUND: Memory[tuple[object, ...], tuple[tuple[Number, str], ...]] = Memory()


def decided(function: object, args: Sequence[object]) -> Tensor | None:
    """A function of single elements and numbers, if those that are not stored decide it."""
    key: list[object] = [function]
    some = False
    for arg in args:
        if type(arg) is Tensor and (contents := arg._contents) is not None and not contents.shape:
            some = some or contents.format.leaf.unstored
            key.append(contents.signature)
        elif type(arg) in _NUMBERS or isinstance(arg, np.generic):
            key += (type(arg), repr(arg))  # which tells 0.0 from -0.0
        else:
            return None
    if not some:
        return None
    known = _FOUND.get(tuple(key))
    if known is None:
        known = _FOUND.put(tuple(key), _decided(function, args))
    if not known:
        return None
    # what no law speaks of is stored: kernels are compiled for a fill value, and not for a number
    return (unstored if is_telling(known[0][0]) else scalar)(*known[0])


def _decided(function: object, args: Sequence[object]) -> tuple[tuple[Number, str], ...]:
    """The result, with its dtype, if it is known without looking at what is stored."""
    called = lookup(function)
    if called is None or called.arity != len(args):  # which is told elsewhere
        return ()
    node = map_of(called, rounded(called, [node_of(arg) for arg in args]))
    found, dtype = known_fill(node), concrete(node.dtype)
    return () if found is None else ((as_python(found[0], dtype), dtype),)
