"""Every script in examples/ runs, in a process of its own; each checks its own answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples").glob("*.py"))
SCRIPTS = [path.name for path in FILES if "__main__" in path.read_text("utf-8")]


def run(script: str) -> str:
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / script)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_there_are_examples():
    assert "tour.py" in SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS)
def test_runs_in_silence_but_for_what_it_prints(script):
    printed = run(script)
    assert printed
    if script == "tour.py":
        for part in ("stored=83883", "by gathering, same answer", "i64 misfit(", "ln.declare(E"):
            assert part in printed
