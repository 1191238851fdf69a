"""An operation that was done before is one call of a kernel, and gives what it gave at first."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.api.operands import MATRIX_FORMATS
from tests.robustness.kernels import accumulate, passes
from tests.unit.backend.harness import needs_cc

import linnet as ln
from linnet import backend
from linnet.errors import CacheError, ShapeError
from linnet.runtime import recall
from linnet.runtime.memory import Memory
from linnet.runtime.ready import Ready

FORMATS = MATRIX_FORMATS | {"blocks": ln.BSR(2, 2)}
OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda a, b, x: a + b,
    "multiply": lambda a, b, x: a * b,
    "divide": lambda a, b, x: a / b,
    "less": lambda a, b, x: a < b,
    "twice": lambda a, b, x: a + a,
    "negative": lambda a, b, x: -a,
    "abs": lambda a, b, x: abs(a),
    "root": lambda a, b, x: np.sqrt(a) if type(a) is np.ndarray else ln.sqrt(a),
    "power of e": lambda a, b, x: np.exp(a) if type(a) is np.ndarray else ln.exp(a),
    "product": lambda a, b, x: a @ b,
    "vector": lambda a, b, x: a @ x,
    "sum": lambda a, b, x: a.sum(),
    "sum of columns": lambda a, b, x: a.sum(0),
    "sum of rows": lambda a, b, x: a.sum(axis=-1),
    "product of rows": lambda a, b, x: a.prod(1),
    "max": lambda a, b, x: a.max(0),
    "min": lambda a, b, x: a.min(),
    "any": lambda a, b, x: a.any(1),
    "all": lambda a, b, x: a.all(),
    "rows": lambda a, b, x: a[1:3],
    "both": lambda a, b, x: a[1:3, 0:2],
    "none": lambda a, b, x: a[2:2],
}


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch):
    """Every test begins as a process does."""
    forget(monkeypatch)


def forget(monkeypatch) -> None:
    memory: Memory[Any, Any] = Memory()
    monkeypatch.setattr(recall, "KNOWN", memory)
    monkeypatch.setattr("linnet.runtime.eager._known", memory.get)


def known(conversions: bool = False) -> list[Ready]:
    """What is ready; conversions, of which tests are full, only if they are asked for."""
    ready = [(key, each) for key, each in recall.KNOWN._known.items() if isinstance(each, Ready)]
    return [each for key, each in ready if (key[0] == "to") == conversions]


def values(shape=(4, 4), seed=0, fill=0.0, dtype="float64") -> Any:
    rng = np.random.default_rng(seed)
    kept = rng.random(shape) < 0.4
    return np.where(kept, rng.integers(1, 5, shape), fill).astype(dtype)


def operands(format: Any, fill: float, dtype: str, size=4) -> tuple[Any, Any, Any]:
    a, b = (
        ln.asarray(values((size, size), s, fill, dtype), format=format, fill_value=fill)
        for s in (1, 2)
    )
    return a, b, values((size,), 3, 0, dtype)


def told(found: ln.Tensor) -> tuple[Any, ...]:
    """Everything about a result but where it lies."""
    dtypes = [array.dtype for array in found.buffers.values()]
    named = (found.format, found.format.name, found.output_format, repr(found.fill_value))
    held = (found.nnz, repr(found.to_numpy().tolist()))
    return (*named, found.shape, found.dtype, found.signature, dtypes, *held)


CASES = [(format, 0, "float64") for format in FORMATS]
CASES += [("csr", 2, "float64"), ("coo", 2, "float64"), ("csr", 0, "int32"), ("dense", 0, "int8")]


@pytest.mark.parametrize(("format", "fill", "dtype"), CASES, ids=str)
def test_again_and_in_another_process(format, fill, dtype, monkeypatch):
    a, b, x = operands(FORMATS[format], fill, dtype)
    first = {name: told(run(a, b, x)) for name, run in OPERATIONS.items()}
    assert known()
    assert {name: told(run(a, b, x)) for name, run in OPERATIONS.items()} == first
    forget(monkeypatch)
    assert {name: told(run(a, b, x)) for name, run in OPERATIONS.items()} == first


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "divide"])
def test_other_sizes(name):
    run = OPERATIONS[name]
    for size in (4, 7, 4, 70, 3):
        a, b, x = operands(ln.CSR, 0, "float64", size)
        expected = run(a.to_numpy(), b.to_numpy(), x)
        np.testing.assert_allclose(run(a, b, x).to_numpy(), expected)


def test_what_is_asked_for_most_is_ready():
    a, b, x = operands(ln.CSR, 0, "float64")
    for name in ("add", "negative", "vector", "sum", "sum of columns", "max", "rows", "both"):
        before = len(known())
        OPERATIONS[name](a, b, x)
        assert len(known()) == before + 1, name


@pytest.mark.parametrize("format", [ln.COO, ln.DCSR, ln.CSC], ids=repr)
def test_slices_of_what_is_listed_are_ready(format):
    a, b, x = operands(format, 0, "float64")
    for name in ("rows", "both"):
        before = len(known())
        expected = OPERATIONS[name](a.to_numpy(), b.to_numpy(), x)
        for _ in range(2):
            np.testing.assert_array_equal(OPERATIONS[name](a, b, x).to_numpy(), expected)
        assert len(known()) == before + 1, name


TARGETS = [ln.CSR, ln.CSC, ln.COO(2), ln.DENSE(2), ln.DCSR, ln.BSR(2, 2), ln.RLE]


@pytest.mark.parametrize(("format", "fill", "dtype"), CASES, ids=str)
def test_conversions_again_and_in_another_process(format, fill, dtype, monkeypatch):
    a, _, _ = operands(FORMATS[format], fill, dtype)
    larger, _, _ = operands(FORMATS[format], fill, dtype, 70)
    dense = [values((size, size), 1, fill, dtype) for size in (4, 70)]
    targets = [target for target in TARGETS if target is not ln.RLE or fill == 0]
    first = [told(a.to(target)) for target in targets]
    assert known(conversions=True)
    assert [told(a.to(target)) for target in targets] == first
    forget(monkeypatch)
    assert [told(a.to(target)) for target in targets] == first
    for target in targets:
        for tensor, expected in zip((a, larger), dense, strict=True):
            np.testing.assert_array_equal(tensor.to(target).to_numpy(), expected)


def test_conversions_of_many_entries_are_others():
    """They are sorted, where those of few are copied by a kernel."""
    for size in (4, 200, 4, 200):
        dense = values((size, size))
        assert (ln.asarray(dense, format=ln.CSR).to(ln.DCSC).to_numpy() == dense).all()
    named = [key for key in recall.KNOWN._known if key[0] == "to" and key[4] == "DCSC"]
    assert {key[-1] for key in named} == {False, True}


def test_names_of_formats_are_those_that_are_asked_for(monkeypatch):
    a, _, _ = operands(ln.CSR, 0, "float64")
    named = [ln.Format(ln.CSC.levels, ln.CSC.order, name) for name in ("first", "second")]
    for _ in range(2):
        assert [a.to(each).format.name for each in named] == ["first", "second"]
        forget(monkeypatch)


def test_functions_of_users_are_not_taken_for_others():
    @ln.function
    def sqrt(x):
        return x + 1.0

    a, _, _ = operands(ln.DENSE(2), 0, "float64")
    root = ln.sqrt(a).to_numpy()
    assert (sqrt(a).to_numpy() == a.to_numpy() + 1).all()
    assert (ln.sqrt(a).to_numpy() == root).all()
    assert (root == np.sqrt(a.to_numpy())).all()


def test_a_copy_is_another_operand():
    a, b, _ = operands(ln.CSR, 0, "float64")
    a + ln.asarray(a, copy=False)
    a + a.permute((0, 1))  # the same memory
    np.testing.assert_array_equal((a + b).to_numpy(), a.to_numpy() + b.to_numpy())
    np.testing.assert_array_equal((b + a).to_numpy(), a.to_numpy() + b.to_numpy())


def test_sizes_that_do_not_fit_are_told_as_at_first():
    a, b, x = operands(ln.CSR, 0, "float64")
    wide = ln.asarray(values((4, 5)), format="csr")
    for run in (lambda: a @ x[:3], lambda: a @ wide.T, lambda: a + wide, lambda: wide @ wide):
        with pytest.raises(ShapeError) as before:
            run()
        _ = a @ x, a @ b, a + b, wide @ wide.T
        with pytest.raises(ShapeError) as after:
            run()
        assert str(after.value) == str(before.value)


def test_arrays_of_numpy_as_they_lie():
    a, _, x = operands(ln.CSR, 0, "float64")
    expected = a.to_numpy() @ x
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64)
    others = [x.copy(), np.repeat(x, 2)[::2], x.astype(">f8"), x[::-1].copy()[::-1], unaligned]
    for other in [*others, *others]:
        np.testing.assert_array_equal((a @ other).to_numpy(), expected)
    assert (a @ x.astype("float32")).dtype == np.float64
    assert (a @ x.astype("complex64")).dtype == np.complex128
    wide = np.asfortranarray(values((4, 3), 5))
    for _ in range(2):
        np.testing.assert_array_equal((a @ wide).to_numpy(), a.to_numpy() @ wide)


def test_an_array_that_is_changed_is_read_again():
    a, _, x = operands(ln.CSR, 0, "float64")
    for k in range(4):
        x[:] = k
        np.testing.assert_array_equal((a @ x).to_numpy(), a.to_numpy() @ x)


def test_results_share_nothing():
    a, _, x = operands(ln.CSR, 0, "float64")
    results = [(a @ x).to_numpy() for _ in range(4)]
    assert not any(np.shares_memory(results[0], other) for other in results[1:])
    with pytest.raises(ValueError, match="read-only"):
        results[-1][0] = 1
    y = a @ x
    accumulate(y, ln.asarray(np.ones(4)))  # which changes y, and nothing else
    np.testing.assert_array_equal(y.to_numpy(), results[0] + 1)
    np.testing.assert_array_equal(results[0], results[1])


def test_an_axis_is_no_truth_value():
    a, _, _ = operands(ln.CSR, 0, "float64")
    a.sum(1)
    for axis in (True, 1.0, "1"):
        with pytest.raises(ln.LinnetError):
            a.sum(axis)


def test_slices_that_are_no_ranges_are_left_to_the_general_way():
    a, _, _ = operands(ln.CSR, 0, "float64")
    values = a.to_numpy()
    _ = a[1:3]
    for part in (slice(None, None, 2), slice(3, None, -1), slice(None), slice(0, 3, np.int64(1))):
        np.testing.assert_array_equal(a[part].to_numpy(), values[part])
    for part in (slice(None, None, 0), slice(0, 2, 0), slice(0.5, 2), slice("a"), slice(0, 2, "b")):
        with pytest.raises(ln.LinnetError):
            a[part]


def test_options_have_kernels_of_their_own():
    a, _, x = operands(ln.CSR, 0, "float64")
    expected = told(a @ x)
    count = len(known())
    with ln.config(check=False):
        assert told(a @ x) == expected
        assert len(known()) == count + 1


@needs_cc
def test_the_other_back_end(monkeypatch):
    a, b, x = operands(ln.CSR, 0, "float64")
    expected = [told(a @ x), told(a + b), told(a.sum(0))]
    with ln.config(backend="c"):
        for _ in range(3):
            assert [told(a @ x), told(a + b), told(a.sum(0))] == expected
            forget(monkeypatch)


def test_memory_that_is_being_written_is_left_alone():
    a, b, _ = operands(ln.CSR, 0, "float64")
    a + b
    (ready,) = known()
    contents = a.contents()
    contents.lent = True
    given = [contents.slots, b.contents().slots]
    assert ready.run(given, (contents, b.contents())) is None
    contents.lent = False
    assert ready.run(given, (contents, b.contents())) is not None
    assert contents.pins == b.contents().pins == 0


@pytest.mark.parametrize("name", ["add", "vector", "max"])
def test_a_kernel_that_fails_leaves_it_to_the_general_way(name):
    a, b, x = operands(ln.CSR, 0, "float64")
    run = OPERATIONS[name]
    expected = told(run(a, b, x))
    (ready,) = known()
    calls = []
    ready.call = lambda address: calls.append(address) or 1
    assert told(run(a, b, x)) == expected
    assert calls
    assert a.contents().pins == 0


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


def test_threads_that_read_what_another_writes():
    a = ln.asarray(np.eye(50), format="csr")
    x, ones = ln.asarray(np.zeros(50)), ln.asarray(np.ones(50))
    a @ x
    failed = []

    def read() -> None:
        for _ in range(300):
            try:
                found = (a @ x).to_numpy()
            except ln.LinnetError:  # it is being written just now
                continue
            if len({*found.tolist()}) != 1:
                failed.append(found)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(300):
        accumulate(x, ones)
    for reader in readers:
        reader.join()
    assert not failed
    np.testing.assert_array_equal(x.to_numpy(), np.full(50, 300.0))


PROGRAM = """
A, B = (ln.asarray(matrix(20, seed), format='csr') for seed in (0, 1))
x = np.ones(20)
found = A @ x, A + B, A.sum(0), A.sum(), -A, A[2:9], A.max(1), ln.sqrt(A), A.to(ln.CSC)
dense = [each.to_numpy() for each in found]
import sys
print('linnet.compiler' in sys.modules, 'llvmlite' in sys.modules, 'linnet.arrays' in sys.modules)
print([float(np.abs(each).sum()) for each in dense])
"""


def test_a_process_whose_operations_are_known_imports_no_compiler(tmp_path):
    first, again = (passes(PROGRAM, LINNET_CACHE_DIR=str(tmp_path / "c")) for _ in range(2))
    assert first.splitlines()[0] == "True True True"
    assert again.splitlines()[0] == "False False False"
    assert again.splitlines()[1] == first.splitlines()[1]
