"""Several allocators in one process: kernels have the memory of that whose `free` Python calls."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.robustness.kernels import passes

from linnet.backend import toolchain
from linnet.backend.symbols import MEMORY
from linnet.options import Options

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD"),
    pytest.mark.skipif(not toolchain.available(Options()), reason="there is no C compiler"),
]

# It hands out memory of one large range, gives none back, and will have nobody else's blocks.
ALLOCATOR = """
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static char *begin, *next, *end;
static __attribute__((constructor(101))) void reserve(void) {
  if (begin) return;
  begin = next = mmap(0, 1L << 36, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  end = begin + (1L << 36);
}
void *aligned_alloc(size_t align, size_t n) {
  reserve();
  align = align < 16 ? 16 : align;
  char *at = __atomic_fetch_add(&next, n + 2 * align, __ATOMIC_SEQ_CST);
  at += 2 * align - (size_t)at % align;
  ((size_t *)at)[-1] = n;
  return at;
}
void *memalign(size_t align, size_t n) { return aligned_alloc(align, n); }
int posix_memalign(void **p, size_t align, size_t n) { return !(*p = aligned_alloc(align, n)); }
void *malloc(size_t n) { return aligned_alloc(16, n); }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void free(void *p) { if (p && ((char *)p < begin || (char *)p >= end)) abort(); }
void *realloc(void *p, size_t n) {
  void *q = malloc(n);
  if (p) { size_t had = ((size_t *)p)[-1]; memcpy(q, p, had < n ? had : n); free(p); }
  return q;
}
"""
PROGRAM = """
a = matrix(300, 1)
A = ln.asarray(a, format='csr')
for k in range(3):
    np.testing.assert_array_equal((A @ A).to_numpy(), a @ a)
    np.testing.assert_array_equal(ln.concat([A, A]).to_numpy(), np.vstack([a, a]))
np.testing.assert_array_equal(np.asarray((ln.asarray(np.ones(2_000_000)) + 1).to_numpy()), 2.0)
print('done')
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("allocator")
    (folder / "allocator.c").write_text(ALLOCATOR)
    return folder


def compiled(folder, *what):
    (compiler, *flags) = toolchain.find(Options())
    given = [compiler, *flags, "-O1", "-fPIC", "-fno-builtin", *what, "allocator.c"]
    subprocess.run(given, cwd=folder, check=True)


@pytest.fixture(scope="module")
def allocator(folder):
    compiled(folder, "-shared", "-o", "allocator.so")
    return folder / "allocator.so"


@pytest.fixture(scope="module")
def own_allocator(folder):
    """A compiler whose libraries have an allocator of their own, as those of MinGW may have."""
    compiled(folder, "-c", "-fvisibility=hidden", "-o", "allocator.o")
    return f"{toolchain.find(Options())[0]} {folder / 'allocator.o'}"


@pytest.mark.parametrize(("backend", "loader"), [("llvm", "own"), ("llvm", "llvm"), ("c", "own")])
def test_a_preloaded_allocator(allocator, backend, loader, tmp_path):
    given = {"LINNET_LOADER": loader, "LINNET_BACKEND": backend, "LINNET_CHECK": "0"}
    for _ in range(2):  # compiled, and then found
        environment = given | {"LINNET_CACHE_DIR": str(tmp_path / "c")}
        assert passes(PROGRAM, LD_PRELOAD=str(allocator), **environment) == "done\n"


def test_a_compiler_that_links_another_allocator(own_allocator, tmp_path):
    given = {"LINNET_BACKEND": "c", "CC": own_allocator, "LINNET_CHECK": "0"}
    for _ in range(2):
        environment = given | {"LINNET_CACHE_DIR": str(tmp_path / "c")}
        assert passes(PROGRAM, **environment) == "done\n"


def test_a_library_is_given_all_memory_functions():
    assert set(toolchain.GIVEN) == MEMORY
