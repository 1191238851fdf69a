"""Curves of time against size, on logarithmic axes, as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Points = list[tuple[int, float]]

WIDE, HIGH, LEFT, TOP, GAP = 300, 240, 60, 34, 26
COLOURS = ("#3366cc", "#dc5a1e", "#2f9e44", "#9c36b5", "#868e96")
POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
UNITS = {-9: "1 ns", -8: "10 ns", -7: "100 ns", -6: "1 µs", -5: "10 µs", -4: "100 µs"} | {
    -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s", 1: "10 s", 2: "100 s",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Panel:
    """Some curves: for each name sizes and seconds."""

    title: str
    curves: dict[str, Points]


def drawing(panels: list[Panel]) -> str:
    """All panels in a row."""
    keys = max(len(panel.curves) for panel in panels)
    width, height = len(panels) * (WIDE + LEFT + GAP), TOP + HIGH + 44 + 16 * keys
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for k, panel in enumerate(panels):
        lines.append(f'<g transform="translate({k * (WIDE + LEFT + GAP) + LEFT} {TOP})">')
        lines += _panel(panel)
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])


def _panel(panel: Panel) -> Iterator[str]:
    """Axes, curves and what each of them is."""
    points = [point for curve in panel.curves.values() for point in curve]
    across, x_marks = _axis([n for n, _ in points], 0, WIDE)
    up, y_marks = _axis([t for _, t in points], HIGH, 0, decades=4)
    yield f'<text x="{WIDE / 2}" y="-14" text-anchor="middle">{panel.title}</text>'
    yield f'<rect width="{WIDE}" height="{HIGH}" fill="none" stroke="#adb5bd"/>'
    for power in x_marks:
        x = across(10.0**power)
        label = "10" + "".join(POWERS[int(digit)] for digit in str(power))
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y2="{HIGH}" stroke="#e9ecef"/>'
        yield f'<text x="{x:.1f}" y="{HIGH + 18}" text-anchor="middle">{label}</text>'
    for power in y_marks:
        y = up(10.0**power)
        yield f'<line x2="{WIDE}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e9ecef"/>'
        yield f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{UNITS[power]}</text>'
    for k, (name, curve) in enumerate(panel.curves.items()):
        colour, y = COLOURS[k % len(COLOURS)], HIGH + 40 + 16 * k
        at = " ".join(f"{across(n):.1f},{up(t):.1f}" for n, t in curve)
        yield f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield f'<line x1="0" x2="18" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="3"/>'
        yield f'<text x="26" y="{y}">{name}</text>'


def _axis(
    values: list[float], start: float, stop: float, decades: float = 0
) -> tuple[Callable[[float], float], range]:
    """Where a value is drawn, and the powers of ten that are marked; so many of them at least."""
    low, high = math.log10(min(values)) - 0.15, math.log10(max(values)) + 0.15
    more = max(decades - (high - low), 0) / 2
    low, high = low - more, high + more
    scale = (stop - start) / (high - low)
    marks = range(math.ceil(low), math.floor(high) + 1)
    return lambda value: start + scale * (math.log10(value) - low), marks
