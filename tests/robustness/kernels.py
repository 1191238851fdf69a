"""Kernels that the tests of this folder call, and processes that they start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import linnet as ln

ROOT = Path(__file__).parents[2]


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def spgemm(C, A, B):
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]


@ln.kernel
def copied(C, A):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j]


@ln.kernel
def accumulate(y, x):
    for i in ...:
        y[i] += x[i]


@ln.kernel
def outer(C, a, b):
    C[...] = 0
    for i, j in ...:
        C[i, j] = a[i] * b[j]


@ln.kernel
def gather(y, x, I):
    y[...] = 0
    for i in ...:
        y[i] = x[I[i]]


def vector() -> ln.Tensor:
    return ln.empty_tensor(ln.DENSE(1))


def matrix(n: int = 20, seed: int = 0) -> np.ndarray:
    """Small whole numbers, most of them 0."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, n)) < 0.3, rng.integers(1, 9, (n, n)), 0).astype(float)


_HEAD = "import numpy as np\nimport linnet as ln\nfrom tests.robustness.kernels import *\n"


def python(
    text: str, seconds: int = 120, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, with these kernels imported."""
    changed = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])} | environment
    given = {k: v for k, v in {**os.environ, **changed}.items() if v is not None}
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _HEAD + text],
        env=given,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def passes(text: str, seconds: int = 120, **environment: str | None) -> str:
    """What such a program prints; it must end well."""
    done = python(text, seconds, **environment)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
