"""An allocator that was loaded before the C library: kernels have its memory, and no other."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.robustness.kernels import passes

from linnet.backend import toolchain
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
def allocator(tmp_path_factory):
    folder = tmp_path_factory.mktemp("allocator")
    (folder / "allocator.c").write_text(ALLOCATOR)
    (compiler, *flags) = toolchain.find(Options())
    what = ["-O1", "-shared", "-fPIC", "-fno-builtin", "-o", "allocator.so", "allocator.c"]
    subprocess.run([compiler, *flags, *what], cwd=folder, check=True)
    return folder / "allocator.so"


@pytest.mark.parametrize("loader", ["own", "llvm"])
def test_a_preloaded_allocator(allocator, loader, tmp_path):
    given = {"LINNET_LOADER": loader, "LINNET_CACHE_DIR": str(tmp_path / "c"), "LINNET_CHECK": "0"}
    for _ in range(2):  # compiled, and then found
        assert passes(PROGRAM, LD_PRELOAD=str(allocator), **given) == "done\n"
