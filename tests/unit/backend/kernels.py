"""Kernels built by hand, as the compiler would make them."""

from __future__ import annotations

from linnet import imp
from linnet.imp import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Accumulate,
    Address,
    Argument,
    Assign,
    Binary,
    Block,
    Buffer,
    Call,
    Cast,
    Comment,
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
    SetLength,
    Store,
    Unary,
    Var,
    While,
    eq,
    widen,
)


def elementwise(name: str, ins: dict[str, str], outs: list[tuple[imp.Expr, str]]) -> Kernel:
    """`out_k[i] = expr_k` for all i; inputs are read as variables named like their buffers."""
    n, i = Var("n"), Var("i")
    sources = {k: Buffer(f"{k}_val", d) for k, d in ins.items()}
    targets = [Buffer(f"out{k}", d) for k, (_, d) in enumerate(outs)]
    lets = [Let(Var(k, b.dtype), b[i]) for k, b in sources.items()]
    stores = [Store(b, i, e) for b, (e, _) in zip(targets, outs, strict=True)]
    body = Block((For(i, ZERO, n, Block((*lets, *stores))),))
    return Kernel(name, (Argument("x", (n,), (*sources.values(), *targets)),), body)


def spmv(index: str = "int64", value: str = "float64") -> Kernel:
    """y[i] += A[i, j] * x[j]."""
    n, m, i, q, y_i = Var("n_i"), Var("n_j"), Var("i"), Var("q"), Var("y_i", value)
    ptr, idx, val = Buffer("A_ptr", index), Buffer("A_idx", index), Buffer("A_val", value)
    x, y = Buffer("x_val", value), Buffer("y_val", value)
    product = Binary("*", val[q], x[widen(idx[q])], value)
    row = Block((
        Let(y_i, Const(0, value)),
        Comment("walk row i of A"),
        For(q, widen(ptr[i]), widen(ptr[i + 1]), Block((Accumulate(y_i, "+", product),))),
        Store(y, i, y_i),
    ))  # fmt: skip
    arguments = (
        Argument("y", (), (y,)),
        Argument("A", (n, m), (ptr, idx, val)),
        Argument("x", (), (x,)),
    )
    return Kernel("spmv", arguments, Block((For(i, ZERO, n, row),)))


def reductions(value: str, ops: list[str]) -> Kernel:
    """Reductions of contiguous memory, one after the other; `+` is a dot product."""
    n, a, b, out = Var("n"), Buffer("a", value), Buffer("b", value), Buffer("out", value)
    stmts: list[imp.Stmt] = []
    for k, op in enumerate(ops):
        i, s = Var(f"i{k}"), Var(f"s{k}", value)
        term = Binary("*", a[i], b[i], value) if op == "+" else a[i]
        loop = For(i, ZERO, n, Block((Accumulate(s, op, term),)))
        stmts += [Let(s, out[k]), loop, Store(out, Const(k, "int64"), s)]
    return Kernel("reduce", (Argument("x", (n,), (a, b, out)),), Block(tuple(stmts)))


def union() -> Kernel:
    """c[i] = a[i] + b[i] of two sparse lists, appended to a growing one."""
    ap, ai, av = Buffer("a_ptr", "int64"), Buffer("a_idx", "int32"), Buffer("a_val", "float64")
    bp, bi, bv = Buffer("b_ptr", "int64"), Buffer("b_idx", "int64"), Buffer("b_val", "float64")
    ci, cv = Buffer("c_idx", "int32", True), Buffer("c_val", "float64", True)
    p, p_end, q, q_end, c, ia, ib = (Var(s) for s in "p p_end q q_end c ia ib".split())

    def append(index: imp.Expr, value: imp.Expr, *more: imp.Stmt) -> Block:
        index = Cast(index, "int32") if index.dtype != "int32" else index
        return Block((Store(ci, c, index), Store(cv, c, value), Assign(c, c + 1), *more))

    step_p, step_q = Assign(p, p + 1), Assign(q, q + 1)
    total = Binary("+", av[p], bv[q], "float64")
    differ = If(ia < ib, append(ia, av[p], step_p), append(ib, bv[q], step_q))
    body = Block((
        Let(c, ZERO), Let(p, ap[0]), Let(p_end, ap[1]), Let(q, bp[0]), Let(q_end, bp[1]),
        Grow(ci, c + (p_end - p) + (q_end - q)),
        Grow(cv, c + (p_end - p) + (q_end - q)),
        While((p < p_end) & (q < q_end), Block((
            Let(ia, widen(ai[p])),
            Let(ib, bi[q]),
            If(eq(ia, ib), append(ia, total, step_p, step_q), Block((differ,))),
        ))),
        While(p < p_end, append(ai[p], av[p], step_p)),
        While(q < q_end, append(bi[q], bv[q], step_q)),
        SetLength(ci, c),
        SetLength(cv, c),
    ))  # fmt: skip
    arguments = tuple(
        Argument(k, (), b) for k, b in (("c", (ci, cv)), ("a", (ap, ai, av)), ("b", (bp, bi, bv)))
    )
    return Kernel("union", arguments, body)


