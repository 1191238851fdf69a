"""Operations on tensors that are often asked for, by the shortest way: one kernel, if it is known.

Each function makes a key of all that the way of doing an operation depends on, and looks up what is
known under it. Everything else, errors included, is left to the function of a layer above that is
given as `general`, which may say more of what it gives (`recall.Computed`). To be listed here, an
operation may depend on formats, dtypes and fill values, on the numbers of dimensions, on `measure`,
and on nothing else that its operands hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linnet.formats.addresses import address_of
from linnet.formats.contents import NARROW, Contents, Signature
from linnet.formats.dense import Dense
from linnet.formats.format import Format
from linnet.formats.from_numpy import as_it_lies, share
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor
from linnet.options import current
from linnet.runtime.call import Slots
from linnet.runtime.measure import is_long, measure, measured
from linnet.runtime.recall import KNOWN, Computed, first, learned, recalled, result
from linnet.runtime.slices import pattern_of, sizes, slots_of
from linnet.runtime.with_numbers import of_number

if TYPE_CHECKING:
    from linnet.algebra.function import Function

General = Callable[..., Any]
Lies = tuple[Signature, tuple[int, ...], bool]
_known = KNOWN.get
_PLAIN = 0x101  # the flags of an array of NumPy that is aligned, and in order without gaps


def elementwise(general: General, name: str | Function, x: Any, y: object) -> Any:
    """`x + y` and its kin, of two tensors of one shape, or of one and a number.

    A function of a user is told by itself: another one may have its name.
    """
    if type(y) is float or type(y) is int:
        return of_number(general, name, (x, y), 0) if type(x) is Tensor else general(name, x, y)
    if type(x) is float or type(x) is int:
        return of_number(general, name, (x, y), 1) if type(y) is Tensor else general(name, x, y)
    if type(x) is Tensor and type(y) is Tensor:
        p, q = x._contents, y._contents
        if p is not None and q is not None:
            like = None if p.shape == q.shape else _repeated(p.shape, q.shape)
            if like != ():
                left, right = p._signature or p.signature, q._signature or q.signature
                key = (name, id(current().code), left, right, x is y, like)
                return operation(key, (x, y), (p, q), general, (name, x, y))
    return general(name, x, y)


@lru_cache(maxsize=1024)
def _repeated(*shapes: tuple[int, ...]) -> tuple[tuple[bool, ...], ...]:
    """Which dimensions of operands are whole and not repeated; nothing if they do not fit."""
    sizes = [
        max(at) if 0 not in at else 0 for at in zip_longest(*map(reversed, shapes), fillvalue=1)
    ]
    if any(
        n not in (1, size)
        for shape in shapes
        for n, size in zip(reversed(shape), sizes, strict=False)
    ):
        return ()
    return tuple(
        [tuple([n == m for n, m in zip(reversed(s), sizes, strict=False)]) for s in shapes]
    )


def unary(general: General, name: str | Function, x: Any) -> Any:
    """`-x` and its kin."""
    p = x._contents if type(x) is Tensor else None
    if p is None:
        return general(name, x)
    key = (name, id(current().code), p._signature or p.signature)
    return operation(key, (x,), (p,), general, (name, x))


def contraction(general: General, told: object, tensors: Sequence[Tensor]) -> Any:
    """Products of tensors that are summed, of which all else is told; no size is repeated."""
    key: list[object] = [told, id(current().code)]
    held = [x.contents() for x in tensors]
    for p in held:
        key += (p._signature or p.signature, p._measure or measure(p))
    same = [[*map(id, tensors)].index(id(x)) for x in tensors]
    key.append(same == [0, 0] if len(same) == 2 else tuple(same))
    return operation(tuple(key), tensors, held, general, tensors)


def window(general: General, x: Tensor, pattern: tuple[object, ...], numbers: list[int]) -> Any:
    """Slices of a tensor that are alike but for where they begin, and how long they are."""
    key, p = ("part", id(current().code), *pattern[1:]), x.contents()
    if not numbers:
        return operation(key, (x,), (p,), general, (x,))
    return operation(key, (x, sizes(tuple(numbers))), (p,), general, (x,), slots_of(numbers))


def operation(
    key: tuple[object, ...],
    tensors: Sequence[Tensor],
    held: Sequence[Contents],
    general: General,
    given: Sequence[object],
    numbers: Slots | None = None,
    learn: Callable[..., Any] = first,
) -> Any:
    """What an operation on tensors gives that hold this: as it was done before, if that is known.

    Otherwise the general way is gone, with what that is given.
    """
    ready = _known(key) or recalled(key)
    if ready is None:
        return learn(key, tensors, general, given)
    slots = [p._slots or p.slots for p in held]
    if numbers is not None:
        slots.append(numbers)
    found = ready.run(slots, [p for p in held if not p._shared])
    return general(*given) if found is None else found


def product(general: General, x: Any, y: object) -> Any:
    """`x @ y`."""
    p = x._contents if type(x) is Tensor else None
    if p is None:
        return general("matmul", x, y)
    if type(y) is np.ndarray:
        return _product_with_array(general, x, p, y)
    if type(y) is Tensor and (q := y._contents) is not None:
        return _product_with_tensor(general, x, p, y, q)
    return general("matmul", x, y)


def _product_with_tensor(general: General, x: Tensor, p: Contents, y: Tensor, q: Contents) -> Any:
    """The same with another tensor."""
    signature, size = p._signature or p.signature, p._measure or measure(p)
    other = q._signature or q.signature
    key = ("matmul", id(current().code), signature, size, other, q._measure or measure(q), x is y)
    return operation(key, (x, y), (p, q), general, ("matmul", x, y))


def _product_with_array(general: General, x: Tensor, p: Contents, y: NDArray[Any]) -> Any:
    """The same with an array of NumPy, which is read where it is."""
    lies = _lies(y)
    if lies is None:
        return general("matmul", x, y)
    signature, size = p._signature or p.signature, p._measure or measure(p)
    key = ("matmul", id(current().code), signature, size, *lies)
    ready = _known(key) or recalled(key)
    if ready is None:
        shared = share(y)
        return first(key, (x, shared), general, ("matmul", x, shared))
    n = y.size
    known = [p._slots or p.slots, (*y.shape, address_of(y), n, n)]
    found = ready.run(known, () if p._shared else (p,))
    return general("matmul", x, y) if found is None else found


def reduction(general: General, name: str, x: Any, axis: object) -> Any:
    """`x.sum(axis)` and its kin, of one axis or all."""
    p = x._contents if type(x) is Tensor else None
    if p is None or not (axis is None or type(axis) is int):
        return general(x, axis=axis)
    key = (name, id(current().code), p._signature or p.signature, axis, p._measure or measure(p))
    along = partial(general, axis=axis)
    return operation(key, (x,), (p,), along, (x,), learn=learned)


def part(general: General, x: Any, key: object) -> Any:
    """`x[2:9]`, and slices of several dimensions, of what is stored in lists."""
    p = x._contents if type(x) is Tensor else None
    parts = key if type(key) is tuple else (key,)
    if p is None or not 0 < len(parts) <= len(p.shape) or not all(map(_is_range, parts)):
        return general(x, key)
    signature = p._signature or p.signature
    if not _is_listed(signature) or 1 in p.shape:
        return general(x, key)
    try:
        cut = pattern_of(p, (*parts, *[slice(None)] * (len(p.shape) - len(parts))))
    except TypeError:  # bounds that are no integers
        cut = None
    if cut is None or not cut[1]:
        return general(x, key)
    pattern, numbers = cut
    known, places = ("part", id(current().code), *pattern[1:]), tuple(numbers)
    given = (x, sizes(places)), (p,), general, (x, key), slots_of(places)
    return operation(known, *given, learn=learned)  # some formats have ways of their own


def conversion(x: Tensor, format: Format) -> Tensor:
    """`x.to(format)`, if that is another format than it has, and all of it is known."""
    p = x._contents if type(x) is Tensor else None
    if p is not None:
        signature, target = p._signature or p.signature, Signature.of(format)
        key = ("to", id(current().code), signature, target, format.name, is_long(p))
        if p._measure is None:
            measure(p)  # which tells whether others hold its memory
        return result(operation(key, (x,), (p,), _converted, (x, format)))  # type: ignore[no-any-return]
    return _converted(x, format).tensor


def _converted(x: Tensor, format: Format) -> Computed:
    from linnet.runtime.convert import computed  # which takes longer to import than what is known

    return computed(x, format)


def _is_range(part: object) -> bool:
    """Whether a part is a slice that goes forwards."""
    if type(part) is not slice:
        return False
    step = part.step
    return step is None or (type(step) is int and step > 0)


@lru_cache(maxsize=1024)
def _is_listed(signature: Signature) -> bool:
    """Whether values are stored in lists, under nothing but lists and dense levels."""
    levels = signature.format.levels[:-1]
    plain = all(type(level) in (Dense, SparseList, SparseCOO) for level in levels)
    return plain and bool(signature.format.leaf.arrays) and not all(level.full for level in levels)


def _lies(array: NDArray[Any]) -> Lies | None:
    """What an array of NumPy is as a tensor in the same memory; None if it takes a copy."""
    if array.flags.num & _PLAIN != _PLAIN:
        return None
    return _described(array.dtype, array.shape)


@lru_cache(maxsize=1024)
def _described(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Lies | None:
    """The end of a key: a signature, a measure, and that it is not the other operand."""
    known = as_it_lies(dtype, len(shape))
    if known is None or max(shape, default=0) >= NARROW:
        return None
    return known[1], measured(prod(shape), shape), False
