"""What is ready is kept for other processes, and what cannot be read or used there is none."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.robustness.kernels import passes
from tests.unit.runtime.operations import OPERATIONS, forget, operands, told

import linnet as ln
from linnet import backend
from linnet.errors import CacheError


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch):
    """Every test begins as a process does."""
    forget(monkeypatch)


@pytest.mark.parametrize(
    "data",
    [b"", b"junk", pickle.dumps(3), pickle.dumps((1, "f", b"")), pickle.dumps(("a", "b"))],
    ids=["empty", "junk", "a number", "no recipe", "too short"],
)
def test_an_entry_that_cannot_be_read_is_none(data, monkeypatch):
    a, _, x = operands(ln.CSR, 0, "float64")
    expected = told(a @ x)
    forget(monkeypatch)
    a, _, x = operands(ln.CSR, 0, "float64")
    genuine = backend.stored
    asked = []

    def damaged(key, options):
        asked.append(key)
        return data if key.startswith("operation") else genuine(key, options)

    monkeypatch.setattr(backend, "stored", damaged)
    assert told(a @ x) == expected
    assert asked[0].startswith("operation matmul")


def test_machine_code_that_cannot_be_linked_is_none(monkeypatch):
    a, _, x = operands(ln.CSR, 0, "float64")
    expected = told(a @ x)
    forget(monkeypatch)
    a, _, x = operands(ln.CSR, 0, "float64")
    genuine = backend.stored

    def cut(key, options):
        data = genuine(key, options)
        if data is None or not key.startswith("operation"):
            return data
        steps, ((symbol, code),) = pickle.loads(data)
        return pickle.dumps((steps, [(symbol, code[:100])]))

    monkeypatch.setattr(backend, "stored", cut)
    assert told(a @ x) == expected


@pytest.mark.parametrize("name", OPERATIONS)
def test_levels_that_no_other_process_can_import_are_not_kept(name, tmp_path):
    class Mine(ln.SparseList):
        """Of a function that is running."""

    values = np.arange(12.0).reshape(4, 3) % 3
    a, x = ln.asarray(values, format=ln.Dense(Mine(ln.Element(0.0)))), np.ones(3)
    b = ln.asarray(values + 1, format=ln.CSR)
    if name == "product":
        b = ln.asarray(values[:3], format=ln.CSR)
    with ln.config(cache_dir=str(tmp_path)):
        first, again = (told(OPERATIONS[name](a, b, x)) for _ in range(2))
    assert first == again


def test_without_a_cache():
    a, _, x = operands(ln.CSR, 0, "float64")
    with ln.config(cache=False):
        first, second = told(a @ x), told(a @ x)
    assert first == second


def test_a_cache_that_cannot_be_used_is_told_with_the_line(tmp_path):
    a, _, x = operands(ln.CSR, 0, "float64")
    (tmp_path / "c").write_text("no folder")
    with ln.config(cache_dir=tmp_path / "c"), pytest.raises(CacheError) as caught:
        a @ x
    assert caught.value.at.file == __file__


PROGRAM = """
A, B = (ln.asarray(matrix(20, seed), format='csr') for seed in (0, 1))
x = np.ones(20)
found = A @ x, A + B, A.sum(0), A.sum(), -A, A[2:9], A.max(1), ln.sqrt(A), A.to(ln.CSC)
dense = [each.to_numpy() for each in found]
import sys
NEEDLESS = 'linnet.compiler', 'llvmlite', 'linnet.arrays', 'linnet.target'
print([name in sys.modules for name in NEEDLESS])
print([float(np.abs(each).sum()) for each in dense])
"""


@pytest.mark.own_loader
def test_a_process_whose_operations_are_known_imports_no_compiler(tmp_path):
    first, again = (passes(PROGRAM, LINNET_CACHE_DIR=str(tmp_path / "c")) for _ in range(2))
    assert first.splitlines()[0] == str([True] * 4)
    assert again.splitlines()[0] == str([False] * 4)
    assert again.splitlines()[1] == first.splitlines()[1]
