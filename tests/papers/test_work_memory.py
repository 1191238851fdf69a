"""Sparse workspaces and memory: running out of it, and what they take beside the result."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import linnet as ln

SCRIPT = """
import resource
from pathlib import Path

import numpy as np

import linnet as ln
from linnet.frontend.text import parse_text

text = "ln.declare(w, 0, (1 << 20, 1 << 20))\\nfor t in ...:\\n    w[X[t], Y[t]] += v[t]"
kernel, w = ln.Kernel(parse_text(text)), ln.empty_tensor(ln.workspace(2, ln.{policy}()))
rng = np.random.default_rng(0)
X, Y = rng.integers(0, 1 << 20, (2, 1_000_000))
v = np.ones(len(X))
few = (X[:5], Y[:5], v[:5])
kernel(w, *few)
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + (24 << 20)
resource.setrlimit(resource.RLIMIT_AS, (size, size))
for _ in range(3):
    try:
        kernel(w, X, Y, v)
    except MemoryError as error:
        assert isinstance(error, ln.LinnetError)
    else:
        raise SystemExit("there was memory")
    assert kernel(w, *few).nnz == 5
    assert v.sum() == len(X)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("policy", ["Coord", "Hash"])
def test_out_of_memory_leaves_everything_as_it_was(policy):
    command = [sys.executable, "-c", SCRIPT.replace("{policy}", policy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@ln.kernel
def twice(C, A, B):
    C[...] = 0
    for k, i, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


def test_a_workspace_that_is_read_and_updated_again():
    """What was merged stays, and later updates meet it."""
    W = ln.workspace(2, ln.Coord(capacity=4))

    @ln.kernel
    def again(w, total, A):
        w[...] = 0
        for i, j in ...:
            w[j, i] += A[i, j]
        total[...] = 0
        for i, j in ...:
            total[()] += w[i, j]
        for i, j in ...:
            w[i, j] += A[i, j]
        return w, total

    array = np.array([[1.0, 2, 0], [0, 3, 4], [5, 0, 6]])
    w, total = again(ln.empty_tensor(W), ln.scalar(0.0), ln.asarray(array, format=ln.CSR))
    assert np.array_equal(w.to_numpy(), array + array.T)
    assert float(total) == array.sum()


def test_checks_are_made_on_request():
    A = np.eye(3)
    args = ln.asarray(A, format=ln.CSC), ln.asarray(A, format=ln.CSR)
    kernel = ln.insert_workspaces(twice, ln.Heap())
    with ln.config(check=True):
        code = kernel.code(ln.empty_tensor(ln.DCSR), *args)
        assert "return UNSORTED" in code
        assert np.array_equal(kernel(ln.empty_tensor(ln.DCSR), *args).to_numpy(), A)
    with ln.config(check=False):
        assert "UNSORTED" not in kernel.code(ln.empty_tensor(ln.DCSR), *args)
