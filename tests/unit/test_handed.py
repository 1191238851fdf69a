"""What layers ask of those above them is there, and is asked for by its name alone."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from linnet import handed
from linnet.errors import InternalError
from linnet.handed import Above

SOURCE = Path(handed.__file__).parent


@pytest.mark.parametrize(("asked_by", "name"), sorted(handed._PLACES))
def test_what_is_handed_in_is_there(asked_by, name):
    assert callable(getattr(import_module(handed._PLACES[asked_by, name]), name))


def askers() -> set[str]:
    """Who asks: the texts that `Above` is called with."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name("Above"), args=[ast.Constant(str(text)), *_]):
                    found.add(text)
    return found


def test_something_is_handed_to_everybody_who_asks():
    assert askers() == {asked_by for asked_by, _ in handed._PLACES}


def test_what_nobody_does_is_a_mistake_of_ours():
    with pytest.raises(InternalError, match="nothing above `formats` was handed in for `bake`"):
        Above("formats").bake()


def test_a_function_is_looked_for_once(monkeypatch):
    monkeypatch.setitem(handed._PLACES, ("here", "sqrt"), "math")
    made = []
    above = Above("here", wrap=lambda function: made.append(function) or function)
    assert (above.sqrt(4), above.sqrt(9)) == (2, 3)
    assert len(made) == 1
