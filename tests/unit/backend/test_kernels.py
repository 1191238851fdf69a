"""Whole kernels: LLVM, C and the interpreter agree on loops, growth, codelets and early exits."""

import ctypes
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.unit.backend import kernels
from tests.unit.backend.harness import WAYS, execute, same

from linnet import imp
from linnet.algebra.dtypes import DTYPES
from linnet.backend import machine, symbols
from linnet.imp import (
    ONE,
    ZERO,
    Accumulate,
    Address,
    Argument,
    Assign,
    Binary,
    Block,
    Break,
    Buffer,
    Call,
    Const,
    Do,
    Fill,
    For,
    Function,
    Grow,
    If,
    Kernel,
    Let,
    Return,
    Select,
    SetLength,
    Store,
    Unary,
    Var,
    While,
    eq,
)
from linnet.imp.check import _KINDS

a, i, j, k, n, s = (Var(x) for x in "a i j k n s".split())


def matrix(rows=30, columns=40, density=0.2, seed=0, dtype="float64"):
    return sp.random(rows, columns, density, format="csr", random_state=seed).astype(dtype)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize(
    "value", ["float64", "float32", "complex128", "complex64", "int64", "uint8"]
)
def test_spmv(index, value):
    A = (matrix() * 10).astype(value)
    x = np.arange(40).astype(value)
    data = {
        "n_i": 30, "n_j": 40, "A_ptr": A.indptr.astype(index), "A_idx": A.indices.astype(index),
        "A_val": A.data, "x_val": x, "y_val": np.zeros(30, value),
    }  # fmt: skip
    got = same(kernels.spmv(index, value), data, exact=False)
    np.testing.assert_allclose(got["y_val"], A @ x, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(dtype):
    ops = [
        op for op in ("+", "*", "min", "max", "|", "&", "^", "and", "or") if dtype[0] in _KINDS[op]
    ]
    rng = np.random.default_rng(1)
    x = (rng.integers(0, 3, 100) if dtype[0] in "biu" else rng.uniform(0.5, 1.5, 100)).astype(dtype)
    data = {"n": 100, "a": x, "b": x[::-1].copy(), "out": np.ones(len(ops), dtype)}
    same(kernels.reductions(dtype, ops), data, exact=dtype[0] in "biu")


@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("way", WAYS)
def test_nan_wins_in_minimum_and_maximum(op, way):
    for at in (0, 5, 98):
        x = np.ones(99)
        x[at] = np.nan
        _, got = execute(
            kernels.reductions("float64", [op]), {"n": 99, "a": x, "b": x, "out": np.zeros(1)}, way
        )
        assert np.isnan(got["out"][0])


def test_union_of_lists_is_appended():
    x, y = matrix(1, 60, 0.5, 1), matrix(1, 60, 0.5, 2)
    data = {
        "a_ptr": x.indptr.astype("int64"), "a_idx": x.indices.astype("int32"), "a_val": x.data,
        "b_ptr": y.indptr.astype("int64"), "b_idx": y.indices.astype("int64"), "b_val": y.data,
    }  # fmt: skip
    got = same(kernels.union(), data)
    total = x + y
    np.testing.assert_array_equal(got["c_idx"], total.indices)
    np.testing.assert_array_equal(got["c_val"], total.data)


def test_spgemm():
    A, B = matrix(20, 30, 0.2, 3), matrix(30, 25, 0.2, 4)
    data = {"n_i": 20, "n_k": 30, "n_j": 25}
    for name, m in (("A", A), ("B", B)):
        data |= {
            f"{name}_ptr": m.indptr.astype("int64"),
            f"{name}_idx": m.indices.astype("int64"),
            f"{name}_val": m.data,
        }
    got = same(kernels.spgemm(), data)
    product = (A @ B).sorted_indices()
    np.testing.assert_array_equal(got["C_ptr"], product.indptr)
    np.testing.assert_array_equal(got["C_idx"], product.indices)
    np.testing.assert_allclose(got["C_val"], product.data)


def number(value, *stmts, codelets=()):
    """What a kernel returns, whichever way it is run."""
    kernel = kernels.returning(value, *stmts, codelets=codelets)
    results = {execute(kernel, {}, way)[0] for way in WAYS}
    assert len(results) == 1
    return results.pop()


def test_integers_wrap():
    big = Let(a, Const(2**63 - 1, "int64"))
    assert number(a + 1, big) == -(2**63)
    assert number(a * 2, big) == -2
    assert number(Unary("-", a + 1, "int64"), big) == -(2**63)
    small = Var("b", "int8")
    assert (
        number(
            imp.Cast(Binary("+", small, Const(100, "int8"), "int8"), "int64"),
            Let(small, Const(100, "int8")),
        )
        == -56
    )


def test_break_leaves_the_innermost_loop():
    inner = For(
        j,
        ZERO,
        Const(10, "int64"),
        Block((If(j > i, Block((Break(),)), imp.EMPTY), Assign(s, s + 1))),
    )
    assert (
        number(s, Let(s, ZERO), For(i, ZERO, Const(4, "int64"), Block((inner,)))) == 1 + 2 + 3 + 4
    )
    loop = While(imp.TRUE, Block((If(s > 41, Block((Break(),)), imp.EMPTY), Assign(s, s + 1))))
    assert number(s, Let(s, ZERO), loop) == 42


def test_return_leaves_the_kernel():
    found = If(eq(i, 7), Block((Return(Const(2 | 5 << 8, "int64")),)), imp.EMPTY)
    assert number(ZERO, For(i, ZERO, Const(10, "int64"), Block((found,)))) == 2 | 5 << 8
    assert number(ONE, If(imp.TRUE, Block((Return(None),)), Block((Return(ONE),)))) == 0


def test_statements_after_an_exit_are_ignored():
    dead = Block((Break(), Assign(s, s + 100)))
    assert (
        number(s, Let(s, ZERO), For(i, ZERO, Const(5, "int64"), Block((Assign(s, s + 1), dead))))
        == 1
    )


def test_the_bound_of_a_loop_is_read_once():
    loop = For(i, ZERO, n, Block((Assign(n, n - 1), Assign(s, s + 1))))
    assert number(s, Let(n, Const(6, "int64")), Let(s, ZERO), loop) == 6


def test_loops_without_turns():
    loop = For(i, Const(5, "int64"), Const(3, "int64"), Block((Assign(s, s + 1),)))
    assert number(s, Let(s, ZERO), loop, While(imp.FALSE, Block((Assign(s, s + 1),)))) == 0


def test_conditions_are_evaluated_only_as_far_as_needed():
    x = Buffer("x", "int64")
    guarded = (i < n) & (x[i] > 0)
    either = (i >= n) | (x[i] > 0)
    body = Block((
        Let(s, ZERO), Let(i, ZERO),
        While(guarded, Block((Assign(i, i + 1), Assign(s, s + 1)))),
        If(either, Block((Assign(s, s + 100),)), imp.EMPTY),
        Let(Var("b", "bool"), guarded),
        If(Var("b", "bool"), Block((Assign(s, s + 1000),)), imp.EMPTY),
        Return(s),
    ))  # fmt: skip
    kernel = Kernel("walk", (Argument("x", (n,), (x,)),), body)
    for way in WAYS:
        assert execute(kernel, {"n": 3, "x": np.array([1, 2, 3])}, way)[0] == 103
        assert execute(kernel, {"n": 0, "x": np.zeros(0, "int64")}, way)[0] == 100


@pytest.mark.parametrize("dtype", DTYPES)
def test_fills(dtype):
    x = Buffer("x", dtype, growable=True)
    start, stop = Var("start"), Var("stop")
    values = [
        Const(dtype == "x", dtype) if dtype == "bool" else Const(0, dtype),
        Const(dtype == "bool" or 1, dtype),
    ]
    body = [Grow(x, n), *(Fill(x, start + 10 * m, stop + 10 * m, v) for m, v in enumerate(values))]
    body += [Fill(x, ZERO, start, values[1]), Fill(x, stop, Const(10, "int64"), values[0])]
    body += [Fill(x, stop + 10, n, values[0]), Fill(x, Const(10, "int64"), start + 10, values[1])]
    body += [Fill(x, stop, start, values[1]), SetLength(x, n)]
    kernel = Kernel("fill", (Argument("x", (n, start, stop), (x,)),), Block(tuple(body)))
    got = same(kernel, {"n": 20, "start": 2, "stop": 7})["x"]
    np.testing.assert_array_equal(got, np.array([1, 1] + [0] * 8 + [1] * 7 + [0] * 3).astype(dtype))


@pytest.mark.parametrize("way", WAYS[:-1])
def test_grown_memory_keeps_its_contents(way):
    x = Buffer("x", "int64", growable=True)
    step = Block((Grow(x, i + 1), Store(x, i, i * 3)))
    kernel = Kernel(
        "grow", (Argument("x", (n,), (x,)),), Block((For(i, ZERO, n, step), SetLength(x, n)))
    )
    status, got = execute(kernel, {"n": 100000}, way)
    assert status == imp.OK
    np.testing.assert_array_equal(got["x"], np.arange(100000) * 3)


@pytest.mark.skipif(sys.platform != "linux", reason="huge pages are asked for on Linux")
@pytest.mark.parametrize("page", [4096, 16384, 65536])
def test_huge_pages_begin_at_a_page_of_the_system(page, monkeypatch):
    """Those of ARM are larger than those of x86-64; `madvise` refuses what begins within one."""
    here, resolve, asked = machine.host, symbols.address_of, []
    shape = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)
    seen = shape(lambda begin, size, advice: asked.append((begin, size)) or 0)
    at = ctypes.cast(seen, ctypes.c_void_p).value
    monkeypatch.setattr(
        symbols, "address_of", lambda name: at if name == "madvise" else resolve(name)
    )
    monkeypatch.setattr(machine, "host", lambda own: replace(here(own), page=page))
    buffers = [Buffer(name, "int64", growable=True) for name in "uvwxyz"]
    body = [Let(k, n + 600_000), *(Grow(x, k) for x in buffers)]
    kernel = Kernel("grow", (Argument("x", (n,), tuple(buffers)),), Block(tuple(body)))
    assert execute(kernel, {"n": 7}, "llvm")[0] == imp.OK
    assert len(asked) == len(buffers)
    assert all(begin % page == 0 and size >= 8 * 600_007 for begin, size in asked)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [2**62, 2**60, 2**63 - 1])
