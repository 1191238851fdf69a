"""What each step of the compiler is worth: rows without steps, beside all of them and beside C.

    python -m benchmarks.without [families] [--sizes small] [--groups hoist+reserve,hints]
    python -m benchmarks.without [families] --groups misses/2,misses*2

A row is timed without a group only if that changes its machine code; where several steps of a group
do, each is left out alone, too. The sides of a row are interleaved, and their results are checked.
Factors say how many times as long a row takes without a group: above 1, the group helps. So may it
be asked what becomes of a row if a number that the compiler goes by is half of what it is, or twice
as large (`CONSTANTS`).
"""

from __future__ import annotations

import os

# Everything runs on one thread; libraries read these when they are loaded.
for _variable in ("OMP", "MKL", "OPENBLAS", "LINNET"):
    os.environ.setdefault(f"{_variable}_NUM_THREADS", "1")

import argparse
import importlib
import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from unittest import mock

import linnet as ln
from benchmarks import harness, report
from benchmarks.__main__ import FAMILIES
from benchmarks.data import SIZES, Load
from benchmarks.harness import Case, Side, Unavailable
from linnet import imp, target
from linnet.backend import back_ends
from linnet.optimize import accumulators, hold, loops, places, vectorize
from linnet.optimize.table import STEPS
from linnet.options import Options, current
from linnet.scheduling.default import QUESTIONS
from linnet.target import IN_VECTORIZE

GROUPS = (*QUESTIONS, *STEPS, *IN_VECTORIZE)
ALL = "linnet"  # with all steps
AGAIN = "the same"  # once more: how much factors say of such a row
SAME = "the same code as "
Way = Callable[..., Side]
Code = tuple[bytes, ...]
CONSTANTS: dict[str, tuple[ModuleType, str] | None] = {
    "misses": None, "cache": None, "vector": None, "long": (vectorize, "_LONG"),
    "part": (vectorize, "_PART"), "strip": (vectorize, "_STRIP"), "few": (vectorize, "_FEW"),
    "small": (loops, "SMALL"), "places": (accumulators, "_PLACES"), "far": (accumulators, "_LONG"),
    "held": (hold, "_MOST"), "wide": (places, "_WIDE"),
}  # fmt: skip
"""Numbers that steps go by: of the processor (None), or of a module."""
_KNOWN: dict[tuple[Code, tuple[str, ...]], Code] = {}
"""What becomes of code when steps are left out: the same in every row of a kernel."""
_NUMBERS = itertools.count(1)
_LIMIT = current().cache_limit


def recorded() -> list[bytes]:
    """A list to which all machine code is added that is made from now on."""
    made: list[bytes] = []
    back_end = back_ends.of(current())
    generate = back_end.generate

    def noted(kernel: imp.Kernel, options: Options) -> tuple[bytes, dict[str, str]]:
        code, codelets = generate(kernel, options)
        made.append(code)  # which has the names of codelets, and those say what is in them
        return code, codelets

    back_end.generate = noted  # type: ignore[method-assign]
    return made


def options_without(steps: tuple[str, ...]) -> Callable[[], AbstractContextManager[object]]:
    """Options that nobody has had before: what is compiled under them is compiled for them."""
    before = current()
    constants = [step for step in steps if step[:-2] in CONSTANTS]
    rest = tuple(step for step in steps if step not in constants)
    usual = {"without": (), "cache": before.cache, "cache_limit": before.cache_limit}
    changes = {"without": rest, "cache": False, "cache_limit": _LIMIT + next(_NUMBERS)}

    @contextmanager
    def within() -> Iterator[None]:
        ln.config(**changes)  # of the process, where calls look first; not for a block
        try:
            with ExitStack() as stack:
                for name in constants:
                    stack.enter_context(changed(name))
                yield
        finally:
            ln.config(**usual)

    return within


