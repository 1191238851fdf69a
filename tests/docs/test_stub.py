"""`__init__.pyi` tells type checkers what is there at run time: no name more, no name less."""

from __future__ import annotations

import ast
import keyword
from importlib import import_module
from pathlib import Path

import pytest
from tools import stub, user_types

import linnet as ln

ROOMS = {path.stem for path in Path(ln.__file__).parent.iterdir()} - {"errors", "testing"}


def declared() -> dict[str, object]:
    """The names of the stub, and the objects that they stand for."""
    found: dict[str, object] = {}
    for node in ast.parse(stub.STUB.read_text(encoding="utf-8")).body:
        match node:
            case ast.ImportFrom(str(module), [ast.alias(name, same)]):
                assert name == same, "a checker sees no other name"
                there = import_module(module)
                found[name] = (
                    getattr(there, name)
                    if hasattr(there, name)
                    else import_module(f"{module}.{name}")
                )
            case ast.AnnAssign(ast.Name(name), ast.Name("Function")):
                found[name] = ln._by_name[name]
            case ast.AnnAssign(ast.Name(name), ast.Name("str")):
                found[name] = getattr(ln, name)
            case ast.Assign([ast.Name(name)], ast.Name(there)):
                found[name] = found.pop(there)
            case _:
                assert isinstance(node, ast.Expr), ast.unparse(node)
    return found


def test_the_stub_is_what_the_tool_writes(request):
    if request.config.getoption("--update-golden"):
        stub.STUB.write_text(stub.text(), encoding="utf-8")
    assert stub.STUB.read_text(encoding="utf-8") == stub.text()


def test_names_of_the_stub_are_there():
    for name, value in declared().items():
        assert getattr(ln, name) is value, name


def test_public_names_are_in_the_stub():
    listed = {n for n in dir(ln) if n not in ROOMS}
    others = {n for n in ln._by_name if n.isidentifier() and not keyword.iskeyword(n)}
    others = {n for n in others if not n.startswith("astype_")}
    dunders = {"__version__", "__array_api_version__"}
    assert set(declared()) == listed | others | dunders


@pytest.mark.parametrize(
    ("complaint", "known"),
    [
        ('  {path}:2:5 - error: "EllipsisType" is not iterable', True),
        ('  {path}:3:5 - error: "EllipsisType" is not iterable', False),
        ("  {path}:2:5 - error: something else", False),
    ],
)
def test_only_loops_over_dots_may_be_complained_about(tmp_path, complaint, known):
    path = tmp_path / "user.py"
    path.write_text("def f():\n    for i in ...:\n        print(i)\n", encoding="utf-8")
    assert user_types._is_loop_over_dots(complaint.format(path=path)) is known
