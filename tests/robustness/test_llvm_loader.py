"""Without our own loader, as on most systems: processes whose kernels LLVM loads, amid garbage."""

from __future__ import annotations

import pytest
from tests.robustness.kernels import passes

# Whatever is made is part of a cycle, and Python looks for garbage all the time.
GARBAGE = """
import gc, sys
gc.set_threshold(40, 2, 2)
class Cycle:
    def __init__(self, *held):
        self.itself, self.held = self, held
A, B = (ln.asarray(matrix(20, seed), format='csr') for seed in (0, 1))
a, b, x = matrix(20, 0), matrix(20, 1), np.arange(20.0)
def same(found, wanted):
    Cycle(found)
    np.testing.assert_allclose(np.asarray(found.to_numpy()), wanted, rtol=1e-12)
"""
PROGRAMS = {
    "products": "for k in range(9): same(A @ x, a @ x); same(A @ B, a @ b)",
    "sums": "for k in range(9): same(A + B, a + b); same(A.sum(0), a.sum(0))",
    "conversions": "for f in (ln.CSC, ln.COO(2), ln.DENSE(2), ln.RLE): same(A.to(f), a)",
    "functions": (
        "for f in ('exp', 'sin', 'log1p', 'sqrt'): same(getattr(ln, f)(A), getattr(np, f)(a))"
    ),
    "of the C library": "same(ln.hypot(A, B), np.hypot(a, b)); same(A % 3.0, a % 3.0)",
    "kernels": "for k in range(9): same(spmv(vector(), A, x), a @ x)",
    "workspaces": "same(spgemm(ln.empty_tensor(ln.CSR), A, B), a @ b)",
    "memory that grows": (
        "y = A\nfor k in range(6): y = ln.concat([y, y])\nsame(y, np.vstack([a] * 64))"
    ),
    "kernels that are dropped": (
        "import importlib, tests.robustness.kernels as module\n"
        "for k in range(12):\n"
        "    kernel = importlib.reload(module).spmv\n"
        "    same(kernel(vector(), A, x), a @ x)\n    Cycle(kernel)"
    ),
    "options": (
        "for k in range(12):\n"
        "    with ln.config(loader=('own', 'llvm')[k % 2], cache=False):\n"
        "        same(A @ (x + k), a @ (x + k))"
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    for found in pool.map(lambda k: (A * float(k)).sum(0), range(12)): Cycle(found)\n"
        "    same(found, (11 * a).sum(0))"
    ),
    "a second process": "same(A @ B, a @ b)\nassert 'llvmlite.binding' in sys.modules",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_kernels_that_llvm_loads(program, tmp_path):
    text = f"{GARBAGE}{PROGRAMS[program]}\ngc.collect()\nprint('done')\n"
    given = {"LINNET_LOADER": "llvm", "LINNET_CHECK": "0", "LINNET_CACHE_DIR": str(tmp_path / "c")}
    for _ in range(2 if program == "a second process" else 1):
        assert passes(text, **given) == "done\n"
