"""`Picture`: rectangles, lines and words, to be shown in a notebook or saved as SVG or PNG."""

from __future__ import annotations

import os
from html import escape
from typing import Any, assert_never

from linnet.errors import FileError
from linnet.records import dataclass
from linnet.shortage import of_memory

INK, PALE, FRAME, DOT, PAPER = "#1b1f24", "#6e7781", "#d0d7de", "#0b66c3", "#ffffff"
SIZE = 12  # of letters
WIDTH = 7.3  # of one letter


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle; `fill` may be "none"."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    line: str = "none"


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    x: float
    y: float
    to_x: float
    to_y: float
    ink: str = FRAME


@dataclass(frozen=True, slots=True)
class Text:
    """Words; `anchor` is start, middle or end."""

    x: float
    y: float
    words: str
    anchor: str = "start"
    ink: str = INK


Shape = Rect | Line | Text


@dataclass(frozen=True)
class Picture:
    """Shapes on a page of a size."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    title: str = ""

    @property
    def svg(self) -> str:
        """The picture as the text of an SVG file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_number(self.width)}" '
            f'height="{_number(self.height)}" '
            f'viewBox="0 0 {_number(self.width)} {_number(self.height)}" role="img" '
            f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}">'
        )
        title = f"<title>{escape(self.title)}</title>"
        page = _element(Rect(0, 0, self.width, self.height, PAPER))
        return "\n".join([head, title, page, *map(_element, self.shapes), "</svg>"]) + "\n"

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({self.title})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: `.svg`, or `.png` where matplotlib is installed."""
        from linnet.files.read import as_path, kind_of
        from linnet.files.replacing import replacing

        found = as_path(path)
        kind = kind_of(found, (".svg", ".png"))
        with replacing(found) as unfinished:
            if kind == ".svg":
                unfinished.write_text(self.svg, encoding="utf-8")
            else:
                _save_png(self, unfinished)


def _number(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")


def _element(shape: Shape) -> str:
    """A shape as an SVG element."""
    match shape:
        case Rect(x, y, width, height, fill, line):
            stroke = f' stroke="{line}"' if line != "none" else ""
            place = f'x="{_number(x)}" y="{_number(y)}"'
            size = f'width="{_number(width)}" height="{_number(height)}"'
            return f'<rect {place} {size} fill="{fill}"{stroke}/>'
        case Line(x, y, to_x, to_y, ink):
            ends = f'x1="{_number(x)}" y1="{_number(y)}" x2="{_number(to_x)}" y2="{_number(to_y)}"'
            return f'<line {ends} stroke="{ink}"/>'
        case Text(x, y, words, anchor, ink):
            place = f'x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}" fill="{ink}"'
            return f"<text {place}>{escape(words)}</text>"
    assert_never(shape)


def _save_png(picture: Picture, path: os.PathLike[str]) -> None:
    """Draw the same with matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise of_memory(error) or FileError(
            "a PNG file is drawn with matplotlib, which is not installed",
            hint="pip install matplotlib, or save as .svg",
        ) from None
    figure = Figure(figsize=(picture.width / 72, picture.height / 72), dpi=144)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, picture.width), ylim=(picture.height, 0))
    axes.set_axis_off()
    for shape in picture.shapes:
        _draw(axes, shape)
    FigureCanvasAgg(figure).print_png(path)  # type: ignore[no-untyped-call,unused-ignore]


def _draw(axes: Any, shape: Shape) -> None:
    from matplotlib.patches import Rectangle

    match shape:
        case Rect(x, y, width, height, fill, line):
            axes.add_patch(Rectangle((x, y), width, height, facecolor=fill, edgecolor=line, lw=1))
        case Line(x, y, to_x, to_y, ink):
            axes.plot([x, to_x], [y, to_y], color=ink, lw=1)
        case Text(x, y, words, anchor, ink):
            side = {"start": "left", "middle": "center", "end": "right"}[anchor]
            axes.text(
                x, y, words, ha=side, va="baseline", color=ink, size=SIZE, family="monospace",
                parse_math=False,
            )  # fmt: skip
