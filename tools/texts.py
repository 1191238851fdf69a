"""Write a module with the texts of the package, for applications that are packed without them.

    python tools/texts.py FOLDER    writes FOLDER/texts.py

The routines that kernels call are compiled from their text. Where the package is byte code alone,
it is found in this module (`imp.source`). Wheels have it: hatch calls `initialize` below.
"""

from __future__ import annotations

import base64
import json
import lzma
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "linnet"
MODULE = "texts.py"
HEAD = '''"""The texts of all modules, by their names; written by a program."""

import base64
import json
import lzma
from functools import cache


@cache
def texts() -> dict[str, str]:
    """Unpacked when the first one is asked for."""
    return json.loads(lzma.decompress(base64.b85decode(_PACKED)))

'''


def module() -> str:
    """The text of the module: those of all others, packed, by the name of the module."""
    texts = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("linnet", *path.relative_to(PACKAGE).with_suffix("").parts)
        texts[".".join(parts)] = path.read_text(encoding="utf-8")
    packed = base64.b85encode(lzma.compress(json.dumps(texts).encode())).decode("ascii")
    return f"{HEAD}\n_PACKED = {packed!r}\n"


def write(folder: Path) -> Path:
    """Write it; where it is."""
    target = folder / MODULE
    target.write_text(module(), encoding="utf-8")
    return target


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # nobody builds a wheel
    pass
else:

    class Texts(BuildHookInterface):
        """Adds the module to wheels."""

        def initialize(self, version: str, build_data: dict) -> None:
            """Before a wheel is made; one that uses the sources as they are needs no texts."""
            if version != "editable":
                written = write(Path(self.directory))
                build_data["force_include"][str(written)] = f"linnet/{MODULE}"

        def finalize(self, version: str, build_data: dict, artifact_path: str) -> None:
            """Afterwards."""
            Path(self.directory, MODULE).unlink(missing_ok=True)


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
