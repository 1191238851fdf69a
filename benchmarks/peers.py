"""The libraries that Linnet is compared with: loaded when first asked for, on one thread each."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Side, Unavailable


@cache
def peer(name: str) -> ModuleType:
    """A library, or Unavailable with the reason why not."""
    try:
        if name == "sparse_dot_mkl":
            _find_mkl()
        module = importlib.import_module(name)
        if name == "graphblas":
            module.init("suitesparse", blocking=True)
            module.ss.config["nthreads"] = 1
    except Exception as error:
        raise Unavailable(f"{name} does not load: {error}") from None
    return module


def _find_mkl() -> None:
    """MKL's wheel puts its libraries where only the environment's own lib folder is searched."""
    found = sorted((Path(sys.prefix) / "lib").glob("libmkl_rt.so*"))
    if found:
        os.environ.setdefault("MKL_RT", str(found[0]))
    os.environ.setdefault("MKL_THREADING_LAYER", "SEQUENTIAL")


@cache
def jit(loop: Callable[..., object]) -> Callable[..., object]:
    """Plain Python loops, compiled by Numba."""
    return peer("numba").njit(loop)


def mkl_product(A: sp.csr_array, B: np.ndarray | sp.csr_array) -> Side:
    """A product by MKL; a sparse result is sorted, as everybody else's."""
    multiply = peer("sparse_dot_mkl").dot_product_mkl
    if not sp.issparse(B):
        return Side(lambda: multiply(A, B))
    return Side(lambda: multiply(A, B, reorder_output=True), sp.csr_array)
