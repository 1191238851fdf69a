"""Machine code on disk is told apart by the text of levels that a user has written."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import linnet as ln
from linnet.formats.level import Inner, Level

TEXT = """\
from linnet.formats.level import Inner

class Mine(Inner):
    here = {}
"""


def level(folder: Path, here: int) -> Level:
    """The level of a module whose text holds a number, imported anew."""
    (folder / "levels_of_mine.py").write_text(TEXT.format(here))
    sys.modules.pop("levels_of_mine", None)
    importlib.invalidate_caches()
    found = importlib.import_module("levels_of_mine").Mine(ln.Element(0.0))
    assert isinstance(found, Level)
    return found


def test_a_changed_level_has_another_stamp(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    first, again, other = [level(tmp_path, n).stamp for n in (1, 1, 22)]
    assert first == again
    assert first != other


def test_levels_of_linnet_are_covered_by_the_package():
    assert [level.stamp for level in ln.CSR.levels] == ["", "", ""]


def test_a_level_without_a_text_is_known_to_this_process_alone():
    made = [type("Made", (Inner,), {"__module__": "nowhere"}) for _ in range(2)]
    first, other = [kind(ln.Element(0.0)) for kind in made]
    assert first.stamp
    assert first.stamp == kind_again(first)
    assert first.stamp != other.stamp


def kind_again(level: Level) -> str:
    """The stamp of another level of the same class."""
    return type(level)(ln.Element(1.0)).stamp  # type: ignore[call-arg]
