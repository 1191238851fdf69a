"""Values at equal coordinates, folded by any function of values: compiled, in the order given."""

from __future__ import annotations

import hashlib
from array import array
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet import backend, imp
from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup, on
from linnet.errors import ArgumentError, DTypeError
from linnet.imp.printer import show
from linnet.options import Options, current

Ints = NDArray[Any]


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


def fold(
    op: Function,
    values: NDArray[Any],
    order: Ints,
    count: int,
    to: Ints | None,
    result: NDArray[Any],
) -> None:
    """Fold groups of values from the left, each into its place of the result.

    `order` lists the values group by group: ~q for one that begins a group, q for one that goes on
    with it, and -1 at the end. Group u, of `count`, goes to result[to[u]]; without `to`, to
    result[u].
    """
    dtypes = (str(order.dtype), None if to is None else str(to.dtype))
    compiled = _compiled(op, str(values.dtype), *dtypes, current())
    slots = [count]
    for each in (values, order, to, result):
        if each is not None:
            slots += (each.__array_interface__["data"][0], each.size, each.size)
    block = array("q", slots)
    compiled.call(block.buffer_info()[0])


@lru_cache(maxsize=256)
def _compiled(
    op: Function, dtype: str, order: str, to: str | None, options: Options
) -> backend.Compiled:
    kernel = fold_kernel(op, dtype, order, to)
    key = "fold " + hashlib.sha256(show(kernel).encode()).hexdigest()
    return backend.load(key, options) or backend.build(kernel, key, options)


def fold_kernel(op: Function, dtype: str, index: str, place: str | None) -> imp.Kernel:
    """`fold` in imperative code."""
    from linnet.compiler import add_codelets, prune_codelets
    from linnet.imp.simplify import simplify
    from linnet.lower.expressions import convert

    values, order = imp.Buffer("values", dtype), imp.Buffer("order", index)
    to = () if place is None else (imp.Buffer("to", place),)
    result = imp.Buffer("result", dtype)
    n, q, u, total = imp.Var("n"), imp.Var("q"), imp.Var("u"), imp.Var("total", dtype)
    entry = imp.widen(order[q])
    wanted, gives = op.types((dtype, dtype))
    pair = (convert(total, wanted[0]), convert(values[entry], wanted[1]))
    both = op.emit(pair, gives)
    step = imp.Assign(q, q + 1)
    group = (
        imp.Let(total, values[imp.Unary("~", entry, imp.INT)]),
        step,
        imp.While(entry >= 0, imp.Block((imp.Assign(total, convert(both, dtype)), step))),
        imp.Store(result, imp.widen(to[0][u]) if to else u, total),
    )
    arguments = (
        imp.Argument("n", (n,), ()),
        *(imp.Argument(b.name, (), (b,)) for b in (values, order, *to, result)),
    )
    code = imp.Block((imp.Let(q, imp.ZERO), imp.For(u, imp.ZERO, n, imp.Block(group))))
    return prune_codelets(add_codelets(simplify(imp.Kernel("fold", arguments, code))))
