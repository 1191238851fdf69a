"""The C text: what people read, and what they compile themselves."""

import ctypes
import subprocess

import numpy as np
import pytest
from tests.unit.backend import kernels
from tests.unit.backend.harness import needs_cc

from linnet import imp
from linnet.backend import c
from linnet.imp import (
    ZERO,
    Accumulate,
    Argument,
    Assign,
    Binary,
    Block,
    Break,
    Buffer,
    Call,
    Cast,
    Comment,
    Const,
    For,
    If,
    Kernel,
    Let,
    Return,
    Store,
    Unary,
    Var,
    While,
)
from linnet.optimize.vectorize import vectorize
from linnet.target import PLAIN

i, j, n, p, q = (Var(x) for x in "i j n p q".split())
x = Buffer("x", "float64")
y = Buffer("y", "int32")
HALF = Const(0.5, "float64")


def body(*stmts: imp.Stmt) -> str:
    """The C of statements, without what surrounds them."""
    lets = [Let(v, ZERO) for v in (p, q)]
    kernel = Kernel("k", (Argument("x", (n,), (x, y)),), Block((*lets, *stmts)))
    text = c.render(vectorize(kernel, PLAIN))
    lines = [line[2:] for line in text[text.index("i64 p = 0") :].splitlines()[1:-1]]
    return "\n".join(lines[:-1] if lines[-1] == "return 0;" else lines)


def returned(e: imp.Expr) -> str:
    return body(Return(e)).removeprefix("return ").removesuffix(";")


def test_spmv():
    text = c.render(kernels.spmv())
    assert (
        text[text.index("i64 spmv") :]
        == """\
i64 spmv(i64 *restrict args) {
  i64 n_i = args[3];
  double *restrict y_val = (void *)args[0];
  const i64 *restrict A_ptr = (void *)args[5];
  const i64 *restrict A_idx = (void *)args[8];
  const double *restrict A_val = (void *)args[11];
  const double *restrict x_val = (void *)args[14];
  for (i64 i = 0; i < n_i; i++) {
    double y_i = 0;
    // walk row i of A
    for (i64 q = A_ptr[i]; q < A_ptr[i + 1]; q++)
      y_i += A_val[q] * x_val[A_idx[q]];
    y_val[i] = y_i;
  }
  return 0;
}
"""
    )


def test_narrow_index_arrays_read_the_same():
    wide = c.render(kernels.spmv("int64")).splitlines()[5:]
    narrow = c.render(kernels.spmv("int32")).replace("i32", "i64").splitlines()[5:]
    assert [line for line in narrow if "typedef" not in line] == wide


@pytest.mark.parametrize(
    ("e", "text"),
    [
        ((p + q) * p, "(p + q) * p"),
        (p + q * p, "p + q * p"),
        (p - (q - 1), "p - (q - 1)"),
        (p - q - 1, "p - q - 1"),
        (p + Const(-1, "int64"), "p - 1"),
        (Unary("-", p, "int64") + p, "-p + p"),
        (Unary("-", Unary("-", p, "int64"), "int64"), "- -p"),
        (Binary("rem", p, Const(3, "int64"), "int64"), "p % 3"),
        (Binary("div", p, q, "int64"), "div_i64(p, q)"),
        (imp.minimum(p, q), "min(p, q)"),
        (Binary("<<", p, Const(3, "int64"), "int64"), "p << 3"),
        (Binary("<<", Const(1, "int64"), Const(40, "int64"), "int64"), "(i64)1 << 40"),
        (Binary("&", p + 1, Const(7, "int64"), "int64"), "(p + 1) & 7"),
        (imp.Select(p < q, p, q + 1), "p < q ? p : q + 1"),
        (imp.Select(p < q, p, q) + 1, "(p < q ? p : q) + 1"),
        (imp.widen(y[p]) + q, "y[p] + q"),
        (imp.widen(y[p]) + imp.widen(y[q]), "(i64)y[p] + y[q]"),
        (Cast(p <= q, "int64") + q, "(p <= q) + q"),
        (Cast(x[p], "int64"), "to_i64(x[p])"),
        (Const(-(2**63), "int64"), "INT64_MIN"),
        (Cast(Call("sqrt", (x[p] * HALF,), "float64"), "int64"), "to_i64(sqrt(x[p] * 0.5))"),
        ((p < 1) | ((p < 2) & (q < 2)), "p < 1 || (p < 2 && q < 2)"),
    ],
)  # fmt: skip
def test_expressions_have_no_needless_parentheses(e, text):
    assert returned(e) == text


