"""Tables of docs/performance, from what runs left.

python -m benchmarks structures images graphs ufuncs slicing workspaces arrays --json figures.json
python -m benchmarks.tables figures.json …
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.report import count, seconds

# names of kernels begin with these; the sides beside Linnet, each with its column
TABLES = (
    (("spmv", "sum of"), {"c": "C", "csr": "CSR"}),
    (("erosion", "masked histogram"), {"c": "C", "opencv": "OpenCV"}),
    (
        ("bfs", "bellman"),
        {
            "c": "C",
            "c-bits": "C by bits",
            "c-flags": "C by flags",
            "c-rounds": "C by rounds",
            "graphblas": "graphblas",
            "scipy": "SciPy",
        },
    ),
    (
        ("logical_xor", "ldexp", "right_shift", "power", "xor_and"),
        {"c": "C", "sparse": "PyData/Sparse"},
    ),
    (
        ("add windows", "add a quarter", "add all but ends", "add every"),
        {"c": "C", "C prepared": "C prepared", "scipy": "SciPy"},
    ),
    (("scaled log1p",), {"c": "C", "scipy": "SciPy"}),
    (("mxv", "mxm", "masked mxm"), {"c": "C", "graphblas": "graphblas", "scipy": "SciPy"}),
    (("edges", "minimax"), {"c": "C", "sparse": "PyData/Sparse", "numpy": "NumPy"}),
    (("fig. 14", "fig. 15"), {"scipy": "SciPy", "eigen": "Eigen", "mkl": "MKL", "graphblas": "gb"}),
    (("fig. 16", "fig. 17"), {"by rows": "by rows", "coord": "coord", "c": "C", "scipy": "SciPy"}),
    (("fig. 19", "fig. 20", "table 3"), {"coord": "coord", "hash": "hash", "bucket": "bucket"}),
    (
        ("fig. 21",),
        {n: n for n in ("coord", "hash", "bucket", "vector", "steady", "heap", "map")},
    ),
    (("fig. 21",), {n: n for n in ("coord", "doubled", "pipelined", "both")}),
)

# functions of whole arrays, which are compared with SciPy at several sizes
ARRAYS = ("A ", "A.", "A[", "tril", "diagonal", "concat", "block", "reshape", "flip", "to C")


def table(cases: list[dict], kernels: tuple[str, ...], sides: dict[str, str]) -> list[str]:
    """The cases of some kernels, a line each; a star marks what is below its bar."""
    columns = [name for side in sides.values() for name in (side, f"vs {side}")]
    lines = [f"| kernel | data | Linnet | {' | '.join(columns)} |"]
    lines.append(f"| --- | --- | ---: | {' | '.join('---:' for _ in columns)} |")
    mine = [case for case in cases if case["kernel"].startswith(kernels)]
    names = [(case["kernel"], case["data"]) for case in mine]
    for case, name in zip(mine, names, strict=True):
        size = f", {count(case['stored'])}" if names.count(name) > 1 else ""
        texts = [name[0], name[1] + size, *_cells(case, sides)]
        lines.append(f"| {' | '.join(texts)} |")
    return lines


def _cells(case: dict, sides: dict[str, str]) -> list[str]:
    times = {side: found["min"] for side, found in case["seconds"].items()}
    texts = [seconds(times.get("linnet")).strip()]
    for side in sides:
        texts.append(seconds(times.get(side)).strip())
        if side in times and "linnet" in times:
            bar = case["bar"] if side == "c" else case["goals"].get(side)
            ratio = times[side] / times["linnet"]
            texts.append(f"{ratio:.2f}{'*' if bar is not None and ratio < bar else ''}")
        else:
            texts.append("-")
    return texts


def by_size(cases: list[dict]) -> list[str]:
    """Functions of whole arrays, a line each, with two columns for every size."""
    mine = [c for c in cases if c["kernel"].startswith((*ARRAYS, "transpose"))]
    sizes = list(dict.fromkeys((c["data"], c["stored"]) for c in mine))
    heads = [data if data == "tiny" else count(stored) for data, stored in sizes]
    lines = ["| | " + " | ".join(f"{head} | vs SciPy" for head in heads) + " |"]
    lines.append("| --- |" + " ---: |" * 2 * len(sizes))
    for kernel in dict.fromkeys(c["kernel"] for c in mine):
        at = {(c["data"], c["stored"]): c for c in mine if c["kernel"] == kernel}
        found = [_cells(at[size], {"scipy": "SciPy"}) if size in at else None for size in sizes]
        texts = [text for cells in found for text in ((cells[0], cells[2]) if cells else "--")]
        lines.append(f"| {kernel} | {' | '.join(texts)} |")
    return lines


def main() -> None:
    texts = [Path(name).read_text(encoding="utf-8") for name in sys.argv[1:]]
    cases = [case for text in texts for case in json.loads(text)["cases"]]
    for kernels, sides in TABLES:
        if any(case["kernel"].startswith(kernels) for case in cases):
            print("\n".join(table(cases, kernels, sides)), end="\n\n")
    if any(case["kernel"].startswith(ARRAYS) for case in cases):
        print("\n".join(by_size(cases)), end="\n\n")


if __name__ == "__main__":
    main()
