"""Whether something is stored: a function of elements that only the compiler writes."""

from __future__ import annotations

from functools import lru_cache

from linnet import imp
from linnet.algebra.dtypes import Number, concrete
from linnet.algebra.function import Function


@lru_cache(maxsize=256)
def stored(fill: Number) -> Function:
    """Whether something is stored. A value is; a fill value stands where nothing is.

    A constant need not be the fill value: all that is stored in a pattern is true.
    """
    is_nan = fill != fill
    return Function(
        "stored",
        1,
        lambda dtypes: (tuple(concrete(d) for d in dtypes), "bool"),
        lambda args, dtype: imp.TRUE,
        lambda x: x == x if is_nan else x != fill,
        asks_storage=True,
        constants=((fill, 0, False),),
    )
