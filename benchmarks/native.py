"""C written by hand, beside each benchmark: compiled when first needed, called through ctypes."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Side, Unavailable

HERE = Path(__file__).parent
FLAGS = ("-O3", "-march=native", "-std=c11", "-shared", "-fPIC")


class Arrays(ctypes.Structure):
    """`Arrays` of result.h: what a C function returns when it cannot know the size in advance."""

    _fields_ = (
        ("count", ctypes.c_int64 * 8),
        ("ints", ctypes.POINTER(ctypes.c_int32) * 8),
        ("values", ctypes.POINTER(ctypes.c_double)),
        ("stored", ctypes.c_int64),
    )


class Result:
    """The arrays that a C function has allocated, freed with this object."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library, self.arrays = library, Arrays()

    def __del__(self) -> None:
        self.library.release(ctypes.byref(self.arrays))

    def ints(self, k: int) -> np.ndarray:
        return _copy(self.arrays.ints[k], self.arrays.count[k], np.int32)

    def values(self) -> np.ndarray:
        return _copy(self.arrays.values, self.arrays.stored, np.float64)


def _copy(pointer: object, count: int, dtype: type) -> np.ndarray:
    return np.ctypeslib.as_array(pointer, (count,)).copy() if count else np.zeros(0, dtype)


@cache
def load(name: str) -> ctypes.CDLL:
    """The library made from `name.c`."""
    source = HERE / f"{name}.c"
    text = source.read_bytes() + (HERE / "result.h").read_bytes()
    target = HERE / ".build" / f"{name}-{hashlib.sha256(text).hexdigest()[:16]}.so"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        command = ["cc", *FLAGS, str(source), "-lm", "-o", str(target)]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError:
            raise Unavailable("there is no C compiler `cc`") from None
        except subprocess.CalledProcessError as error:
            raise Unavailable(f"cc failed: {error.stderr}") from None
    return ctypes.CDLL(str(target))


def call(name: str, function: str, *args: np.ndarray | int) -> Callable[[], int]:
    """A call with its arguments converted once: arrays to pointers, ints to int64_t."""
    f = getattr(load(name), function)
    f.restype = ctypes.c_int64
    given = [_convert(a) for a in args]
    return lambda: f(*given)


def _convert(a: np.ndarray | int) -> object:
    if isinstance(a, np.ndarray):
        assert a.flags.c_contiguous
        pointer = ctypes.c_void_p(a.ctypes.data)
        pointer.array = a  # keeps it alive
        return pointer
    return ctypes.c_int64(a)


def into(name: str, function: str, out: np.ndarray, *args: np.ndarray | int) -> Side:
    """A side that writes to a given array, the last argument of the C function."""
    run = call(name, function, *args, out)
    return Side(run, lambda _: out.copy())


def scalar(name: str, function: str, *args: np.ndarray | int) -> Side:
    """A side whose C function returns a double."""
    f = getattr(load(name), function)
    f.restype = ctypes.c_double
    given = [_convert(a) for a in args]
    return Side(lambda: f(*given))


def building(
    name: str, function: str, read: Callable[[Result], object], *args: np.ndarray | int
) -> Side:
    """A side whose C function allocates its result."""
    library = load(name)
    f = getattr(library, function)
    f.restype = ctypes.c_int64
    given = [_convert(a) for a in args]

    def run() -> Result:
        result = Result(library)
        if f(*given, ctypes.byref(result.arrays)):
            raise MemoryError
        return result

    return Side(run, read)


class _View:
    """Memory of a result, as NumPy asks for it; the result lives as long as its arrays."""

    def __init__(self, result: Result, pointer: object, count: int, kind: str) -> None:
        self.result = result
        where = ctypes.cast(pointer, ctypes.c_void_p).value  # type: ignore[arg-type]
        self.__array_interface__ = {
            "data": (where, True), "shape": (count,), "typestr": kind, "version": 3,
        }  # fmt: skip


def with_arrays(
    name: str, function: str, read: Callable[..., object], numbers: tuple[int, ...],
    arrays: tuple[np.ndarray, ...],
) -> Side:  # fmt: skip
    """The same as Python has it who is given other arrays each time, and wants arrays.

    Where they are is looked up in the call, and the matrix comes as arrays of NumPy.
    """
    library = load(name)
    f = library[function]  # another object than the one that is given what is prepared
    f.restype = ctypes.c_int64
    f.argtypes = [ctypes.c_int64] * len(numbers) + [ctypes.c_void_p] * (len(arrays) + 1)

    def run() -> tuple[np.ndarray, ...]:
        result = Result(library)
        made = result.arrays
        given = [array.ctypes.data for array in arrays]
        if f(*numbers, *given, ctypes.addressof(made)):
            raise MemoryError
        return (
            np.asarray(_View(result, made.values, made.stored, "<f8")),
            np.asarray(_View(result, made.ints[1], made.count[1], "<i4")),
            np.asarray(_View(result, made.ints[0], made.count[0], "<i4")),
        )

    return Side(run, read)


def read_csr(shape: tuple[int, int], kind: str = "<f8") -> Callable[[Result], sp.csr_array]:
    """How to read a result in which ints 0 and 1 are ptr and idx, and values are of this kind."""

    def read(result: Result) -> sp.csr_array:
        made = result.arrays
        values = np.asarray(_View(result, made.values, made.stored, kind))
        return sp.csr_array((values, result.ints(1), result.ints(0)), shape=shape)

    return read


def csr(A: sp.csr_array | sp.csc_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a compressed matrix, as C functions take them."""
    return A.indptr.astype(np.int32, copy=False), A.indices.astype(np.int32, copy=False), A.data
