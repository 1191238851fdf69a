"""How much memory a kernel takes beyond its operands, compared with the size of its result.

Each kernel runs in a process of its own. Linux only: the peak is read from /proc.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = ("spmv csr", "add 2 csr", "add 3 csr", "spgemm csr", "csr to csc", "spgemm by columns")
STORED = 4_000_000
# Growth by doubling may have twice the result at its peak; temporaries are small beside it.
LIMIT = 2.2
# What is collected, three times the result at most, and what accumulates before it is merged.
WORKSPACE = 4.0


def figures() -> Iterator[dict[str, object]]:
    """Every figure: peak memory beyond the operands, as a multiple of the result's bytes."""
    if not Path("/proc/self/clear_refs").exists():
        return
    for name in NAMES:
        command = [sys.executable, "-m", "benchmarks.memory_worker", name, str(STORED)]
        text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        extra, result = (int(word) for word in text.split())
        ratio = extra / result
        limit = WORKSPACE if "columns" in name else LIMIT
        yield {"name": f"memory of {name} / result", "value": ratio, "limit": limit, "unit": ""}
