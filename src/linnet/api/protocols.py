"""What other libraries ask of an array: the Array API, DLPack, Dask, SciPy's solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.api import above
from linnet.api.operands import check_device
from linnet.api.storage import is_dense
from linnet.arrays import apply
from linnet.errors import FormatError, Location
from linnet.formats.named import DENSE
from linnet.formats.tensor import Tensor

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def namespace(api_version: str | None) -> Any:
    """The module that holds the functions of the Array API."""
    if api_version is not None and api_version not in VERSIONS:
        raise FormatError(
            f"the Array API has no version {api_version!r} here",
            at=Location.of_caller(),
            hint=f"one of {', '.join(VERSIONS)}",
        )
    return above.package()


def to_device(x: Tensor, device: object, stream: object) -> Tensor:
    """The array itself, on the only device."""
    check_device(device)
    if stream is not None:
        raise FormatError("there are no streams on 'cpu'", at=Location.of_caller())
    return x


class NotDenseError(FormatError, BufferError):
    """A sparse array was asked for its memory as if it were dense."""


def dlpack(
    x: Tensor,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """The memory of a dense array, for another library."""
    if not is_dense(x.contents().format):
        raise NotDenseError(
            f"{x!r} is not dense, and DLPack has no other arrays",
            at=Location.of_caller(),
            hint="x.to(ln.DENSE), or .buffers for the arrays of the levels",
        )
    array = x.to_numpy()
    if max_version is None or max_version < (1, 0):
        # an older consumer does not know of memory that must not be written to
        if copy is False:
            raise BufferError("this memory cannot be shared with a consumer of old DLPack")
        return np.array(array).__dlpack__()
    return array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)


def token(x: Tensor) -> Any:
    """What tells a tensor from others, to Dask."""
    contents = x.shared()
    return (
        "linnet",
        repr(contents.format.describe()),
        contents.shape,
        tuple(a.tobytes() for a in contents.arrays()),
    )


def matvec(x: Tensor, vector: Any) -> Any:
    """A matrix times a vector, or a matrix of one column, of NumPy."""
    from linnet.api.products import matmul

    flat = np.asarray(vector).reshape(-1)
    return matmul(x, flat, format=DENSE).to_numpy(copy=True).reshape(-1, *np.shape(vector)[1:])


def adjoint(x: Tensor) -> Any:
    """The conjugate transpose."""
    from linnet.algebra.table import conj

    return x.T if x.dtype is None or x.dtype.kind != "c" else apply(conj, x.T)
