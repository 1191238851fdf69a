"""What the keys of the disk cache say of the machine and of this package, on every system."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import linnet
from linnet import target
from linnet.backend import stamp

PACKAGE = Path(linnet.__file__).parent
APPLE = b"Apple M3 Pro"


@pytest.fixture
def elsewhere(monkeypatch):
    """No `/proc`, as on macOS and Windows; and no child process, nor what `platform` asks."""

    def refuse(*args, **named):
        raise AssertionError("asked in a way that takes long")

    monkeypatch.setattr(stamp.Path, "open", lambda *a, **k: (_ for _ in ()).throw(OSError()))
    for name in ("Popen", "check_output", "run"):
        monkeypatch.setattr(subprocess, name, refuse)
    monkeypatch.setattr("platform.uname", refuse)
    return monkeypatch


def test_macos_tells_its_processor_without_a_child_process(elsewhere):
    class Library:
        @staticmethod
        def sysctlbyname(name, text, size, new, count):
            assert name == b"machdep.cpu.brand_string"
            ctypes.memmove(text, APPLE, len(APPLE))
            return 0

    elsewhere.setattr(sys, "platform", "darwin")
    elsewhere.setattr(stamp, "C", Library)
    found = stamp._processor.__wrapped__()
    assert APPLE.decode() in found
    elsewhere.setattr(Library, "sysctlbyname", lambda *given: -1)
    assert APPLE.decode() not in stamp._processor.__wrapped__()


def test_windows_tells_its_processor_in_the_environment(elsewhere):
    elsewhere.setattr(sys, "platform", "win32")
    elsewhere.setenv("PROCESSOR_ARCHITECTURE", "AMD64")
    elsewhere.setenv("PROCESSOR_IDENTIFIER", "Intel64 Family 6 Model 142 Stepping 12")
    found = stamp._processor.__wrapped__()
    assert "win32 amd64 Intel64 Family 6 Model 142 Stepping 12" in found
    elsewhere.setattr(target, "known_features", lambda: {"AVX2": True, "AVX512F": False})
    assert "AVX2" in stamp._processor.__wrapped__()
    assert "AVX512F" not in stamp._processor.__wrapped__()


def test_pages_of_another_size_are_another_machine(monkeypatch):
    before = stamp._processor.__wrapped__()
    monkeypatch.setattr(stamp, "PAGE", 65536)
    assert stamp._processor.__wrapped__() != before


def test_nothing_asks_platform():
    """It starts a child process on macOS, and asks a service on Windows."""
    for path in PACKAGE.rglob("*.py"):
        assert "import platform" not in path.read_text(encoding="utf-8"), path


# -- where the package is --------------------------------------------------------------------------

PROGRAM = "import linnet as ln; from linnet.backend import stamp; print(stamp._package())"


def state_in(place: Path) -> str:
    given = os.environ | {"PYTHONPATH": str(place)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_may_be_in_an_archive(tmp_path):
    archive = tmp_path / "linnet.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in PACKAGE.rglob("*.py"):
            file.write(path, path.relative_to(PACKAGE.parent))
    before = state_in(archive)
    os.utime(archive, (1, 1))
    assert state_in(archive) != before


def test_the_package_may_be_a_part_of_an_application(monkeypatch, tmp_path):
    monkeypatch.setattr(stamp, "__file__", str(tmp_path / "nowhere" / "backend" / "stamp.pyc"))
    assert len(stamp._package.__wrapped__()) == 24


FROZEN = """
import os, sys
del os.__file__
import linnet as ln
from linnet import errors
try: ln.zeros(-1)
except ln.LinnetError as error: print(error.at.file)
print(errors._LIBRARY == os.path.dirname(sys.modules['linecache'].__file__) + os.sep)
print(errors._folder(compile('1', 'linecache.py', 'eval')))
"""


def test_modules_of_an_application_may_have_no_file():
    given = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", FROZEN], env=given, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["<string>", "True", "no folder at all"], done.stderr
