"""The tools: what is tried in other environments, and what is said of what could not be tried."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tools import lowest, pythons

ROOT = Path(__file__).parent.parent.parent


def test_the_lowest_versions_are_those_of_the_project():
    assert all(re.fullmatch(r"\w+>=[\d.]+", each) for each in lowest.promised())
    assert [re.sub("==", ">=", each) for each in lowest.constraints()] == lowest.promised()
    assert {re.split("=", each)[0] for each in lowest.constraints()} >= {"numpy", "llvmlite"}


def test_a_package_has_one_lowest_version():
    """Development installs what users do: one bound for each package, wherever it stands."""
    text = lowest.PROJECT.read_text(encoding="utf-8")
    for name in ("scipy", "h5py"):
        assert len(set(re.findall(rf'"{name}>=([\d.]+)"', text))) == 1


def test_a_missing_interpreter_has_not_passed(capsys):
    assert pythons.main(["python-that-nobody-has", "--", "-q"]) == 1
    assert capsys.readouterr().out == "python-that-nobody-has is missing: nothing was run\n"


def test_an_interpreter_that_does_not_start_has_not_passed(tmp_path, capsys):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    assert pythons.main([str(broken)]) == 1
    assert "does not start: nothing was run" in capsys.readouterr().out


def test_without_others_nothing_is_claimed(capsys):
    assert pythons.main([]) == 0
    assert "no other interpreter" in capsys.readouterr().out


@pytest.mark.parametrize(("number", "said"), [("1", "passed"), ("2", "FAILED")])
def test_an_interpreter_runs_the_tests(tmp_path, number, said):
    """One that has what they need is used as it is: here the one that runs this test."""
    trial = tmp_path / "test_trial.py"
    trial.write_text(f"def test_one():\n    assert {number} == 1\n", encoding="utf-8")
    version = ".".join(map(str, sys.version_info[:2]))
    assert pythons.outcome(sys.executable, [str(trial)]) == f"{version}: {said}"
