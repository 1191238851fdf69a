"""The default schedule: what is done where nobody says anything, and could have been asked for."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linnet as ln
from linnet.backend import llvm, machine
from linnet.errors import LinnetError


@ln.kernel
def rows(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def columns(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def two(C, D, A, B):
    C[...] = 0
    D[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
        D[i, k] += A[i, j] * A[i, j] * B[j, k]
    return C, D


@ln.kernel
def below(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        if j < i:
            C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def least(C, A, B):
    C[...] = np.inf
    for i, j, k in ...:
        C[i, k] = min(C[i, k], A[i, j] + B[j, k])
    return C


@ln.kernel
def mttkrp(C, A, B, D):
    C[...] = 0
    for i, j, l, k in ...:
        C[i, k] += A[i, j, l] * B[j, k] * D[l, k]
    return C


@ln.kernel
def again(C, D, A, B):
    """Two loops of each name."""
    C[...] = 0
    D[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    for i, j, k in ...:
        D[i, k] += A[i, j] * B[j, k]
    return C, D


@ln.kernel
def numbers(C, A, B):
    C[...] = 0
    for i, j, k in ln.product(range(7), range(6), range(B.shape[1])):
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def sums(y, B):
    y[...] = 0
    for k, j in ...:
        y[k] += B[j, k]
    return y


DENSE, FIBERS = ln.DENSE(2), ln.SparseList(ln.Dense(ln.Element(0.0)))
HELD, TURNED = "split(k, k0, k1, 32) reorder(k0, j)", "reorder(j, k)"
CASES = {
    "rows": (rows, [DENSE], ln.CSR, HELD),
    "rows that are stored": (rows, [DENSE], ln.DCSR, f"pos(i, ip, A[i, j]) {HELD}"),
    "sparse rows": (rows, [FIBERS], ln.DCSR, f"pos(i, ip, A[i, j]) {HELD}"),
    "columns": (columns, [DENSE], ln.CSR, f"{TURNED} {HELD}"),
    "dense": (rows, [DENSE], DENSE, "split(k, k0, k1, 32) reorder(k0, i, j)"),
    "two": (two, [DENSE] * 2, ln.CSR, HELD.replace("32", "16")),
    "below": (below, [DENSE], ln.CSR, HELD),
    "least": (least, [ln.Dense(ln.Dense(ln.Element(np.inf)))], ln.CSR, HELD),
    "mttkrp": (mttkrp, [DENSE], ln.CSF(3), f"pos(i, ip, A[i, j, l]) {HELD[:-1]}, l)"),
    "again": (
        again,
        [DENSE] * 2,
        ln.CSR,
        "split(k:1, k0, k1, 32) reorder(k0, j:1) split(k:2, k0_2, k1_2, 32) reorder(k0_2, j:2)",
    ),
    "numbers": (numbers, [DENSE], ln.CSR, HELD),
    "sums": (sums, [ln.DENSE(1)], None, TURNED),
}


def arguments(name: str, width: int = 5, dtype: str = "float64") -> list[object]:
    """Empty results, and operands whose rows have so many elements."""
    kernel, results, format, _ = CASES[name]
    rng = np.random.default_rng(width)
    ndim = 3 if kernel is mttkrp else 2
    A = rng.integers(1, 9, (7, 6, 5)[:ndim]) * (rng.random((7, 6, 5)[:ndim]) < 0.4)
    A[2] = 0
    dense = [rng.integers(-9, 9, (n, width)).astype(dtype) for n in (6, 5)]
    empty = [ln.empty_tensor(result) for result in results]
    if format is None:
        return [*empty, ln.asarray(dense[0])]
    given = ln.asarray(A.astype(dtype), format=format)
    return [*empty, given, *map(ln.asarray, dense[: ndim - 1])]


def results(kernel: ln.Kernel, args: list[object]) -> list[np.ndarray]:
    found = kernel(*args)
    return [t.to_numpy() for t in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", CASES)
def test_it_is_printed_as_commands(name):
    kernel, _, _, commands = CASES[name]
    assert ln.explain(kernel, *arguments(name))["default_schedule"] == commands


@pytest.mark.parametrize("name", CASES)
def test_the_same_commands_make_the_same_code(name):
    kernel, _, _, commands = CASES[name]
    args = arguments(name)
    assert kernel.schedule().apply(commands).code(*args) == kernel.code(*args)


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("width", [0, 1, 7, 8, 9, 16, 31, 32, 33, 100])
@pytest.mark.parametrize("name", CASES)
def test_results_are_the_same(name, width, backend):
    kernel = CASES[name][0]
    with ln.config(backend=backend):
        found = results(kernel, arguments(name, width))
        with ln.config(without=("default_schedule",)):
            plain = results(kernel, arguments(name, width))
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["rows", "sparse rows", "mttkrp"])
def test_as_much_is_stored(name):
    """Also in rows of which nothing is stored, or whose list is empty."""
    kernel = CASES[name][0]
    found = kernel(*arguments(name))
    with ln.config(without=("default_schedule",)):
        assert len(found.buffers["val"]) == len(kernel(*arguments(name)).buffers["val"])


def test_it_can_be_left_out():
    args = arguments("columns")
    for name in ("default_schedule", "row_inside"):
        with ln.config(without=(name,)):
            assert "default_schedule" not in ln.explain(columns, *args).stages
    with ln.config(without=("sums_of_rows",)):
        assert ln.explain(columns, *args)["default_schedule"] == TURNED


def test_who_gives_commands_gets_these_alone():
    args = arguments("rows")
    scheduled = rows.schedule().split("i", "i0", "i1", 4)
    assert "default_schedule" not in ln.explain(scheduled, *args).stages
    assert "k0" not in scheduled.loops(*args)


def test_an_unknown_name_is_told():
    with ln.config(without=("rows",)), pytest.raises(LinnetError, match="sums_of_rows"):
        rows.code(*arguments("rows"))


@pytest.mark.parametrize(("dtype", "count"), [("float32", 64), ("int64", 32), ("int32", 64)])
def test_as_many_elements_as_registers_hold(dtype, count):
    commands = ln.explain(rows, *arguments("rows", dtype=dtype))["default_schedule"]
    assert commands == HELD.replace("32", str(count))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_what_is_held_is_in_registers(dtype):
    """But for what is done with a few elements, whose number nobody knows."""
    text = llvm.render(rows.lowered(*arguments("rows", dtype=dtype)).kernel)
    held = re.findall(r"alloca \[(\d+) x", text)
    assert len(held) == 4
    assert len(re.findall(r"alloca \[(\d+) x", machine.optimized(text))) == 1


@ln.kernel
def triangle(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        if k <= i:
            C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def powers(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * np.exp(B[j, k])
    return C


@ln.kernel
def onto(C, A, B):
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def read_back(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k] * 2
        C[i, k] += A[i, j]
    return C


@pytest.mark.parametrize("kernel", [triangle, powers, read_back], ids=lambda k: k.__name__)
def test_loops_that_stay(kernel):
    """Cut in the middle of a row, with calls, or added to in two ways."""
    assert "default_schedule" not in ln.explain(kernel, *arguments("rows")).stages


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("width", [0, 5, 9, 31, 32, 45, 64])
def test_what_is_there_is_added_to(width, backend):
    """Also in rows that get nothing."""
    _, A, B = arguments("rows", width)
    C = ln.asarray(np.arange(7.0 * width).reshape(7, width))
    assert ln.explain(onto, C, A, B)["default_schedule"] == HELD
    with ln.config(backend=backend):
        found = onto(C, A, B)
    expected = np.arange(7.0 * width).reshape(7, width) + A.to_numpy() @ B.to_numpy()
    np.testing.assert_array_equal(found.to_numpy(), expected)


@ln.kernel
def one_is_kept(C, D, A, B):
    D[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
        D[i, k] += A[i, j] * 2 * B[j, k]
    return C, D


@pytest.mark.parametrize("width", [5, 9, 16, 40])
def test_one_result_begins_anew(width):
    _, A, B = arguments("rows", width)
    C, D = one_is_kept(ln.asarray(np.ones((7, width))), ln.empty_tensor(DENSE), A, B)
    product = A.to_numpy() @ B.to_numpy()
    np.testing.assert_array_equal(C.to_numpy(), product + 1)
    np.testing.assert_array_equal(D.to_numpy(), 2 * product)


PAPER = """
split(i, i0, i1, 16) pos(j, jpos, A) split(jpos, jpos0, jpos1, 8)
reorder(i0, i1, jpos0, k, jpos1) parallelize(k, CPUVector, IgnoreRaces)
"""


@pytest.mark.parametrize("width", [1, 5, 32])
def test_vectors_that_are_asked_for_go_along_rows(width):
    C, A, B = arguments("rows", width)
    found = rows.schedule().apply(PAPER)(C, A, B)
    np.testing.assert_array_equal(found.to_numpy(), A.to_numpy() @ B.to_numpy())


TILES = "split(i, i0, i1, 4) split(j, j0, j1, 16) split(k, k0, k1, 4) "


@pytest.mark.parametrize("order", ["i0, k0, j0, i1, j1, k1", "i0, k0, i1, j0, j1, k1"])
@pytest.mark.parametrize("n", [3, 8, 37])
def test_tiles_of_products(order, n):
    A, B = (np.random.default_rng(s).integers(-9, 9, (n, n)).astype(float) for s in (1, 2))
    kernel = rows.schedule().apply(f"{TILES} reorder({order})")
    C = kernel(ln.empty_tensor(DENSE), A, B)
    np.testing.assert_array_equal(C.to_numpy(), A @ B)
