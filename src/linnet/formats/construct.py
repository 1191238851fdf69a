"""How tensors are made: from arrays, from coordinates, from raw buffers, from numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import canonical
from linnet.errors import ArgumentError, DTypeError, FormatError, ShapeError
from linnet.formats.assemble import enough_memory, pack, unpack, wrap
from linnet.formats.coordinates import Combine, as_combine, as_coordinates, sort_unique
from linnet.formats.element import ShortCircuit, SparseScalar
from linnet.formats.format import Format
from linnet.formats.from_numpy import as_it_lies, cast, contiguous, from_numpy, share
from linnet.formats.from_scipy import from_scipy, is_scipy_sparse
from linnet.formats.given import as_indices, as_numpy
from linnet.formats.level import Level
from linnet.formats.located import located
from linnet.formats.named import COO, SCALAR, FormatLike, as_format, override, settle, stack
from linnet.formats.packing import Arrays, complete_level
from linnet.formats.tensor import Tensor, buffer_names, empty_tensor
from linnet.formats.validate import check_product, check_shape

__all__ = ["asarray", "empty_tensor", "from_buffers", "pack", "scalar", "tensor", "unpack"]

# -- from arrays ---------------------------------------------------------------------------------


@located
def asarray(
    obj: object,
    dtype: object = None,
    format: FormatLike | None = None,
    fill_value: object = None,
    copy: bool | None = None,
) -> Tensor:
    """A tensor of what `obj` holds: a NumPy or SciPy array, nested lists, a number, a tensor.

    With `copy=None`, memory is shared with NumPy and SciPy arrays wherever their layout is one of
    ours; with False, another layout is refused; with True nothing is shared. Index arrays that are
    shared must not be changed afterwards: they are checked here, and not again.

    Without a format, a NumPy array stays dense, in its own order of memory, and a SciPy array keeps
    its layout (dia and lil become CSR, dok becomes COO). In a sparse format, what equals
    `fill_value` (0) in a NumPy array is not stored. What a SciPy array does not store reads as
    `fill_value`.

    >>> ln.asarray([[1.0, 0.0], [0.0, 2.0]], format="csr")
    Tensor(shape=(2, 2), dtype=float64, format=CSR, stored=2, fill=0.0, 36 bytes)
    """
    plain = type(obj) is np.ndarray and dtype is format is fill_value is copy is None
    if plain and as_it_lies(obj.dtype, obj.ndim) is not None:  # type: ignore[attr-defined]
        return share(obj)  # type: ignore[arg-type]
    wanted = None if dtype is None else canonical(dtype)
    if isinstance(obj, Tensor):
        return _from_tensor(obj, wanted, format, fill_value, copy)
    if is_scipy_sparse(obj):
        given = None if format is None else as_format(format, len(obj.shape))  # type: ignore[attr-defined]
        if given is not None:
            wanted = wanted or given.dtype
            fill_value = given.fill_value if fill_value is None else fill_value
        tensor = from_scipy(obj, wanted, fill_value, copy)
        if given is None:
            return tensor
        # A copy that was asked for has been made.
        return _from_tensor(tensor, wanted, given, fill_value, None if copy else copy)
    return from_numpy(as_numpy(obj, wanted, copy), wanted, format, fill_value, copy)


def _from_tensor(
    tensor: Tensor, dtype: str | None, format: FormatLike | None, fill: object, copy: bool | None
) -> Tensor:
    """The same values, with another dtype, format or fill value if one is given."""
    wanted = tensor.format if format is None else as_format(format, tensor.ndim)
    result = tensor.to(override(wanted, dtype, fill))
    if result is not tensor and copy is False:
        raise FormatError(f"{tensor!r} cannot become {wanted!r} without a copy")
    return result.copy() if copy and _share_memory(result, tensor) else result


def _share_memory(a: Tensor, b: Tensor) -> bool:
    """Whether an array of one tensor is one of another, too."""
    places = {buffer.address for buffer in b.contents().buffers if buffer.length}
    return a is b or any(x.length and x.address in places for x in a.contents().buffers)


# -- from coordinates ------------------------------------------------------------------------------


@located
def tensor(
    coords: object,
    values: object,
    shape: object,
    format: FormatLike | None = None,
    fill_value: object = None,
    op: Combine = np.add,
) -> Tensor:
    """A tensor from coordinates: `coords[m][q]` is the index of `values[q]` along dimension m.

    Coordinates may come in any order; values at equal ones are combined by `op`, a function or its
    name, in the order given. Without a format it is COO; the fill value is the one you give, or
    the format's, or 0.

    >>> ln.tensor([[0, 1, 1], [0, 2, 2]], [1.0, 2.0, 3.0], (2, 3), format=ln.CSR)
    Tensor(shape=(2, 3), dtype=float64, format=CSR, stored=2, fill=0.0, 36 bytes)
    """
    dims, op = check_shape(shape), as_combine(op)
    coordinates = as_coordinates(coords, dims)
    given = as_numpy(values, name="values")
    wanted = override(as_format(COO if format is None else format, len(dims)), None, fill_value)
    found = settle(wanted, canonical(given.dtype))
    assert found.dtype is not None
    count = len(coordinates[0]) if coordinates else given.size
    if given.ndim > 1 or (given.ndim == 1 and len(given) != count):
        raise ShapeError(f"values has shape {given.shape}, and there are {count} coordinates")
    with enough_memory():
        held = np.broadcast_to(cast(given, found.dtype), (count,))
        in_order = [coordinates[mode] for mode in found.order]
        in_order, unique = sort_unique(in_order, [dims[m] for m in found.order], held, op)
        # Were they in order, these are the caller's own arrays, which the tensor must not share.
        unique = unique.copy() if np.may_share_memory(unique, given) else unique
        in_order = [idx.copy() if _is_one_of(idx, coordinates) else idx for idx in in_order]
    by_mode = [in_order[found.order.index(mode)] for mode in range(len(dims))]
    return pack(by_mode, unique, dims, found)


def _is_one_of(array: NDArray[Any], arrays: list[NDArray[Any]]) -> bool:
    return any(array is other for other in arrays)


@located
def scalar(
    value: object,
    dtype: object = None,
    fill_value: object = None,
    *,
    short_circuit: bool = False,
    sparse: bool = False,
) -> Tensor:
    """A tensor without dimensions, which holds one number.

    With `short_circuit`, a loop that updates it is left as soon as the value cannot change any
    more: a search ends at the first hit. One that is `sparse` is often its fill value (the first
    value, unless you say another), and what reads it gets a version for that case: a loop in which
    it is a factor is left out, and no entry is stored for it.

    >>> s = ln.scalar(0.0)
    >>> found = ln.scalar(False, short_circuit=True)
    >>> product = ln.scalar(0.0, sparse=True)
    """
    array = np.asarray(value.to_numpy() if isinstance(value, Tensor) else value)
    if array.ndim:
        raise ShapeError(f"a scalar is one number, and this has shape {array.shape}")
    if short_circuit and sparse:
        raise FormatError("a scalar breaks out of loops or is sparse, and not both")
    format = stack(ShortCircuit()) if short_circuit else SCALAR
    if sparse:
        format = stack(SparseScalar())
        fill_value = array.item() if fill_value is None else fill_value
    return asarray(array, dtype, format, fill_value, copy=True)


# -- from raw buffers ------------------------------------------------------------------------------


@located
def from_buffers(format: FormatLike, shape: object, buffers: Mapping[str, object]) -> Tensor:
    """A tensor made of the arrays of its levels, named as in `Tensor.buffers`, which are checked.

    Memory is shared. Arrays that follow from others may be left out: the flags of a byte map, and
    all but `ptr` and `idx` of a hash.

    >>> ln.from_buffers(ln.CSR, (2, 3), {"ptr1": [0, 1, 2], "idx1": [0, 2], "val": [1.0, 2.0]})
    Tensor(shape=(2, 3), dtype=float64, format=CSR, stored=2, fill=0.0, 56 bytes)
    """
    dims = check_shape(shape)
    found = as_format(format, len(dims))
    names = buffer_names(found)
    if not isinstance(buffers, Mapping):
        raise ArgumentError(
            f"the arrays of a tensor are given by their names, not as {type(buffers).__name__}",
            hint=f"pass a dictionary with the keys {', '.join(names)}",
        )
    unknown = [name for name in buffers if name not in names]
    if unknown:
        raise FormatError(f"{found!r} has no array {unknown[0]}", hint=f"it has {', '.join(names)}")
    levels, count, arrays = iter(names), 1, []
    for k, level in enumerate(found.levels):
        given = {
            a.name: buffers[n] for a, n in zip(level.arrays, levels, strict=False) if n in buffers
        }
        typed = {name: _as_role(level, name, array, f"level{k}") for name, array in given.items()}
        sizes = [dims[mode] for mode in found.modes_of(k)]
        whole, count = _checked_level(level, typed, count, sizes, f"level{k}")
        arrays += [whole[array.name] for array in level.arrays]
    held = canonical(arrays[-1].dtype) if found.leaf.arrays else "bool"
    return wrap(settle(_match_dtype(found, held), held), dims, arrays)


def _checked_level(
    level: Level, arrays: Arrays, count: int, dims: list[int], label: str
) -> tuple[Arrays, int]:
    """All arrays of a level, found to be right, and the number of fibers below."""
    arrays = complete_level(level, arrays, count, dims, label)
    for array in level.arrays:
        if array.name not in arrays:
            raise FormatError(f"{label}.{array.name} is missing")
    below = level.validate(arrays, count, tuple(dims), label)
    return arrays, check_product(below, 1, label)


def _as_role(level: Level, name: str, array: object, label: str) -> NDArray[Any]:
    """An array given by the user as its role wants it."""
    role = next(a.role for a in level.arrays if a.name == name)
    if role in ("position", "coordinate"):
        return as_indices(array, f"{label}.{name}")
    found = as_numpy(array, name=f"{label}.{name}")
    if found.ndim != 1:
        raise ShapeError(f"{label}.{name} has {found.ndim} dimensions, and must have one")
    wanted = {"flag": "bool", "table": "int64"}.get(role)
    if wanted is not None and found.size and found.dtype != wanted:
        raise DTypeError(f"{label}.{name} has dtype {found.dtype}, and must have {wanted}")
    return contiguous(found.astype(wanted or canonical(found.dtype), copy=False), None)


def _match_dtype(format: Format, held: str) -> Format:
    if format.dtype is not None and format.dtype != held:
        raise DTypeError(f"the values have dtype {held}, and the format wants {format.dtype}")
    return format
