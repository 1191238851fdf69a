"""The C compiler's command and its libraries, as other systems have them."""

from __future__ import annotations

import os
import shutil
import tempfile

import numpy as np
import pytest

import linnet as ln
from linnet.backend import toolchain
from linnet.options import Options

GCC = r"C:\mingw64\bin\gcc.exe"
SPACES = r"C:\Program Files\LLVM\bin\clang.exe"


@pytest.fixture
def windows(monkeypatch):
    monkeypatch.setattr(toolchain.os, "sep", "\\")
    monkeypatch.setattr(shutil, "which", lambda name: name if name in (GCC, SPACES) else None)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (GCC, (GCC,)),
        (f"{GCC} -m64 -O1", (GCC, "-m64", "-O1")),
        (SPACES, (SPACES,)),
        (f'"{SPACES}" -m64', (SPACES, "-m64")),
    ],
)
def test_backslashes_part_folders(windows, given, found):
    assert toolchain.find(Options(compiler=given)) == found


@pytest.mark.skipif(os.sep != "/", reason="how a shell of POSIX reads it")
def test_elsewhere_a_backslash_protects(tmp_path, monkeypatch):
    compiler = tmp_path / "my compiler"
    compiler.write_text("")
    compiler.chmod(0o755)
    spaced = str(compiler)
    for given in (spaced, spaced.replace(" ", "\\ "), f"'{spaced}'"):
        assert toolchain.find(Options(compiler=given)) == (spaced,)
    assert toolchain.find(Options(compiler=f"'{spaced}' -O1")) == (spaced, "-O1")


@pytest.mark.skipif(not toolchain.available(Options()), reason="there is no C compiler")
def test_a_library_in_use_may_stay(monkeypatch, tmp_path):
    """Windows removes no file of a library that is loaded."""
    options = Options(backend="c")
    code = toolchain.compile("long long f(void *x) { return 42; }", options)
    kept = []

    def refuse(path, **named):
        kept.append(path)
        raise PermissionError(13, "in use", path)

    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path))
        patch.setattr(tempfile._os, "unlink", refuse)
        patch.setattr(os, "unlink", refuse)
        address, _owner = toolchain.load(code, "f")
    assert address
    assert kept


@pytest.mark.skipif(not toolchain.available(Options()), reason="there is no C compiler")
def test_headers_that_make_no_complex_numbers(tmp_path):
    """Those of MinGW have no CMPLX."""
    lacking = "#include_next <complex.h>\n#undef CMPLX\n#undef CMPLXF\n"
    (tmp_path / "complex.h").write_text(lacking)
    compiler = f"{toolchain.find(Options())[0]} -I{tmp_path}"
    with ln.config(backend="c", compiler=compiler, cache=False):
        for dtype in (np.complex64, np.complex128):
            z = np.array([1 + 2j, -3.5j, 0, 4], dtype)
            x = ln.asarray(z)
            for found, wanted in (
                (x * x + 1j, z * z + 1j),
                (x / 2j, z / 2j),
                (ln.exp(x), np.exp(z)),
            ):
                assert found.dtype == dtype
                np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-6)
