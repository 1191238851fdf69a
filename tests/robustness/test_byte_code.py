"""The package as byte code alone, as in packed applications: what it brings of its texts."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools import texts

import linnet

PROGRAM = """
import numpy as np, linnet as ln
a = np.diag([1.0, 2, 3, 4]) + np.diag([5.0, 0, 6], 1)
A = ln.asarray(a, format='csr')
np.testing.assert_array_equal((A @ A).to_numpy(), a @ a)
np.testing.assert_allclose(ln.exp(A).to_numpy(), np.exp(a))
np.testing.assert_array_equal((A % 2.0).to_numpy(), a % 2)
np.testing.assert_array_equal(A.to(ln.CSC).to_numpy(), a)
labels = np.array([0, 1, 0, 1])
found = ln.groupby(A, labels).sum()
np.testing.assert_array_equal(found.to_numpy(), [a[labels == k].sum(0) for k in (0, 1)])
text = "def mine(y, x):\\n    for i in ...: y[i] += x[i]"
exec(compile(text, "nowhere.py", "exec"))  # that of `-c` is known since Python 3.13
try: ln.kernel(mine)
except ln.LinnetError as error: print(error.message)
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """A folder with the package, of which all sources and data were removed."""
    place = tmp_path_factory.mktemp("alone")
    package = place / "linnet"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(linnet.__file__).parent, package, ignore=ignored)
    texts.write(package)
    compileall.compile_dir(place, quiet=1, legacy=True)
    for path in package.rglob("*.py"):
        path.unlink()
    return place


def printed(place: Path, program: str, *flags: str, **changed: str) -> str:
    given = os.environ | {"PYTHONPATH": str(place), **changed}
    command = [sys.executable, *flags, "-c", program]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("flags", [[], ["-OO"]])
def test_our_own_kernels_need_no_file(alone, tmp_path, flags):
    for _ in range(2):  # compiled, and then found
        found = printed(alone, PROGRAM, *flags, LINNET_CACHE_DIR=str(tmp_path / "c"))
        assert found == "the source of `mine` is not available\n"


def test_another_state_of_the_package_has_other_kernels(alone):
    program = "from linnet.backend import stamp; print(stamp._package())"
    before = printed(alone, program)
    os.utime(alone / "linnet" / "compiler.pyc", (1, 1))
    assert printed(alone, program) != before
