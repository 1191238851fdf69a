"""Lists are gone through in a loop of their own until they meet, where much is done then."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.simplify import simplify
from linnet.imp.skip_ahead import skip_ahead
from linnet.testing import dense

I, J, K, Q, P, T = (imp.Var(name) for name in ("i", "j", "k", "q", "p", "t"))
M, N = imp.Var("m"), imp.Var("n")
IDX, JDX, OUT = imp.Buffer("idx", "int32"), imp.Buffer("jdx", "int32"), imp.Buffer("out", "int64")
READ = (imp.Let(I, imp.widen(IDX[Q])), imp.Let(J, imp.widen(JDX[P])))
STEP = (
    imp.Assign(Q, Q + imp.cast(I <= J, imp.INT)),
    imp.Assign(P, P + imp.cast(J <= I, imp.INT)),
)
BOTH = (imp.Assign(Q, Q + 1), imp.Assign(P, P + 1))
LONG = imp.For(T, imp.ZERO, imp.Const(2, imp.INT), imp.Block((imp.Store(OUT, I, OUT[I] + P),)))
SHORT = imp.Store(OUT, I, OUT[I] + P)


def kernel(met: imp.Stmt, *then: imp.Stmt) -> imp.Kernel:
    """Two lists, walked together; `met` is done where they meet."""
    return walked(READ, imp.If(imp.eq(I, J), imp.Block((met, *BOTH)), imp.Block((*STEP, *then))))


def walked(read: tuple[imp.Stmt, ...], choice: imp.If) -> imp.Kernel:
    """Two lists, walked together: what is read of them, and what is done then."""
    cond = imp.Binary("and", Q < M, P < N, imp.BOOL)
    loop = imp.While(cond, imp.Block((*read, choice)))
    begin = (imp.Let(Q, imp.ZERO), imp.Let(P, imp.ZERO))
    argument = imp.Argument("A", (M, N), (IDX, JDX, OUT))
    return imp.Kernel("k", (argument,), imp.Block((*begin, loop, imp.Return(imp.ZERO))))


def result(k: imp.Kernel, first: list[int], second: list[int]) -> list[int]:
    arrays = {
        "idx": np.array(first, np.int32),
        "jdx": np.array(second, np.int32),
        "out": np.zeros(20, np.int64),
    }
    status, buffers = run(k, {"A": ((len(first), len(second)), arrays)})
    assert status == 0
    return list(buffers["out"])


@pytest.mark.parametrize(
    ("first", "second"),
    [([], [1]), ([1, 2, 3], [1, 2, 3]), ([0, 5, 9], [1, 2, 3, 4, 5, 6, 7, 8]), ([7], [0, 1, 7, 9])],
)
def test_the_same_is_met(first, second):
    plain = kernel(LONG)
    made = skip_ahead(plain)
    assert made is not plain
    check(made)
    assert result(made, first, second) == result(plain, first, second)
    assert result(simplify(made), first, second) == result(plain, first, second)


def test_what_is_read_may_follow_from_what_is_read():
    """The second list is one of `j - 1`, which is computed from what is stored."""
    step = (
        imp.Assign(Q, Q + imp.cast(I <= K, imp.INT)),
        imp.Assign(P, P + imp.cast(K <= I, imp.INT)),
    )
    choice = imp.If(imp.eq(I, K), imp.Block((LONG, *BOTH)), imp.Block(step))
    plain = walked((*READ, imp.Let(K, J - 1)), choice)
    made = skip_ahead(plain)
    assert made is not plain
    check(made)
    first, second = [0, 5, 9], [1, 2, 4, 6, 11]
    assert result(made, first, second) == result(plain, first, second)


def test_what_is_short_stays():
    """One loop is as good where there are registers for all of it."""
    plain = kernel(SHORT)
    assert skip_ahead(plain) is plain


def test_what_does_more_than_step_stays():
    plain = kernel(LONG, imp.Store(OUT, imp.ZERO, I))
    assert skip_ahead(plain) is plain


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_products_of_doubly_compressed_matrices(backend):
    rng = np.random.default_rng(0)
    a, b = (np.where(rng.random((60, 50)) < 0.03, rng.integers(1, 9, (60, 50)), 0) for _ in "ab")

    @ln.kernel
    def product(C, A, B):
        C[...] = 0
        for i, j, k in ...:
            C[i, k] += A[i, j] * B[i, k]
        return C

    with ln.config(backend=backend):
        args = ln.empty_tensor(ln.DCSR), *(ln.asarray(x, format=ln.DCSR) for x in (a, b))
        assert "A_i_2" in product.code(*args)
        found = dense(product(*args))
    assert np.array_equal(found, np.einsum("ij,ik->ik", a, b))
