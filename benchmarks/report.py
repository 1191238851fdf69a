"""The table that a run prints, and the JSON that it can leave behind."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from datetime import date
from importlib import metadata
from pathlib import Path

from llvmlite.binding import get_host_cpu_name

from benchmarks.harness import Outcome

HEAD = (
    "kernel",
    "data",
    "stored",
    "Linnet",
    "C",
    "vs C",
    "SciPy",
    "vs SciPy",
    "best other peer",
    "vs peer",
)
WIDTHS = (26, 22, 7, 9, 9, 6, 9, 8, 19, 7)


def heading() -> str:
    """The names of the columns."""
    return _line(HEAD)


def row(outcome: Outcome) -> str:
    """One case as a line of the table that is printed."""
    return _line(cells(outcome))


def cells(outcome: Outcome) -> list[str]:
    """One case: times, and how many times as fast as each of the others Linnet is."""
    times = {name: timing.best for name, timing in outcome.timings.items()}
    peer, goals = outcome.best_peer, outcome.case.goals
    return [
        outcome.case.name,
        outcome.case.data,
        count(outcome.case.stored),
        seconds(times.get("linnet")),
        seconds(times.get("c")),
        _ratio(outcome.ratio("c"), outcome.case.bar),
        seconds(times.get("scipy")),
        _ratio(outcome.ratio("scipy"), goals.get("scipy", None if outcome.case.idiom else 1.0)),
        f"{peer} {seconds(times[peer]).strip()}" if peer else "-",
        _ratio(outcome.ratio(peer), goals.get(peer)) if peer else "-",
    ]


def means(outcomes: list[Outcome]) -> list[str]:
    """For every other side, the geometric mean of how many times as fast Linnet is."""
    lines = []
    for side in dict.fromkeys(side for outcome in outcomes for side in outcome.timings):
        ratios = [r for outcome in outcomes if (r := outcome.ratio(side)) is not None]
        if side != "linnet" and ratios:
            mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
            below = sum(ratio < 1 for ratio in ratios)
            lines.append(f"{side}: {mean:.2f} in {len(ratios)} cases, below 1 in {below}")
    return lines


def markdown(outcomes: list[Outcome], figures: list[dict[str, object]]) -> str:
    """Everything as a page of Markdown, for docs/performance."""
    rows = [HEAD, ("---", "---", *["---:"] * (len(HEAD) - 2)), *map(cells, outcomes)]
    table = ["| " + " | ".join(text.strip() for text in cells) + " |" for cells in rows]
    about = [f"* {key}: {value}" for key, value in machine().items()]
    single = [f"    {figure(one)}" for one in figures]
    return "\n".join([*about, "", *table, "", *single]) + "\n"


def _line(cells: list[str] | tuple[str, ...]) -> str:
    texts = list(cells[:2]), list(cells[2:])
    left = [text.ljust(width) for text, width in zip(texts[0], WIDTHS[:2], strict=True)]
    right = [text.rjust(width) for text, width in zip(texts[1], WIDTHS[2:], strict=True)]
    return " ".join([*left, *right]).rstrip()


def count(n: int) -> str:
    """A number in three digits."""
    for limit, unit in ((10**6, "M"), (10**3, "k")):
        if n >= limit:
            return f"{n / limit:.3g}{unit}"
    return str(n)


def seconds(t: float | None) -> str:
    """A time with its unit, or - if there is none."""
    if t is None:
        return "-"
    for limit, unit in ((1.0, "s "), (1e-3, "ms"), (1e-6, "us")):
        if t >= limit:
            return f"{t / limit:.3g} {unit}"
    return f"{t * 1e9:.3g} ns"


def _ratio(ratio: float | None, bar: float | None) -> str:
    """A ratio; a star marks one below its bar."""
    if ratio is None:
        return "-"
    return f"{ratio:.2f}{'*' if bar is not None and ratio < bar else ' '}"


def figure(one: dict[str, object]) -> str:
    """One figure and its limit; a star marks one beyond it."""
    value, limit = float(one["value"]), float(one["limit"])  # type: ignore[arg-type]
    texts = [seconds(v).strip() if one["unit"] == "s" else f"{v:.2f}" for v in (value, limit)]
    return f"{one['name']:36} {texts[0]:>9}  (limit {texts[1]}){'*' if value > limit else ''}"


def machine() -> dict[str, str]:
    """Where and with what a run was made."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = (line for line in info.read_text().splitlines() if line.startswith("model name"))
        cpu = next(lines, f":{cpu}").split(":", 1)[1].strip()
    found = {
        "date": date.today().isoformat(),
        "cpu": f"{cpu} ({get_host_cpu_name()}), {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "cc": _first_line(["cc", "--version"]),
    }
    peers = ("sparse", "numba", "python-graphblas", "mkl", "opencv-python-headless")
    for package in ("numpy", "llvmlite", "scipy", *peers):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "not found"
    return done.stdout.splitlines()[0]


def save(path: Path, outcomes: list[Outcome], figures: list[dict[str, object]]) -> None:
    """Write everything that was measured."""
    cases = [
        {
            "kernel": outcome.case.name,
            "data": outcome.case.data,
            "stored": outcome.case.stored,
            "bar": outcome.case.bar,
            "goals": outcome.case.goals,
            "seconds": {
                side: {"min": t.best, "median": t.median, "rounds": len(t.samples)}
                for side, t in outcome.timings.items()
            },
            "missing": outcome.missing,
        }
        for outcome in outcomes
    ]
    whole = {"machine": machine(), "cases": cases, "figures": figures}
    path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
