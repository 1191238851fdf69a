"""Where the elements of a NumPy array are in memory.

NumPy builds a dictionary to say so, which takes longer than most small kernels. It also promises to
C that the address is the first field of an array, after what every object of Python begins with.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEAD: int = object.__basicsize__
_WORD = ctypes.sizeof(ctypes.c_void_p)


def _asked(array: NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _reader() -> Callable[[NDArray[Any]], int]:
    """The quick way, if it agrees with the other."""
    if sys.implementation.name != "cpython" or sys.maxsize < 2**32:
        return _asked
    # all memory that a process may have, by words: `ctypes` takes three times as long to read one
    words = (ctypes.c_uint64 * (sys.maxsize // _WORD // 2)).from_address(0)
    memory = memoryview(words).cast("B").cast("Q")

    def read(array: NDArray[Any]) -> int:
        return memory[(id(array) + _HEAD) // _WORD]

    probes = [np.zeros(3), np.arange(6, dtype="int16")[2:], np.zeros((2, 2), dtype="complex64")]
    return read if all(read(probe) == _asked(probe) for probe in probes) else _asked


address_of = _reader()
