"""Workspaces whose all array is double-buffered, or merged by another thread (WORK §5.3)."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.papers import test_work_own_policies as policies
from tests.papers.test_work_memory import SCRIPT
from tests.papers.test_work_policies import by_parity, outer, scatter
from tests.unit.backend.harness import needs_cc

import linnet as ln
from linnet.errors import FormatError
from linnet.formats.assemble import unpack
from linnet.frontend.text import parse_text

OPTIONS = [
    {"double_buffered": True},
    {"pipelined": True},
    {"double_buffered": True, "pipelined": True},
]
KINDS = [ln.Coord(), ln.Bucket(), ln.Hash(), ln.Heap(), policies.Insertion()]


def components(format, X, Y, v, shape, **more):
    """What a workspace holds: coordinates, and the bits of the values."""
    coordinates, values = unpack(scatter(format, X, Y, v, shape, **more))
    return [c.tolist() for c in coordinates], values.tobytes()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=lambda p: type(p).__name__)
def test_the_result_has_the_same_bits(kind, options):
    """Batches are the same, and merged in the same order: sums of floats do not differ."""
    rooms = ((2, 0), (8, 1)) if kind == ln.Coord() else ((5, 0.5),)
    for capacity, growth in rooms:
        plain = replace(kind, capacity=capacity, growth=growth)
        for seed in range(20):
            rng = np.random.default_rng(seed)
            count = int(rng.integers(0, 400))
            X, Y, v = rng.integers(0, 12, count), rng.integers(0, 9, count), rng.random(count)
            expected = components(ln.workspace(2, plain), X, Y, v, (12, 9))
            fast = ln.workspace(2, replace(plain, **options))
            assert components(fast, X, Y, v, (12, 9)) == expected


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", [(3000, 2000), (1 << 40, 1 << 40)])
def test_many_batches_of_many_components(options, shape):
    """So many that threads do run beside each other, and dense groups are used."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, Y = rng.integers(0, 3000, 300_000), rng.integers(0, 2000, 300_000)
        v = rng.random(300_000)
        expected = components(ln.workspace(2, ln.Coord(growth=0.25)), X, Y, v, shape)
        fast = ln.workspace(2, ln.Coord(growth=0.25, **options))
        assert components(fast, X, Y, v, shape) == expected


ROOM = {"capacity": [None, 1, 2, 7], "growth": [0, 0.3, 1, 4]}
DTYPES = ["float64", "float32", "int8", "complex128", "bool"]


@st.composite
def any_policies(draw):
    """A policy with any parameters; each is compiled, so there are not too many."""
    room = {name: draw(st.sampled_from(values)) for name, values in ROOM.items()}
    room |= {name: draw(st.booleans()) for name in ("double_buffered", "pipelined")}
    made = {
        "coord": lambda: ln.Coord(**room),
        "bucket": lambda: ln.Bucket(length=draw(st.sampled_from([None, 1, 5])), **room),
        "mapped": lambda: ln.Bucket(by_parity, 16, **room),
        "hash": lambda: ln.Hash(length=draw(st.sampled_from([None, 1, 4])), **room),
        "heap": lambda: ln.Heap(**room),
        "own": lambda: policies.Insertion(**room),
    }
    return made[draw(st.sampled_from(sorted(made)))]()


@settings(max_examples=15, deadline=None)
@given(any_policies(), st.sampled_from(DTYPES), st.sampled_from([7, 1 << 40]), st.data())
def test_any_policy(policy, dtype, columns, data):
    """Sums of whole numbers, and the last of all assignments, are what NumPy says."""
    count = data.draw(st.integers(0, 120))
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    X, Y = rng.integers(0, 6, count), rng.integers(0, 7, count)
    v = rng.integers(0, 2 if dtype == "bool" else 4, count).astype(dtype)
    shape, last = (1 << 40 if columns > 7 else 6, columns), dtype == "bool"
    w = scatter(ln.workspace(2, policy, dtype=dtype), X, Y, v, shape, "=" if last else "+=")
    expected = np.zeros((6, 7), dtype)
    if last:
        for x, y, value in zip(X, Y, v, strict=True):
            expected[x, y] = value
    else:
        np.add.at(expected, (X, Y), v)
    coordinates, values = unpack(w)
    assert w.nnz == len(set(zip(X.tolist(), Y.tolist(), strict=True)))
    assert np.array_equal(values, expected[tuple(coordinates)])


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_products_through_workspaces_that_are_inserted(options, backend):
    """Temporaries, once for each row and once for all, into formats of any kind."""
    rng = np.random.default_rng(1)
    a = np.where(rng.random((40, 30)) < 0.2, rng.integers(1, 9, (40, 30)), 0) * 1.0
    b = np.where(rng.random((30, 50)) < 0.2, rng.integers(1, 9, (30, 50)), 0) * 1.0
    rows = ln.Kernel(
        parse_text("C[...] = 0\nfor i, k, j in ...:\n    C[i, j] += A[i, k] * B[k, j]")
    )
    with ln.config(backend=backend):
        for kernel, format, results in (
            (outer, ln.CSC, (ln.CSR, ln.CSC)),
            (rows, ln.CSR, (ln.DCSR,)),
        ):
            asked = ln.insert_workspaces(kernel, ln.Hash(capacity=6, **options))
            A, B = ln.asarray(a, format=format), ln.asarray(b, format=ln.CSR)
            for result in results:
                assert np.array_equal(asked(ln.empty_tensor(result), A, B).to_numpy(), a @ b)


