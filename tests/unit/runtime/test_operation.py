"""Functions that are remembered as calls of kernels: what tells them apart, and that it does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.robustness.kernels import passes
from tests.unit.backend.harness import needs_cc

import linnet as ln
from linnet.formats.format import Format
from linnet.runtime import operation, recall
from linnet.runtime.bound import Operation
from linnet.runtime.memory import Memory

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda a, x: a.mean(),
    "means of columns": lambda a, x: a.mean(0),
    "means of rows, kept": lambda a, x: a.mean(axis=1, keepdims=True),
    "mean of both": lambda a, x: ln.mean(a, axis=(0, 1)),
    "variance": lambda a, x: a.var(),
    "variances": lambda a, x: a.var(0, correction=1),
    "deviations": lambda a, x: ln.std(a, axis=1),
    "sum": lambda a, x: ln.sum(a, axis=0),
    "kept": lambda a, x: a.sum(1, keepdims=True),
    "product": lambda a, x: ln.einsum("y[i] += A[i, j] * x[j]", A=a, x=x),
    "subscripts": lambda a, x: ln.einsum("ij,j->i", a, x),
    "both": lambda a, x: ln.einsum("ij,kj->ik", a, a),
    "greatest": lambda a, x: ln.einsum("y[j] max= 2 * A[i, j] - x[j]", A=a, x=x),
    "asked": lambda a, x: ln.einsum("C[i, j] = A[i, j] * x[j]", A=a, x=x, format=ln.CSC),
}
OPERANDS: dict[str, dict[str, Any]] = {
    "csr": {"format": ln.CSR},
    "csc": {"format": ln.CSC, "fill": 2.0, "dtype": "float32"},
    "coo": {"format": ln.COO(2), "dtype": "int32"},
    "runs": {"format": ln.RLE, "fill": 1.0},
    "blocks": {"format": ln.BSR(2, 2), "shape": (6, 4)},
}


@pytest.fixture(autouse=True)
def _a_new_process(monkeypatch, tmp_path):
    """Every test begins as a process does, with an empty cache."""
    forget(monkeypatch)
    with ln.config(cache_dir=str(tmp_path / "cache")):
        yield


def forget(monkeypatch) -> None:
    memory: Memory[Any, Any] = Memory()
    monkeypatch.setattr(recall, "KNOWN", memory)
    monkeypatch.setattr(operation, "KNOWN", memory)
    monkeypatch.setattr(operation, "_TRIED", Memory())
    monkeypatch.setattr("linnet.runtime.eager._known", memory.get)


def known() -> list[Any]:
    """What operations have been found to be."""
    names = ("einsum", "mean", "std", "sum", "var")
    return [each for key, each in recall.KNOWN._known.items() if key[0] in names]


def matrix(
    shape=(6, 5), fill: float = 0.0, dtype: str = "float64", format: Any = ln.CSR, seed: int = 0
) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    held = np.where(rng.random(shape) < 0.4, rng.integers(1, 5, shape), fill).astype(dtype)
    return ln.asarray(held, format=format, fill_value=fill), np.arange(shape[1]).astype(dtype)


def told(x: Any) -> tuple[Any, ...]:
    """All that a result is."""
    return x.format.describe(), repr(x.fill_value), str(x.dtype), x.shape, x.to_numpy().tobytes()


@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_call_gives_what_the_first_gave(name, kind, monkeypatch):
    a, x = matrix(**OPERANDS[kind])
    first = told(FUNCTIONS[name](a, x))
    assert told(FUNCTIONS[name](a, x)) == first
    forget(monkeypatch)
    assert told(FUNCTIONS[name](*matrix(**OPERANDS[kind]))) == first


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_another_process_has_done_is_recalled(name, monkeypatch):
    a, x = matrix()
    expected = told(FUNCTIONS[name](a, x))
    assert all(isinstance(each, Operation) for each in known())
    forget(monkeypatch)

    def unexpected(*args, **named):
        raise AssertionError("it was done before")

    monkeypatch.setattr(operation, "learned", unexpected)
    monkeypatch.setattr("linnet.runtime.eager.learned", unexpected)
    a, x = matrix()
    assert told(FUNCTIONS[name](a, x)) == expected


CHANGES: dict[str, dict[str, Any]] = {
    "rows": {"shape": (7, 5)},
    "columns": {"shape": (6, 4)},
    "as many elements": {"shape": (5, 6)},
    "no rows": {"shape": (0, 5)},
    "one row": {"shape": (1, 5)},
    "fill": {"fill": 1.0},
    "sign of the fill": {"fill": -0.0},
    "nan": {"fill": np.nan},
    "infinite": {"fill": np.inf},
    "dtype": {"dtype": "float32"},
    "integers": {"dtype": "int64"},
    "complex": {"dtype": "complex128"},
    "format": {"format": ln.CSC},
    "levels": {"format": ln.DCSR},
    "values": {"seed": 5},
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["mean", "means of columns", "variances", "product", "both"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_one_thing_that_differs_is_seen(name, change, monkeypatch):
    def found(**changes: Any) -> Any:
        try:
            return told(FUNCTIONS[name](*matrix(**changes)))
        except ln.LinnetError as error:
            return type(error), error.message

    with ln.config(cache=False):
        expected = found(**CHANGES[change])
    forget(monkeypatch)
    found()
    assert found(**CHANGES[change]) == expected
    forget(monkeypatch)  # and in a second process
    assert found(**CHANGES[change]) == expected


def test_words_differ(monkeypatch):
    a, x = matrix()
    calls: list[Callable[[], Any]] = [
        lambda: a.mean(0), lambda: a.mean(1), lambda: a.mean(-1), lambda: a.mean(0, keepdims=True),
        lambda: a.mean(0, dtype="float32"), lambda: a.var(0), lambda: a.var(0, correction=1),
        lambda: a.var(0, correction=1.5), lambda: a.sum(0, keepdims=True),
        lambda: ln.einsum("y[i] += A[i, j] * x[j]", A=a, x=x),
        lambda: ln.einsum("y[i] max= A[i, j] * x[j]", A=a, x=x),
        lambda: ln.einsum("y[i] += A[i, j] * x[j]", A=a, x=x, format=ln.COO(1)),
        lambda: ln.einsum("y[i] += A[i, j] * x[j]", A=a, x=x, fill_value=1.0),
    ]  # fmt: skip
    with ln.config(cache=False):
        expected = [told(call()) for call in calls]
    for _ in range(2):
        forget(monkeypatch)
        assert [told(call()) for call in calls] == expected


def test_operands_under_other_names_differ(monkeypatch):
    a, _ = matrix((5, 5))
    b, _ = matrix((5, 5), seed=3)
    for _ in range(2):
        product = ln.einsum("C[i, j] += A[i, k] * B[k, j]", A=a, B=b)
        turned = ln.einsum("C[i, j] += A[i, k] * B[k, j]", A=b, B=a)
        np.testing.assert_allclose(product.to_numpy(), a.to_numpy() @ b.to_numpy())
        np.testing.assert_allclose(turned.to_numpy(), b.to_numpy() @ a.to_numpy())
        forget(monkeypatch)


def test_one_operand_twice_is_not_two(monkeypatch):
    a, _ = matrix((5, 5))
    b, _ = matrix((5, 5), seed=3)
    for _ in range(2):
        for left, right in ((a, a), (a, b), (b, a), (a, a.T)):
            found = ln.einsum("ij,ij->i", left, right)
            expected = (left.to_numpy() * right.to_numpy()).sum(1)
            np.testing.assert_allclose(found.to_numpy(), expected)
        forget(monkeypatch)


def test_coordinates_of_64_bits_differ(monkeypatch):
    narrow, _ = matrix()
    parts = {k: v.astype(np.int64) if v.dtype.kind == "i" else v for k, v in narrow.buffers.items()}
    wide = ln.from_buffers(ln.CSR.with_dtype("float64"), narrow.shape, parts)
    for a in (narrow, wide, narrow):
        np.testing.assert_allclose(a.mean(0).to_numpy(), narrow.to_numpy().mean(0))
        forget(monkeypatch)


@needs_cc
def test_options_differ():
    a, _ = matrix()
    expected = a.to_numpy().mean(0)
    for options in ({}, {"backend": "c"}, {"check": True}, {"cache": False}, {}):
        with ln.config(**options):
            np.testing.assert_allclose(a.mean(0).to_numpy(), expected)
            np.testing.assert_allclose(a.mean(0).to_numpy(), expected)


def test_what_operands_hold_may_change():
    a, x = matrix()
    first = ln.einsum("ij,j->i", a, x).to_numpy()
    x += 1
    second = ln.einsum("ij,j->i", a, x).to_numpy()
    np.testing.assert_allclose(second - first, a.to_numpy().sum(1))


def test_few_sizes_are_remembered():
    for n in range(1, 30):
        a, _ = matrix((n, 5))
        np.testing.assert_allclose(a.mean(0).to_numpy(), a.to_numpy().mean(0))
    assert 0 < len(known()) <= operation._SIZES


def test_formats_of_users_and_families_go_the_general_way():
    a, x = matrix()
    found = ln.einsum("C[i, j] = A[i, j] * x[j]", A=a, x=x, format=ln.COO)
    assert isinstance(found.format, Format)
    assert found.format.name == "COO(2)"


def test_other_threads_may_ask_at_the_same_time():
    a, _ = matrix((50, 40))
    expected, failed = a.to_numpy().mean(0), []

    def asks() -> None:
        for _ in range(200):
            if not np.allclose(a.mean(0).to_numpy(), expected):
                failed.append(1)

    threads = [threading.Thread(target=asks) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


PROGRAM = """
A, x = ln.asarray(matrix(20, 0), format='csr'), np.ones(20)
found = A.mean(), A.mean(0), A.var(1), ln.std(A), ln.sum(A, axis=0), ln.einsum('ij,j->i', A, x)
found += (ln.einsum('y[i] += A[i, j] * x[j]', A=A, x=x),)
dense = [each.to_numpy() for each in found]
import sys
print('linnet.compiler' in sys.modules, 'linnet.arrays.plan' in sys.modules)
small = ln.concat([A, A]), A[np.arange(20) % 3 == 0], A[np.array([3, 1])]
print('linnet.arrays.plan' in sys.modules)
print([each.tolist() for each in dense], [each.nnz for each in small])
"""


def test_a_process_that_does_what_was_done_before_imports_no_planning(tmp_path):
    first, again = (passes(PROGRAM, LINNET_CACHE_DIR=str(tmp_path / "c")) for _ in range(2))
    assert first.splitlines()[0] == "True True"
    assert again.splitlines()[:2] == ["False False", "False"]
    assert again.splitlines()[2] == first.splitlines()[2]


def test_what_is_made_of_operations_that_are_known_is_known_too():
    """A part that is looked up is seen by who watches the whole."""
    a, _ = matrix()
    for _ in range(2):
        found = a.sum(0) / 6.0
        np.testing.assert_array_equal(a.mean(0).to_numpy(), found.to_numpy())
    names = [key[0] for key, each in recall.KNOWN._known.items() if type(each) is Operation]
    assert {"sum", "divide", "mean"} <= {*names}
