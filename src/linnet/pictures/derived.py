"""The graph of what a schedule derives from what (SCHED Fig. 9): indices, and commands between."""

from __future__ import annotations

from linnet.pictures.shapes import FRAME, PALE, WIDTH, Line, Picture, Rect, Shape, Text
from linnet.scheduling.log import Provenance, label
from linnet.scheduling.provenance import Relation

_WIDE, _HIGH, _ROW, _GAP, _MARGIN = 44.0, 22.0, 62.0, 26.0, 16.0


def derived(provenance: Provenance) -> Picture:
    """The graph, from the indices of the program at the top down to those of its loops."""
    places = _places(provenance)
    shapes: list[Shape] = []
    for relation in _derived(provenance):
        made = [places[name] for name in relation.makes]
        for name in _sources(relation):
            x, y = places[name]
            shapes += [Line(x, y + _HIGH, to_x, to_y) for to_x, to_y in made]
        ends = [places[name] for name in (*_sources(relation), *relation.makes)]
        right, low = max(x for x, _ in ends), min(y for _, y in made)
        shapes.append(Text(right + _WIDE / 2 + 8, low - 12, label(relation), ink=PALE))
    last = set(provenance.order)
    for name, (x, y) in places.items():
        fill = "#ddf4ff" if name in last else "#f6f8fa"
        shapes.append(Rect(x - _WIDE / 2, y, _WIDE, _HIGH, fill, FRAME))
        shapes.append(Text(x, y + 15, name, "middle"))
    words = [s.x + len(s.words) * WIDTH for s in shapes if isinstance(s, Text)]
    width = max([*words, *(x + _WIDE / 2 for x, _ in places.values())], default=0.0)
    height = max([y + _HIGH for _, y in places.values()], default=0.0)
    text = provenance.program.name
    return Picture(width + _MARGIN, height + _MARGIN, tuple(shapes), f"provenance of {text}")


def _derived(provenance: Provenance) -> list[Relation]:
    """The relations that give a new name."""
    return [relation for relation in provenance.relations if relation.makes]


def _sources(relation: Relation) -> tuple[str, ...]:
    """What is derived from; it may stand for a loop still, as where something is precomputed."""
    return relation.ends or relation.uses


def _places(provenance: Provenance) -> dict[str, tuple[float, float]]:
    """Where the boxes are: the loops side by side, what they come from over the middle of them."""
    last = _leaves(provenance)
    step = _WIDE + _GAP
    across = {name: _MARGIN + _WIDE / 2 + k * step for k, name in enumerate(last)}
    for relation in reversed(_derived(provenance)):
        middle = sum(across[name] for name in relation.makes) / len(relation.makes)
        for k, name in enumerate(relation.ends):
            across[name] = middle + (k - (len(relation.ends) - 1) / 2) * step
    rows = dict.fromkeys(provenance.roots, 0)
    for relation in _derived(provenance):
        deep = 1 + max(rows[name] for name in _sources(relation))
        rows |= dict.fromkeys(relation.makes, deep)
    shift = _MARGIN + _WIDE / 2 - min(across.values(), default=0.0)
    return {name: (across[name] + shift, _MARGIN + row * _ROW) for name, row in rows.items()}


def _leaves(provenance: Provenance) -> list[str]:
    """The loops in the order in which they were derived, so that lines do not cross."""
    found = list(provenance.roots)
    for relation in _derived(provenance):
        at = min(found.index(name) for name in _sources(relation))
        left = [name for name in found if name not in relation.ends]
        found = [*left[:at], *relation.makes, *left[at:]]
    return found
