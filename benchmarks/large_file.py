"""A Matrix Market file of a gigabyte: written to a temporary folder, read, timed and removed.

    python -m benchmarks.large_file [MEGABYTES] [FOLDER]

The time of the processor is what one thread takes; that of the clock includes waiting for the disk,
and for whoever else uses the machine.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import linnet as ln

GOAL = 150.0  # megabytes in a second
LINE = 36  # bytes of an entry, about: two numbers of seven digits, and one of seventeen
ROWS = 2_000_000


def write(path: Path, megabytes: int) -> None:
    """A matrix whose entries are in no order, with all the digits of their values."""
    count = megabytes * 1_000_000 // LINE
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        file.write(b"%%MatrixMarket matrix coordinate real general\n")
        file.write(b"%d %d %d\n" % (ROWS, ROWS, count))
        for start in range(0, count, 200_000):
            size = min(200_000, count - start)
            i = rng.integers(1_000_000, ROWS, size).tolist()
            j = rng.integers(1_000_000, ROWS, size).tolist()
            values = rng.random(size).tolist()
            lines = [f"{r} {c} {v!r}\n" for r, c, v in zip(i, j, values, strict=True)]
            file.write("".join(lines).encode())


def main() -> None:
    """Write, read twice, and tell the better rate."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        path = Path(folder) / "large.mtx"
        write(path, megabytes)
        size = path.stat().st_size / 1e6
        for _ in range(2):
            wall, processor = time.perf_counter(), time.process_time()
            A = ln.read(path, format=ln.COO)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            print(
                f"{size:.0f} MB, {A.nnz} entries: {size / wall:.0f} MB/s by the clock, "
                f"{size / processor:.0f} MB/s of processor time (goal {GOAL:.0f})",
                flush=True,
            )
            del A


if __name__ == "__main__":
    main()
