"""Truth values that are stored are computed without a branch, if nothing can go wrong in it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet import imp
from linnet.lower.expressions import at_once

FLAGS = ln.Dense(ln.Element(False))
X, Y = (imp.Load(imp.Buffer(name, "bool"), imp.Var("k")) for name in "xy")


@ln.kernel
def both(out, a, b):
    out[...] = False
    for k in ...:
        out[k] = a[k] and not b[k]
    return out


@ln.kernel
def added(out, a):
    for k in ...:
        out[k] |= a[k]
    return out


@ln.kernel
def kept(out, a):
    for k in ...:
        out[k] &= a[k]
    return out


@ln.kernel
def guarded(out, a, x, places):
    out[...] = False
    for k in ...:
        out[k] = a[k] and x[places[k]]
    return out


@ln.kernel
def branched(out, a, b):
    out[...] = False
    for k in ...:
        if a[k] and b[k]:
            out[k] = True
    return out


def flags(seed: int) -> ln.Tensor:
    return ln.asarray(np.random.default_rng(seed).random(70) < 0.5)


@pytest.mark.parametrize(
    ("kernel", "line"),
    [
        (both, "out_val[k] = a_val[k] & !b_val[k];"),
        (added, "out_val[k] = out_val[k] | a_val[k];"),
        (kept, "out_val[k] = out_val[k] & a_val[k];"),
        (branched, "if (a_val[k] && b_val[k]) out_val[k] = true;"),
    ],
)
def test_what_is_stored_has_no_branch(kernel, line):
    out = ln.empty_tensor(FLAGS) if kernel in (both, branched) else flags(0)
    args = dict(zip(kernel.program.params, (out, flags(1), flags(2)), strict=False))
    assert line in kernel.code(*args.values())
    check(Subject.of(kernel.program, args), args, BACKENDS)


def test_what_may_be_beyond_the_bounds_is_not_read():
    """The place of a value that nobody needs is nowhere."""
    a = np.arange(70) % 3 == 0
    places = ln.asarray(np.where(a, np.arange(70) % 5, 1 << 40))
    args = {
        "out": ln.empty_tensor(FLAGS),
        "a": ln.asarray(a),
        "x": ln.asarray(np.arange(5) > 2),
        "places": places,
    }
    check(Subject.of(guarded.program, args), args, BACKENDS)
    np.testing.assert_array_equal(guarded(*args.values()).to_numpy(), a & (np.arange(70) % 5 > 2))


@pytest.mark.parametrize(
    "b",
    [
        imp.Load(imp.Buffer("y", "bool"), imp.Load(imp.Buffer("at", "int64"), imp.Var("k"))),
        imp.Call("f", (X,), "bool"),
        imp.binary("<", imp.binary("div", imp.Var("k"), imp.Var("n")), 3),
    ],
)
def test_what_takes_long_is_computed_where_it_is_needed(b):
    e = imp.binary("and", X, b)
    assert at_once(e) is e
    assert at_once(imp.binary("and", X, Y)) == imp.Binary("&", X, Y, "bool")
