"""Runs a kernel in every way there is, from NumPy arrays to NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np
import pytest

from linnet import backend, imp
from linnet.backend import toolchain
from linnet.imp import interpret
from linnet.imp.check import check
from linnet.options import Options

WITHOUT_CACHE = Options(cache=False)
# fused multiply-add would give other last digits than the interpreter
C = Options(cache=False, backend="c", compiler="cc -ffp-contract=off -O0")
has_cc = toolchain.available(Options())
needs_cc = pytest.mark.skipif(not has_cc, reason="there is no C compiler")
WAYS = ("llvm", "c", "interpret") if has_cc else ("llvm", "interpret")

_libc = ctypes.CDLL(None)
_libc.free.argtypes = [ctypes.c_void_p]

Data = Mapping[str, "np.ndarray | int"]


class Block:
    """An argument block over NumPy arrays; growable buffers that are left out start empty."""

    def __init__(self, kernel: imp.Kernel, data: Data) -> None:
        self.places: dict[str, tuple[int, imp.Buffer]] = {}
        self.owned: set[str] = set()
        slots: list[int] = []
        self.keep = []
        for argument in kernel.arguments:
            slots += [int(data[d.name]) for d in argument.dims]
            for b in argument.buffers:
                self.places[b.name] = (len(slots), b)
                if b.growable:
                    self.owned.add(b.name)
                    slots += [0, 0, 0]
                    continue
                array = data[b.name]
                assert array.dtype == b.dtype, (b.name, array.dtype)
                self.keep.append(array)
                slots += [array.ctypes.data, len(array), len(array)]
        self.slots = np.array(slots, dtype=np.int64)

    @property
    def address(self) -> int:
        return self.slots.ctypes.data

    def buffers(self) -> dict[str, np.ndarray]:
        """Copies of the growable buffers; their memory is given back."""
        found = {}
        for name in self.owned:
            slot, b = self.places[name]
            address, capacity, length = (int(n) for n in self.slots[slot : slot + 3])
            size = np.dtype(b.dtype).itemsize
            assert length <= capacity
            found[name] = np.frombuffer(ctypes.string_at(address, length * size), b.dtype).copy()
            _libc.free(address)
        return found


def execute(kernel: imp.Kernel, data: Data, way: str) -> tuple[int, dict[str, np.ndarray]]:
    """Run a kernel on copies of the data; the status, and all buffers afterwards."""
    arrays = {k: v.copy() for k, v in data.items() if isinstance(v, np.ndarray)}
    given = {**data, **arrays}
    if way == "interpret":
        check(kernel)
        operands = {
            a.name: (
                [int(given[d.name]) for d in a.dims],
                {b.name: given[b.name] for b in a.buffers if b.name in given},
            )
            for a in kernel.arguments
        }
        return interpret.run(kernel, operands)
    compiled = backend.build(kernel, "", C if way == "c" else WITHOUT_CACHE)
    block = Block(kernel, given)
    status = compiled.call(block.address)
    return status, {**arrays, **block.buffers()}


def same(kernel: imp.Kernel, data: Data, exact: bool = True) -> dict[str, np.ndarray]:
    """Run a kernel in every way, and check that all agree."""
    status, expected = execute(kernel, data, "interpret")
    for way in WAYS[:-1]:
        got_status, got = execute(kernel, data, way)
        assert got_status == status, way
        for name, array in expected.items():
            compare = np.testing.assert_array_equal if exact else np.testing.assert_allclose
            compare(
                got[name], array, err_msg=f"{name} by {way}", **({} if exact else {"rtol": 1e-6})
            )
    return expected
