"""Where a condition holds is listed by words of bits, and the list is the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linnet as ln
from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.list_flags import list_flags
from linnet.imp.rewrite import statements

N, K, C, V = (imp.Var(name) for name in ("n", "k", "c", "v"))
FLAGS, X = imp.Buffer("flags", imp.BOOL), imp.Buffer("x", "int64")
OUT = imp.Buffer("out", "int32", growable=True)
WRITE = imp.Store(OUT, C, imp.Cast(K, "int32"))


def counted(cond: imp.Expr) -> imp.Assign:
    return imp.Assign(C, C + imp.Cast(cond, imp.INT))


def kernel(*body: imp.Stmt, start: imp.Expr = imp.ZERO, before: int = 0) -> imp.Kernel:
    """A list that has some entries already, with room for all of the loop."""
    loop = imp.For(K, start, N, imp.Block(body))
    stmts = (
        imp.Let(C, imp.Const(before, imp.INT)),
        imp.Let(V, imp.ZERO),
        imp.Grow(OUT, C + imp.maximum(N - start, imp.ZERO)),
        imp.Fill(OUT, imp.ZERO, C, imp.Const(-1, "int32")),
        loop,
        imp.SetLength(OUT, C),
    )
    given = imp.Argument("A", (N,), (FLAGS, X)), imp.Argument("B", (), (OUT,))
    return imp.Kernel("k", given, imp.Block(stmts))


PLAIN = kernel(WRITE, counted(FLAGS[K]))
CASES = {
    "flags": PLAIN,
    "not": kernel(WRITE, counted(~FLAGS[K]), before=2),
    "values": kernel(WRITE, counted(X[K] > 3), start=imp.Const(5, imp.INT), before=1),
}


@pytest.mark.parametrize("case", CASES)
@given(
    st.integers(0, 200).flatmap(lambda n: st.lists(st.integers(0, 6), min_size=n, max_size=n)),
)
def test_the_meaning_stays(case, values):
    x = np.array(values, np.int64)
    operand = {"A": ((len(x),), {"flags": x > 2, "x": x}), "B": ((), {})}
    changed = list_flags(CASES[case])
    check(changed)
    assert any(isinstance(s, imp.While) for s in statements(changed.body))
    (status, expected), (same, found) = (run(k, operand) for k in (CASES[case], changed))
    assert status == same == 0
    np.testing.assert_array_equal(found["out"], expected["out"])


AND = imp.Binary("and", FLAGS[K], X[K] > 0, imp.BOOL)


@pytest.mark.parametrize(
    "k",
    [
        kernel(imp.Store(OUT, C, imp.Cast(X[K], "int32")), counted(FLAGS[K])),
        kernel(imp.Store(OUT, C + 1, imp.Cast(K, "int32")), counted(FLAGS[K])),
        kernel(WRITE, counted(FLAGS[X[K]])),
        kernel(WRITE, counted(FLAGS[imp.ZERO])),
        kernel(WRITE, counted(AND)),
        kernel(WRITE, counted(K > 3)),
        kernel(WRITE, counted(imp.eq(X[K], C))),
        kernel(WRITE, counted(imp.Load(OUT, K) > imp.Const(0, "int32"))),
        kernel(WRITE, counted(imp.binary("div", X[K], V) > 3)),
        kernel(WRITE, imp.Assign(C, C + X[K])),
        kernel(WRITE, imp.Assign(V, C + imp.Cast(FLAGS[K], imp.INT))),
        kernel(WRITE, counted(FLAGS[K]), imp.Assign(V, K)),
    ],
    ids=[
        "values", "beside", "anywhere", "one", "both", "no data", "count", "itself", "division",
        "sums", "another", "more",
    ],
)  # fmt: skip
def test_what_is_not_so_simple_stays(k):
    assert list_flags(k) is k


@ln.kernel
def where(S, flags):
    S[...] = False
    for i in ...:
        if flags[i]:
            S[i] = True
    return S


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 500])
@pytest.mark.parametrize("often", [0.0, 0.02, 0.5, 1.0])
def test_flags_are_listed(backend, n, often):
    flags = np.random.default_rng(n).random(n) < often
    with ln.config(backend=backend):
        found = where(ln.empty_tensor(ln.SparseList(ln.Pattern())), flags)
        assert "list_bits" in where.code(ln.empty_tensor(ln.SparseList(ln.Pattern())), flags)
    np.testing.assert_array_equal(found.to_numpy(), flags)