def test_conditions():
    assert body(While((p < q) & ((p > 1) | (q > 1)), Block((Assign(p, p + 1),)))) == (
        "while (p < q && (p > 1 || q > 1)) p++;"
    )
    assert body(If(~(p < q), Block((Assign(p, p - 1),)), imp.EMPTY)) == "if (p >= q) p--;"
    assert (
        body(If(~(x[p] < x[q]), Block((Assign(p, q),)), imp.EMPTY)) == "if (!(x[p] < x[q])) p = q;"
    )


def test_updates():
    assert body(Assign(p, p + q), Store(x, p, x[p] * x[q]), Accumulate(q, "max", p)) == (
        "p += q;\nx[p] *= x[q];\nq = max(q, p);"
    )
    assert body(Assign(p, p + Cast(p <= q, "int64"))) == "p += p <= q;"
    assert body(Store(x, q, x[p]), Assign(q, q + 1)) == "x[q++] = x[p];"
    assert body(Store(x, q, x[q]), Assign(q, q + 1)) == "x[q] = x[q];\nq++;"


def test_choices_chain():
    chain = If(
        imp.eq(p, 0),
        Block((Assign(p, q),)),
        Block((If(p < q, Block((Break(),)), Block((Assign(q, p),))),)),
    )
    assert (
        body(For(i, ZERO, n, Block((chain,))))
        == """\
for (i64 i = 0; i < n; i++)
  if (p == 0) p = q;
  else if (p < q) break;
  else q = p;"""
    )


def test_an_else_belongs_to_its_if():
    inner = If(p < q, Block((Assign(p, q),)), imp.EMPTY)
    assert (
        body(If(p < 1, Block((inner,)), Block((Assign(q, p),))))
        == """\
if (p < 1) {
  if (p < q) p = q;
} else {
  q = p;
}"""
    )


def test_a_bound_that_changes_is_read_before_the_loop():
    assert body(For(i, ZERO, p, Block((Assign(p, p - 1),)))) == (
        "for (i64 i = 0, i_end = p; i < i_end; i++) p--;"
    )


def test_reductions_of_contiguous_floats_are_vectorized():
    s = Var("s", "float64")
    contiguous = For(i, ZERO, n, Block((Accumulate(s, "+", x[i + p]),)))
    gather = For(j, ZERO, n, Block((Accumulate(s, "+", x[imp.widen(y[j])]),)))
    text = body(Let(s, Const(0.0, "float64")), contiguous, gather)
    assert text.count("#pragma omp simd reduction(+:s)") == 1
    assert text.index("#pragma") < text.index("x[i + p]")


def test_comments_stay_comments():
    text = body(Comment("one\ntwo \\"), Assign(p, q))
    assert text == "// one\n// two /\np = q;"


def test_only_what_is_used_is_declared():
    assert c.render(kernels.returning(ZERO)).splitlines() == [
        "#include <stdint.h>",
        "",
        "typedef int64_t i64;",
        "",
        "i64 number(i64 *restrict args) {",
        "  return 0;",
        "}",
    ]


def test_status_has_a_name():
    assert (
        body(Return(Const(imp.OUT_OF_BOUNDS | 3 << 8, "int64"))) == "return OUT_OF_BOUNDS | 3 << 8;"
    )


@needs_cc
def test_an_exported_kernel_stands_alone(tmp_path):
    text, header = c.export(kernels.spmv())
    (tmp_path / "spmv.c").write_text(text)
    (tmp_path / "spmv.h").write_text(header)
    command = "cc -Wall -Wextra -Werror -Wno-unknown-pragmas -O2 -shared -fPIC spmv.c -o spmv.so"
    subprocess.run(command.split(), cwd=tmp_path, check=True)
    spmv = ctypes.CDLL(str(tmp_path / "spmv.so")).spmv
    y_val, x_val = np.zeros(2), np.array([3.0, 4.0])
    ptr, idx, val = np.array([0, 1, 3]), np.array([1, 0, 1]), np.array([1.0, 2.0, 5.0])
    slots = [y_val.ctypes.data, 2, 2, 2, 2]
    for array in (ptr, idx, val, x_val):
        slots += [array.ctypes.data, len(array), len(array)]
    assert spmv((ctypes.c_int64 * len(slots))(*slots)) == 0
    assert list(y_val) == [4.0, 26.0]


@needs_cc
def test_exported_kernels_compile_without_warnings(tmp_path):
    for kernel in (kernels.spgemm(), kernels.union(), kernels.reductions("complex64", ["+", "*"])):
        text, _ = c.export(kernel)
        (tmp_path / "k.c").write_text(text.split("\n", 2)[2])
        command = "cc -std=c11 -Wall -Wextra -Werror -Wno-unknown-pragmas -fsyntax-only k.c"
        subprocess.run(command.split(), cwd=tmp_path, check=True)
