"""Time several ways of computing one thing, side by side, and say how they compare.

Every side is checked against the reference before it is timed. Repetitions are interleaved and
their order rotates, so that what else the machine does hits all sides alike. A turn has several of
them if they are short: the first finds the caches full of what the side before it has used.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

SAMPLE = 3e-4  # seconds: shorter calls are repeated until a sample takes this long
TURN = 5e-3  # seconds: a side that takes less is measured again in the same turn
SLOW = 5.0  # seconds: what takes longer is measured once
CLOCK = time.perf_counter  # or that of the thread, which stands still while others have the core


def unchanged(result: object) -> object:
    """For sides whose result can be compared as it is."""
    return result


class Unavailable(Exception):
    """A side that cannot take part, and why."""


@dataclass(frozen=True)
class Side:
    """One way to compute: `run` is timed, `read` turns its result into something comparable.

    `within` is what is in force meanwhile, such as options; to enter it is not timed.
    """

    run: Callable[[], object]
    read: Callable[[object], object] = unchanged
    within: Callable[[], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True)
class Case:
    """One computation on one set of data, and the ways to do it.

    A way is a function of `args` that prepares everything that is not timed and returns a Side.
    `expected` computes the reference; without it the reference is SciPy's result. `bar` is the
    part of the speed of hand-written C that Linnet has to reach, `goals` say the same of other
    sides. `idiom` says that SciPy has no such operation, and its side is what its users write
    instead, prepared outside the timing.
    """

    name: str
    data: str
    stored: int
    args: tuple[object, ...]
    ways: dict[str, Callable[..., Side]]
    bar: float | None = None
    idiom: bool = False
    expected: Callable[[], object] | None = None
    goals: dict[str, float] = field(default_factory=dict)


@dataclass
class Timing:
    """Seconds per call of one side, one number per sample."""

    samples: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.samples)

    @property
    def median(self) -> float:
        return statistics.median(self.samples)


@dataclass
class Outcome:
    """What became of a case: a timing per side, and for the others the reason there is none."""

    case: Case
    timings: dict[str, Timing]
    missing: dict[str, str]

    def ratio(self, side: str) -> float | None:
        """How many times as long as Linnet a side takes: above 1, Linnet is faster.

        None if one of them is missing, or took no time that the clock saw: that of a thread may
        stand still while another one works for it.
        """
        if not {side, "linnet"} <= self.timings.keys():
            return None
        other, own = self.timings[side].best, self.timings["linnet"].best
        return other / own if other > 0 and own > 0 else None

    @property
    def best_peer(self) -> str | None:
        """The fastest side that has no column of its own."""
        peers = [side for side in self.timings if side not in ("linnet", "c", "scipy")]
        return min(peers, key=lambda side: self.timings[side].best, default=None)


def run(case: Case, seconds: float) -> Outcome:
    """Prepare, check and time all sides of a case."""
    sides: dict[str, Side] = {}
    missing: dict[str, str] = {}
    expected = case.expected() if case.expected else None
    # SciPy first: the others are compared with it.
    for name in sorted(case.ways, key=lambda way: way != "scipy"):
        try:
            side = case.ways[name](*case.args)
            with side.within():
                result = side.read(side.run())
            if expected is None:
                expected = result
            difference = differs(result, expected)
        except Exception as error:
            missing[name] = _reason(error)
            continue
        if difference:
            missing[name] = f"WRONG RESULT: {difference}"
        else:
            sides[name] = side
    return Outcome(case, _time(sides, seconds), missing)


def _reason(error: Exception) -> str:
    text = str(error).strip().splitlines()
    if isinstance(error, Unavailable):
        return text[0]
    return f"{type(error).__name__}: {text[0] if text else ''}"


def differs(result: object, expected: object) -> str:
    """Where two results differ, or "" if they agree."""
    if sp.issparse(expected):
        if not sp.issparse(result) or result.shape != expected.shape:
            return f"a {type(result).__name__} instead of a sparse matrix of {expected.shape}"
        for part in ("indptr", "indices"):
            if not np.array_equal(getattr(result, part), getattr(expected, part)):
                return f"{part} differ"
        return differs(result.data, expected.data)
    if isinstance(expected, tuple):
        parts = zip(result, expected, strict=True)
        return next((text for text in (differs(a, b) for a, b in parts) if text), "")
    a, b = np.asarray(result), np.asarray(expected)
    if a.shape != b.shape:
        return f"shape {a.shape} instead of {b.shape}"
    scale = max(1.0, float(np.abs(b).max(initial=0.0)))
    if not np.allclose(a, b, rtol=1e-8, atol=1e-10 * scale):
        return f"values differ by up to {np.abs(a - b).max():.2g}"
    return ""


def _time(sides: dict[str, Side], seconds: float) -> dict[str, Timing]:
    """Rounds in which each side has a turn, until each has used its share of the time."""
    timings = {name: Timing() for name in sides}
    used = {name: max(1e-9, _sample(side, 1)) for name, side in sides.items()}
    calls = {name: math.ceil(SAMPLE / once) for name, once in used.items()}
    for name, once in used.items():
        timings[name].samples += [once] if once > SLOW else []
    for turn in range(200):
        # A slow side gets two rounds, a very slow one none but the first.
        going = [
            name
            for name in _rotated(list(sides), turn)
            if used[name] < seconds or (turn < 2 and not used[name] > SLOW)
        ]
        if not going:
            break
        for name in going:
            samples = _turn(sides[name], calls[name])
            timings[name].samples += [sample / calls[name] for sample in samples]
            used[name] += sum(samples)
    return timings


def _turn(side: Side, calls: int) -> list[float]:
    """Samples of one side, until they have taken the time of a turn."""
    samples = [_sample(side, calls)]
    while sum(samples) < TURN:
        samples.append(_sample(side, calls))
    return samples


def _rotated(names: list[str], by: int) -> Iterator[str]:
    return (names[(k + by) % len(names)] for k in range(len(names)))


def _sample(side: Side, calls: int) -> float:
    """Seconds for some calls; the last result is freed outside."""
    result: object = None
    run = side.run
    gc.collect(0)
    gc.disable()
    try:
        with side.within():
            if calls > 1 and side.within is not nullcontext:
                result = run()  # which looks up what the options before this had no use for
            start = CLOCK()
            for _ in range(calls):
                result = run()
            stop = CLOCK()
    finally:
        gc.enable()
    del result
    return stop - start
