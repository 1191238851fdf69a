"""How much memory a product by columns takes with each kind of workspace (WORK §7.3, Fig. 18).

Run as `python -m benchmarks.workspace_memory [names of data]`. A row of the table says how many
times the bytes of the result are resident at the peak, beyond the operands and the result included,
in the first call of a process of its own, whose machine code is in the disk cache. In brackets,
what is left without the accumulation array: coordinates and values of as many components as
accumulate at most, which a model of the batches tells; and what is left without their numbers and
the policy's table as well, which WORK §5 counts among it. The sorted copy is never taken off. Every
block from 64 KB on has pages of its own here, so that what has been freed does not count. Linux
only: the peak is read from /proc.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, workspaces
from benchmarks.memory_worker import beyond
from linnet.codelets.merging import grown

Pair = tuple[sp.csr_array, sp.csr_array]
POLICIES = {"coord": ln.Coord(), "hash": ln.Hash(), "bucket": ln.Bucket()}
_COMPONENT = 16  # bytes: the number of its coordinates, and a value
_ID, _ENTRY, _HEAD = 8, 8, 8  # and of its own number, its entry in a table, and a head of that
_LONGEST = 1 << 16  # heads of the table of a hash, at least
_FIRST = 1024  # components that accumulate at first, where few are expected
_SMALL_PAGES = 41  # in Linux: PR_SET_THP_DISABLE
_MAPPED = {"MALLOC_MMAP_THRESHOLD_": "65536"}  # read by malloc when a process begins


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


def products(A: sp.csr_array, B: sp.csr_array) -> np.ndarray:
    """The numbers of the places that the updates go to, in order."""
    columns = sp.csc_array(A)
    owner = np.repeat(np.arange(A.shape[1]), np.diff(columns.indptr))
    counts = np.diff(B.indptr)[owner]
    begin = np.repeat(B.indptr[owner] - np.cumsum(counts) + counts, counts)
    j = B.indices[begin + np.arange(counts.sum())]
    return np.repeat(columns.indices.astype(np.int64), counts) * B.shape[1] + j


def most_at_once(keys: np.ndarray, policy: ln.Policy, first: int) -> int:
    """How many components accumulate at most: batches as the workspace makes them."""
    _, places = np.unique(keys, return_inverse=True)
    stored, seen = np.zeros(len(keys), bool), np.full(len(keys), -1)
    share, room, most, at = round(256 * policy.growth), first, 0, 0
    while at < len(keys):
        end = min(at + room, len(keys))
        while policy.tabled and end < len(keys):  # what has accumulated already takes no room
            window = min(at + 2 * (end - at), len(keys))
            here = places[at:window]
            seen[here[::-1]] = np.arange(at, window)[::-1]  # where each came first
            new = np.cumsum(seen[here] == np.arange(at, window))
            end = at + int(np.searchsorted(new, room, "right"))
            if end < window:
                break
        found = np.unique(places[at:end])
        most = max(most, len(found) if policy.tabled else end - at)
        fresh = int(np.count_nonzero(~stored[found]))
        stored[found] = True
        total = int(np.count_nonzero(stored))
        room, at = max(room, grown(total, first, share, fresh)), end
    return most


def table(policy: ln.Policy, count: int) -> int:
    """Bytes of the numbers and the table of a policy for so many components.

    Where they are moved with their values, as with `Coord` and `Hash`, they have no numbers.
    """
    if isinstance(policy, ln.Hash):
        return _ENTRY * count + 2 * _HEAD * _LONGEST
    return _ID * count + (_ENTRY + _HEAD) * count if policy.tabled else 0


def capacity(kernel: ln.Kernel, *operands: ln.Tensor) -> int:
    """How many components accumulate at first, as Linnet says."""
    told = ln.explain(kernel, ln.empty_tensor(ln.CSR), *operands)["results"]
    found = re.search(r"capacity=(\d+)", told)
    return int(found[1]) if found else _FIRST


def called(name: str, kind: str) -> tuple[Pair, ln.Kernel, tuple[ln.Tensor, ln.Tensor]]:
    """Matrices, and a kernel with operands that it is to be called with."""
    policy = POLICIES.get(kind)
    kernel = ln.insert_workspaces(workspaces.outer, policy) if policy else workspaces.outer
    A, B = DATA[name]()
    return (A, B), kernel, (ln.asarray(A).to(ln.CSC), ln.asarray(B))


def measure(name: str, kind: str) -> tuple[int, int, int]:
    """Bytes at the peak beyond the operands, of the result, and how many accumulate at most."""
    ctypes.CDLL(None).prctl(_SMALL_PAGES, 1, 0, 0, 0)  # what is rounded up to 2 MB is not counted
    (A, B), kernel, (a, b) = called(name, kind)
    policy, few = POLICIES.get(kind), A[:50, :50]
    kernel.code(ln.empty_tensor(ln.CSR), a, b)  # the compiler has been there
    kernel(ln.empty_tensor(ln.CSR), ln.asarray(few).to(ln.CSC), ln.asarray(few))
    extra, result = beyond(lambda: kernel(ln.empty_tensor(ln.CSR), a, b))
    if not policy:
        return extra, result.nbytes, 0
    most = most_at_once(products(A, B), policy, capacity(kernel, a, b))
    return extra, result.nbytes, most


def row(name: str) -> str:
    """What every kind takes of one set of data."""
    cells = [name]
    for kind in ("linnet", *POLICIES):
        command = [sys.executable, "-m", "benchmarks.workspace_memory", name, kind]
        subprocess.run([*command, "compile"], check=True)  # the compiler takes memory, too
        mapped = os.environ | _MAPPED
        text = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=mapped).stdout
        extra, result, count = (int(word) for word in text.split())
        cells.append(f"{extra / result:.2f}")
        if kind in POLICIES:
            strict = extra - _COMPONENT * count
            fair = strict - table(POLICIES[kind], count)
            cells[-1] += f" ({strict / result:.2f}, {fair / result:.2f})"
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table, or what a process has measured."""
    if sys.argv[2:3] and sys.argv[2] in ("linnet", *POLICIES):
        if sys.argv[3:] == ["compile"]:
            _, kernel, operands = called(*sys.argv[1:3])
            kernel(ln.empty_tensor(ln.CSR), *operands)
        else:
            print(*measure(*sys.argv[1:3]))
        return
    print("| data | linnet | " + " | ".join(POLICIES) + " |")
    print("| --- |" + " ---: |" * (1 + len(POLICIES)), flush=True)
    for name in sys.argv[1:] or DATA:
        print(row(name), flush=True)


if __name__ == "__main__":
    main()
