"""Print how large the compiler is: per folder its files and lines, and what wants a second look."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "linnet"
LONG_FILE, LONG_FUNCTION = 400, 40


def functions(tree: ast.Module) -> list[tuple[int, str]]:
    """The length and name of every function of a module."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return [((f.end_lineno or f.lineno) - f.lineno + 1, f.name) for f in found]


def report(source: Path = SOURCE) -> str:
    """The size table, as text."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    remarks = []
    for path in sorted(source.rglob("*.py")):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(source)
        lines, inside = text.count("\n"), functions(ast.parse(text))
        row = rows[name.parts[0] + "/" if len(name.parts) > 1 else "(top)"]
        row[0], row[1], row[2] = row[0] + 1, row[1] + lines, row[2] + len(inside)
        if lines > LONG_FILE:
            remarks.append(f"{name}: {lines} lines")
        remarks += [f"{name}: {f} has {n} lines" for n, f in inside if n > LONG_FUNCTION]
    total = [sum(column) for column in zip(*rows.values(), strict=True)]
    table = [f"{'':14}{'files':>7}{'lines':>8}{'functions':>11}"]
    for label, (files, lines, count) in [*rows.items(), ("total", total)]:
        table.append(f"{label:14}{files:7}{lines:8}{count:11}")
    return "\n".join([*table, *(["", "wants a second look:"] if remarks else []), *remarks])


if __name__ == "__main__":
    print(report())
