"""One process of the memory figures: runs the kernel that its argument names, prints bytes."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import linnet as ln
from benchmarks import add, data, spgemm, spmv, workspaces

Run = Callable[[], ln.Tensor]


def operands(stored: int, count: int, per_row: int = 10) -> list[ln.Tensor]:
    return [ln.asarray(data.uniform(stored, per_row, seed)) for seed in range(count)]


def times_vector(stored: int) -> Run:
    (A,) = operands(stored, 1)
    x = ln.asarray(np.ones(A.shape[1]))
    return lambda: spmv.by_rows(ln.empty_tensor(spmv.VECTOR), A, x)


def sum_of_two(stored: int) -> Run:
    A, B = operands(stored, 2)
    return lambda: add.add2(ln.empty_tensor(ln.CSR), A, B)


def sum_of_three(stored: int) -> Run:
    A, B, C = operands(stored, 3)
    return lambda: add.add3(ln.empty_tensor(ln.CSR), A, B, C)


def product(stored: int) -> Run:
    A, B = operands(stored // 6, 2, 6)
    return lambda: spgemm.gustavson(ln.empty_tensor(ln.CSR), A, B)


def outer_product(stored: int) -> Run:
    A, B = operands(stored // 6, 2, 6)
    by_columns = A.to(ln.CSC)
    return lambda: workspaces.outer(ln.empty_tensor(ln.CSR), by_columns, B)


def by_columns(stored: int) -> Run:
    (A,) = operands(stored, 1)
    return lambda: A.to(ln.CSC)


KERNELS: dict[str, Callable[[int], Run]] = {
    "spmv csr": times_vector,
    "add 2 csr": sum_of_two,
    "add 3 csr": sum_of_three,
    "spgemm csr": product,
    "csr to csc": by_columns,
    "spgemm by columns": outer_product,
}


def measure(name: str, stored: int) -> tuple[int, int]:
    """Bytes at the peak beyond what was there before the call, and bytes of the result."""
    make = KERNELS[name]
    make(1000)()  # compiled on small operands, so that the compiler's memory is not counted
    extra, result = beyond(make(stored))
    return extra, result.nbytes


def beyond(run: Run) -> tuple[int, ln.Tensor]:
    """Bytes at the peak of a call beyond what was there before it, and what it gives."""
    ctypes.CDLL(None).malloc_trim(0)  # what the operands' making has left free does not count
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    before = _status("VmRSS")
    result = run()
    return _status("VmHWM") - before, result


def _status(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


if __name__ == "__main__":
    print(*measure(sys.argv[1], int(sys.argv[2])))
