"""Small changes to kernels of the corpus: none of them makes another kernel of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tests.optimize.corpus import Operand, Program

_LOOP = re.compile(r"( *)for ([\w, ]+) in (.*):$")


def changes(program: Program) -> Iterator[tuple[str, Program]]:
    """Those that can be made to a kernel, by name."""
    made = {
        "a mask": masked(program),
        "a second result": with_second(program),
        "literal extents": with_literals(program),
        "float32": with_floats(program),
        "byte maps": with_levels(program, "S", "B"),
        "rows that may be missing": with_rows(program),
    }
    yield from ((name, p) for name, p in made.items() if p is not None and p != program)


def masked(program: Program) -> Program | None:
    """What is done in the first place is done under a condition on indices."""
    lines = program.text.splitlines()
    at = next(k for k, line in enumerate(lines) if "@" in line)
    depth = lines[at].index("@")
    indices = [i for i in loop_indices(lines[:at], depth) if i in sizes(program)]
    if not indices:
        return None
    cond = f"{indices[-2]} <= {indices[-1]}" if len(indices) > 1 else f"{indices[-1]} >= 1"
    lines[at : at + 1] = [f"{' ' * depth}if {cond}:", f"    {lines[at]}"]
    return replace(program, text="\n".join(lines))


def loop_indices(lines: list[str], depth: int) -> list[str]:
    """The indices of the loops around a line that stands behind these, outermost first."""
    found: list[str] = []
    for line in reversed(lines):
        loop = _LOOP.match(line)
        if len(line) - len(line.lstrip()) < depth:
            depth = len(line) - len(line.lstrip())
            found[:0] = loop.group(2).split(", ") if loop else []
    return found


def with_second(program: Program) -> Program:
    """The first result is written twice."""
    first = program.results[0]
    second = f"{first.name}_2"
    lines: list[str] = []
    for line in program.text.splitlines():
        lines.append(line)
        if re.match(rf" *@?({first.name}\[|ln\.declare\({first.name},)", line):
            lines.append(re.sub(rf"\b{first.name}\b", second, line).replace("@", ""))
    results = (first, replace(first, name=second), *program.results[1:])
    return replace(program, results=results, text="\n".join(lines))


def with_literals(program: Program) -> Program | None:
    """Loops have numbers for extents."""
    known = sizes(program)

    def extents(loop: re.Match[str]) -> str:
        indices = loop.group(2).split(", ")
        if loop.group(3) != "..." or not known.keys() >= set(indices):
            return loop.group(0)
        ranges = [f"range({known[i]})" for i in indices]
        product = ranges[0] if len(ranges) == 1 else f"ln.product({', '.join(ranges)})"
        return f"{loop.group(1)}for {loop.group(2)} in {product}:"

    text = "\n".join(_LOOP.sub(extents, line) for line in program.text.splitlines())
    return replace(program, text=text)


def sizes(program: Program) -> dict[str, int]:
    """How far each index runs that an operand is accessed with."""
    found: dict[str, int] = {}
    for o in program.operands:
        for access in re.finditer(rf"\b{o.name}\[([^\[\]]*)\]", program.text):
            pairs = zip(access.group(1).split(", "), o.shape, strict=False)
            found |= {i: n for i, n in pairs if i.isidentifier()}
    return found


def with_floats(program: Program) -> Program:
    """Values have 32 bits."""

    def narrow(o: Operand) -> Operand:
        return o if o.pattern or o.dtype or o.below else replace(o, dtype="float32")

    return replace(program, operands=tuple(map(narrow, program.operands)))


def with_levels(program: Program, old: str, new: str) -> Program:
    """The innermost levels of operands are others."""

    def other(o: Operand) -> Operand:
        return replace(o, levels=o.levels[:-1] + o.levels[-1].replace(old, new))

    changed = (other(o) if o.levels else o for o in program.operands)
    return replace(program, operands=tuple(changed))


def with_rows(program: Program) -> Program:
    """Rows of sparse results are stored only if they hold something."""

    def other(o: Operand) -> Operand:
        return replace(o, levels="SS") if o.levels == "DS" else o

    return replace(program, results=tuple(map(other, program.results)))
