"""How much memory a product by columns takes with each kind of workspace (WORK §7.3, Fig. 18).

Run as `python -m benchmarks.workspace_memory [names of data]`. A row of the table says how many
times the bytes of the result are resident at the peak, beyond the operands and the result included,
in the first call of a process of its own; and what is left without `capacity` components of 16
bytes, as many as accumulate at most. Linux only: the peak is read from /proc.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import scipy.sparse as sp

import linnet as ln
from benchmarks import data, workspaces
from benchmarks.memory_worker import beyond

Pair = tuple[sp.csr_array, sp.csr_array]
POLICIES = {"coord": ln.Coord(), "hash": ln.Hash(), "bucket": ln.Bucket()}
_COMPONENT = 16  # bytes: the number of its coordinates, and a value
_FEW, _MORE = 1024, 1 << 17  # components that accumulate at first, and beside many others


def uniform(n: int, per_row: int) -> Callable[[], Pair]:
    return lambda: (data.uniform(n * per_row, per_row, 0), data.uniform(n * per_row, per_row, 1))


def used(columns: int) -> Callable[[], Pair]:
    def pair() -> Pair:
        A = workspaces.filled_columns(4000, columns, 1)
        return A, sp.csr_array(A.T)

    return pair


def square(name: str) -> Callable[[], Pair]:
    def pair() -> Pair:
        ((_, A),) = data.real_matrices(name)
        return A, A

    return pair


DATA: dict[str, Callable[[], Pair]] = {
    "n=20000": uniform(20_000, 8),
    "n=200000": uniform(200_000, 4),
    "used=64": used(64),
    "wing": square("wing"),
    "bcsstk16": square("bcsstk16"),
    "memplus": square("memplus"),
}


def measure(name: str, kind: str) -> tuple[int, int, int]:
    """Bytes at the peak beyond the operands, bytes of the result, and how many it stores."""
    policy = POLICIES.get(kind)
    kernel = ln.insert_workspaces(workspaces.outer, policy) if policy else workspaces.outer
    A, B = DATA[name]()
    a, b = ln.asarray(A).to(ln.CSC), ln.asarray(B)
    kernel.code(ln.empty_tensor(ln.CSR), a, b)  # the compiler has been there
    few = A[:50, :50]
    kernel(ln.empty_tensor(ln.CSR), ln.asarray(few).to(ln.CSC), ln.asarray(few))
    extra, result = beyond(lambda: kernel(ln.empty_tensor(ln.CSR), a, b))
    return extra, result.nbytes, result.nnz


def row(name: str) -> str:
    """What every kind takes of one set of data."""
    cells = [name]
    for kind in ("linnet", *POLICIES):
        command = [sys.executable, "-m", "benchmarks.workspace_memory", name, kind]
        text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        extra, result, stored = (int(word) for word in text.split())
        cells.append(f"{extra / result:.1f}")
        if kind in POLICIES:
            accumulating = _COMPONENT * max(_FEW, _MORE + stored)
            cells[-1] += f" ({(extra - accumulating) / result:.1f})"
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table, or what a process has measured."""
    if len(sys.argv) == 3 and sys.argv[2] in ("linnet", *POLICIES):
        print(*measure(sys.argv[1], sys.argv[2]))
        return
    print("| data | linnet | " + " | ".join(POLICIES) + " |")
    print("| --- |" + " ---: |" * (1 + len(POLICIES)), flush=True)
    for name in sys.argv[1:] or DATA:
        print(row(name), flush=True)


if __name__ == "__main__":
    main()
