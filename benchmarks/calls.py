"""How much of a call is the kernel: machine code, timed inside of the calls of other benchmarks.

Run as `python -m benchmarks.calls [name …]`. On small data the call from Python shows, which C that
is called with arguments prepared once does not have; `kernel vs C` compares without it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module

from benchmarks.data import Load
from benchmarks.harness import Case
from linnet import backend

NAMES = ("spmv", "reductions", "add", "intersect", "spgemm", "transpose", "coo_to_csr", "kron")
SECONDS = 0.6
TURN = 8  # calls of one side before the other has its turn
SMALL = 400_000  # stored values of real data


class Inside:
    """Seconds that have been spent in machine code; kernels that are made from now on count."""

    def __init__(self) -> None:
        self.seconds = 0.0
        link = backend.link

        def linked(code: bytes, name: str, options: object) -> Callable[[int], int]:
            call = link(code, name, options)  # type: ignore[arg-type]

            def timed(block: int) -> int:
                start = time.perf_counter()
                status = call(block)
                self.seconds += time.perf_counter() - start
                return status

            return timed

        backend.link = linked  # type: ignore[assignment]


def cases(names: list[str]) -> Iterator[Case]:
    """Small data, and real data that are."""
    for name in names:
        for case in import_module(f"benchmarks.{name}").cases(Load(("small",), True)):
            if case.stored < SMALL:
                yield case


def measured(case: Case, inside: Inside) -> tuple[float, float, float]:
    """Seconds of a call, of the kernel in it, and of C: the least of interleaved turns."""
    ours, c = (case.ways[side](*case.args).run for side in ("linnet", "c"))
    call = kernel = by_hand = float("inf")
    ours()
    ends = time.perf_counter() + SECONDS
    while time.perf_counter() < ends:
        for _ in range(TURN):
            inside.seconds, start = 0.0, time.perf_counter()
            result = ours()
            call = min(call, time.perf_counter() - start)
            kernel = min(kernel, inside.seconds)
            del result
        for _ in range(TURN):
            start = time.perf_counter()
            result = c()
            by_hand = min(by_hand, time.perf_counter() - start)
            del result
    return call, kernel, by_hand


def main() -> None:
    """Print the table, in microseconds."""
    inside = Inside()
    print("| kernel | data | call | kernel in it | C | vs C | kernel vs C |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for case in cases(sys.argv[1:] or list(NAMES)):
        call, kernel, c = measured(case, inside)
        times = " | ".join(f"{1e6 * t:.1f}" for t in (call, kernel, c))
        ratios = f"{c / call:.2f} | {c / kernel:.2f}"
        print(f"| {case.name} | {case.data} | {times} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
