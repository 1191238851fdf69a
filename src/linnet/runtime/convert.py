"""Conversion between any two formats: a copy, compiled like any other loop program."""

from __future__ import annotations

from functools import lru_cache

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.runtime.kernel import Kernel


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
    if any(level.mirrored for level in format.levels):
        return _packed(tensor, format)
    result = Tensor(format, None)
    copy_kernel(tensor.contents().format, format)(result, tensor)
    return result


def _listed(tensor: Tensor) -> Tensor:
    """A tensor whose other half is not stored, by the coordinates of both."""
    from linnet.formats.assemble import pack, unpack

    assert tensor.shape is not None
    return pack(*unpack(tensor), tensor.shape, _coordinates(tensor.format))


def _packed(tensor: Tensor, format: Format) -> Tensor:
    """In a format that no kernel writes: by way of its coordinates, which are looked at."""
    from linnet.formats.assemble import pack, unpack

    listed = tensor.to(_coordinates(format))
    assert listed.shape is not None
    coordinates, values = unpack(listed)
    fill = listed.fill_value
    kept = values == values if fill != fill else values != fill
    return pack([idx[kept] for idx in coordinates], values[kept], listed.shape, format)


def _coordinates(format: Format) -> Format:
    from linnet.formats.named import COO

    return Format((*COO(format.ndim).levels[:-1], format.leaf), format.order)
