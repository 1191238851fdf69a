"""Arrays, tables, graphs of other libraries: torch, CuPy, PyData/Sparse, networkx, pandas.

None of them is imported but by who has given us something of theirs, or asks for it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linnet.algebra.dtypes import canonical
from linnet.algebra.exact import same
from linnet.errors import FormatError
from linnet.formats.located import located
from linnet.formats.named import CSC, CSR
from linnet.formats.tensor import Tensor

ARRAYS = ("torch", "cupy", "cupyx", "sparse")


def home_of(obj: object) -> str:
    """The package that an object's type comes from."""
    return type(obj).__module__.partition(".")[0]


def taken_in(obj: Any) -> Any:
    """What `asarray` understands, from what another library made; anything else as it is."""
    match home_of(obj):
        case "torch":
            return _from_torch(obj)
        case "cupy" | "cupyx":
            return obj.get()
        case "sparse":
            return _from_pydata(obj)
        case "networkx":
            return _adjacency(obj)
        case "pandas":
            return _from_pandas(obj)
        case "linnet":
            return obj.compute()
    return obj


def _from_pydata(obj: Any) -> Any:
    """An array of PyData/Sparse, whatever it is stored as: its coordinates, values, fill value."""
    if not hasattr(obj, "fill_value"):
        return obj
    from linnet.formats.construct import tensor

    listed = obj if hasattr(obj, "coords") else obj.asformat("coo")
    fill = np.asarray(listed.fill_value, listed.dtype).item()
    return tensor(list(listed.coords), listed.data, tuple(listed.shape), fill_value=fill)


def _adjacency(graph: Any) -> Any:
    """The weights of a graph's edges, as a sparse matrix."""
    import networkx
    import scipy.sparse

    if not len(graph):
        return scipy.sparse.csr_array((0, 0))
    return networkx.to_scipy_sparse_array(graph)


def _from_pandas(obj: Any) -> Any:
    """A table whose columns leave out one value as a tensor; anything else as NumPy sees it."""
    kinds = obj.dtypes if getattr(obj, "ndim", 0) == 2 else ()
    if not len(kinds) or not all(hasattr(kind, "fill_value") for kind in kinds):
        return obj
    fill = next(iter(kinds)).fill_value
    if any(not same(kind.fill_value, fill) for kind in kinds):
        raise FormatError(
            "the columns of this table do not all leave out the same value",
            hint="make them alike: df.astype(pd.SparseDtype(float, 0))",
        )
    from linnet.formats.construct import tensor

    columns = [obj.iloc[:, j].array for j in range(obj.shape[1])]
    rows = [column.sp_index.to_int_index().indices for column in columns]
    at = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    values = np.concatenate([np.asarray(column.sp_values) for column in columns])
    return tensor([np.concatenate(rows), at], values, obj.shape, fill_value=fill)


def _from_torch(obj: Any) -> Any:
    """A dense array of NumPy, a sparse one of SciPy, or a tensor."""
    import torch

    canonical(str(obj.dtype).removeprefix("torch."))  # or an error: bfloat16 is not held
    if obj.is_meta:
        raise FormatError("a torch tensor on the device 'meta' has no elements")
    obj = obj.detach().cpu().resolve_conj().resolve_neg()
    if obj.layout == torch.strided:
        return obj.numpy()
    if obj.ndim == 2 and obj.layout in (torch.sparse_csr, torch.sparse_csc):
        import scipy.sparse

        rows = obj.layout == torch.sparse_csr
        idx, ptr = (
            (obj.col_indices(), obj.crow_indices())
            if rows
            else (obj.row_indices(), obj.ccol_indices())
        )
        kind = scipy.sparse.csr_array if rows else scipy.sparse.csc_array
        return kind((obj.values().numpy(), idx.numpy(), ptr.numpy()), shape=tuple(obj.shape))
    return _from_coordinates(obj.to_sparse_coo().coalesce())


def _from_coordinates(obj: Any) -> Tensor:
    """Of coordinates; where a value is an array, of all its elements."""
    from linnet.formats.construct import tensor

    coordinates, values = obj.indices().numpy(), obj.values().numpy()
    count, inner = values.shape[0], values.shape[1:]
    within = np.indices(inner).reshape(len(inner), math.prod(inner))
    outer = np.repeat(coordinates, math.prod(inner), axis=1)
    return tensor([*outer, *np.tile(within, count)], values.reshape(-1), tuple(obj.shape))


@located
def to_torch(x: Tensor) -> Any:
    """A torch tensor with memory of its own: strided, CSR, CSC, or of coordinates."""
    import torch

    contents = x.shared()
    if _stores_all(x):
        return torch.from_numpy(x.to_numpy(copy=True))
    _check_zero(x, "torch")
    arrays = [torch.from_numpy(a.copy()) for a in contents.arrays()]
    if contents.format.name == CSR.name:
        return torch.sparse_csr_tensor(*arrays, size=contents.shape)
    if contents.format.name == CSC.name:
        return torch.sparse_csc_tensor(*arrays, size=contents.shape)
    coordinates = torch.from_numpy(x.coords.astype(np.int64))
    values = torch.from_numpy(x.data.copy())
    return torch.sparse_coo_tensor(coordinates, values, contents.shape).coalesce()


@located
def to_cupy(x: Tensor) -> Any:
    """A CuPy array on the current device; of a sparse matrix, one of `cupyx.scipy.sparse`."""
    import cupy

    if _stores_all(x):
        return cupy.asarray(x.to_numpy())
    _check_zero(x, "CuPy")
    if x.ndim != 2:
        raise FormatError(
            f"CuPy has no sparse array of {x.ndim} dimensions", hint="x.to(ln.DENSE) first"
        )
    from cupyx.scipy import sparse

    found = x.to_scipy()
    return getattr(sparse, f"{found.format}_matrix")(found)


def _stores_all(x: Tensor) -> bool:
    format = x.contents().format
    return all(level.full for level in format.levels[:-1]) and bool(format.leaf.arrays)


def _check_zero(x: Tensor, library: str) -> None:
    if x.fill_value:
        raise FormatError(
            f"{library} cannot say that what is not stored is {x.fill_value!r}",
            hint="convert to a format whose fill value is 0, or x.to(ln.DENSE)",
        )
