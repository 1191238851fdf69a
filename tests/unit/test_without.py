"""Steps of the compiler that are left out: the code is another, and what it computes is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linnet as ln
from linnet.backend import llvm
from linnet.backend.entries import full_key
from linnet.errors import LinnetError
from linnet.optimize.table import STEPS
from linnet.optimize.vectorize import vectorize
from linnet.options import Options
from linnet.stages import recorded
from linnet.target import plain


@ln.kernel
def gustavson(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


@ln.kernel
def dense(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


def arguments() -> list[ln.Tensor]:
    drawn = np.random.default_rng(0).integers(0, 3, (2, 8, 8)).astype("float64")
    return [ln.empty_tensor(ln.CSR), *(ln.asarray(a, format=ln.CSR) for a in drawn)]


def test_code_without_a_step_is_other_code_for_the_same():
    args = arguments()
    whole, expected = gustavson.code(*args), gustavson(*args).to_numpy()
    with ln.config(without=("hoist",)):
        assert gustavson.code(*args) != whole
        assert np.array_equal(gustavson(*args).to_numpy(), expected)
    assert gustavson.code(*args) == whole


def test_what_fired_is_recorded():
    with recorded() as record:
        gustavson.lowered(*arguments())
    fired = STEPS.keys() & record.keys()
    assert {"hoist", "reserve"} <= fired
    assert "split_accumulators" not in fired
    with recorded() as record, ln.config(without=tuple(fired)):
        gustavson.lowered(*arguments())
    assert not fired & record.keys()


def test_code_without_a_step_is_kept_under_a_key_of_its_own():
    keys = {full_key("k", Options(without=steps)) for steps in ((), ("hoist",), ("lanes",))}
    assert len(keys) == 3


def test_there_is_no_such_step():
    with (
        ln.config(without=("hoist", "hoists")),
        pytest.raises(LinnetError, match="no step of the compiler is called 'hoists'") as caught,
    ):
        gustavson(*arguments())
    hint = str(caught.value).rpartition("one of ")[2]
    assert {"default_schedule", "hoist", "lanes"} <= {*hint.split(", ")}


@pytest.mark.parametrize(("without", "hinted", "masked"), [
    ((), True, True), (("lanes",), True, False), (("hints",), False, False),
])  # fmt: skip
def test_what_is_left_out_in_llvm(without, hinted, masked):
    args = ln.empty_tensor(ln.DENSE(1)), ln.asarray(np.eye(4), format=ln.BAND), np.ones(4)
    target = replace(plain("all"), without=frozenset(without))
    text = llvm.render(vectorize(dense.lowered(*args).kernel, target), target)
    assert ("!llvm.loop" in text) == hinted
    assert ("masked.load" in text) == masked
