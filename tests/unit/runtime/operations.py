"""Operations on small matrices, what is known of them, and what their results tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import linnet as ln
from linnet.runtime import recall
from linnet.runtime.bound import Operation
from linnet.runtime.memory import Memory

OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda a, b, x: a + b,
    "multiply": lambda a, b, x: a * b,
    "divide": lambda a, b, x: a / b,
    "less": lambda a, b, x: a < b,
    "twice": lambda a, b, x: a + a,
    "negative": lambda a, b, x: -a,
    "abs": lambda a, b, x: abs(a),
    "root": lambda a, b, x: np.sqrt(a) if type(a) is np.ndarray else ln.sqrt(a),
    "power of e": lambda a, b, x: np.exp(a) if type(a) is np.ndarray else ln.exp(a),
    "product": lambda a, b, x: a @ b,
    "vector": lambda a, b, x: a @ x,
    "sum": lambda a, b, x: a.sum(),
    "sum of columns": lambda a, b, x: a.sum(0),
    "sum of rows": lambda a, b, x: a.sum(axis=-1),
    "product of rows": lambda a, b, x: a.prod(1),
    "max": lambda a, b, x: a.max(0),
    "min": lambda a, b, x: a.min(),
    "any": lambda a, b, x: a.any(1),
    "all": lambda a, b, x: a.all(),
    "rows": lambda a, b, x: a[1:3],
    "both": lambda a, b, x: a[1:3, 0:2],
    "none": lambda a, b, x: a[2:2],
}


def forget(monkeypatch) -> None:
    memory: Memory[Any, Any] = Memory()
    monkeypatch.setattr(recall, "KNOWN", memory)
    monkeypatch.setattr("linnet.runtime.eager._known", memory.get)


def known(conversions: bool = False) -> list[Operation]:
    """What is ready; conversions, of which tests are full, only if they are asked for."""
    found = [(key, each) for key, each in recall.KNOWN._known.items() if type(each) is Operation]
    return [each for key, each in found if (key[0] == "to") == conversions]


def break_down(operation: Operation) -> list[int]:
    """Let the kernel of an operation fail; the calls that it gets from now on."""
    calls: list[int] = []
    (call,) = operation.calls
    call.entry = call.entry._replace(call=lambda address: calls.append(address) or 1)
    return calls


def values(shape=(4, 4), seed=0, fill=0.0, dtype="float64") -> Any:
    rng = np.random.default_rng(seed)
    kept = rng.random(shape) < 0.4
    return np.where(kept, rng.integers(1, 5, shape), fill).astype(dtype)


def operands(format: Any, fill: float, dtype: str, size=4) -> tuple[Any, Any, Any]:
    a, b = (
        ln.asarray(values((size, size), s, fill, dtype), format=format, fill_value=fill)
        for s in (1, 2)
    )
    return a, b, values((size,), 3, 0, dtype)


def told(found: ln.Tensor) -> tuple[Any, ...]:
    """Everything about a result but where it lies."""
    dtypes = [array.dtype for array in found.buffers.values()]
    named = (found.format, found.format.name, found.output_format, repr(found.fill_value))
    held = (found.nnz, repr(found.to_numpy().tolist()))
    return (*named, found.shape, found.dtype, found.signature, dtypes, *held)
