"""Which functions of math.h are computed by codelets, in which precision.

Those of math.h are called one number at a time, and some take as long as thirty multiplications;
these vectorize with the loop around them. They rest on multiplying and adding at once: a processor
that cannot do so, of before 2013, is left to math.h.
"""

from __future__ import annotations

from types import FunctionType

from linnet import imp
from linnet.algebra import angles, exponentials, logarithms, roots, single
from linnet.algebra.processor import features

_NAMES = {
    exponentials: "exp exp2 expm1 sinh cosh tanh",
    logarithms: "log log1p log2 log10 asinh acosh atanh",
    angles: "sin cos asin acos atan",
    roots: "cbrt",
}
_OF_X86_AND_ARM = ("FMA3", "NEON_VFPV4")  # what NumPy calls processors that have it
_SINGLE = f"{' '.join(_NAMES.values())} tan"


def _multiplies_and_adds() -> bool:
    """Whether the processor has the instruction, as far as NumPy tells."""
    found = features()
    return any(found.get(name, True) for name in _OF_X86_AND_ARM)


ELEMENTARY: dict[tuple[str, str], FunctionType] = {
    (name, dtype): getattr(module, name)
    for dtype, modules in (("float64", _NAMES), ("float32", {single: _SINGLE}))
    for module, names in modules.items()
    for name in names.split()
    if _multiplies_and_adds()
}
_BRANCHING = {("sin", "float64"), ("cos", "float64")}


def is_vectorized(call: imp.Call) -> bool:
    """Whether a call is of a function that a loop over neighbours computes in vectors."""
    key = call.function, call.dtype
    return key in ELEMENTARY and key not in _BRANCHING
