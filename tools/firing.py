"""Where each transformation of loops fires: on which kernels of the corpus, after which changes.

    python tools/firing.py             a line for each of them
    python tools/firing.py hoist       its kernels, and the changes after which it does not fire

A transformation that small changes switch off knows one program, and not a kind of loop.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from tests.optimize.changes import changes  # noqa: E402
from tests.optimize.corpus import Program  # noqa: E402
from tests.optimize.firing import fires  # noqa: E402
from tests.optimize.programs import CORPUS  # noqa: E402

from linnet.optimize.table import STEPS  # noqa: E402
from linnet.scheduling.default import DEFAULT  # noqa: E402

Fired = dict[Program, frozenset[str]]
FAMILIES = 3  # of kernels: where a transformation fires at least


def table(fired: Fired, changed: dict[Program, dict[str, frozenset[str]]]) -> Iterator[str]:
    """A line for each transformation: kernels, families, and after how many changes it is there."""
    names = list(dict.fromkeys(name for made in changed.values() for name in made))
    yield f"{'':18}{'kernels':>8}{'families':>9}  still there after " + ", ".join(names)
    for step in (DEFAULT, *STEPS):
        kernels = [p for p in fired if step in fired[p]]
        kept, made = still(step, kernels, changed)
        families = len({p.family for p in kernels})
        few = "" if families >= FAMILIES else "  few"
        counts = "".join(f"{f'{kept[n]} of {made[n]}':>10}" for n in names)
        yield f"{step:18}{len(kernels):8}{families:9}{counts}{few}"


def still(
    step: str, kernels: Sequence[Program], changed: dict[Program, dict[str, frozenset[str]]]
) -> tuple[Counter[str], Counter[str]]:
    """How often a transformation fires after each change, and how often the change is made."""
    made: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for program in kernels:
        for name, found in changed[program].items():
            made[name] += 1
            kept[name] += step in found
    return kept, made


def lines(step: str) -> Iterator[str]:
    """The kernels on which a transformation fires, and what switches it off."""
    for program in CORPUS:
        if step in fires(program):
            lost = [name for name, other in changes(program) if step not in fires(other)]
            why = f" | not after {', '.join(lost)}" if lost else ""
            yield f"{program.family}: {program.name}{why}"


def main(names: Sequence[str]) -> None:
    """Print what was asked for."""
    for name in names:
        print(name, *lines(name), sep="\n  ")
    if not names:
        fired = {program: fires(program) for program in CORPUS}
        changed = {p: {name: fires(q) for name, q in changes(p)} for p in CORPUS}
        print(*table(fired, changed), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
