"""Run a type checker on code of users: the programs of README.md, and `tests/typing`.

    python tools/user_types.py mypy|pyright

One complaint is expected of pyright, for each loop over `...`: no checker knows `...` as a
sequence. (mypy looks into functions with annotations only.) Whatever else one says is an error.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMANDS = {
    "mypy": ["--config-file=", "--ignore-missing-imports", "--warn-unused-ignores"],
    "pyright": ["--pythonpath", sys.executable],
}
_DOTS = re.compile(r"    for .* in \.\.\.:")


def program(page: str) -> str:
    """The Python on a page; a block that raises an error is not part of it."""
    return "\n\n".join(re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE))


def complaints(checker: str, folder: Path) -> list[str]:
    """What is wrong with the files of a folder, but for loops over `...`."""
    (folder / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{(ROOT / "src").as_posix()}"]}}')
    done = subprocess.run(
        [sys.executable, "-m", checker, *COMMANDS[checker], *map(str, sorted(folder.glob("*.py")))],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):  # it did not run
        return [done.stdout + done.stderr]
    found = [line for line in done.stdout.splitlines() if re.search(r"\berror\b.*: |: error", line)]
    return [line for line in found if not _is_loop_over_dots(line)]


def _is_loop_over_dots(complaint: str) -> bool:
    place = re.match(r"\s*(\S+\.py):(\d+)", complaint)
    if place is None or '"EllipsisType" is not iterable' not in complaint:
        return False
    lines = Path(place[1]).read_text(encoding="utf-8").splitlines()
    return _DOTS.match(lines[int(place[2]) - 1]) is not None


def _environment() -> dict[str, str]:
    return os.environ | {"MYPYPATH": str(ROOT / "src")}


def main(checker: str) -> int:
    """Print the complaints; 0 if there are none."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in (ROOT / "tests" / "typing").glob("*.py"):
            (folder / path.name).write_bytes(path.read_bytes())
        page = (ROOT / "README.md").read_text(encoding="utf-8")
        (folder / "readme.py").write_text(program(page), encoding="utf-8")
        found = complaints(checker, folder)
    print("\n".join(found) or f"{checker}: what users write has the types that it should")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
