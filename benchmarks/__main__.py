"""The command line: `python -m benchmarks [names] [--json out] [--sizes …] [--quick]`."""

from __future__ import annotations

import os

# Everything runs on one thread; libraries read these when they are loaded.
for _variable in ("OMP", "MKL", "OPENBLAS", "NUMBA", "LINNET"):
    os.environ.setdefault(f"{_variable}_NUM_THREADS", "1")

import argparse
import importlib
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks import harness, report
from benchmarks.data import SIZES, Load
from benchmarks.harness import Outcome, run

FAMILIES = (
    "spmv",
    "spmspv",
    "spmm",
    "sddmm",
    "add",
    "intersect",
    "reductions",
    "spgemm",
    "transpose",
    "coo_to_csr",
    "ttv",
    "ttm",
    "mttkrp",
    "triangles",
    "inner",
    "kron",
    "structures",
    "graphs",
    "images",
    "ufuncs",
    "slicing",
    "fusion",
    "semiring",
    "applications",
    "files",
    "workspaces",
    "arrays",
    "schedules",
    "changes",
)
FIGURES = ("latency", "memory", "scaling")


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"any of {', '.join(FAMILIES + FIGURES)}")
    parser.add_argument("--json", type=Path, help="also write every number to this file")
    parser.add_argument(
        "--markdown",
        type=Path,
        nargs="?",
        const=Path("-"),
        help="also write the tables as Markdown, to this file or at the end",
    )
    parser.add_argument(
        "--sizes",
        default="small,medium",
        help=f"any of {','.join(SIZES)}; without it small,medium (large takes long)",
    )
    parser.add_argument("--seconds", type=float, default=0.5, help="for each side of a case")
    parser.add_argument("--quick", action="store_true", help="small sizes, few repetitions")
    parser.add_argument("--no-real", action="store_true", help="leave out real matrices")
    parser.add_argument(
        "--processor", action="store_true", help="processor time, where others share the cores"
    )
    parser.add_argument("--only", help="sides to run, such as linnet,c,scipy (all)")
    return parser.parse_args()


def chosen(outcome_sides: str | None, ways: dict[str, object]) -> dict[str, object]:
    """The ways that take part."""
    if not outcome_sides:
        return ways
    return {name: way for name, way in ways.items() if name in outcome_sides.split(",")}


def main() -> int:
    """Run the chosen benchmarks; fail if any side gave a wrong result or Linnet gave none."""
    options = arguments()
    harness.CLOCK = time.thread_time if options.processor else time.perf_counter
    load = Load(
        ("small",) if options.quick else tuple(options.sizes.split(",")), not options.no_real
    )
    seconds = 0.1 if options.quick else options.seconds
    for key, value in report.machine().items():
        print(f"{key}: {value}")
    names = options.names or (*FAMILIES, *FIGURES)
    outcomes = [
        o for name in names if name in FAMILIES for o in family(name, load, seconds, options)
    ]
    if outcomes:
        _remarks(outcomes)
    figures = [f for name in names if name in FIGURES for f in figure(name)]
    if options.json:
        report.save(options.json, outcomes, figures)
    if options.markdown == Path("-"):
        print(f"\n{report.markdown(outcomes, figures)}")
    elif options.markdown:
        options.markdown.write_text(report.markdown(outcomes, figures), encoding="utf-8")
    return any("linnet" in o.missing or "WRONG" in str(o.missing) for o in outcomes)


def family(name: str, load: Load, seconds: float, options: argparse.Namespace) -> list[Outcome]:
    """All cases of one kernel family."""
    print(f"\n{report.heading()}", flush=True)
    outcomes = []
    for case in importlib.import_module(f"benchmarks.{name}").cases(load):
        ways = chosen(options.only, case.ways)
        outcomes.append(run(replace(case, ways=ways), seconds))
        print(report.row(outcomes[-1]), flush=True)
    return outcomes


def figure(name: str) -> list[dict[str, object]]:
    """Single figures with a limit each: latency, memory."""
    print()
    found = []
    for one in importlib.import_module(f"benchmarks.{name}").figures():
        print(report.figure(one), flush=True)
        found.append(one)
    return found


def _remarks(outcomes: list[Outcome]) -> None:
    """Who did not take part, and why, each reason once."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        for side, reason in outcome.missing.items():
            reasons.setdefault((side, reason), []).append(outcome.case.name)
    if reasons:
        print("\nnot measured:")
    for (side, reason), names in reasons.items():
        print(f"  {side} in {', '.join(sorted(set(names)))}: {reason}")
    print("\nRatios say how many times as fast Linnet is; * marks one below its bar.")
    print("Geometric means of them, by side:")
    for line in report.means(outcomes):
        print(f"  {line}")


if __name__ == "__main__":
    sys.exit(main())
