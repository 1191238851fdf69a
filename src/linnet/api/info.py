"""What this implementation of the Array API offers: `ln.__array_namespace_info__()`."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.algebra.dtypes import DTYPES
from linnet.api.dtypes import isdtype
from linnet.api.operands import check_device


class Info:
    """Capabilities, devices and dtypes of the namespace."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean masks as indices, shapes that depend on data, and 64 dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The only device."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """The only device."""
        return ("cpu",)

    def default_dtypes(self, *, device: object = None) -> dict[str, np.dtype[Any]]:
        """The types of arrays made of Python numbers, and of indices."""
        check_device(device)
        return {
            "real floating": np.dtype("float64"),
            "complex floating": np.dtype("complex128"),
            "integral": np.dtype("int64"),
            "indexing": np.dtype("int64"),
        }

    def dtypes(
        self, *, device: object = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """All types by name, or those of a kind."""
        check_device(device)
        found = {name: np.dtype(name) for name in DTYPES}
        if kind is None:
            return found
        return {name: dtype for name, dtype in found.items() if isdtype(dtype, kind)}


def __array_namespace_info__() -> Info:
    """What the namespace offers."""
    return Info()
