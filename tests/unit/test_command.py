"""The command line: what it prints, and what it says when it cannot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import linnet as ln
from linnet import command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = command.main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_doctor(capsys: pytest.CaptureFixture[str]):
    status, out, _ = run(capsys, "doctor")
    assert status == 0
    assert f"linnet       {ln.__version__}" in out
    assert "kernels      compile and compute" in out


def test_doctor_finds_what_is_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(command, "_trial", lambda: 1 / 0)
    status, out, _ = run(capsys, "doctor")
    assert status == 1
    assert "do NOT work: ZeroDivisionError" in out


def test_cache(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    tmp_path.chmod(0o700)
    with ln.config(cache_dir=tmp_path):
        ln.einsum("y[i] = 31 * x[i]", x=[1.0])
        # machine code, and what a call has to know
        assert "entries  2" in run(capsys, "cache", "info")[1]
        assert "removed 2 entries" in run(capsys, "cache", "clear")[1]
        assert "entries  0" in run(capsys, "cache", "info")[1]
    with ln.config(cache=False):
        assert "no kernels are kept" in run(capsys, "cache", "info")[1]


def test_codegen(capsys: pytest.CaptureFixture[str]):
    equation = "y[i] += A[i,j] * x[j]"
    status, out, _ = run(capsys, "codegen", equation, "-f", "A:CSR")
    assert status == 0
    assert "for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++)" in out
    _, out, _ = run(capsys, "codegen", equation, "-f", "A:CSR", "-d", "float32")
    assert "const float *restrict A_val" in out
    _, out, _ = run(capsys, "codegen", equation, "-f", "A:CSR", "--stage", "llvm")
    assert "define i64 @einsum" in out
    _, out, _ = run(capsys, "codegen", equation, "-f", "A:CSR", "--stage", "loops")
    assert "for j in range(A.shape[1]):" in out


def test_codegen_of_levels_and_results(capsys: pytest.CaptureFixture[str]):
    band = "A:Dense(SparseBand(Element(0.0)))"
    _, out, _ = run(capsys, "codegen", "y[i] += A[i,j] * x[j]", "-f", band)
    assert "A_ofs" in out
    status, out, _ = run(
        capsys, "codegen", "B[i,j] = 2 * A[i,j]", "-f", "A:CSR", "-f", "B:DCSR", "--stage", "all"
    )
    assert status == 0
    assert "B1_idx[B1_n++] = i;" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-f", "A:CRS"), "'CRS' is not a format"),
        (("-f", "B:CSR"), "there is no tensor 'B'"),
        (("-f", "CSR"), "'CSR' does not say a format"),
        (("-f", "A:Dense(__import__('os'))"), "is not a format"),
        (("-f", "A:Dense(CSR.name())"), "is no level"),
        (("-f", "A:COO(3)"), "stores 3 dimensions, and the data has 2"),
        (("-d", "decimal"), "decimal"),
    ],
)
def test_codegen_refuses(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
):
    status, out, err = run(capsys, "codegen", "y[i] += A[i,j] * x[j]", *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("linnet: ")
    assert message in err


@pytest.mark.parametrize("equation", ["y[i] += A[i j]", "nonsense", "y[i] = ", "y[i] += A[i,j"])
def test_codegen_of_what_is_no_equation(capsys: pytest.CaptureFixture[str], equation: str):
    status, _, err = run(capsys, "codegen", equation)
    assert status == 1
    assert "cannot read the equation" in err


def test_bench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    called = []

    def fake(command: list[str], cwd: Path, check: bool) -> SimpleNamespace:
        called.append(command[1:])
        return SimpleNamespace(returncode=3)

    monkeypatch.setattr(subprocess, "run", fake)
    assert command.main(["bench", "spmv", "--quick"]) == 3
    assert called == [["-m", "benchmarks", "spmv", "--quick"]]
    monkeypatch.setattr(command, "__file__", str(tmp_path / "site" / "linnet" / "command.py"))
    status, _, err = run(capsys, "bench")
    assert status == 1
    assert "make bench" in err


def test_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "linnet", "cache", "info"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "entries" in done.stdout


def test_codegen_under_a_schedule(capsys: pytest.CaptureFixture[str]):
    given = ("codegen", "y[i] += A[i,j] * x[j]", "-f", "A:CSR", "-s", "split(i,i0,i1,32)")
    _, out, _ = run(capsys, *given)
    assert "for (i64 i0 = 0; i0 < i0_parts; i0++)" in out
    _, out, _ = run(capsys, *given, "--stage", "loops")
    assert "for i in ln.part(range(A.shape[0]), i0, 32):" in out
    _, out, _ = run(capsys, *given, "--stage", "provenance")
    assert out.splitlines()[-1] == "loops: i0, i1, j"
    _, out, _ = run(capsys, *given, "--stage", "llvm")
    assert "define i64 @equation" in out
    _, out, _ = run(capsys, *given, "--stage", "all")
    assert {"# provenance", "# split(i, i0, i1, 32)", "# code"} <= set(out.splitlines())
    _, out, _ = run(capsys, "codegen", "y[i] += A[i,j] * x[j]", "--stage", "provenance")
    assert out == "loops: i, j\n"


def test_codegen_points_at_the_character_of_a_schedule(capsys: pytest.CaptureFixture[str]):
    text = "split(i,i0,i1,32) reorder(i0,3,j)"
    status, out, err = run(capsys, "codegen", "y[i] += A[i,j] * x[j]", "-s", text)
    assert (status, out) == (1, "")
    *_, line, marks = err.splitlines()
    assert line.strip() == text
    assert line[marks.index("^") :] == "3,j)"
