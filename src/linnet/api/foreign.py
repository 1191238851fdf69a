"""Arrays and graphs of other libraries, taken in: torch, CuPy, networkx; and lazy arrays."""

from __future__ import annotations

from typing import Any


def taken_in(obj: Any) -> Any:
    """What `asarray` understands, from what another library made; anything else as it is."""
    module = type(obj).__module__.partition(".")[0]
    if module == "torch":
        return _from_torch(obj)
    if module == "cupy":
        return obj.get()
    if module == "networkx":
        import networkx

        return networkx.to_scipy_sparse_array(obj)
    if module == "linnet":
        return obj.compute()
    return obj


def _from_torch(obj: Any) -> Any:
    """A dense array of NumPy, or a sparse one of SciPy."""
    import torch

    obj = obj.detach().cpu()
    if obj.layout == torch.strided:
        return obj.numpy()
    import scipy.sparse

    if obj.layout == torch.sparse_csr:
        parts = (obj.values().numpy(), obj.col_indices().numpy(), obj.crow_indices().numpy())
        return scipy.sparse.csr_array(parts, shape=tuple(obj.shape))
    if obj.layout == torch.sparse_csc:
        parts = (obj.values().numpy(), obj.row_indices().numpy(), obj.ccol_indices().numpy())
        return scipy.sparse.csc_array(parts, shape=tuple(obj.shape))
    obj = obj.to_sparse_coo().coalesce()
    coordinates = tuple(obj.indices().numpy())
    return scipy.sparse.coo_array((obj.values().numpy(), coordinates), shape=tuple(obj.shape))
