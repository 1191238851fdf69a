"""Whether something is stored: a function of elements that only the compiler writes."""

from __future__ import annotations

from functools import lru_cache

from linnet import imp
from linnet.algebra.dtypes import Number, concrete
from linnet.algebra.function import Function


@lru_cache(maxsize=256)
def stored(fill: Number) -> Function:
    """Whether something is stored. A value is; a fill value stands where nothing is."""
    return Function(
        "stored",
        1,
        lambda dtypes: (tuple(concrete(d) for d in dtypes), "bool"),
        lambda args, dtype: imp.TRUE,
        lambda x: False,  # of a constant, which stands for what is not stored
        constants=((fill, 0, False),),
    )
