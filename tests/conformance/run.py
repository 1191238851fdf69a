"""Run the Array API's own test suite once per default format, and count.

    python tests/conformance/run.py SUITE [FORMAT …] [-- PYTEST OPTIONS]

SUITE is a checkout of data-apis/array-api-tests with its submodule, of which nothing is kept here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FORMATS = ("dense", "coo", "csf", "runs")
HERE = Path(__file__).parent


def run(suite: Path, format: str, options: list[str]) -> tuple[str, list[str]]:
    """The last line that pytest prints, and the tests that failed, with what they say."""
    env = os.environ | {
        "ARRAY_API_TESTS_MODULE": "exec('from shim import xp')",
        "LINNET_DEFAULT_FORMAT": format,
        "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent.parent / "src")]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "-rf"]
    command += ["--disable-deadline", "--max-examples=100", *(options or ["array_api_tests"])]
    done = subprocess.run(command, cwd=suite, env=env, capture_output=True, text=True)
    failed = re.findall(r"^FAILED (.+)$", done.stdout, re.MULTILINE)
    return (done.stdout.strip().splitlines() or [done.stderr])[-1], sorted(failed)


def main() -> None:
    """Print the counts and the failures of every format."""
    arguments = sys.argv[1:]
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    (suite, *formats), options = arguments[:cut], arguments[cut + 1 :]
    for format in formats or FORMATS:
        line, failed = run(Path(suite), format, options)
        print(f"== {format}: {line}", *failed, sep="\n", flush=True)


if __name__ == "__main__":
    main()