def test_out_of_memory_is_a_status_and_loses_nothing(way, count):
    x = Buffer("x", "float64", growable=True)
    body = Block((
        Let(k, Const(4, "int64")), Grow(x, k), Fill(x, ZERO, k, Const(1.5, "float64")),
        SetLength(x, k),
        Grow(x, n), Store(x, ZERO, Const(0, "float64")),
    ))  # fmt: skip
    status, got = execute(Kernel("absurd", (Argument("x", (n,), (x,)),), body), {"n": count}, way)
    assert status == imp.OUT_OF_MEMORY
    np.testing.assert_array_equal(got["x"], [1.5] * 4)


@pytest.mark.parametrize("way", WAYS[:-1])
def test_negative_growth_is_none(way):
    x = Buffer("x", "float64", growable=True)
    assert (
        execute(Kernel("none", (Argument("x", (n,), (x,)),), Block((Grow(x, n),))), {"n": -5}, way)[
            0
        ]
        == 0
    )


def test_codelets_call_codelets():
    x = Buffer("x", "int64")
    m = Var("m")
    total = Function("total", (x, m), Block((
        Let(s, ZERO), For(i, ZERO, m, Block((Accumulate(s, "+", x[i]),))), Return(s),
    )), "int64")  # fmt: skip
    five = Const(5, "int64")
    twice = Function(
        "twice", (x, m), Block((Return(Call("total", (Address(x), m), "int64") * 2),)), "int64"
    )
    bump = Function(
        "bump", (x, m), Block((For(i, ZERO, m, Block((Store(x, i, x[i] + 1),))),)), None
    )
    fact = Function("fact", (m,), Block((
        If(m < 2, Block((Return(ONE),)), imp.EMPTY), Return(Call("fact", (m - 1,), "int64") * m),
    )), "int64")  # fmt: skip
    y = Buffer("y", "int64", growable=True)
    body = Block((
        Grow(y, n), Fill(y, ZERO, n, ONE),
        Do(Call("bump", (Address(y), n), "void")),
        SetLength(y, n),
        Return(Call("twice", (Address(y), n), "int64") + Call("fact", (five,), "int64")),
    ))  # fmt: skip
    kernel = Kernel("nest", (Argument("y", (n,), (y,)),), body, (twice, total, bump, fact))
    got = same(kernel, {"n": 10})
    assert execute(kernel, {"n": 10}, "llvm")[0] == 40 + 120
    np.testing.assert_array_equal(got["y"], [2] * 10)


