"""Conversion between any two formats: a copy, compiled like any other loop program.

Where the order of dimensions changes and several are written in order, entries are sorted between
two copies: one to a list of coordinates, and one from it. Where it stays, most of a list of
coordinates is not copied at all (`listing`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from sys import _getframe

import numpy as np

from linnet import loops
from linnet.algebra.dtypes import as_python
from linnet.algebra.exact import same
from linnet.algebra.stored import stored
from linnet.algebra.table import astype
from linnet.formats.assemble import pack, unpack
from linnet.formats.buffers import Buffer
from linnet.formats.contents import Contents, Signature, let_go
from linnet.formats.format import Format
from linnet.formats.from_numpy import differs
from linnet.formats.named import COO, SCALAR, settle
from linnet.formats.tensor import Tensor
from linnet.loops.unlike import unlike
from linnet.runtime.entries import sort_entries
from linnet.runtime.kernel import Kernel
from linnet.runtime.listing import relisting
from linnet.runtime.measure import is_long
from linnet.runtime.recall import Computed
from linnet.runtime.watch import Seen


@lru_cache(maxsize=1024)
def copy_kernel(source: Format, target: Format) -> Kernel:
    """`B[i, j, …] = A[i, j, …]`, walking A in the order in which it is stored.

    What a dense tensor holds, or one with runs that cover a dimension, is compared with the fill
    value of a sparse result, so that only what differs is stored; other entries are all kept.
    """
    fill = target.fill_value
    assert fill is not None
    literal = loops.Literal(fill, target.dtype)
    compares = _holds_all(source) and not _stores_all(target)
    kept = (lambda value: unlike(value, literal)) if compares else None
    body = _copy(source, kept, str(target.dtype))
    code = loops.Block((loops.Declare("B", literal), body))
    return Kernel(loops.Program("convert", ("B", "A"), (), code, ("B",)))


def _copy(
    source: Format, kept: Callable[[loops.Expr], loops.Expr] | None, dtype: str
) -> loops.Stmt:
    """`for i, j, …: if kept: B[i, j, …] = A[i, j, …]`; who asks for another kind is given it."""
    few = source.ndim <= 8
    names = tuple("ijklmnop"[m] if few else f"i{m}" for m in range(source.ndim))
    indices = tuple(loops.Index(name) for name in names)
    value = loops.Access("A", indices)
    lossy = not np.can_cast(str(source.dtype), dtype, "same_kind")
    held = loops.Call(astype[dtype], (value,)) if lossy else value
    body: loops.Stmt = loops.Assign(loops.Access("B", indices), None, held)
    if kept is not None:
        body = loops.If(kept(value), body, loops.NOTHING)
    for mode in reversed(source.order):
        body = loops.Loop(names[mode], None, body)
    return body


def _stores_all(format: Format) -> bool:
    return all(level.full or level.covers for level in format.levels[:-1])


def _holds_all(format: Format) -> bool:
    """Whether fill values are among what a tensor holds."""
    return _stores_all(format) or any(level.covers for level in format.levels)


def convert(tensor: Tensor, format: Format) -> Tensor:
    """The tensor in another format, whose dtype and fill value are known."""
    contents = tensor.contents()
    return _way(contents.format, format, is_long(contents))(tensor, format)


def computed(tensor: Tensor, format: Format) -> Computed:
    """The same, with the kernel that has been called, if that is all."""
    found = convert(tensor, format)
    return Computed(found, partial(_calls, tensor, format, found))


def _calls(tensor: Tensor, format: Format, found: Tensor) -> Seen:
    """The kernel that has copied what is stored, if a conversion is that and nothing else."""
    contents = tensor.contents()
    source, target = contents.format, format
    way = _way(source, target, is_long(contents))
    if way is _with_its_fill and not _is_dense(target):
        zero = as_python(0, str(target.dtype))
        source, target = source.with_fill(zero), target.with_fill(zero)
        contents = Contents(source, contents.shape, contents.buffers)
    elif way is not _copied:
        return []
    kernel, signatures = copy_kernel(source, target), (Signature.of(target), contents.signature)
    return [(kernel.entry(signatures, [None, contents]), [found, tensor])]


@lru_cache(maxsize=1024)
def _way(source: Format, target: Format, long: bool) -> Callable[[Tensor, Format], Tensor]:
    """What converts tensors of one format to another, of many entries or of few."""
    if any(level.mirrored for level in source.levels):
        return lambda tensor, format: _listed(tensor).to(format)
    if target.written is not target:
        return _packed
    way = relisting(source, target) or (_with_its_fill if _keeps_fill(source, target) else _copied)
    # of one level that is written in order, the entries of each fiber are counted instead
    in_order = sum(level.width for level in target.levels[:-1] if level.sequential)
    return _sorted if long and source.order != target.order and in_order > 1 else way


def _copied(tensor: Tensor, format: Format) -> Tensor:
    """Copy what is stored, in one kernel."""
    result = Tensor(format, None)
    copy_kernel(tensor.contents().format, format)(result, tensor)
    return result


# -- fill values -----------------------------------------------------------------------------------
# Where it stays what it is, a fill value other than 0 is not compiled in: `(A + c).to_numpy()` is
# one kernel for all c.


def _keeps_fill(source: Format, target: Format) -> bool:
    """Whether a fill value stays as it is, and need not be known to copy what is stored."""
    fill = target.fill_value
    assert fill is not None
    if source.dtype != target.dtype or not same(fill, source.fill_value) or _holds_all(source):
        return False
    inner = target.levels[-2]
    between = inner.full or inner.covers or inner.spans or inner.pads
    return (_is_dense(target) or not between) and not same(fill, as_python(0, str(target.dtype)))


def _with_its_fill(tensor: Tensor, format: Format) -> Tensor:
    """Copy what is stored as if all else were 0; a dense result begins with the fill value."""
    dtype = str(format.dtype)
    zero = as_python(0, dtype)
    pinned: list[Contents | None] = []
    try:
        # kernels see another tensor of the same memory, and pin only that
        contents = tensor.pin(pinned, _getframe())
        source, plain = contents.format.with_fill(zero), format.with_fill(zero)
        held = Tensor(source, contents.shape, contents.buffers)
        if _is_dense(format):
            fill = Buffer.borrow(np.array([format.fill_value], dtype))
            result = Tensor(plain, None)
            _filling_kernel(source)(result, held, Tensor(settle(SCALAR, dtype), (), (fill,)))
        else:
            result = convert(held, plain)
    finally:
        let_go(pinned, _getframe())
    made = result.contents()
    return Tensor(format, made.shape, made.buffers)


@lru_cache(maxsize=256)
def _filling_kernel(source: Format) -> Kernel:
    """`B[...] = fill`, then what A stores."""
    assert source.fill_value is not None
    is_stored = stored(source.fill_value)
    begin = loops.Declare("B", loops.Access("fill", ()))
    body = _copy(source, lambda value: loops.Call(is_stored, (value,)), str(source.dtype))
    return Kernel(
        loops.Program("convert", ("B", "A", "fill"), (), loops.Block((begin, body)), ("B",))
    )


def _is_dense(format: Format) -> bool:
    return all(level.full for level in format.levels[:-1])


# -- by way of coordinates -------------------------------------------------------------------------


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
    kept = differs(values, fill)
    return pack([idx[kept] for idx in coordinates], values[kept], listed.shape, format)


def _coordinates(format: Format) -> Format:
    return Format((*COO(format.ndim).levels[:-1], format.leaf), format.order)
