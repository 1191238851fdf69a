"""Integers that a fused function is given may be others in the next call, as far as it can be."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.arrays.tracing import Traced, sparse

import linnet as ln
from linnet.arrays.moving import Law, Notes, amount, only
from linnet.testing import dense

FORMATS = [ln.CSR, ln.CSC, ln.COO, ln.DENSE]


def arrays(format, count=2):
    return [ln.asarray(sparse(k, (12, 20)), format=format) for k in range(count)]


WINDOWS = {
    "from k on": lambda X, Y, k: X[k:] + Y[k:],
    "up to k": lambda X, Y, k: X[:, :k] * Y[:, :k],
    "four rows": lambda X, Y, k: X[k : k + 4] + Y[k : k + 4],
    "four rows and columns": lambda X, Y, k: X[k : k + 4, 2 * k : 2 * k + 4] + Y[:4, k : k + 4],
    "every second": lambda X, Y, k: X[k : k + 5 : 2] + Y[k : k + 5 : 2],
    "every third, to the end": lambda X, Y, k: X[k::3] + Y[k::3],
    "one row": lambda X, Y, k: X[k] + Y[k],
    "one element": lambda X, Y, k: X[k, k] * Y[k, 0],
    "an ellipsis": lambda X, Y, k: X[..., k : k + 2] - Y[..., k : k + 2],
    "halves": lambda X, Y, k: X[k // 2 : k // 2 + 3] + Y[k % 2 : k % 2 + 3],
    "sums": lambda X, Y, k: (X[k : k + 3].sum(axis=0), Y[k : k + 2].max(axis=1)),
    "products": lambda X, Y, k: X[k : k + 3] @ Y[k : k + 3].T,
    "a transpose": lambda X, Y, k: X.T[k : k + 2] + Y.T[k : k + 2],
    "slices of slices": lambda X, Y, k: X[k:][1:4] + Y[k + 1 :][:3],
}


ANEW = {("products", ln.CSR), ("sums", ln.COO)}


def pairs(*results):
    """What is ours, and what is to be, of one result or several."""
    return zip(*[x if isinstance(x, tuple) else (x,) for x in results], strict=True)


def compare(found, expected):
    for ours, theirs in pairs(found, expected):
        np.testing.assert_array_equal(dense(ours), theirs)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("format", FORMATS, ids=repr)
def test_slices_with_other_bounds_run_no_python(name, format):
    if (name, format) in ANEW:
        pytest.skip("a part of it is computed while the function is run")
    function = WINDOWS[name]
    f = Traced(function)
    tensors = arrays(format)
    plain = [dense(t) for t in tensors]
    runs = []
    for k in (2, 3, 4, 5, 6, 5, 4, 3):
        compare(f(*tensors, k), function(*plain, k))
        runs.append(f.count)
    # the first call, the second, which is run with k as it is and as it may be, and then no more
    assert runs == [1, 2, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("name", sorted({*WINDOWS} - {"one row", "one element"}))
@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE], ids=repr)
def test_bounds_beyond_an_end_are_what_numpy_makes_of_them(name, format):
    function = WINDOWS[name]
    f = Traced(function)
    tensors = arrays(format)
    plain = [dense(t) for t in tensors]
    for k in (3, 4, -3, 0, 9, 14, 40, -40, 10, 11, 12, 20, 1, -1, 4, 8, -12, -20):
        try:
            expected = function(*plain, k)
        except ValueError:  # shapes that do not fit, or the maximum of nothing
            with pytest.raises(ln.LinnetError):
                f(*tensors, k)
            continue
        compare(f(*tensors, k), expected)


bounds = st.none() | st.integers(-14, 14)
slices = st.builds(slice, bounds, bounds, st.sampled_from([None, 1, 2]))


@given(
    st.lists(st.tuples(slices, slices), min_size=3, max_size=8), st.sampled_from([ln.CSR, ln.DENSE])
)
def test_slices_are_arguments(parts, format):
    f = Traced(lambda X, Y, part: X[part] * 2 + Y[part])
    X, Y = arrays(format)
    for part in parts:
        np.testing.assert_array_equal(dense(f(X, Y, part)), dense(X)[part] * 2 + dense(Y)[part])


def test_slices_that_are_given_run_no_python():
    f = Traced(lambda X, part, i: X[part] + X[part, i : i + 1])
    X = arrays(ln.CSR)[0]
    for call, k in enumerate((1, 2, 3, 4, 5)):
        part = slice(k, 2 * k + 1, 1)
        compare(f(X, part, 6 - k), dense(X)[part] + dense(X)[part, 6 - k : 7 - k])
        assert f.count == (1, 2, 0, 0, 0)[call]


ASKED = {
    "a factor": lambda X, k: X[k : k + 2] * k,
    "a condition": lambda X, k: X[k : k + 2] if k > 3 else X[:, k : k + 2],
    "equality": lambda X, k: X[:3] if k == 4 else X[k:],
    "a number in the result": lambda X, k: (X[k:], k, k + 1),
    "a size in the result": lambda X, k: (X[k:], X[k:].shape[0]),
    "a text": lambda X, k: (X[k:], f"{k} rows", str(k)),
    "a power": lambda X, k: X ** (k % 3),
    "a float": lambda X, k: X * (k / 2) + math.sqrt(k),
    "an axis": lambda X, k: X.sum(axis=k % 2),
    "a loop": lambda X, k: sum([X[j : j + 2] for j in range(k)]),
    "a table": lambda X, k: X * {2: 3.0, 3: 5.0}.get(k, 7.0),
    "a choice": lambda X, k: X[min(k, 4) : max(k, 3) + 2],
    "truth": lambda X, k: X if k and not k - 5 else X[k:],
    "bits": lambda X, k: X[k & 3 : (k ^ 1) + 3],
    "a mean": lambda X, k: X[k:].mean(axis=0),
    "a diagonal": lambda X, k: X[k:, k:].T,
    "a bool": lambda X, k: (X[k:], isinstance(k, int), isinstance(k, bool)),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_a_function_asks_of_a_number_decides(name):
    function = ASKED[name]
    f = ln.fuse(function)
    X = arrays(ln.CSR)[0]
    for k in (2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 7, 2, 4, 5):
        for ours, theirs in pairs(f(X, k), function(dense(X), k)):
            if isinstance(ours, ln.Tensor):
                np.testing.assert_allclose(dense(ours), theirs, rtol=1e-14)
            else:
                assert ours == theirs
                assert type(ours) is type(theirs)


def test_numbers_of_other_types_are_other_arguments():
    f = ln.fuse(lambda X, k: X[k:3] if isinstance(k, bool) else X[1:3] * k)
    X = arrays(ln.CSR)[0]
    for k in (1, True, 1.0, 1, True, 1.0, 2, 2.0, False, 0, 0.0, -0.0, 1, True):
        part = dense(X)[k:3] if isinstance(k, bool) else dense(X)[1:3] * k
        np.testing.assert_array_equal(dense(f(X, k)), part)


def test_bounds_that_are_refused_are_told_as_ever():
    f = ln.fuse(lambda X, Y, k: X[k : k + 2] + Y[:2])
    X, Y = arrays(ln.CSR)
    for k in (1, 2, 3):
        f(X, Y, k)
    with pytest.raises(ln.LinnetError, match="fit together"):
        f(X, Y[:, :3], 4)
    g = ln.fuse(lambda X, k: X[k])
    for k in (1, 2, 3):
        g(X, k)
    with pytest.raises(IndexError, match="12"):
        g(X, 12)
    np.testing.assert_array_equal(dense(g(X, -1)), dense(X)[-1])


OPERATIONS = [
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.truediv,
    operator.and_, operator.or_, operator.xor, operator.lt, operator.le, operator.gt, operator.ge,
    operator.eq, operator.ne, divmod, min, max,
]  # fmt: skip
ONE = [
    operator.neg, operator.pos, abs, bool, int, float, complex, hash, str, repr, round,
    operator.invert, operator.index, lambda k: f"{k:3d}", lambda k: k.bit_length(), lambda k: -k,
    lambda k: k**2, lambda k: 2 ** abs(k), lambda k: [7] * k, lambda k: k << 2, lambda k: k == "k",
]  # fmt: skip
small = st.integers(-6, 6)


def known(value):
    """A number as it is, without a note."""
    form = getattr(type(value), "form", None)
    return value if form is None else amount(value.form, value._notes.values)


@given(st.data(), small, small)
def test_a_number_that_moves_is_the_number_that_it_is(data, a, b):
    """All that is asked is noted: where the law holds, the answers are the same sums."""
    steps = data.draw(st.lists(st.sampled_from([*OPERATIONS, *ONE]), min_size=1, max_size=5))
    other = data.draw(small | st.floats(-2, 2) | st.none())

    def run(x, y):
        asked, answers = x, []
        for step in steps:
            second = y if other is None else other
            pair = (asked,) if step in ONE else (asked, second)
            try:
                found = step(*pair)
            except (ZeroDivisionError, TypeError, OverflowError, AttributeError) as error:
                answers.append(type(error))
                continue
            answers.append(found)
            asked = found if isinstance(found, int) and abs(known(found)) < 99 else x
        return answers

    notes = Notes((a, b))
    answers = run(*notes.arguments())
    assert [*map(known, answers)] == run(a, b)
    law = notes.law()
    assert law.numbers((a, b)) is not None
    for c, d in ((a, b + 1), (a + 1, b), (b, a), (2 * a, b), (-a, -b)):
        numbers = law.numbers((c, d))
        if numbers is not None:
            moved = [amount(x.form, numbers) if hasattr(type(x), "form") else x for x in answers]
            assert moved == run(c, d), law


def test_laws_say_whether_they_are_for_one_call():
    assert not only((3, 4)).moves
    assert only((3, 4)).numbers((3, 4)) == (3, 4)
    assert only((3, 4)).numbers((3, 5)) is None
    assert not only(()).moves
    assert Law(1, (), (), (), ()).moves
    notes = Notes((3, 4))
    assert notes.arguments()[0] < 9
    assert notes.law().moves
    assert notes.law().numbers((8, 0)) is not None
    assert notes.law().numbers((9, 0)) is None