def sort_codelet() -> Function:
    """Insertion sort."""
    a, n, i, j, v = Buffer("a", "int64"), Var("n"), Var("i"), Var("j"), Var("v")
    shift = While((j > 0) & (a[j - 1] > v), Block((Store(a, j, a[j - 1]), Assign(j, j - 1))))
    body = Block((For(i, ONE, n, Block((Let(v, a[i]), Let(j, i), shift, Store(a, j, v)))),))
    return Function("sort", (a, n), body, None)


def spgemm() -> Kernel:
    """Gustavson's product of two CSR matrices, with a byte map."""
    Ap, Ai, Av = Buffer("A_ptr", "int64"), Buffer("A_idx", "int64"), Buffer("A_val", "float64")
    Bp, Bi, Bv = Buffer("B_ptr", "int64"), Buffer("B_idx", "int64"), Buffer("B_val", "float64")
    Cp, Ci = Buffer("C_ptr", "int64", True), Buffer("C_idx", "int64", True)
    Cv, wv = Buffer("C_val", "float64", True), Buffer("w_val", "float64", True)
    wt, wi = Buffer("w_tbl", "bool", True), Buffer("w_idx", "int64", True)
    ni, nk, nj, i, p, q, k, j, n, c, t, jt = (
        Var(s) for s in "n_i n_k n_j i p q k j n c t jt".split()
    )
    a = Var("a", "float64")
    term = Binary("*", a, Bv[q], "float64")
    first = Block((Store(wt, j, TRUE), Store(wi, n, j), Assign(n, n + 1), Store(wv, j, term)))
    later = Block((Store(wv, j, Binary("+", wv[j], term, "float64")),))
    scatter = For(
        q, Bp[k], Bp[k + 1], Block((Let(j, Bi[q]), If(Unary("not", wt[j], "bool"), first, later)))
    )
    gather = (
        Let(jt, wi[t]), Store(Ci, c, jt), Store(Cv, c, wv[jt]),
        Assign(c, c + 1), Store(wt, jt, FALSE),
    )  # fmt: skip
    row = Block((
        Let(n, ZERO),
        For(p, Ap[i], Ap[i + 1], Block((Let(k, Ai[p]), Let(a, Av[p]), scatter))),
        Do(Call("sort", (Address(wi), n), "void")),
        Grow(Ci, c + n), Grow(Cv, c + n),
        For(t, ZERO, n, Block(gather)),
        Store(Cp, i + 1, c),
    ))  # fmt: skip
    body = Block((
        Let(c, ZERO), Grow(Cp, ni + 1), Store(Cp, ZERO, ZERO),
        Grow(wt, nj), Grow(wi, nj), Grow(wv, nj), Fill(wt, ZERO, nj, FALSE),
        For(i, ZERO, ni, row),
        SetLength(Cp, ni + 1), SetLength(Ci, c), SetLength(Cv, c),
    ))  # fmt: skip
    arguments = (
        Argument("C", (ni, nj), (Cp, Ci, Cv)), Argument("A", (), (Ap, Ai, Av)),
        Argument("B", (nk,), (Bp, Bi, Bv)), Argument("w", (), (wt, wi, wv)),
    )  # fmt: skip
    return Kernel("spgemm", arguments, body, (sort_codelet(),))


def returning(value: imp.Expr, *stmts: imp.Stmt, codelets: tuple[Function, ...] = ()) -> Kernel:
    """A kernel that only returns a number."""
    return Kernel("number", (), Block((*stmts, Return(value))), codelets)