def test_a_workspace_that_is_updated_again():
    @ln.kernel
    def again(w, A):
        for i, j in ...:
            w[j, i] += A[i, j]
        return w

    A = ln.asarray(np.arange(1.0, 13).reshape(3, 4), format=ln.CSR)
    for options in OPTIONS:
        w = ln.empty_tensor(ln.workspace(2, ln.Coord(capacity=3, **options)))
        scatter_into(w)
        for times in range(1, 4):
            again(w, A)
            assert np.array_equal(w.to_numpy(), times * A.to_numpy().T)


def scatter_into(w):
    """Declare a workspace of four by three, with nothing in it."""
    none = np.zeros(0, np.int64)
    text = "ln.declare(w, 0, (4, 3))\nfor t in ...:\n    w[X[t], X[t]] += v[t]"
    ln.Kernel(parse_text(text))(w, none, np.zeros(0))


def test_many_python_threads_with_pipelines_of_their_own():
    rng = np.random.default_rng(2)
    X, Y, v = rng.integers(0, 90, 5000), rng.integers(0, 90, 5000), rng.random(5000)
    format = ln.workspace(2, ln.Hash(capacity=50, growth=0, pipelined=True))
    expected = components(format, X, Y, v, (90, 90))
    start = threading.Barrier(6)

    def work(_):
        start.wait()
        return [components(format, X, Y, v, (90, 90)) for _ in range(5)]

    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(work, range(6)):
            assert found == [expected] * 5


def test_an_index_out_of_bounds_ends_the_task_too():
    rng = np.random.default_rng(3)
    X, v = rng.integers(0, 90, 20_000), rng.random(20_000)
    format = ln.workspace(2, ln.Coord(capacity=4000, growth=0, pipelined=True))
    wrong = X.copy()
    wrong[-1] = 90
    for _ in range(5):
        with pytest.raises(ln.errors.IndexBoundsError):
            scatter(format, wrong, X, v, (90, 90))
        assert scatter(format, X, X, v, (90, 90)).nnz == len(set(X.tolist()))


@pytest.mark.parametrize("policy", policies.ASTRAY)
def test_a_policy_that_goes_astray_on_another_thread(policy):
    X = np.arange(40)
    format = ln.workspace(2, policy(capacity=4, pipelined=True))
    for _ in range(2):
        with pytest.raises(FormatError, match="goes beyond its arrays"):
            scatter(format, X, X, np.ones(40), (40, 40))


def test_an_order_that_is_none_on_another_thread():
    X = np.arange(40)
    for policy in (policies.Backwards, policies.OutOfRange):
        with pytest.raises(FormatError, match="components out of order"):
            scatter(ln.workspace(2, policy(capacity=4, pipelined=True)), X, X, X * 1.0, (40, 40))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("options", ["double_buffered=True", "pipelined=True"])
def test_out_of_memory(options):
    text = SCRIPT.replace("{policy}(", f"Hash({options}, ")
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_no_option():
    for name in ("pipelined", "double_buffered"):
        with pytest.raises(FormatError, match=f"is {name} or not"):
            ln.Coord(**{name: 2})
    assert repr(ln.Hash(pipelined=True)) == "Hash(pipelined=True)"


# -- under the thread sanitizer --------------------------------------------------------------------

MAIN = """
#include <stdio.h>
int main(void) {
  enum { N = 60000 };
  static i64 X[N], Y[N];
  static double v[N];
  for (int t = 0; t < N; t++) X[t] = t * 7919ll % 500, Y[t] = t * 104729ll % 700, v[t] = t;
  for (int round = 0; round < 3; round++) {
    i64 args[100] = {500, 700};
    X[N - 1] = round == 2 ? 500 : 0;  // out of bounds, with a task at work
    args[X_AT] = (i64)X, args[Y_AT] = (i64)Y, args[V_AT] = (i64)v, args[N_AT] = N;
    printf("%d ", (int)kernel(args) & 255);
    i64 mine[] = {MINE};
    for (int k = 0; k < sizeof mine / sizeof *mine; k++) free((void *)args[mine[k]]);
  }
}
"""


def sanitized(code: str, folder) -> subprocess.CompletedProcess[str] | None:
    """Run a kernel that scatters, as a program of its own; None if there is no sanitizer."""
    slots = dict(re.findall(r"\b(n_t|[XYv]_val) = (?:\(void \*\))?args\[(\d+)\]", code))
    own = re.findall(r"\*(?:restrict )?w_\w+ = \(void \*\)args\[(\d+)\]", code)
    text = code + MAIN.replace("MINE", ", ".join(own)).replace("N_AT", slots["n_t"])
    for name in "XYv":
        text = text.replace(f"{name.upper()}_AT", slots[f"{name}_val"])
    source, program = folder / "kernel.c", folder / "kernel"
    source.write_text(text)
    flags = ["-std=gnu11", "-O1", "-g", "-fwrapv", "-fsanitize=thread", "-pthread", "-lm"]
    made = subprocess.run(["cc", source, "-o", program, *flags], check=False, capture_output=True)
    if made.returncode:
        assert b"tsan" in made.stderr, made.stderr.decode()
        return None
    done = subprocess.run([program], check=False, capture_output=True, text=True)
    return None if "unexpected memory mapping" in done.stderr else done


@needs_cc
@pytest.mark.parametrize(
    "policy",
    [
        ln.Coord(capacity=3000, growth=0, pipelined=True),
        ln.Hash(capacity=500, double_buffered=True, pipelined=True),
    ],
    ids=repr,
)
def test_no_two_threads_touch_the_same_memory(policy, tmp_path):
    text = "ln.declare(w, 0, (500, 700))\nfor t in ...:\n    w[X[t], Y[t]] += v[t]"
    X, v = np.arange(5), np.ones(5)
    code = ln.Kernel(parse_text(text)).code(ln.empty_tensor(ln.workspace(2, policy)), X, X, v)
    done = sanitized(code, tmp_path)
    if done is None:
        pytest.skip("there is no thread sanitizer")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 0 2 ", "")
