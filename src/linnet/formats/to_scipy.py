"""A tensor as a SciPy sparse array, without a copy where SciPy has the same layout."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linnet.errors import ArgumentError, FormatError, LinnetError
from linnet.formats.named import BSR, COO, CSC, CSR
from linnet.formats.sparse_tiles import SparseTiles
from linnet.shortage import of_memory

if TYPE_CHECKING:
    from linnet.formats.tensor import Tensor

_KINDS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def to_scipy(tensor: Tensor, kind: str | None = None, copy: bool = False) -> Any:
    """`kind` is csr, csc, coo, bsr, dia, lil or dok, perhaps followed by `_array` or `_matrix`.

    The arrays are read-only views of the tensor's own, unless `copy` is set.
    """
    if tensor.fill_value != 0:
        raise FormatError(
            f"SciPy reads 0 where nothing is stored, and the fill value is {tensor.fill_value!r}",
            hint="convert to a format with fill value 0 first: .to(format.with_fill(0))",
        )
    name, _, suffix = str(kind or _natural(tensor)).partition("_")
    if name not in _KINDS or suffix not in ("", "array", "matrix"):
        raise ArgumentError(
            f"SciPy has no sparse kind {kind!r}", hint=f"one of {', '.join(_KINDS)}"
        )
    suffix = suffix or "array"
    stored = name if name in ("csr", "csc") and tensor.ndim == 2 else "coo"
    if name == "bsr" and _tiles(tensor) is not None:
        stored = "bsr"
    make = getattr(_scipy_sparse(), f"{stored}_{suffix}")
    how = {"coo": _coo, "bsr": _blocks}.get(stored)
    parts = _compressed(tensor, stored, copy) if how is None else how(tensor, copy)
    try:
        result = make(parts, shape=tensor.shape)
    except (ValueError, TypeError) as refused:
        raise FormatError(f"SciPy cannot hold {tensor!r}", why=str(refused)) from None
    result.has_canonical_format = True
    try:
        return result if stored == name else result.asformat(name)
    except (ValueError, TypeError) as refused:
        raise FormatError(f"SciPy's {name} cannot hold {tensor!r}", why=str(refused)) from None


def _natural(tensor: Tensor) -> str:
    """The kind that needs no conversion, or else the usual one."""
    if tensor.ndim != 2 or tensor.format.levels[:-1] == COO(2).levels[:-1]:
        return "coo"
    if _tiles(tensor) is not None:
        return "bsr"
    return "csc" if tensor.format.order == (1, 0) else "csr"


def _compressed(tensor: Tensor, kind: str, copy: bool) -> tuple[NDArray[Any], ...]:
    """Values, indices and pointers of CSR or CSC."""
    arrays = tensor.to(CSR if kind == "csr" else CSC).buffers
    return tuple(_own(arrays[name], copy) for name in ("val", "idx1", "ptr1"))


def _coo(tensor: Tensor, copy: bool) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]:
    """Values and coordinates."""
    if tensor.ndim == 0:
        raise FormatError("SciPy has no sparse arrays without dimensions", hint="use .item()")
    arrays = tensor.to(COO(tensor.ndim)).buffers
    coordinates = (arrays[f"idx0_{mode}"] for mode in range(tensor.ndim))
    return _own(arrays["val"], copy), tuple(_own(idx, copy) for idx in coordinates)


def _tiles(tensor: Tensor) -> SparseTiles | None:
    """The level of a tensor in blocks that SciPy has, too: by rows, with none beyond the edges."""
    level = tensor.format.levels[-2] if tensor.ndim == 2 else None
    if not isinstance(level, SparseTiles) or tensor.shape is None:
        return None
    known = BSR(level.rows, level.columns)
    if (tensor.format.levels[:-1], tensor.format.order) != (known.levels[:-1], known.order):
        return None
    rows, columns = tensor.shape
    return None if rows % level.rows or columns % level.columns else level


def _blocks(tensor: Tensor, copy: bool) -> tuple[NDArray[Any], ...]:
    """Blocks, their columns, and pointers."""
    level, arrays = _tiles(tensor), tensor.buffers
    assert level is not None
    blocks, order = arrays["val"].reshape(-1, level.rows, level.columns), arrays["sub1"]
    in_order = bool((order == np.arange(len(order))).all())
    blocks = _own(blocks, copy) if in_order else blocks[order]
    return (blocks, _own(arrays["idx1"], copy), _own(arrays["ptr1"], copy))


def _own(array: NDArray[Any], copy: bool) -> NDArray[Any]:
    return np.array(array) if copy else array


def _scipy_sparse() -> Any:
    try:
        import scipy.sparse
    except ImportError as error:
        absent = LinnetError("SciPy is not installed", hint="pip install scipy")
        raise of_memory(error) or absent from None
    return scipy.sparse


def is_asked_by_operator() -> bool:
    """Whether an operator of a SciPy array asks for our elements, to compute with them itself.

    `S @ A` makes a NumPy array of A. It takes an object of no dimensions for something that is no
    array, and leaves the operator to A: SciPy has no other way to be told. What `*` means for its
    old matrices is another product, and is not left to us.
    """
    frame = sys._getframe(1)
    while frame is not None and not _is_scipy(frame.f_globals):
        if not frame.f_globals.get("__name__", "").startswith("linnet."):
            return False
        frame = frame.f_back  # type: ignore[assignment]
    while frame is not None and _is_scipy(frame.f_globals):
        if frame.f_code.co_name in _OPERATORS:
            return not frame.f_globals["__name__"].endswith("_matrix")
        frame = frame.f_back  # type: ignore[assignment]
    return False


_OPERATORS = frozenset(
    f"__{name}__" for name in "add sub mul matmul truediv eq ne lt le gt ge".split()
)


def _is_scipy(module: dict[str, Any]) -> bool:
    return str(module.get("__name__", "")).startswith("scipy.sparse.")
