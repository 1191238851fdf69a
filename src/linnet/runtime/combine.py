"""Codelets in which any function of two values combines them: its code takes the place of one."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from linnet import backend, imp
from linnet.algebra.dtypes import concrete
from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup, on
from linnet.codelets import radix
from linnet.errors import ArgumentError, DTypeError
from linnet.options import Options, current
from linnet.runtime.routine import Argument, Routine, call, types_of


def as_operator(op: object, dtype: str) -> Function:
    """The function of two values that a user means, if it gives back what it takes."""
    found = lookup(op)
    if found is None or found.arity != 2:
        raise ArgumentError(
            f"op combines two values, and {op!r} is no function that Linnet can compile",
            hint="ln.add, ln.maximum, np.multiply …",
        )
    found = on(found, dtype)
    _, result = found.types((dtype, dtype))
    if not np.can_cast(result.removeprefix("weak_"), dtype, "same_kind"):
        raise DTypeError(f"{found!r} of two {dtype} values gives {result}")
    return found


class Combining:
    """A codelet that calls `radix.combined`; compiled for a function and the types of arrays."""

    __slots__ = ("routine",)

    def __init__(self, codelet: object) -> None:
        self.routine = Routine(codelet)

    def __call__(self, op: Function, dtype: str, *args: Argument) -> int:
        """Call it, without the GIL; values are combined in their own dtype."""
        return call(_compiled(self, op, dtype, types_of(args), current()), args)

    def kernel(self, op: Function, dtype: str, types: tuple[str, ...]) -> imp.Kernel:
        """The imperative code, in which `combined` has the body of the function."""
        kernel = self.routine.kernel(types)
        registry: dict[str, imp.Function] = {}
        for codelet in kernel.codelets:
            if codelet.name.startswith(f"{radix.combined.__name__}_"):
                registry |= _with_body(codelet, op, dtype)
            else:
                registry[codelet.name] = codelet
        return replace(kernel, codelets=tuple(registry.values()))


@lru_cache(maxsize=256)
def _compiled(
    combining: Combining, op: Function, dtype: str, types: tuple[str, ...], options: Options
) -> backend.Compiled:
    from linnet.imp.printer import show  # not needed to sort without combining

    kernel = combining.kernel(op, dtype, types)
    key = f"combining {show(kernel)}"
    return backend.load(key, options) or backend.build(kernel, key, options)


def _with_body(codelet: imp.Function, op: Function, dtype: str) -> dict[str, imp.Function]:
    """A codelet of two values that does what the function does, after all that it calls."""
    from linnet.algebra.codelets import resolve  # these bring much of the compiler along
    from linnet.lower.expressions import convert
    from linnet.target import of

    wanted, result = op.types((dtype, dtype))
    given = zip(codelet.params, wanted, strict=True)
    args = tuple(convert(x, concrete(t)) for x, t in given)  # type: ignore[arg-type]
    value = convert(op.emit(args, concrete(result)), codelet.dtype or dtype)
    registry: dict[str, imp.Function] = {}
    body = resolve(imp.Block((imp.Return(value),)), registry, of(current()))
    return registry | {codelet.name: replace(codelet, body=body)}
