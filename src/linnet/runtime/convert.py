"""Conversion between any two formats: a copy, compiled like any other loop program.

Where the order of dimensions changes and several are written in order, entries are sorted between
two copies: one to a list of coordinates, and one from it. Where it stays, most of a list of
coordinates is not copied at all (`listing`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from linnet import loops
from linnet.formats.assemble import pack, unpack
from linnet.formats.coordinates import KEY, MANY, key_bits
from linnet.formats.format import Format
from linnet.formats.named import COO
from linnet.formats.tensor import Tensor
from linnet.runtime.entries import sort_entries
from linnet.runtime.kernel import Kernel
from linnet.runtime.listing import relisted


@lru_cache(maxsize=1024)
def copy_kernel(source: Format, target: Format) -> Kernel:
    """`B[i, j, …] = A[i, j, …]`, walking A in the order in which it is stored.

    What a dense tensor holds, or one with runs that cover a dimension, is compared with the fill
    value of a sparse result, so that only what differs is stored; other entries are all kept.
    """
    few = source.ndim <= 8
    names = tuple("ijklmnop"[m] if few else f"i{m}" for m in range(source.ndim))
    indices = tuple(loops.Index(name) for name in names)
    value: loops.Expr = loops.Access("A", indices)
    body: loops.Stmt = loops.Assign(loops.Access("B", indices), None, value)
    if (_stores_all(source) or any(x.covers for x in source.levels)) and not _stores_all(target):
        body = _where_not_fill(body, value, target)
    for mode in reversed(source.order):
        body = loops.Loop(names[mode], None, body)
    fill = target.fill_value
    assert fill is not None
    declare = loops.Declare("B", loops.Literal(fill, target.dtype))
    return Kernel(loops.Program("convert", ("B", "A"), (), loops.Block((declare, body)), ("B",)))


def _stores_all(format: Format) -> bool:
    return all(level.full or level.covers for level in format.levels[:-1])


def _where_not_fill(body: loops.Stmt, value: loops.Expr, target: Format) -> loops.Stmt:
    """`if A[…] != fill: …`, where NaN is the same as NaN."""
    from linnet.algebra.table import isnan, logical_not, not_equal

    fill = target.fill_value
    assert fill is not None
    if fill != fill:
        cond: loops.Expr = loops.Call(logical_not, (loops.Call(isnan, (value,)),))
    else:
        cond = loops.Call(not_equal, (value, loops.Literal(fill, target.dtype)))
    return loops.If(cond, body, loops.NOTHING)


def convert(tensor: Tensor, format: Format) -> Tensor:
    """The tensor in another format, whose dtype and fill value are known."""
    if any(level.mirrored for level in tensor.format.levels):
        return _listed(tensor).to(format)
    if format.written is not format:
        return _packed(tensor, format)
    listed = relisted(tensor, format)
    if listed is not None:
        return listed
    if _needs_sorting(tensor, format):
        return _sorted(tensor, format)
    result = Tensor(format, None)
    copy_kernel(tensor.contents().format, format)(result, tensor)
    return result


def _needs_sorting(tensor: Tensor, format: Format) -> bool:
    """Whether many entries go to more than one level that is written in order, in another order.

    For one such level, the entries of each fiber are counted instead.
    """
    contents = tensor.contents()
    if contents.format.order == format.order or sum(key_bits(contents.shape)) > KEY:
        return False
    in_order = sum(level.width for level in format.levels[:-1] if level.sequential)
    return in_order > 1 and max(buffer.length for buffer in contents.buffers) >= MANY


def _sorted(tensor: Tensor, format: Format) -> Tensor:
    """By way of coordinates, which are sorted."""
    order, shape = tensor.contents().format.order, tensor.contents().shape
    listed = Format((*COO(format.ndim).levels[:-1], format.leaf), order)
    contents = tensor.to(listed).contents()
    _, *by_place = contents.arrays()[: 1 + format.ndim]
    held = contents.arrays()[-1] if format.leaf.arrays else np.ones(len(by_place[0]), bool)
    stored = dict(zip(order, by_place, strict=True))
    wanted, dims = [stored[mode] for mode in format.order], [shape[mode] for mode in format.order]
    in_order, values, _ = sort_entries(wanted, dims, held, None)
    placed = dict(zip(format.order, in_order, strict=True))
    return pack([placed[mode] for mode in range(format.ndim)], values, shape, format)


def _listed(tensor: Tensor) -> Tensor:
    """A tensor whose other half is not stored, by the coordinates of both."""
    assert tensor.shape is not None
    return pack(*unpack(tensor), tensor.shape, _coordinates(tensor.format))


def _packed(tensor: Tensor, format: Format) -> Tensor:
    """In a format that no kernel writes: by way of its coordinates, which are looked at."""
    listed = tensor.to(_coordinates(format))
    assert listed.shape is not None
    (coordinates, values), fill = unpack(listed), listed.fill_value
    kept = values == values if fill != fill else values != fill
    return pack([idx[kept] for idx in coordinates], values[kept], listed.shape, format)


def _coordinates(format: Format) -> Format:
    return Format((*COO(format.ndim).levels[:-1], format.leaf), format.order)
