"""The tensors of a program as its code has them: which arrays, of which dtypes."""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.formats.format import Format
from linnet.loops.rewrite import walk
from linnet.lower.storage import Bound
from linnet.normalize.lifecycles import updated_params

Formats = dict[str, Format]
Arrays = dict[str, tuple[str, ...]]
"""The dtypes of each tensor's arrays, outermost level first."""


def bind(program: loops.Program, formats: Formats, arrays: Arrays) -> dict[str, Bound]:
    """The tensors of a program as its code has them."""
    updated = {*updated_params(program), *(name for name, _ in program.temporaries)}
    bound = {
        name: Bound(formats[name], arrays[name], name in updated)
        for name in (*program.params, *(name for name, _ in program.temporaries))
    }
    return bound | narrow_counts(program, bound) if is_narrow(bound) else bound


def is_narrow(bound: dict[str, Bound]) -> bool:
    """Whether positions in some result have 32 bits."""
    for tensor in bound.values():
        roles = [array.role for level in tensor.format.levels for array in level.arrays]
        if tensor.updated and ("position", "int32") in zip(roles, tensor.dtypes, strict=True):
            return True
    return False


def narrow_counts(program: loops.Program, bound: dict[str, Bound]) -> dict[str, Bound]:
    """The tensors that count entries of fibers, in 32 bits: a fiber has no more than its size."""
    nodes = walk(program.body)
    counts = {n.counts for n in nodes if isinstance(n, loops.Declare) and n.counts is not None}
    return {
        name: replace(bound[name], format=bound[name].format.with_dtype("int32"), dtypes=("int32",))
        for name in counts
    }
