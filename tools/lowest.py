"""Print the lowest versions that `pyproject.toml` promises, as constraints for pip.

The tools of the tests are not among them: those are what is there.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
EXTRAS = ("scipy", "hdf5", "pictures")


def promised() -> list[str]:
    """What is needed, and what can be used: such as `numpy>=2.0`."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(each for name in EXTRAS for each in extras[name])]


def constraints() -> list[str]:
    """Each at its lowest version."""
    return [re.sub(r"^(\w+)>=([\d.]+)$", r"\1==\2", each) for each in promised()]


if __name__ == "__main__":
    print("\n".join(constraints()))
