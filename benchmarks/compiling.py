"""How long the compiler takes for thirty programs: making code of each, and compiling that.

Run as `python -m benchmarks.compiling [name …]`. Figures are milliseconds of processor time, the
best of three.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import linnet as ln
from linnet.formats.named import stack
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel

HYPERSPARSE = stack(ln.SparseList(ln.SparseList(ln.Element())))
BLOCKS = stack(ln.Dense(ln.SparseBlockList(ln.Element())))
BYTES = stack(ln.Dense(ln.SparseByteMap(ln.Element())))
FORMATS = {
    "s": ln.DENSE(0), "v": ln.DENSE(1), "d": ln.DENSE(2), "l": ln.CSF(1), "A": ln.CSR,
    "T": ln.CSC, "C": ln.COO(2), "H": HYPERSPARSE, "R": ln.RLE, "S": ln.SRLE, "V": BLOCKS,
    "B": BYTES, "3": ln.CSF(3), "4": ln.COO(4),
}  # fmt: skip
WINDOW = " * ".join(f"a[i + {p}, j + {q}]" for p in range(3) for q in range(3))

PROGRAMS = {  # formats of results and operands, loops, and what is done in them
    "total": ("sA", "i j", "y[()] += a[i, j]"),
    "largest": ("sA", "i j", "y[()] = max(y[()], a[i, j])"),
    "row sums": ("vA", "i j", "y[i] += a[i, j]"),
    "spmv": ("vAv", "i j", "y[i] += a[i, j] * b[j]"),
    "spmv by columns": ("vTv", "j i", "y[i] += a[i, j] * b[j]"),
    "spmspv": ("vAl", "i j", "y[i] += a[i, j] * b[j]"),
    "spmv, blocks": ("vVv", "i j", "y[i] += a[i, j] * b[j]"),
    "spmm": ("dAd", "i k j", "y[i, j] += a[i, k] * b[k, j]"),
    "spgemm": ("AAA", "i k j", "y[i, j] += a[i, k] * b[k, j]"),
    "spgemm, inner": ("AAT", "i j k", "y[i, j] += a[i, k] * b[k, j]"),
    "spgemm, coordinates": ("CCC", "i k j", "y[i, j] += a[i, k] * b[k, j]"),
    "sddmm": ("AAdd", "i j k", "y[i, j] += a[i, j] * b[i, k] * c[k, j]"),
    "mttkrp": ("d3dd", "i j k l", "y[i, l] += a[i, j, k] * b[j, l] * c[k, l]"),
    "ttv": ("A3v", "i j k", "y[i, j] += a[i, j, k] * b[k]"),
    "transpose": ("AA", "i j", "y[j, i] = a[i, j]"),
    "to coordinates": ("CA", "i j", "y[i, j] = a[i, j]"),
    "to runs": ("SA", "i j", "y[i, j] = a[i, j]"),
    "sum of two": ("AAA", "i j", "y[i, j] = a[i, j] + b[i, j]"),
    "sum of three": ("AAAA", "i j", "y[i, j] = a[i, j] + b[i, j] + c[i, j]"),
    "sum of four": ("AAAAA", "i j", "y[i, j] = a[i, j] + b[i, j] + c[i, j] + d[i, j]"),
    "sum of two, hypersparse": ("HHH", "i j", "y[i, j] = a[i, j] + b[i, j]"),
    "sum of three, hypersparse": ("HHHH", "i j", "y[i, j] = a[i, j] + b[i, j] + c[i, j]"),
    "sum of three, COO(4)": (
        "4444", "i j k l", "y[i, j, k, l] = a[i, j, k, l] + b[i, j, k, l] + c[i, j, k, l]",
    ),
    "product of three": ("AAAA", "i j", "y[i, j] = a[i, j] * b[i, j] * c[i, j]"),
    "mixed": ("ASBV", "i j", "y[i, j] = a[i, j] * (b[i, j] + c[i, j])"),
    "triangle": ("sA", "i j", "if i <= j: y[()] += a[i, j]"),
    "band": ("vAv", "i j", "if i - 2 < j and j < i + 2: y[i] += a[i, j] * b[j]"),
    "window": ("AA", "i j", f"y[i, j] = {WINDOW}"),
    "window, runs": ("SS", "i j", f"y[i, j] = {WINDOW}"),
    "runs of two": ("RRR", "i j", "y[i, j] = max(a[i, j], b[i, j])"),
}  # fmt: skip


def kernel(name: str) -> tuple[Kernel, list[ln.Tensor]]:
    """One of the programs, not compiled before, and its arguments."""
    formats, indices, body = PROGRAMS[name]
    params, shift = "yabcd"[: len(formats)], 2 if "window" in name else 0
    wanted = FORMATS[formats[0]].ndim
    lines = [f"def f({', '.join(params)}):", f"    ln.declare(y, 0.0, ({'6, ' * wanted}))"]
    for depth, index in enumerate(indices.split()):
        lines.append("    " * (depth + 1) + f"for {index} in range({6 - shift}):")
    cond, _, update = body.rpartition(": ")
    inner = "    " * (len(indices.split()) + 1)
    lines += [f"{inner}{cond}:", f"{inner}    {update}"] if cond else [inner + update]
    rng = np.random.default_rng(0)
    args = [ln.empty_tensor(FORMATS[formats[0]])]
    for f in formats[1:]:
        shape = (6,) * FORMATS[f].ndim
        args.append(ln.asarray(np.where(rng.random(shape) < 0.5, 1.0, 0.0), format=FORMATS[f]))
    return Kernel(parse_text("\n".join([*lines, "    return y", ""]))), args


def best(run: Callable[[Kernel, list[ln.Tensor]], object], name: str) -> float:
    """The least time of three."""
    seconds = []
    for _ in range(3):
        given = kernel(name)
        begin = time.process_time()
        run(*given)
        seconds.append(time.process_time() - begin)
    return 1e3 * min(seconds)


def main(names: list[str]) -> None:
    """Print a line for every program, and the sums."""
    code = machine = 0.0
    with ln.config(cache=False):
        kernel("total")[0](*kernel("total")[1])  # what is loaded at the first call is loaded now
        for name in names or PROGRAMS:
            lower = best(lambda k, args: k.lowered(*args), name)
            rest = best(lambda k, args: k(*args), name) - lower
            code, machine = code + lower, machine + rest
            print(f"{name:28}{lower:8.1f}{rest:8.1f}", flush=True)
    print(f"{'all':28}{code:8.1f}{machine:8.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