@pytest.mark.parametrize("dtype", DTYPES)
def test_codelets_take_and_give_every_type(dtype):
    x, y, c = Var("x", dtype), Var("y", dtype), Var("c", "bool")
    # parameters may be assigned
    body = Block((If(c, Block((Assign(x, y),)), imp.EMPTY), Return(x)))
    pick = Function("pick", (c, x, y), body, dtype)
    ins, out = Buffer("ins", dtype), Buffer("out", dtype)
    stores = [
        Store(out, Const(m, "int64"), Call("pick", (Const(bool(m), "bool"), ins[0], ins[1]), dtype))
        for m in (0, 1)
    ]
    kernel = Kernel("picks", (Argument("x", (), (ins, out)),), Block(tuple(stores)), (pick,))
    values = np.array([0, 1]).astype(dtype) * (
        np.dtype(dtype).type(2 + 1j) if dtype[0] == "c" else 1
    )
    got = same(kernel, {"ins": values.astype(dtype), "out": np.zeros(2, dtype)})
    np.testing.assert_array_equal(got["out"], values)


def test_names_from_users_are_only_names():
    names = [
        "exp",
        "größe",
        "double",
        "I",
        "_x",
        "INT64_MAX",
        "grow",
        "args",
        "min_f64",
        "x.y",
        "malloc",
    ]
    lets = [Let(Var(name), Const(m, "int64")) for m, name in enumerate(names)]
    total = ZERO
    for name in names:
        total = total + Var(name)
    extra = imp.Cast(Call("exp", (Const(0.0, "float64"),), "float64"), "int64")
    body = Block((imp.Comment("ends in a backslash \\\n*/ and ??/"), *lets, Return(total + extra)))
    for name in ("sin", "main", "größe", "_k", "i64", "ok"):
        for way in WAYS:
            assert execute(Kernel(name, (), body), {}, way)[0] == sum(range(len(names))) + 1


