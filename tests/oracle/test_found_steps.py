"""Loops over steps that went wrong once: each is here so that it does not again."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check
from tests.oracle.formats import INSERTING, SINGLE, STRETCHES

import linnet as ln
from linnet.errors import LifecycleError, ShapeError
from linnet.formats.level import Level
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel

X = np.array([0.0, 1, 0, 2])


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_step_that_is_left(backend: str) -> None:
    """A loop that runs once is a loop, if `break` ends it."""

    @ln.kernel
    def f(s, x):
        s[...] = 0
        for _step in range(1):
            for i in ...:
                s[()] += x[i]
            if x[0] > 1:
                break
            s[()] += 100
        return s

    with ln.config(backend=backend):
        assert float(f(ln.scalar(0.0), np.array([1.0, 1.0]))) == 102
        assert float(f(ln.scalar(0.0), np.array([2.0, 1.0]))) == 3


def test_an_output_that_is_read_before_it_is_written_has_a_shape() -> None:
    @ln.kernel
    def f(s, y, x):
        s[...] = 0
        y[...] = 1
        for i in range(x.shape[0]):
            s[()] += y[i]
        for i in ...:
            y[i] = x[i]
        return s, y

    s, y = f(ln.scalar(0.0), ln.asarray(np.zeros(4)), X)
    assert (float(s), y.to_numpy().tolist()) == (4, X.tolist())
    with pytest.raises(ShapeError, match="`y` has no shape"):
        f(ln.scalar(0.0), ln.empty_tensor(ln.DENSE(1)), X)


@pytest.mark.parametrize(("fill", "again"), [("7", "np.float64(7)"), ("np.nan", "np.nan")])
def test_temporaries_that_begin_alike_may_change_places(fill: str, again: str) -> None:
    """However the number is written."""
    text = f"""
def f(y, x):
    v = ln.temp(ln.SparseHash(ln.Element({fill}, 'float64')))
    w = ln.temp(ln.SparseHash(ln.Element({fill}, 'float64')))
    ln.declare(y, 0, (x.shape[0],))
    ln.declare(v, {fill}, (x.shape[0],))
    ln.declare(w, {again}, (x.shape[0],))
    for i in ...:
        w[i] = x[i]
    v, w = w, v
    for i in ...:
        y[i] = v[i]
    return y
"""
    y = Kernel(parse_text(text))(ln.empty_tensor(ln.DENSE(1)), X)
    assert y.to_numpy().tolist() == X.tolist()


ANEW = "ln.declare(w, 0, (x.shape[0],))"
ADD = "for i in ...:\n            w[i] += (step + 1) * x[i]"
SCATTER = "for i in ...:\n            w[x.shape[0] - 1 - i] += x[i]"
USE = "for i in ...:\n            y[i] += w[i]"
LEAVE = "if step == 1:\n            break"
BODIES = {
    "anew at the end": (ADD, USE, ANEW),
    "anew in a branch": (ADD, USE, f"if step == 1:\n            {ANEW}"),
    "left before it is written": (ANEW, LEAVE, ADD, USE),
    "left while it is written": (ANEW, SCATTER, LEAVE, ADD),
    "left between": (USE, ANEW, ADD, USE, LEAVE, SCATTER),
    "left, and anew at the end": (ADD, LEAVE, USE, ANEW),
}


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@pytest.mark.parametrize("level", ["SparseList", "RunList", "SparseBand", "SparseByteMap"])
@pytest.mark.parametrize("result", [False, True], ids=["temporary", "result"])
@pytest.mark.parametrize("body", BODIES)
def test_a_tensor_that_goes_on_and_begins_anew(body: str, result: bool, level: str) -> None:
    """Levels that are written in order were refused, or had no code, where a loop is left."""
    given = "" if result else f"w = ln.temp(ln.{level}(ln.Element(0.0)))"
    text = f"""
def f({"w, " if result else ""}y, x):
    {given}
    {ANEW}
    ln.declare(y, 0, (x.shape[0],))
    for i in ...:
        w[i] += x[i]
    for step in range(3):
        {(chr(10) + 8 * " ").join(BODIES[body])}
    for i in ...:
        y[i] += 10 * w[i]
    return {"w, " if result else ""}y
"""
    program = parse_text(text)
    kinds = [ln.SparseList, ln.RunList, ln.SparseBand, ln.SparseByteMap]
    format = next(k for k in kinds if k.__name__ == level)(ln.Element(0.0))
    args = {"y": ln.empty_tensor(ln.DENSE(1)), "x": ln.asarray(X)}
    args |= {"w": ln.empty_tensor(format)} if result else {}
    check(Subject.of(program, args), args, BACKENDS[:1])


@pytest.mark.parametrize("level", [ln.SparseList, *INSERTING, *STRETCHES, *SINGLE])
@pytest.mark.parametrize("update", ["Y[i] += Y[i]", "Y[i] = Y[i] + Y[i]", "Y[i] = A[i] - Y[i]"])
def test_what_is_read_and_written_is_refused_by_its_name(level: type[Level], update: str) -> None:
    """Whatever the format: also where its updates would be collected in a workspace."""
    text = f"""def f(Y, A):
    Y[...] = 0
    for step in range(2):
        for i in range(A.shape[0]):
            Y[i] += A[i]
        for i in range(A.shape[0]):
            {update}
    return Y"""
    with pytest.raises(LifecycleError, match=r"^Y is read and written in the loop over `i"):
        Kernel(parse_text(text))(ln.empty_tensor(level(ln.Element(0.0))), np.ones(3))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["Element", "SparseScalar"])
def test_a_scalar_begins_anew_after_it_was_used(kind: str, backend: str) -> None:
    """At the end of a step, in a branch of it, or in a loop: it is the scalar of all steps."""
    for end, expected in (
        ("s[...] = 1", 113),
        ("if A[step] > 1:\n            s[...] = 1", 118),
        ("for i in range(2):\n            y[()] += s[()]\n            s[...] = 1", 129),
    ):
        text = f"""def f(y, A):
    s = ln.temp(ln.{kind}(0.0, 'float64'))
    y[...] = 0
    s[...] = 5
    for step in range(A.shape[0]):
        s[()] += A[step]
        y[()] += s[()]
        {end}
    y[()] += 100 * s[()]
    return y"""
        kernel, A = Kernel(parse_text(text)), np.array([1.0, 2.0, 3.0])
        args = {"y": ln.scalar(0.0), "A": ln.asarray(A)}
        check(Subject.of(kernel.program, args), args, (backend,))
        assert kernel(ln.scalar(0.0), A).item() == expected
