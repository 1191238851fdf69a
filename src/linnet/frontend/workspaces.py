"""Workspaces by hand: their formats, and commands that put them into kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType

from linnet import loops
from linnet.algebra.dtypes import Number, canonical
from linnet.errors import ArgumentError, KernelSyntaxError
from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.formats.named import stack
from linnet.formats.policies import Coord, Policy
from linnet.formats.sparse_workspace import SparseWorkspace
from linnet.frontend.text import parse_text
from linnet.loops.rewrite import walk
from linnet.runtime.kernel import Kernel
from linnet.scheduling.precompute import precompute as precompute_in


def workspace(
    ndim: int,
    policy: Policy | None = None,
    *,
    capacity: int | None = None,
    fill_value: Number | None = None,
    dtype: object = None,
) -> Format:
    """The format of a sparse workspace: `w = ln.temp(ln.workspace(2, ln.Hash()))` in a kernel.

    Components accumulate, are sorted when there are `capacity` of them, and merged with those
    before. The policy says how: `ln.Coord()`, `ln.Bucket()`, `ln.Hash()`, `ln.Heap()`, or your own.
    """
    leaf = Element(fill_value, None if dtype is None else canonical(dtype))
    return stack(SparseWorkspace(ndim, _with_capacity(policy, capacity), leaf))


def insert_workspaces(
    kernel: Kernel, policy: Policy | None = None, capacity: int | None = None
) -> Kernel:
    """The kernel with this policy for every workspace that is inserted into it.

    Where they are needed is found out as ever; those whose updates cannot be merged are left to
    Linnet. `print(ln.insert_workspaces(matmul, ln.Hash()).loops(C, A, B))` shows them.
    """
    if not isinstance(kernel, Kernel):
        raise ArgumentError(f"{kernel!r} is not a kernel")
    return Kernel(kernel.program, _with_capacity(policy, capacity))


def precompute(
    kernel: Kernel,
    expr: str,
    i_vars: Sequence[str],
    o_vars: Sequence[str],
    ws: Format,
    name: str = "w",
) -> Kernel:
    """The kernel with a part of an update collected in a workspace first.

    `precompute(matmul, "A[i, k] * B[k, j]", ["i", "j"], ["i", "j"], ln.workspace(2))` computes
    `w[i, j] += A[i, k] * B[k, j]`, and afterwards the result from `w`. The indices `i_vars` of the
    workspace are called `o_vars` where it is used.
    """
    if not isinstance(kernel, Kernel):
        raise ArgumentError(f"{kernel!r} is not a kernel")
    if not isinstance(ws, Format):
        raise ArgumentError(f"{ws!r} is not a format", hint="ln.workspace(2, ln.Coord())")
    found = _expression(expr, kernel.program)
    program = precompute_in(kernel.program, found, list(i_vars), list(o_vars), name, ws)
    return Kernel(program, kernel.policy)


def _with_capacity(policy: Policy | None, capacity: int | None) -> Policy:
    if policy is not None and not isinstance(policy, Policy):
        hint = f"{policy.__name__}()" if isinstance(policy, type | FunctionType) else "ln.Coord()"
        raise ArgumentError(f"{policy!r} is not a policy of workspaces", hint=hint)
    policy = policy or Coord()
    return policy if capacity is None else replace(policy, capacity=capacity)


def _expression(text: str, program: loops.Program) -> loops.Expr:
    """An expression over the tensors and indices of a program."""
    indices = [n.index for n in walk(program.body) if isinstance(n, loops.Loop)]
    header = f"for {', '.join(dict.fromkeys(indices))} in ...:\n    " if indices else ""
    read = parse_text(f"{header}precomputed[()] = {text}")
    stmt = read.body
    while not isinstance(stmt, loops.Assign):
        match stmt:
            case loops.Loop(_, _, body):
                stmt = body
            case loops.Block((first, *_)):
                stmt = first
            case _:
                raise KernelSyntaxError(f"cannot read the expression {text!r}")
    return stmt.value
