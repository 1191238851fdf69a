"""Entries as lines of text, as short as they can be read back exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINES = 1 << 16  # in a piece


def text_of(coords: Sequence[NDArray[Any]], values: NDArray[Any] | None) -> Iterator[bytes]:
    """Coordinates, counted from 1, and a value if there are any, in each line."""
    columns = [idx + 1 for idx in coords]
    if values is not None and values.dtype.kind == "c":
        columns += [values.real, values.imag]
    elif values is not None:
        columns.append(values.astype(np.int64) if values.dtype == bool else values)
    line = " ".join(["%r"] * len(columns)) + "\n"
    count = len(columns[0]) if columns else 0
    for start in range(0, count, LINES):
        chunk = [column[start : start + LINES].tolist() for column in columns]
        yield "".join(map(line.__mod__, zip(*chunk, strict=True))).encode()
