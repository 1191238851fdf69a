"""The routines that kernels call, by name: written as ordinary Python, compiled on demand.

A codelet is translated for the types of its arguments, so that it is written once for all widths
of index arrays and all back ends. Arrays are passed whole, with the bounds of the part that is
meant: from `lo` up to, but not including, `hi`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from linnet import imp
from linnet.codelets.bit_sets import clear_bits
from linnet.codelets.grouping import (
    clear,
    group_by_position,
    order,
    order_bits,
    order_bits_if_cheap,
    order_if_cheap,
    prefix_sum,
    sort_groups,
    sweep,
)
from linnet.codelets.hashing import hash_find, hash_rehash
from linnet.codelets.searching import fiber_of, gallop, run_begin, run_end, search
from linnet.codelets.sorting import sort, sort_pairs
from linnet.errors import InternalError
from linnet.python.translate import translate

_ALL: tuple[object, ...] = (
    search,
    gallop,
    fiber_of,
    run_begin,
    run_end,
    sort,
    sort_pairs,
    clear,
    clear_bits,
    order,
    order_bits,
    order_bits_if_cheap,
    order_if_cheap,
    sweep,
    prefix_sum,
    group_by_position,
    sort_groups,
    hash_find,
    hash_rehash,
)
CODELETS = {codelet.__name__: codelet for codelet in _ALL if isinstance(codelet, FunctionType)}


Codelet = str | Callable[..., object]


def instantiate(
    codelet: Codelet, dtypes: tuple[str, ...], registry: dict[str, imp.Function]
) -> imp.Function:
    """The codelet for arguments of these types; it is registered, after all that it calls."""
    found = CODELETS.get(codelet) if isinstance(codelet, str) else codelet
    if not isinstance(found, FunctionType):
        raise InternalError(f"there is no codelet `{codelet}`")
    return translate(found, dtypes, registry)
