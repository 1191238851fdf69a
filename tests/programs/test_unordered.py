"""Temporaries that nobody needs in order are not sorted; results are the same."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.frontend.text import parse_text

FLAGS = ln.SparseByteMap(ln.Pattern())
N = 400


def marked(name, init, reads, marks=("w",), also=""):
    """A kernel that marks x[p[i]], in any order, and goes through what is marked."""
    declares = "\n    ".join(f"ln.declare({m}, False, (x.shape[0],))" for m in marks)
    temps = "\n    ".join(f"{m} = ln.temp(FLAGS)" for m in marks)
    text = f"""
def {name}(y, p, x):
    {temps}
    y[...] = {init}
    {declares}
    for i in ...:
        w[p[i]] |= x[p[i]] > 0{also}
    {reads}
    return y
"""
    return ln.Kernel(parse_text(text, {"FLAGS": FLAGS}))


def of_each(update, condition="w[i]", loop="..."):
    """Go through what is marked."""
    return f"for i in {loop}:\n        if {condition}:\n            {update}"


FIRST = "y[()] = ln.choose(-1)(y[()], i)"
count = marked("count", 0, of_each("y[()] += 1"))
largest = marked("largest", "-np.inf", of_each("y[()] = max(y[()], x[i])"))
looked_up = marked("looked_up", 0, of_each("y[()] += x[i]", "w[ln.follow(i)]"))
each_for_itself = marked("each_for_itself", 0, of_each("y[i] = 2 * x[i]"))
first = marked("first", -1, of_each(FIRST))
from_ten_on = marked("from_ten_on", 0, of_each("y[()] += 1", loop="range(10, x.shape[0])"))
below_thirty = marked("below_thirty", 0, of_each("y[()] += 1", "w[i] and i < 30"))
gaps = marked("gaps", 0, of_each("y[()] += 1", "not w[i]"))
swapped = marked(
    "swapped",
    -1,
    "v, w = w, v\n    " + of_each(FIRST, "v[i]"),
    marks=("w", "v"),
    also="\n        v[i] |= x[i] < 0",
)


SCALAR, VECTOR = ln.Element(0), ln.DENSE(1)
LIST = ln.SparseList(ln.Element(0.0))
CASES = [
    (count, SCALAR, "any order"),
    (largest, ln.Element(0.0), "any order"),
    (looked_up, ln.Element(0.0), "any order"),
    (each_for_itself, VECTOR, "any order"),
    (each_for_itself, LIST, "in order"),
    (first, SCALAR, "in order"),
    (from_ten_on, SCALAR, "in order"),
    (below_thirty, SCALAR, "in order"),
    (gaps, SCALAR, "in order"),
    (swapped, SCALAR, "in order"),
]


@pytest.mark.parametrize(
    ("kernel", "format", "order"), CASES, ids=[f"{c[0].__name__} {c[1]}" for c in CASES]
)
def test_order_is_made_where_it_is_needed(kernel: ln.Kernel, format: ln.Format, order: str):
    rng = np.random.default_rng(1)
    p = rng.permutation(N)
    for density in (0.03, 0.5):
        x = np.where(rng.random(N) < density, rng.integers(1, 9, N), 0).astype(float)
        y = ln.empty_tensor(format)
        code = kernel.code(y, p, x)
        main = code[code.index(f"i64 {kernel.__name__}(") :]
        assert ("order_bits_if_cheap" in main) == (order == "any order")
        assert ("order_bits_i64_i32(" in main) == (order == "in order")
        kernel(y, p, x)
        told = kernel.reference(ln.empty_tensor(format), p, x)["y"]
        assert y.to_numpy().tolist() == told.tolist()


def test_sums_of_floats_are_made_in_order():
    p, x = np.random.default_rng(2).permutation(N), np.linspace(0.1, 0.7, N)
    y = ln.asarray(np.zeros(3), copy=True)

    @ln.kernel
    def into(y, p, x):
        w = ln.temp(FLAGS)
        ln.declare(w, False, (x.shape[0],))
        for i in ...:
            w[p[i]] |= x[p[i]] > 0
        for i in ...:
            if w[i]:
                for j in ...:
                    y[j] += x[i] / (j + 1)
        return y

    code = into.code(y, p, x)
    assert "order_bits_i64_i32(" in code[code.index("i64 into(") :]
    into(y, p, x)
    np.testing.assert_allclose(y.to_numpy(), x.sum() / np.arange(1, 4))