def test_dimensions_shared_by_arguments():
    x, y = Buffer("x", "int64"), Buffer("y", "int64")
    body = Block((For(i, ZERO, n, Block((Store(y, i, x[i] + 1),))),))
    kernel = Kernel("copy", (Argument("x", (n,), (x,)), Argument("y", (n,), (y,))), body)
    assert list(same(kernel, {"n": 3, "x": np.arange(3), "y": np.zeros(3, "int64")})["y"]) == [
        1,
        2,
        3,
    ]


def test_narrow_indices_need_no_cast():
    x, y = Buffer("x", "int32"), Buffer("y", "int64")
    body = Block((For(i, x[0], x[1], Block((Store(y, x[i], i),))),))
    kernel = Kernel("scatter", (Argument("x", (), (x, y)),), body)
    got = same(kernel, {"x": np.array([2, 4, 1, 0], "int32"), "y": np.zeros(2, "int64")})
    assert list(got["y"]) == [3, 2]


def test_choices_read_only_the_side_they_take():
    x = Buffer("x", "int64")
    body = Block((Return(Select(n > 0, x[n - 1], Const(-1, "int64"))),))
    kernel = Kernel("last", (Argument("x", (n,), (x,)),), body)
    for way in WAYS[:-1]:
        assert execute(kernel, {"n": 2, "x": np.array([3, 4])}, way)[0] == 4
        assert execute(kernel, {"n": 0, "x": np.zeros(0, "int64")}, way)[0] == -1
