"""The LLVM text, and the machine code that LLVM makes of it."""

import pytest
from tests.unit.backend import kernels

from linnet.backend import llvm, loader, machine
from linnet.imp import (
    ZERO,
    Argument,
    Binary,
    Block,
    Buffer,
    For,
    Kernel,
    Store,
    Var,
)
from linnet.optimize.vectorize import vectorize
from linnet.target import PLAIN

x86 = pytest.mark.skipif(not loader.supported(), reason="reads x86-64 assembly")


def test_the_same_kernel_is_always_the_same_text():
    assert llvm.render(kernels.spgemm()) == llvm.render(kernels.spgemm())


def test_only_reductions_may_be_reordered():
    text = llvm.render(kernels.reductions("float64", ["+"]))
    assert "fadd reassoc nsz contract double" in text
    assert "fmul contract double" in text
    i, n = Var("i"), Var("n")
    x, y = Buffer("x", "float64"), Buffer("y", "float64")
    total = Binary("+", y[i], Binary("*", x[i], x[i], "float64"), "float64")
    loop = For(i, ZERO, n, Block((Store(y, i, total),)))
    text = llvm.render(Kernel("k", (Argument("x", (n,), (x, y)),), Block((loop,))))
    assert "reassoc" not in text
    assert "contract" not in text


def test_arrays_that_are_only_read_do_not_change():
    text = llvm.render(vectorize(kernels.spmv(), PLAIN))
    # A_ptr twice; A_idx, A_val and x_val in the loop for long rows and in that for short ones
    assert text.count("!invariant.load") == 2 + 2 * 3


@x86
def test_dense_reductions_are_vectorized():
    text = machine.assembly(llvm.render(kernels.reductions("float64", ["+"])))
    assert any(word in text for word in ("pd\t", "mulpd", "vfmadd231pd", "addpd"))


@x86
def test_buffers_do_not_overlap():
    i, n = Var("i"), Var("n")
    x, y, z = (Buffer(name, "float64") for name in "xyz")
    loop = For(i, ZERO, n, Block((Store(z, i, Binary("+", x[i], y[i], "float64")),)))
    text = llvm.render(Kernel("add", (Argument("x", (n,), (x, y, z)),), Block((loop,))))
    code = machine.assembly(text)
    assert "addpd" in code
    # no test at run time whether the arrays overlap: the loop is entered on its length alone
    before = code[: code.index("addpd")]
    assert before.count("\tcmp") + before.count("\tsub") <= 3
