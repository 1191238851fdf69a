"""Products of sparse matrices by Eigen, where its headers are: compiled when first needed."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Side, Unavailable
from benchmarks.native import HERE

HEADERS = (Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3"))
FLAGS = ("-O3", "-march=native", "-std=c++14", "-DNDEBUG", "-shared", "-fPIC")


@cache
def library() -> ctypes.CDLL:
    """What is made of eigen.cpp, or Unavailable with the reason why not."""
    found = next((folder for folder in HEADERS if (folder / "Eigen/SparseCore").exists()), None)
    if found is None:
        raise Unavailable("Eigen's headers are not installed (libeigen3-dev)")
    source = HERE / "eigen.cpp"
    target = HERE / ".build" / f"eigen-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}.so"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        command = ["c++", *FLAGS, f"-I{found}", str(source), "-o", str(target)]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError:
            raise Unavailable("there is no C++ compiler `c++`") from None
        except subprocess.CalledProcessError as error:
            raise Unavailable(f"c++ failed: {error.stderr}") from None
    made = ctypes.CDLL(str(target))
    made.product.restype, made.stored.restype = ctypes.c_void_p, ctypes.c_int64
    return made


class Matrix:
    """A matrix of Eigen's, freed with this object."""

    def __init__(self, address: int, shape: tuple[int, int]) -> None:
        self.address, self.shape = ctypes.c_void_p(address), shape

    def __del__(self) -> None:
        library().release(self.address)

    def to_scipy(self) -> sp.csr_array:
        """A copy."""
        count = library().stored(self.address)
        ptr, idx = np.empty(self.shape[0] + 1, np.int32), np.empty(count, np.int32)
        val = np.empty(count)
        library().copy(self.address, *(a.ctypes.data_as(ctypes.c_void_p) for a in (ptr, idx, val)))
        return sp.csr_array((val, idx, ptr), self.shape)


def eigen_product(A: sp.csr_array, B: sp.csr_array) -> Side:
    """A product by rows; the result is sorted."""
    made = library()
    sizes = [ctypes.c_int64(n) for n in (A.shape[0], A.shape[1], B.shape[1])]
    arrays = [x for M in (A, B) for x in (M.indptr, M.indices, M.data)]
    kept = [
        np.ascontiguousarray(x, np.float64 if x.dtype.kind == "f" else np.int32) for x in arrays
    ]
    given = [*sizes, *(x.ctypes.data_as(ctypes.c_void_p) for x in kept)]
    shape = A.shape[0], B.shape[1]
    return Side(lambda _=kept: Matrix(made.product(*given), shape), lambda C: C.to_scipy())
