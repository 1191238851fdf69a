"""Files of other systems through LLVM's loader: those of Windows are run, those of macOS linked."""

from __future__ import annotations

import sys

import pytest
from tests.robustness.kernels import passes

from linnet.backend import machine

HERE = machine.host(own=False)
GIVEN = {"LINNET_LOADER": "llvm", "LINNET_CHECK": "0", "LINNET_CACHE": "0"}
WINDOWS = """
from tests.robustness import windows
windows.install()
A, B = (ln.asarray(matrix(20, seed), format='csr') for seed in (0, 1))
a, b, x = matrix(20, 0), matrix(20, 1), np.arange(20.0)
def same(found, wanted): np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-6)
same(A @ x, a @ x)
same(A @ B, a @ b)
same(A + B, a + b)
same(A.sum(0), a.sum(0))
same(A % 3.0, a % 3.0)
same(ln.hypot(A, B), np.hypot(a, b))
same(ln.sin(A), np.sin(a))
same(A.astype(np.float32) ** np.float32(1.5), a.astype(np.float32) ** np.float32(1.5))
same(ln.concat([A] * 9), np.vstack([a] * 9))
same(spgemm(ln.empty_tensor(ln.CSR), A, B), a @ b)
for f in (ln.CSC, ln.COO(2), ln.RLE, ln.DENSE(2)): same(A.to(f), a)
with ln.config(threads=2): same(A @ B, a @ b)
large = ln.asarray(np.ones((900, 900)), format='csr')
same((large + large)[:5, :5], np.full((5, 5), 2.0))
print(*sorted(windows._known))
"""
# A function that has its address from a place beside the code: that of another one, far away.
MACOS = """
import ctypes, platform, struct
import llvmlite.binding as llvm
from linnet.backend import machine, symbols
from linnet.target import Target
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
text = '''
declare double @far(double, double)
define double @f(double %x, double %y) nounwind {
  %z = call double @far(double %x, double %y)
  ret double %z
}'''
shape = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
far = shape(lambda x, y: x - y)
at = ctypes.cast(far, ctypes.c_void_p).value
symbols.address_of = lambda name: at * (name == 'far')
there = Target('arm64-apple-macosx', 'apple-m1', page=16384)
machine.host = lambda own: there
code = machine.compile(text)
assert code[:4] == b'\\xcf\\xfa\\xed\\xfe'
address, owner = machine.load(code, 'f')
words = struct.unpack('<4I', ctypes.string_at(address, 16))
assert not any(word >> 26 == 0x25 for word in words)  # bl: a branch of 128 MB at most
assert struct.pack('<Q', at) in ctypes.string_at(address, 64)
if platform.machine() == 'aarch64':
    assert shape(address)(3.0, 4.0) == -1.0
print('linked')
"""


@pytest.mark.skipif(HERE.system != "linux", reason="thunks for Linux")
@pytest.mark.skipif(HERE.processor != "x86_64", reason="code for x86-64")
def test_code_for_windows_computes_the_same():
    called = passes(WINDOWS, **GIVEN).split()
    assert {"fmod", "hypot", "memset", "realloc"} <= set(called)


@pytest.mark.skipif(sys.platform != "linux", reason="there it is what all kernels are")
def test_code_for_macos_is_linked():
    assert passes(MACOS, **GIVEN) == "linked\n"
