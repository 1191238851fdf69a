"""Imports point one way only, and only a level's own file knows its name."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "linnet"

# Lowest first. A module imports from its own layer and from those before it.
LAYERS = (
    ("errors", "guards", "options", "shortage", "stages", "records", "rewrite", "names", "target"),
    ("handed", "texts"),
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
    ("__init__", "wiring"),
    ("command",),
    ("__main__",),
)
LAYER = {name: depth for depth, names in enumerate(LAYERS) for name in names}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    """The part of the package that a file belongs to."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imports(tree: ast.AST) -> Iterator[str]:
    """The parts of the package that a module imports, wherever in the file.

    A name in a string is an import, too: `imported("linnet.lower.loop")`, and `f"linnet.{name}"`.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                dotted = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), level=0, names=names):
                dotted = [f"{module}.{alias.name}" for alias in names]
            case ast.ImportFrom():
                raise AssertionError("relative imports hide where a name comes from")
            case ast.Constant(value=str(text)) if is_module(text):
                dotted = [text]
            case ast.JoinedStr(values=[ast.Constant(value="linnet."), *_]):
                dotted = ["linnet"]  # whichever
            case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Constant("linnet")):
                dotted = ["linnet"]
            case _:
                continue
        for parts in (name.split(".") for name in dotted):
            if parts[0] == "linnet":
                yield parts[1] if len(parts) > 1 and parts[1] else "__init__"


def is_module(text: str) -> bool:
    """Whether a text names a part of the package, or is the beginning of such a name."""
    return re.fullmatch(r"linnet\.[a-z_]+(\.[a-z_0-9]*)*", text) is not None


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
    assert upward() == set()


@pytest.mark.parametrize(
    "text",
    [
        "import linnet.api.calls",
        "from linnet.api import calls",
        "from linnet import api",
        "def f():\n    from linnet.api.calls import put",
        "imported('linnet.api.calls')",
        "imported(f'linnet.api.{name}')",
        "PLACES = {'put': 'linnet.api.calls'}",
        "getattr(sys.modules['linnet.api'], name)",
    ],
)
def test_imports_are_found(text):
    assert list(imports(ast.parse(text))) == ["api"]


@pytest.mark.parametrize("text", ["import linnet", "sys.modules['linnet']", "f'linnet.{name}'"])
def test_the_package_itself_is_found(text):
    assert list(imports(ast.parse(text))) == ["__init__"]


@pytest.mark.parametrize("text", ["'linnet'", "name.startswith('linnet.')", "'see linnet.api'"])
def test_other_texts_are_no_imports(text):
    assert list(imports(ast.parse(text))) == []


# Whoever imports by name asks for a part of this package, by `imported`; but for these.
BY_NAME = {"shortage.py", "python/sending.py"}  # `imported` itself; and what users' modules hold


def test_parts_are_imported_in_one_way():
    found = set()
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = getattr(node, "id", None) or getattr(node, "attr", None)
            if named in ("import_module", "__import__"):
                found.add(path.relative_to(SOURCE).as_posix())
    assert found == BY_NAME


LAYER_BY_LAYER = """
import importlib, sys, types
from pathlib import Path

source, layers = Path(sys.argv[1]), [layer.split(",") for layer in sys.argv[2:]]
package = sys.modules["linnet"] = types.ModuleType("linnet")
package.__path__ = [str(source)]  # `linnet/__init__.py` would import what stands above
there = set()

class Below:
    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        if parts[0] == "linnet" and parts[1] not in there:
            raise ImportError(f"{name} stands above")

sys.meta_path.insert(0, Below())
for layer in layers:
    there |= set(layer)
    for part in layer:
        for path in sorted([source / f"{part}.py", *(source / part).rglob("*.py")]):
            if path.exists() and part not in ("__init__", "__main__"):
                name = path.relative_to(source).with_suffix("").as_posix().replace("/", ".")
                importlib.import_module(f"linnet.{name.removesuffix('.__init__')}")
print(len(sys.modules))
"""


def test_each_layer_does_without_those_above():
    layers = [",".join(names) for names in LAYERS]
    done = subprocess.run(
        [sys.executable, "-c", LAYER_BY_LAYER, str(SOURCE), *layers],
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


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
