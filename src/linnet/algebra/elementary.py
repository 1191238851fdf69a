"""Which functions of math.h are computed by codelets, in which precision.

Those of math.h are called one number at a time, and some take as long as thirty multiplications;
these vectorize with the loop around them. They rest on multiplying and adding at once: a processor
that cannot do so, of before 2013, is left to math.h.
"""

from __future__ import annotations

from types import FunctionType

from linnet import imp
from linnet.algebra import angles, exponentials, logarithms, roots, single
from linnet.target import Target

_NAMES = {
    exponentials: "exp exp2 expm1 sinh cosh tanh",
    logarithms: "log log1p log2 log10 asinh acosh atanh",
    angles: "sin cos asin acos atan",
    roots: "cbrt",
}
_SINGLE = f"{' '.join(_NAMES.values())} tan"


ELEMENTARY: dict[tuple[str, str], FunctionType] = {
    (name, dtype): getattr(module, name)
    for dtype, modules in (("float64", _NAMES), ("float32", {single: _SINGLE}))
    for module, names in modules.items()
    for name in names.split()
}


def is_elementary(call: imp.Call, target: Target) -> bool:
    """Whether a call of math.h is computed by a codelet."""
    return target.fused and (call.function, call.dtype) in ELEMENTARY
