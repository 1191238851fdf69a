"""Reductions of whole arrays in which one fill value counts as much as many: maxima, products of 0.

Of each row it would have to be asked whether something is missing. Here what is stored is counted,
and goes by in one loop; whether the fill value takes part is asked at the end.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.algebra.stored import stored
from linnet.algebra.table import add, floor_divide, less
from linnet.api.programs import indices, name_of, nest
from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.formats.named import DENSE
from linnet.formats.tensor import Tensor

if TYPE_CHECKING:
    from linnet.runtime.kernel import Kernel

_COUNT = Format((Element(0, "int64"),), ())


def total(function: Function, x: Tensor, dtype: str) -> Tensor:
    """All elements of an array that has some, combined in a dtype."""
    format, result = x.contents().format, Tensor(DENSE(0), None)
    _total(function, format, repr(format.fill_value), dtype)(result, x)
    return result


@lru_cache(maxsize=256)
def _total(function: Function, format: Format, fill: str, dtype: str) -> Kernel:
    """`n` counts what is stored; `if n < size: C[()] = function(C[()], fill)`."""
    from linnet.runtime.kernel import Kernel

    value = format.fill_value
    neutral = function.identity(dtype)
    assert value is not None
    assert neutral is not None
    element = loops.Access("A", tuple(indices(format.ndim)))
    is_stored = loops.Call(stored(value), (element,))
    names = [name_of(m) for m in format.order]

    def walk(update: loops.Stmt) -> loops.Stmt:
        return nest(names, loops.If(is_stored, update, loops.NOTHING))

    result, count = loops.Access("C", ()), loops.Access("n", ())
    body = loops.Block(
        (
            loops.Declare("C", loops.Literal(neutral, dtype), ()),
            loops.Declare("n", loops.Literal(0, "int64"), ()),
            walk(loops.Assign(count, add, loops.Literal(1))),
            walk(loops.Assign(result, function, element)),
            loops.If(_is_less(count, format.ndim), _once(function, value, dtype), loops.NOTHING),
        )
    )
    return Kernel(loops.Program("total", ("C", "A"), (("n", _COUNT),), body, ("C",)))


def _once(function: Function, fill: Number, dtype: str) -> loops.Stmt:
    """The fill value takes part."""
    return loops.Assign(loops.Access("C", ()), function, loops.Literal(fill, dtype))


def _is_less(count: loops.Expr, ndim: int) -> loops.Expr:
    """Whether that is less than the number of elements, which need not fit 64 bits."""
    for m in range(ndim - 1):
        count = loops.Call(floor_divide, (count, loops.Dimension("A", m)))
    return loops.Call(less, (count, loops.Dimension("A", ndim - 1)))
