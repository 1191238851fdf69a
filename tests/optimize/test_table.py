"""The table of steps: what changed code is a stage to look at, and checked where checks are on."""

from dataclasses import replace

import numpy as np
import pytest

import linnet as ln
from linnet import imp
from linnet.errors import InternalError
from linnet.imp.printer import show
from linnet.optimize import table


@ln.kernel
def product(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


A = ln.asarray(np.eye(3), format=ln.CSR)


def args() -> tuple[ln.Tensor, ...]:
    return ln.empty_tensor(ln.CSR), A, A


def test_what_a_step_changed_is_a_stage():
    stages = ln.explain(product, *args()).stages
    names = [name for name in stages if name in table.STEPS]
    assert "reserve" in names
    assert names == [name for name in table.STEPS if name in names]  # in the order of the table
    texts = [stages[name] for name in names]
    assert len(set(texts)) == len(texts)


def test_how_loops_are_run_is_the_last_stage():
    stages = ln.explain(product, *args()).stages
    assert [*stages][-3:] == ["lattices", "code", "llvm"]
    assert [name for name in stages if name in (*table.STEPS, "vectorize")][-1] == "vectorize"
    assert "# level 1 of B below k; one by one" in stages["vectorize"]


def test_who_does_not_look_gets_the_same_code():
    looked_at = ln.explain(product, *args())["code"]
    assert product.code(*args()) == looked_at


def broken(kernel: imp.Kernel, known: object) -> imp.Kernel:
    lost = imp.Assign(imp.Var("nobody"), imp.ZERO)
    return replace(kernel, body=imp.Block((lost, *kernel.body.stmts)))


def test_what_a_step_makes_is_checked(monkeypatch):
    """Right behind the step: a later one might drop what is wrong."""

    def dropped(kernel: imp.Kernel, known: object) -> imp.Kernel:
        assert "nobody" in show(kernel)
        return replace(kernel, body=imp.Block(kernel.body.stmts[1:]))

    monkeypatch.setattr(table, "STEPS", {"broken": broken, "dropped": dropped})
    with ln.config(check=False):
        assert "nobody" not in product.code(*args())
    with ln.config(check=True), pytest.raises(InternalError, match="nobody"):
        product.code(*args())
