"""The tutorial's scripts run, and print the code that they made."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, name

SCRIPTS = sorted((ROOT / "docs" / "tutorial").glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_script_runs(path: Path, capsys: pytest.CaptureFixture[str]):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert "i64 *restrict args" in printed
    assert "return 0;" in printed


def test_there_are_four_scripts():
    assert [path.name[:2] for path in SCRIPTS] == ["01", "02", "03", "04"]
