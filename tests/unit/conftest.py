"""`compiled(function, *types)`: a function of restricted Python as machine code, to be called."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from linnet import imp
from linnet.backend import llvm, machine
from linnet.backend.identifiers import symbol
from linnet.codelets.named import instantiate

_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@pytest.fixture(scope="session")
def compiled() -> Callable[..., Callable[..., object]]:
    return _compiled


@cache
def _compiled(codelet: object, *types: str) -> Callable[..., object]:
    registry: dict[str, imp.Function] = {}
    function = instantiate(codelet, types, registry)
    kernel = _kernel(function, types, tuple(registry.values()))
    address, owner = machine.load(machine.compile(llvm.render(kernel)), symbol(kernel))
    entry = _PROTOTYPE(address)
    dtypes = [t.rstrip("*") for t in types] + ([function.dtype] if function.dtype else [])

    def call(*args: object) -> object:
        assert owner
        arrays = [np.asarray(a, d) for a, d in zip(args, dtypes, strict=False)]
        arrays = [a if a.ndim else a.reshape(1).copy() for a in arrays]
        if function.dtype:
            arrays.append(np.zeros(1, function.dtype))
        block = np.array([x for a in arrays for x in (a.ctypes.data, a.size, a.size)], "int64")
        assert entry(block.ctypes.data) == imp.OK
        return arrays[-1][0].item() if function.dtype else None

    return call


def _kernel(
    function: imp.Function, types: tuple[str, ...], codelets: tuple[imp.Function, ...]
) -> imp.Kernel:
    """Scalars are passed in arrays of one element, as is the result."""
    buffers = tuple(imp.Buffer(f"a{k}", t.rstrip("*")) for k, t in enumerate(types))
    args = tuple(
        imp.Address(b) if t.endswith("*") else b[0] for b, t in zip(buffers, types, strict=True)
    )
    call = imp.Call(function.name, args, function.dtype or "void")
    stmt: imp.Stmt = imp.Do(call)
    if function.dtype:
        buffers += (imp.Buffer("result", function.dtype),)
        stmt = imp.Store(buffers[-1], imp.ZERO, call)
    argument = imp.Argument("a", (), buffers)
    return imp.Kernel("run", (argument,), imp.Block((stmt,)), codelets)
