"""The tools: what is tried in other environments, and what is said of what could not be tried."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tools import firing, kernel_diff, lowest, pythons

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


CASE = """
import linnet as ln

@ln.kernel
def kernel(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]

args = [ln.empty_tensor(ln.CSR), *(ln.asarray([[1.0, 0], [0, n]], format=ln.CSR) for n in (2, 3))]
"""


def test_texts_side_by_side():
    left, right = "same\none\ntwo\nend", "same\nother\nend\nmore than fits"
    assert list(kernel_diff.side_by_side(left, right, 8)) == [
        "same       same",
        "one      | other",
        "two      <",
        "end        end",
        "         > more th…",
    ]
    long = [*"abcdefgh"]
    shown = kernel_diff.side_by_side(
        "\n".join(["x", *long, "y"]), "\n".join([*long, "z"]), 1, near=1
    )
    assert list(shown) == ["x <", "a   a", "…", "h   h", "y | z"]
    assert not list(kernel_diff.side_by_side(left, left, 8))


def test_a_kernel_without_a_step_beside_itself(tmp_path, capsys):
    path = tmp_path / "case.py"
    path.write_text(CASE, encoding="utf-8")
    kernel_diff.main([str(path), "--without", "reserve", "--show", "imp"])
    shown = capsys.readouterr().out
    ahead, inside = (line.split() for line in shown.splitlines() if "grow(C_idx" in line)
    assert ahead == ["grow(C_idx,", "room)", "<"]
    assert inside[:2] == [">", "grow(C_idx,"]
    kernel_diff.main([str(path)])
    assert capsys.readouterr().out == "no difference\n"
    with pytest.raises(SystemExit, match="no kernel 'spmvv' in tests/optimize"):
        kernel_diff.case("spmvv")


def test_what_steps_do_to_a_kernel(tmp_path):
    path = tmp_path / "case.py"
    path.write_text(CASE, encoding="utf-8")
    kernel, args = kernel_diff.case(str(path))
    whole, *others = kernel_diff.steps(kernel, args)
    assert re.fullmatch(r"all steps +\d+ turns of loops, right", whole)
    assert any(line.startswith("no reserve ") for line in others)


def test_a_result_that_is_wrong_is_told(monkeypatch):
    kernel, args = kernel_diff.case("spmv")
    right = kernel.reference(*args)
    wrong = {name: values + 1 for name, values in right.items()}
    assert kernel_diff.verdict(kernel, args).endswith("right")
    monkeypatch.setattr(type(kernel), "reference", lambda *_: wrong)
    assert kernel_diff.verdict(kernel, args).endswith("WRONG: y")


def test_where_a_transformation_fires():
    found = list(firing.lines("split_accumulators"))
    assert "reductions: total" in found
    assert any(line.startswith("reductions: largest | not after ") for line in found)


def test_a_transformation_that_changes_switch_off_is_told():
    p = next(p for p in firing.CORPUS if p.name == "spmv")
    fired, changed = (
        {p: frozenset({"hoist"})},
        {p: {"a mask": frozenset({"hoist"}), "float32": frozenset()}},
    )
    line = next(line for line in firing.table(fired, changed) if line.startswith("hoist "))
    assert line.split() == ["hoist", "1", "1", "1", "of", "1", "0", "of", "1", "few"]