@contextmanager
def changed(name: str) -> Iterator[None]:
    """One of the constants is half of what it is, or twice as large: `misses/2`, `misses*2`."""
    constant, double = CONSTANTS[name[:-2]], name[-2] == "*"
    if constant is None:  # of the processor
        before = target._here

        def here(*asked: object) -> target.Target:
            found = before(*asked)
            value = getattr(found, name[:-2])
            return replace(found, **{name[:-2]: value * 2 if double else value // 2})

        patch = mock.patch.object(target, "_here", here)
    else:
        module, attribute = constant
        value = getattr(module, attribute)
        patch = mock.patch.object(module, attribute, value * 2 if double else value // 2)
    with patch:
        yield


class Row:
    """The ways of one row, and the machine code that each comes to."""

    def __init__(self, case: Case, made: list[bytes]) -> None:
        self.case, self.made = case, made
        self.codes: dict[str, Code] = {}  # of each way that differs from those before it
        self.same: dict[str, str] = {}  # ways that are as others

    def ways(self, groups: tuple[str, ...]) -> Case:
        """The row with these ways: all steps, C, and less than all."""
        found = {ALL: self.way(ALL, ()), AGAIN: self.way(AGAIN, ())}
        found |= {"c": self.case.ways["c"]} if "c" in self.case.ways else {}
        for group in groups:
            steps = tuple(group.split("+"))
            found[group] = self.way(group, steps)
            if len(steps) > 1:
                found |= {step: self.way(step, (step,), group) for step in steps}
        return replace(self.case, ways=found, expected=self.case.expected or self.reference())

    def reference(self) -> Callable[[], object] | None:
        """What SciPy computes, which is not timed here."""
        if "scipy" not in self.case.ways:
            return None
        side = self.case.ways["scipy"](*self.case.args)
        return lambda: side.read(side.run())

    def way(self, name: str, steps: tuple[str, ...], group: str = "") -> Way:
        """Linnet without some steps, of a group that makes a difference."""

        def side(*args: object) -> Side:
            if self.same.get(group) == ALL:
                raise Unavailable(SAME + ALL)
            known = _KNOWN.get((self.codes.get(ALL, ()), steps))
            if known is not None:  # from another row
                self.note(name, known)
            within = options_without(steps)
            self.made.clear()
            with within():
                found = self.case.ways["linnet"](*args)
                if known is None:
                    found.run()
            if known is None:
                self.note(name, tuple(self.made))
                _KNOWN[self.codes[ALL], steps] = tuple(self.made)
            return replace(found, within=within)

        return side

    def note(self, name: str, code: Code) -> None:
        """What code a way has; none is timed again."""
        other = next((other for other, known in self.codes.items() if known == code), None)
        if other is None:
            self.codes[name] = code
        elif name != AGAIN:
            self.same[name] = other
            _KNOWN.setdefault((self.codes[ALL], tuple(name.split("+"))), code)
            raise Unavailable(SAME + other)


@dataclass(frozen=True)
class Found:
    """What came of a row: the least seconds of each way, which are the same, which failed."""

    family: str
    kernel: str
    data: str
    stored: int
    seconds: dict[str, float]
    same: dict[str, str]
    missing: dict[str, str]

    @staticmethod
    def of(family: str, row: Row, groups: tuple[str, ...], seconds: float) -> Found:
        """Time a row."""
        outcome, case = harness.run(row.ways(groups), seconds), row.case
        times = {name: timing.best for name, timing in outcome.timings.items()}
        missing = {name: why for name, why in outcome.missing.items() if SAME not in why}
        return Found(family, case.name, case.data, case.stored, times, row.same, missing)

    @property
    def factors(self) -> dict[str, float]:
        """How many times as long a row takes without each group or step that changes its code."""
        times = dict(self.seconds)
        times |= {n: times[k] for n, k in self.same.items() if k in times and k != ALL}
        return {name: t / times[ALL] for name, t in times.items() if name not in (ALL, "c")}

    def __str__(self) -> str:
        parts = [f"{self.kernel:28}{self.data:14}{report.count(self.stored):>7}"]
        if {ALL, "c"} <= self.seconds.keys():
            parts.append(f"C {self.seconds['c'] / self.seconds[ALL]:.2f} ")
        if ALL in self.seconds:
            parts += [f"{name} {factor:.2f}" for name, factor in self.factors.items()]
        parts += [f"{name}: {why}" for name, why in self.missing.items()]
        return "  ".join(parts)


HEAD = ("without", "rows", "geometric mean", "least", "most", "slower by 5 %", "faster by 5 %")


def summary(rows: list[Found]) -> Iterator[str]:
    """Of each group and step: on how many rows it acts, and what they lose without it."""
    by_name: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        for name, factor in row.factors.items() if ALL in row.seconds else ():
            by_name.setdefault(name, []).append((factor, f"{row.kernel} {row.data}"))
    yield f"| {' | '.join(HEAD)} |"
    yield "|---|---:|---:|---|---|---:|---:|"
    for name, found in by_name.items():
        mean = math.exp(math.fsum(math.log(f) for f, _ in found) / len(found))
        least, most = min(found), max(found)
        lose, win = sum(f > 1.05 for f, _ in found), sum(f < 0.95 for f, _ in found)
        yield (
            f"| {name} | {len(found)} | {mean:.3f} | {least[0]:.2f} {least[1]} "
            f"| {most[0]:.2f} {most[1]} | {lose} | {win} |"
        )


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.without", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"any of {', '.join(FAMILIES)}")
    parser.add_argument(
        "--groups",
        default=",".join(GROUPS),
        help="steps, such as hoist+reserve,hints (each alone)",
    )
    parser.add_argument("--sizes", default="small,medium", help=f"any of {','.join(SIZES)}")
    parser.add_argument("--rows", default="", help="only rows whose name and data have this in it")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each side of a row")
    parser.add_argument("--processor", action="store_true", help="processor time")
    parser.add_argument("--json", type=Path, help="also add every row to this file, one to a line")
    return parser.parse_args()


def main() -> int:
    """Time the chosen rows; print each, and at the end what each group is worth."""
    options = arguments()
    harness.CLOCK = time.thread_time if options.processor else time.perf_counter
    load, made = Load(tuple(options.sizes.split(","))), recorded()
    groups = tuple(options.groups.split(","))
    rows = []
    for name in options.names or FAMILIES:
        for case in importlib.import_module(f"benchmarks.{name}").cases(load):
            if "linnet" not in case.ways or options.rows not in f"{case.name} {case.data}":
                continue
            rows.append(Found.of(name, Row(case, made), groups, options.seconds))
            print(rows[-1], flush=True)
            if options.json:
                with options.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(rows[-1])) + "\n")
    print("\n".join(summary(rows)))
    return any("WRONG" in str(row.missing) for row in rows)


if __name__ == "__main__":
    sys.exit(main())
