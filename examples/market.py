"""A small reader of Matrix Market files: coordinates, real or pattern, symmetric or not."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

import linnet as ln


def read(path: Path, format: object = "csr") -> ln.Tensor:
    """The matrix in a `.mtx` or `.mtx.gz` file."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        _, _, layout, field, symmetry = file.readline().lower().split()
        if layout != "coordinate" or field not in ("real", "integer", "pattern"):
            raise ValueError(f"{path.name}: this reader does not know {field} {layout} matrices")
        sizes = next(line for line in file if not line.startswith("%"))
        entries = np.loadtxt(file, ndmin=2)
    i, j = (entries[:, k].astype(int) - 1 for k in (0, 1))
    values = np.ones(len(i)) if field == "pattern" else entries[:, 2]
    if symmetry != "general":  # the file holds one triangle
        below = i != j
        sign = -1 if symmetry == "skew-symmetric" else 1
        i, j = np.r_[i, j[below]], np.r_[j, i[below]]
        values = np.r_[values, sign * values[below]]
    rows, columns, _ = map(int, sizes.split())
    return ln.tensor([i, j], values, (rows, columns), format)
