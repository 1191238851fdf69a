"""Imports point one way only, and only a level's own file knows its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "linnet"

# Lowest first. A module imports from its own layer and from those before it.
LAYERS = (
    ("errors", "guards", "options", "shortage", "stages", "records", "rewrite", "names", "target"),
    ("imp",),
    ("python",),
    ("codelets",),
    ("algebra",),
    ("optimize",),
    ("formats", "testing"),
    ("loops",),
    ("normalize", "scheduling"),
    ("lower",),
    ("backend",),
    ("compiler",),
    ("runtime",),
    ("files", "pictures"),
    ("explanation",),
    ("arrays",),
    ("frontend",),
    ("api",),
    ("command",),
    ("__init__", "__main__"),
)
LAYER = {name: depth for depth, names in enumerate(LAYERS) for name in names}

# Imports that point up, each with its reason. Nothing is added here lightly.
EXCEPTIONS = {
    ("formats/coordinates.py", "runtime"): "a sort of many entries is compiled, too",
    ("formats/tensor.py", "runtime"): "a conversion is a compiled program; imported when asked for",
}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    """The part of the package that a file belongs to."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imports(tree: ast.AST) -> Iterator[str]:
    """The parts of the package that a module imports, wherever in the file."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                dotted = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), level=0, names=names):
                dotted = [f"{module}.{alias.name}" for alias in names]
            case ast.ImportFrom():
                raise AssertionError("relative imports hide where a name comes from")
            case _:
                continue
        for parts in (name.split(".") for name in dotted):
            if parts[0] == "linnet":
                yield parts[1] if len(parts) > 1 else "__init__"


def upward() -> set[tuple[str, str]]:
    """Every import that points to a later layer."""
    found = set()
    for path in modules():
        for target in imports(ast.parse(path.read_text(encoding="utf-8"))):
            assert target in LAYER, f"{path}: `linnet.{target}` is in no layer"
            if LAYER[target] > LAYER[room(path)]:
                found.add((path.relative_to(SOURCE).as_posix(), target))
    return found


def test_imports_point_one_way():
    assert upward() == set(EXCEPTIONS)


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(SOURCE).as_posix())
def test_every_file_has_a_room(path: Path):
    assert room(path) in LAYER


def levels() -> set[str]:
    """The level classes: those that derive from `Level`, however far."""
    bases: dict[str, set[str]] = {}
    for path in (SOURCE / "formats").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {base.id for base in node.bases if isinstance(base, ast.Name)}
    names = {"Level"}
    while more := {name for name, above in bases.items() if above & names} - names:
        names |= more
    return {name for name in names if name not in ("Level", "Inner", "Leaf", "Appended")}


def test_levels_are_found():
    assert {"Dense", "SparseList", "SparseCOO", "SparseByteMap", "SparseHash"} <= levels()


def test_no_compiler_file_names_a_level():
    compiler = (
        "imp",
        "python",
        "codelets",
        "algebra",
        "loops",
        "normalize",
        "scheduling",
        "lower",
        "backend",
    )
    known = levels()
    for path in (path for path in modules() if room(path) in compiler):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = getattr(node, "id", None) or getattr(node, "attr", None)
            imported = {a.name for a in node.names} if isinstance(node, ast.ImportFrom) else set()
            assert not ({named} | imported) & known, f"{path}:{node.lineno} names a level"
