"""Run the tests with each interpreter that is named, and say how it went with each.

    python tools/pythons.py python3.13 /opt/python3.14/bin/python3 -- -n 4

What stands after `--` is for pytest. An interpreter that has what the tests need is used as it is;
for another an environment is made, `.venv-3.14`. One that is missing has not passed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
_NEEDED = "import numpy, llvmlite, scipy, h5py, pytest, xdist, hypothesis"
_VERSION = "import sys; print('.'.join(map(str, sys.version_info[:2])))"


def outcome(python: str, arguments: Sequence[str]) -> str:
    """`passed`, or what went wrong with an interpreter."""
    found = shutil.which(python)
    if found is None:
        return "is missing: nothing was run"
    version = _printed(found, _VERSION)
    if not version:
        return "does not start: nothing was run"
    if not _runs([found, "-c", _NEEDED], quiet=True):
        found = _environment(found, ROOT / f".venv-{version}")
        if found is None:
            return f"{version}: what the tests need does not install: nothing was run"
    passed = _runs([found, "-m", "pytest", "-q", *arguments])
    return f"{version}: {'passed' if passed else 'FAILED'}"


def _environment(python: str, folder: Path) -> str | None:
    """The interpreter of an environment with what the tests need, made if it is not there."""
    for place in ("bin/python", "Scripts/python.exe"):
        if (folder / place).exists():
            return str(folder / place)
    inside = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    made = _runs([python, "-m", "venv", str(folder)]) and _runs(
        [str(inside), "-m", "pip", "install", "--quiet", "--editable", ".[dev]"]
    )
    if made:
        return str(inside)
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _printed(python: str, code: str) -> str:
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _runs(command: Sequence[str], quiet: bool = False) -> bool:
    """Whether a command, run here with the sources first, goes well."""
    before = os.environ.get("PYTHONPATH")
    paths = [str(ROOT / "src"), str(ROOT), *([before] if before else [])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    where = subprocess.DEVNULL if quiet else None
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=where, stderr=where, check=False
    )
    return done.returncode == 0


def main(arguments: Sequence[str]) -> int:
    """Say how it went with each; 0 if each has passed."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    pythons, rest = arguments[:cut], arguments[cut + 1 :]
    if not pythons:
        print('no other interpreter is named: PYTHONS="python3.13 python3.14"')
        return 0
    found = {python: outcome(python, rest) for python in pythons}
    for python, text in found.items():
        print(f"{python} {text}")
    return int(not all(text.endswith(": passed") for text in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
