"""Sparse workspaces and memory: running out of it, and what they take beside the result."""

from __future__ import annotations

import os
import shutil
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
kernel = ln.Kernel(parse_text(text))
w = ln.empty_tensor(ln.workspace(2, ln.{policy}(capacity=1024)))
rng = np.random.default_rng(0)
X, Y = rng.integers(0, 1 << 20, (2, 1_000_000))
v = np.ones(len(X))
few = (X[:5], Y[:5], v[:5])
kernel(w, *few)
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + (16 << 20)
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
@pytest.mark.parametrize("policy", ["Coord", "Hash", "Bucket", "Heap"])
def test_out_of_memory_leaves_everything_as_it_was(policy):
    command = [sys.executable, "-c", SCRIPT.replace("{policy}", policy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


INSERTED = """
import resource
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import linnet as ln
from linnet.formats.spare import SPARE
from linnet.frontend.text import parse_text

order, n, per_row, told = {case}
kernel = ln.Kernel(
    parse_text(f"C[...] = 0\\nfor {order} in ...:\\n    C[i, j] += A[i, k] * B[k, j]")
)


def matrix(n, per_row, seed):
    idx = np.random.default_rng(seed).integers(0, n, n * per_row)
    A = sp.csr_array((np.ones(n * per_row), idx, np.arange(0, n * per_row + 1, per_row)), (n, n))
    A.sum_duplicates()
    return A


def product(A, B):
    return kernel(ln.empty_tensor(ln.CSR), A, B)


given = [matrix(n, per_row, seed) for seed in range(2)]
few = [matrix(5, 2, seed) for seed in range(2)]
first = ln.CSR if order.startswith("i") else ln.CSC
A, B = (ln.asarray(m, format=f) for m, f in zip(given, (first, ln.CSR)))
a, b = (ln.asarray(m, format=f) for m, f in zip(few, (first, ln.CSR)))
assert told in ln.explain(kernel, ln.empty_tensor(ln.CSR), A, B)["results"]
product(a, b)
product(A, B)  # compiled; what memory that took is given back
SPARE.drop()
before = [[x.copy() for x in t.buffers.values()] for t in (A, B)]
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + (16 << 20)
free = resource.getrlimit(resource.RLIMIT_AS)
for _ in range(3):
    resource.setrlimit(resource.RLIMIT_AS, (size, free[1]))
    try:
        product(A, B)
    except MemoryError as error:
        assert isinstance(error, ln.LinnetError)
    else:
        raise SystemExit("there was memory")
    assert (abs(product(a, b).to_scipy() - few[0] @ few[1])).nnz == 0
    resource.setrlimit(resource.RLIMIT_AS, free)
    for t, old in zip((A, B), before):
        assert all(np.array_equal(x, y) for x, y in zip(t.buffers.values(), old))
assert abs(product(A, B).to_scipy() - given[0] @ given[1]).nnz == 0
"""
CASES = {
    "listed": ("k, i, j", 1_000_000, 1, "collected in SparseWorkspace"),
    "in rows": ("i, k, j", 3000, 30, "collected inside i in SparseByteMap"),
    "an operand": ("k, i, j", 3000, 30, "put in order first"),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("case", CASES)
def test_out_of_memory_in_a_workspace_that_nobody_asked_for(case):
    """Operands are as they were, small calls work, and so does the same one with more memory."""
    command = [sys.executable, "-c", INSERTED.replace("{case}", repr(CASES[case]))]
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


# -- §7.3, Figure 18: bytes, counted by the allocator ----------------------------------------------

ALLOCATOR = """
#include <malloc.h>
#include <stddef.h>
static long long now, most;
static void *counted(void *p) {
  long long held = __atomic_add_fetch(&now, p ? malloc_usable_size(p) : 0, __ATOMIC_RELAXED);
  if (held > most) most = held;
  return p;
}
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return counted(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return counted(__libc_calloc(n, size)); }
void *aligned_alloc(size_t at, size_t n) { return counted(__libc_memalign(at, n)); }
void free(void *p) {
  if (p) __atomic_sub_fetch(&now, malloc_usable_size(p), __ATOMIC_RELAXED);
  __libc_free(p);
}
void *realloc(void *p, size_t n) {
  long long had = p ? malloc_usable_size(p) : 0;
  void *q = __libc_realloc(p, n);
  if (q || !n) __atomic_sub_fetch(&now, had, __ATOMIC_RELAXED);
  return counted(q);
}
long long counted_most(void) { return most; }
long long counted_anew(void) { return most = now; }
"""
COUNTING = """
import ctypes

import numpy as np
import scipy.sparse as sp

import linnet as ln
from linnet.formats.spare import SPARE
from linnet.frontend.text import parse_text

allocator = ctypes.CDLL(None)
allocator.counted_most.restype = allocator.counted_anew.restype = ctypes.c_longlong
rng, n, each = np.random.default_rng(0), 20_000, 5


def matrix(format):
    places = rng.integers(0, n, n * each), rng.integers(0, n, n * each)
    return ln.tensor(places, np.ones(n * each), (n, n), format=format)


outer = "C[...] = 0\\nfor k, i, j in ...:\\n    C[i, j] += A[i, k] * B[k, j]"
kernel = ln.insert_workspaces(ln.Kernel(parse_text(outer)), ln.{policy})
A, B = matrix(ln.CSC), matrix(ln.CSR)
told = ln.explain(kernel, ln.empty_tensor(ln.CSR), A, B)["results"].split("capacity=")
print(told[1].split(",")[0].split(")")[0] if len(told) > 1 else 1024)
with ln.config(backend="c"):  # whose code asks the allocator of this process
    kernel(ln.empty_tensor(ln.CSR), matrix(ln.CSC), matrix(ln.CSR))
    SPARE.drop()
    start = allocator.counted_anew()
    C = kernel(ln.empty_tensor(ln.CSR), A, B)
    print(allocator.counted_most() - start, sum(a.nbytes for a in C.buffers.values()), C.nnz)
    for _ in range(3):
        C = kernel(ln.empty_tensor(ln.CSR), A, B)
    print(allocator.counted_most() - start)
"""
_WORDS = 5 * 8  # of a component that accumulates: coordinates and value, twice, and a number
_SLOTS = 3 * 8  # and its part of a table, half of which may be empty
_FEW = 1 << 15  # components from which on the sorted ones and the others exchange their memory


def accumulating(policy: ln.Policy, first: int, stored: int) -> int:
    """The bytes of the accumulation array, as large as it may become beside so many components."""
    count = max(first, (1 << 17) + stored if policy.growth else 0)
    return count * (_WORDS + (_SLOTS if policy.tabled else 0))


COUNTED = [
    ln.Coord(capacity=1 << 14, growth=False),
    ln.Coord(),
    ln.Coord(growth=0.5),
    ln.Hash(),
    ln.Bucket(),
]


@pytest.fixture(scope="module")
def allocator(tmp_path_factory):
    """A library that counts what is allocated, to be loaded before all others."""
    if not sys.platform.startswith("linux") or shutil.which("cc") is None:
        pytest.skip("needs a C compiler and the C library of Linux")
    folder = tmp_path_factory.mktemp("allocator")
    source, library = folder / "count.c", folder / "count.so"
    source.write_text(ALLOCATOR)
    command = ["cc", "-O1", "-shared", "-fPIC", "-fno-builtin", str(source), "-o", str(library)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("the C library has no such functions")
    return library


@pytest.mark.parametrize("policy", COUNTED, ids=repr)
def test_memory_is_three_times_the_result_and_what_accumulates(policy, allocator):
    script = COUNTING.replace("{policy}", repr(policy))
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"LD_PRELOAD": str(allocator)},
    )
    assert done.returncode == 0, done.stderr
    first, most, result, stored, later = map(int, done.stdout.split())
    assert result < most  # they are counted
    assert most <= 3 * result + accumulating(policy, first, stored)
    exchanged = 16 * first if first > _FEW else 0  # then both have room for all
    assert later <= most + exchanged + 1.1 * result  # of the call before: the rest is used again
