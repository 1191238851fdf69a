"""The Array API namespace, and what users of SciPy and NumPy expect beside it: `linnet.<name>`.

Functions of values are rows of the algebra's table, called through `linnet.arrays`. What moves
values (reshape, concat, sort …) works on the coordinates of what is stored, never on a dense copy.
`NAMES` says in which module each public name is; nothing is imported before it is asked for. That
holds among its modules, too: what not every call needs is written `api.moves.joined`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet.handed import Above
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet.api import (
        assign,
        indexing,
        moves,
        picking,
        products,
        reshaping,
        run_vectors,
        shapes,
        small,
    )

above = Above("api")
_MODULES = {
    "dtypes": "can_cast finfo iinfo isdtype result_type astype int8 int16 int32 int64 uint8 uint16 "
    "uint32 uint64 float32 float64 complex64 complex128 e pi inf nan newaxis",
    "info": "__array_namespace_info__",
    "conversion": "asarray",
    "creation": "zeros ones empty full zeros_like ones_like empty_like full_like arange "
    "linspace meshgrid eye tril triu from_dlpack diag",
    "elementwise": "clip nan_to_num softmax where divmod modf frexp",
    "shapes": "reshape squeeze expand_dims permute_dims moveaxis matrix_transpose broadcast_to "
    "broadcast_arrays broadcast_shapes flip roll",
    "joining": "concat stack unstack tile repeat vstack hstack block kron",
    "indexing": "take take_along_axis",
    "searching": "argmax argmin nonzero count_nonzero searchsorted",
    "sorting": "sort argsort topk",
    "sets": "unique_all unique_counts unique_inverse unique_values isin",
    "statistics": "sum prod max min mean var std any all",
    "missing": "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanargmax nanargmin nancumsum "
    "nancumprod",
    "padding": "pad",
    "calls": "transpose",
    "running": "cumulative_sum cumulative_prod diff",
    "products": "matmul tensordot vecdot outer dot",
    "grouping": "groupby",
    "random": "random",
}
NAMES = {
    name: (f"linnet.api.{module}", name)
    for module, names in _MODULES.items()
    for name in names.split()
} | {"bool": ("linnet.api.dtypes", "bool_")}
_METHODS = {
    "calls": "getitem iterate operator part put reshape setitem transpose update",
    "dtypes": "astype",
    "elementwise": "divmod",
    "foreign": "to_cupy to_torch",
    "habits": "argsort as_format compressed coordinate count_stored cumprod cumsum density "
    "diagonal eliminate flags item maximum minimum multiply power rounded searchsorted "
    "set_diagonal tensordot to_array to_blocks to_scipy_sparse trace",
    "indexing": "take",
    "missing": "nanmax nanmin",
    "numpy.dispatch": "array_function array_ufunc",
    "numpy.functions": "clip",
    "numpy.shapes": "flattened swapaxes",
    "products": "dot",
    "protocols": "adjoint dlpack matvec namespace to_device token",
    "searching": "argmax argmin count_nonzero nonzero",
    "shapes": "matrix_transpose squeeze",
    "statistics": "all any max mean min prod std sum var",
}
METHODS = {
    name: f"linnet.api.{module}" for module, names in _METHODS.items() for name in names.split()
}
"""The module of each function that arrays call as Python objects."""
SPACES = {"linalg": "linnet.api.linalg", "fft": "linnet.api.fft"}
_PARTS = "assign indexing moves picking products reshaping run_vectors shapes small".split()


def __getattr__(name: str) -> object:
    """A module of this folder, from the first time that it is asked for."""
    if name not in _PARTS:
        raise AttributeError(f"module 'linnet.api' has no attribute {name!r}")
    return imported(f"linnet.api.{name}")
