"""Programs that went wrong once: each is here so that it does not again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check
from tests.oracle.functions import one_of

import linnet as ln
from linnet.errors import DTypeError, FormatError, IndexBoundsError, ShapeError
from linnet.frontend.text import parse_text
from linnet.imp.rewrite import walk
from linnet.runtime.kernel import Kernel

SPARSE = (ln.SparseList, ln.SparseByteMap, ln.SparseHash)


@pytest.mark.parametrize("level", SPARSE)
def test_two_elements_at_once(level):
    """While y[i] is being added up, y[i // 2] may be the same element."""

    @ln.kernel
    def f(y, x):
        y[...] = 0
        for i in ...:
            for j in ...:
                y[i] += x[j]
            y[i // 2] += x[i]
        return y

    x = np.array([1.0, 0.0, 2.0, 4.0, 0.0])
    expected = np.full(5, x.sum())
    np.add.at(expected, np.arange(5) // 2, x)
    ln.testing.assert_equal(f(ln.empty_tensor(level(ln.Element(0.0))), x), expected)


def test_nothing_times_infinity_is_nothing():
    @ln.kernel
    def f(y, A, B):
        y[...] = 0
        for i in ...:
            y[()] += A[i] * B[i] * (A[i] * 1)
        return y

    endless = ln.asarray(np.full(3, -np.inf), format=ln.SparseList(ln.Element(-np.inf)))
    nothing = ln.asarray(np.zeros(3), format=ln.SparseList(ln.Element(0.0)))
    assert f(ln.scalar(0.0), endless, nothing).to_numpy() == 0


def test_branches_that_agree_store_nothing():
    @ln.kernel
    def f(y, c, a, b):
        y[...] = 0
        for i in ...:
            y[i] = a[i] if c[i] else b[i]
        return y

    sparse = ln.SparseList(ln.Element(0.0))
    a, b = np.array([0, 0, 3.0, 0, 4.0]), np.array([0, 5.0, 0, 0, 6.0])
    c = np.array([True, False, True, True, False])
    y = f(ln.empty_tensor(sparse), c, ln.asarray(a, format=sparse), ln.asarray(b, format=sparse))
    ln.testing.assert_equal(y, np.where(c, a, b))
    assert y.nnz == 3


@pytest.mark.parametrize("level", [ln.Dense, *SPARSE])
def test_a_result_that_begins_in_a_loop(level):
    """It exists also if the loop never runs, and may be written in any order."""

    @ln.kernel
    def f(y, x, A):
        for _t in range(x.shape[0]):
            ln.declare(y, 0, (A.shape[1],))
            for i, j in ...:
                y[j] += A[i, j]
                y[j // 2] += x[_t]
        return y

    A, y = np.arange(6.0).reshape(2, 3), ln.empty_tensor(level(ln.Element(0.0)))
    ln.testing.assert_equal(f(y, np.zeros(0), A), np.zeros(3))
    ln.testing.assert_equal(f(y, np.array([7.0, 1.0]), A), A.sum(0) + np.array([4, 2, 0]))


def test_a_range_that_a_tensor_holds_gives_a_result_its_size():
    @ln.kernel
    def f(y, x, n):
        y[...] = 0
        for i in range(n[2]):
            y[i] = x[i]
        return y

    x, y = np.arange(5.0), ln.empty_tensor(ln.DENSE(1))
    assert f(y, x, np.array([1, 2, 3])).to_numpy().tolist() == [0, 1, 2]
    with pytest.raises(IndexBoundsError):
        f(y, x, np.array([1, 2, 7]))
    with pytest.raises(IndexBoundsError, match=r"n\[2\] is outside n"):
        f(y, x, np.array([1, 2]))


def test_a_result_declared_in_two_branches_has_one_size():
    @ln.kernel
    def f(y, a, b):
        if a[0] > 0:
            y[...] = 0
            for i in ...:
                y[i] = a[i]
        else:
            y[...] = 0
            for i in ...:
                y[i] = b[i]
        return y

    y = ln.empty_tensor(ln.DENSE(1))
    assert f(y, np.array([1.0, 2.0]), np.array([3.0, 4.0])).to_numpy().tolist() == [1, 2]
    assert f(y, np.array([-1.0, 2.0]), np.array([3.0, 4.0])).to_numpy().tolist() == [3, 4]
    with pytest.raises(ShapeError, match="mode 0 of y is 3 but mode 0 of y is 2"):
        f(y, np.ones(3), np.ones(2))


def test_a_result_declared_under_a_condition_is_kept_otherwise():
    @ln.kernel
    def f(y, x, c):
        if c[0]:
            x[...] = 0
            for i in ...:
                x[i] = c[i]
        y[...] = 0
        for i in ...:
            y[i] = x[i]
        return y

    for c in ([0.0, 5.0], [1.0, 5.0]):
        x, y = ln.asarray(np.array([7.0, 8.0])), ln.empty_tensor(ln.DENSE(1))
        expected = c if c[0] else [7.0, 8.0]
        assert f(y, x, np.array(c)).to_numpy().tolist() == expected
        assert x.to_numpy().tolist() == expected


def test_an_operator_with_an_argument_in_a_workspace():
    @ln.kernel
    def f(y, A):
        y[...] = 0
        for i, j in ...:
            y[j, i] = ln.choose(0)(y[j, i], A[i, j])
        return y

    A = np.array([[1.0, 0.0], [2.0, 3.0]])
    for level in (ln.SparseBlockList, ln.SparseList):
        y = ln.empty_tensor(level(level(ln.Element(0.0))))
        ln.testing.assert_equal(f(y, A), A.T)


def test_a_truth_value_that_ends_a_loop_is_as_wide_as_its_scalar():
    @ln.kernel
    def some(y, A):
        w = ln.temp(ln.ShortCircuit(0, "int64"))
        y[...] = 0.0
        w[...] = 0
        for i in ...:
            w[()] = w[()] or A[i, i]
        y[()] += w[()]
        return y

    with ln.config(check=True):
        found = [some(ln.scalar(0.0), m).item() for m in (np.zeros((2, 2)), np.diag([0.0, 3.0]))]
    assert found == [0, 1]


def test_infinities_that_disagree_are_computed_in_any_order():
    """inf - x is inf and x - inf is -inf; where neither is stored, NumPy's NaN."""

    @ln.kernel
    def differences(y, A, B):
        y[...] = 0.0
        for i, j in ...:
            y[i, j] += A[j] - (B[i] + 1)
        return y

    held = np.array([np.inf, 2.0])
    A = ln.asarray(held, format=ln.SparseList(ln.Element(np.inf)))
    y = differences(ln.empty_tensor(ln.DENSE(2)), A, A)
    np.testing.assert_array_equal(y.to_numpy(), [[np.nan, -np.inf], [np.inf, -1.0]])
    assert np.isnan((A - A).fill_value)
    assert (A + A).fill_value == np.inf
    assert np.isnan((A + -A).fill_value)


def test_truth_values_of_numbers_are_not_idempotent():
    """`inf and inf` is 1: an update with what a tensor was declared with is not idle."""

    @ln.kernel
    def both(y, A):
        y[...] = np.inf
        for i in range(A.shape[0]):
            y[i] = y[i] and ln.coalesce(A[~(i - 1)], np.inf)
        return y

    A = ln.asarray(np.array([2.0, 0.0, 3.0]), format=ln.SparseList(ln.Element(0.0)))
    ln.testing.assert_equal(both(ln.empty_tensor(ln.DENSE(1)), A), np.array([1.0, 1.0, 0.0]))


def test_a_tensor_that_is_first_written_after_it_was_read_keeps_it():
    """The first update vanishes, since A stores nothing; the second is not forgotten."""

    @ln.kernel
    def twice(y, A):
        w = ln.temp(ln.DENSE(1))
        y[...] = 0.0
        for i in ...:
            ln.declare(w, 0.0, (A.shape[0],))
            w[i] += A[i]
            y[i] += w[0]
            w[i] = 5.0
            y[i] += w[i]
        return y

    A = ln.asarray(np.zeros(2), format=ln.SparseByteMap(ln.Element(0.0)))
    ln.testing.assert_equal(twice(ln.empty_tensor(ln.DENSE(1)), A), np.full(2, 5.0))


@pytest.mark.parametrize("level", [ln.SparseList, ln.SparseHash])
def test_what_is_not_stored_takes_no_part_in_a_wide_merge(level):
    """Four fibers are merged at once; 0 times infinity is 0 where the 0 is not stored."""

    @ln.kernel
    def products(y, A, B, C, D):
        y[...] = 0.0
        for i in ...:
            y[i] += A[i] * B[i] + (C[i] + A[i]) * D[i]
        return y

    format = level(ln.Element(0.0))
    values = {"A": {0: 1.0}, "B": {1: np.inf}, "C": {1: 2.0}, "D": {1: 3.0, 2: np.nan}}
    args = [
        ln.tensor([np.array(list(v))], np.array(list(v.values())), (4,), format)
        for v in values.values()
    ]
    y = products(ln.empty_tensor(format), *args)
    ln.testing.assert_equal(y, np.array([0.0, 6.0, 0.0, 0.0]))
    assert y.nnz == 1


SEARCHED = {
    "sum": "if {A} > 3.0:\n            y[i] += 1.0",
    "and": "if {A_and}:\n            y[i] += 1.0\n        else:\n            y[i] += 0.5",
    "or": "if {A_or}:\n            y[i] += 1.0",
    "products": "y[i] += {Ax}",
    "let": "t = {A}\n        y[i] += t * x[i]",
}


@pytest.mark.parametrize("statement", SEARCHED.values(), ids=SEARCHED)
@pytest.mark.parametrize("kind", [ln.SparseList, ln.SparseHash, ln.SparseRunList, ln.Dense])
def test_many_searches_make_little_code(statement, kind):
    """Eight values are searched for, and what follows is not written 256 times."""
    names = [f"A{k}" for k in range(8)]
    parts = {
        "A": " + ".join(f"{n}[I[i]]" for n in names),
        "A_and": " and ".join(f"{n}[I[i]] >= {k % 2}.0" for k, n in enumerate(names)),
        "A_or": " or ".join(f"{n}[I[i]] > {k % 3}.5" for k, n in enumerate(names)),
        "Ax": " + ".join(f"{n}[I[i]] * x[i]" for n in names),
    }
    text = f"def f(y, I, x, {', '.join(names)}):\n    y[...] = 0.0\n    for i in ...:\n"
    kernel = Kernel(parse_text(f"{text}        {statement.format(**parts)}\n    return y"))
    rng = np.random.default_rng(0)
    operands = [
        ln.asarray(rng.integers(0, 3, 6) * 1.0, format=kind(ln.Element(0.0))) for _ in names
    ]
    x = np.array([np.inf, 1.0, np.nan, 2.0, 3.0, 0.0])
    args = [ln.asarray(np.array([5, 0, 3, 3, 1, 2])), ln.asarray(x), *operands]
    size = sum(1 for _ in walk(kernel.lowered(ln.empty_tensor(ln.DENSE(1)), *args).kernel.body))
    assert size < 1200
    y = kernel(ln.empty_tensor(ln.DENSE(1)), *args)
    expected = kernel.reference(ln.empty_tensor(ln.DENSE(1)), *args)["y"]
    ln.testing.assert_equal(y, expected)


@pytest.mark.parametrize("kind", [ln.SparseList, ln.SparseHash, ln.RunList])
@pytest.mark.parametrize("other", [np.int16(1), np.float32(2), np.complex64(1j), 3])
def test_a_value_that_is_held_has_the_type_of_its_company(kind, other):
    """Where nothing is stored, `coalesce(b[~i], 1)` is an integer 0, not False."""

    @ln.kernel
    def f(y, x, b, I):
        y[...] = 0
        for i in ...:
            y[i] = one_of(x[I[i]], ln.coalesce(b[~(I[i] - 1)], other))
        return y

    x = ln.asarray(np.array([1.0, 0.0, 2.0, 0.0]), format=kind(ln.Element(0.0)))
    b = ln.asarray(np.array([True, False, False, True]), format=kind(ln.Element(False)))
    y = ln.empty_tensor(ln.DENSE(1).with_dtype(np.result_type(x.dtype, other)))
    assert f(y, x, b, np.arange(4)).to_numpy().tolist() == [0, 1, 2, 0]


def test_a_remainder_of_nan():
    """LLVM takes `fmod` of integers for a number, whatever the divisor is."""
    nan = float("nan")

    @ln.kernel
    def remainders(y, x):
        y[...] = 0.0
        for i in ...:
            y[i] = x[i] % nan
        return y

    found = remainders(ln.empty_tensor(ln.DENSE(1)), ln.asarray(np.array([1, 2, 3])))
    assert np.isnan(found.to_numpy()).all()


def test_any_number_among_truth_values_is_true():
    """To write 2 where True is not stored changes nothing, and stores nothing."""

    @ln.kernel
    def two(y, x):
        y[...] = True
        for i in range(x.shape[0]):
            y[i] = 2
        return y

    y = two(ln.empty_tensor(ln.SparseList(ln.Element(True, "bool"))), np.zeros(2))
    assert y.nnz == 0
    assert y.to_numpy().all()


@pytest.mark.parametrize("range", ["...", "range(A.shape[0])"])
def test_kernels_of_one_text_and_other_checks_are_two(range):
    """Once dimensions are known both loops have that range; for one of them two sizes are one."""
    text = "def f(y, A, x):\n    y[...] = 0.0\n    for j in range(x.shape[0]):\n"
    text += f"        for i in {range}:\n            y[()] += A[i] * x[j, i]\n    return y"
    kernel, x = Kernel(parse_text(text)), np.arange(10.0).reshape(2, 5)
    assert kernel(ln.scalar(0.0), np.ones(5), x).item() == 45
    if range != "...":
        assert kernel(ln.scalar(0.0), np.ones(3), x).item() == 21


@pytest.mark.parametrize("child", [ln.SparseHash, ln.SparseByteMap])
def test_runs_of_fibers_that_are_not_in_order_yet(child):
    """Whether two rows are alike is seen when they are sorted: that is when they become a run."""

    @ln.kernel
    def twice(C, A):
        C[...] = 0.0
        for j in ...:
            for i in ...:
                C[i, j] += 2 * A[i, j]
        return C

    A = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0], [1.0, 0.0, 2.0]])
    C = ln.empty_tensor(ln.SparseInterval(child(ln.Element(0.0))))
    assert twice(C, ln.asarray(A, format=ln.CSC)).to_numpy().tolist() == (2 * A).tolist()
    ln.testing.assert_equal(ln.asarray(A).to(C.format), A)
    with pytest.raises(FormatError, match="a second run"):
        twice(C, ln.asarray(np.eye(3)))


@pytest.mark.parametrize("a", [0.0, 2.0])
def test_a_name_around_versions_for_a_sparse_scalar(a):
    """What is written twice for `A` speaks of a name whose type was found outside of it."""

    @ln.kernel
    def f(y, z, A):
        y[...] = 1.0
        z[...] = 0.0
        y[()] += A[()]
        x = y[()]
        z[()] += 1
        if x > A[()]:
            z[()] += x * A[()]
        return z

    A = ln.asarray(np.array(a), format=ln.SparseScalar(0.0))
    assert f(ln.scalar(0.0), ln.scalar(0.0), A).item() == 1 + (1 + a) * a


@ln.kernel
def turned_sum(Y, B):
    Y[...] = 1.0
    for i, j in ...:
        Y[j, i] += B[i, j]
    return Y


@ln.kernel
def spread_scalar(Y, s, B):
    Y[...] = 1.0
    for i in range(B.shape[0]):
        for j in range(B.shape[0]):
            Y[j, i] += s[()]
    return Y


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
def test_what_an_update_leaves_as_it_is_does_not_count():
    """Entries are counted before they are written: nothing added to 1 is no entry."""
    dense = np.array([[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]])
    into = ln.Dense(ln.SparseList(ln.Element(1.0)))
    for format in (ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.DENSE, ln.RLE):
        B = ln.asarray(dense, format=format)
        found = turned_sum(ln.empty_tensor(into), B)
        ln.from_buffers(found.format, found.shape, dict(found.buffers))  # as it should be stored
        assert np.array_equal(found.to_numpy(), 1 + dense.T)
    for held in (0.0, 2.0):
        s = ln.asarray(np.array(held), format=ln.SparseScalar(0.0))
        found = spread_scalar(ln.empty_tensor(into), s, np.zeros((2, 2)))
        ln.from_buffers(found.format, found.shape, dict(found.buffers))
        assert np.array_equal(found.to_numpy(), np.full((2, 2), 1 + held))


@ln.kernel
def held_and_written(K, A, Y):
    w = ln.temp(ln.SparseHash(ln.SparseHash(ln.Element(False, "bool"))))
    Y[...] = False
    w[...] = False
    for i in range(A.shape[0] // 2):
        Y[i] = (A[i, i] + A[i, i] != w[i, i]) and i > 0
    for i in ...:
        w[i, i] = A[i, i]
    for i in range(A.shape[0]):
        K[i] += w[i, i]
    return K, Y


def test_a_value_that_is_held_is_not_taken_for_its_tensor():
    """What is not stored of a held value is left alone; of the tensor of that name it is not."""
    A = ln.asarray(np.ones((3, 3), complex), format=ln.CSR, fill_value=1 + 0j)
    K, _ = held_and_written(
        ln.zeros(3, format=ln.SparseByteMap(ln.Element())), A, ln.empty_tensor(ln.CSF(1))
    )
    assert np.array_equal(K.to_numpy(), [1, 1, 1])


@pytest.mark.parametrize("dtype", ["int8", "bool", "uint8"])
def test_a_sum_is_not_taken_apart_before_its_types_are_known(dtype):
    """Two bytes wrap before they meet an integer, and True + True is True."""

    @ln.kernel
    def total(y, a, b):
        s = ln.scalar(0)
        y[...] = 0
        for i in ...:
            s[()] = s[()] + a[i] + b[i]
        y[()] += s[()]
        return y

    a = np.array([100, 100, 1]).astype(dtype)
    assert total(ln.scalar(0), a, a).item() == 2 * a.sum(dtype=int)

    @ln.kernel
    def sums(y, a, b):
        y[...] = 0
        for i in ...:
            y[i] = y[i] + a[i] + b[i]
        return y

    y = ln.empty_tensor(ln.Dense(ln.Element(0, "int64")))
    assert np.array_equal(sums(y, a, a).to_numpy(), 2 * a.astype(int))
    with pytest.raises(DTypeError, match="int64"):
        sums(ln.empty_tensor(ln.Dense(ln.Element(0, dtype))), a.astype(int), a)


@pytest.mark.parametrize("inner", [ln.SparseByteMap, ln.SparseHash])
@pytest.mark.parametrize("middle", [ln.Dense, ln.SparseHash])
@pytest.mark.parametrize("outer", [ln.SparseList, ln.RunList, ln.SparseBlockList])
def test_two_places_at_once_below_a_list(outer, middle, inner):
    """Each is opened by itself in a row that is written once: the row was written for each."""
    text = """def f(Y, A):
    Y[...] = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            for k in range(A.shape[0]):
                Y[i, j, k] += A[i] * A[k]
            Y[i, i, i] = min(Y[i, i, i], A[j] * A[i])
    return Y"""
    Y, subject = ln.empty_tensor(outer(middle(inner(ln.Element(0.0))))), None
    for values in ([0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, -2.0, 3.0]):
        args = {"Y": Y, "A": ln.asarray(np.array(values), format=ln.CSF(1))}
        subject = subject or Subject.of(parse_text(text), args)
        check(subject, args, BACKENDS[:1])


@pytest.mark.parametrize("level", [ln.SparseHash, ln.SparseByteMap])
def test_what_is_not_chosen_is_not_considered(level):
    """Beyond the bounds there is a number, not the fill value of a row that is not stored."""

    @ln.kernel
    def f(y, A):
        y[...] = 0.0
        for i in range(A.shape[0]):
            y[i] = max(ln.coalesce(A[i, ~(i + 1)], math.inf), A[i, i])
        return y

    A = np.full((3, 3), math.nan)
    A[1, 1] = 1.0
    args = {"y": ln.empty_tensor(ln.DENSE(1))}
    args["A"] = ln.asarray(A, format=level(ln.Dense(ln.Element(math.nan))))
    check(Subject.of(f.program, args), args)
    assert np.isnan(f(args["y"], args["A"]).to_numpy()).tolist() == [True, True, True]


@pytest.mark.parametrize("level", SPARSE)
def test_both_passes_find_the_same_values_to_be_the_fill(level):
    """0 *= A[i] is 0: such entries were not counted, and written nevertheless, behind the end."""

    @ln.kernel
    def f(Y, A):
        Y[...] = 0
        for i in ...:
            for j in range(A.shape[0]):
                for k in range(A.shape[0]):
                    Y[i, k, j] *= A[i]
        return Y

    args = {"Y": ln.empty_tensor(ln.Dense(ln.Dense(level(ln.Element(0, "int64")))))}
    args["A"] = ln.asarray(np.array([2, 3]))
    check(Subject.of(f.program, args), args)


def test_a_choice_of_two_nothings_that_are_not_told_apart():
    """Where neither is stored it is False or 0j: what is left of it was looked at for ever."""

    @ln.kernel
    def f(Y, C, B):
        Y[...] = np.float64(1.0)
        for j, k, l in ...:
            Y[j, l, k] += (B[k, j, k] if l // 2 != l // 3 else C[k, j, l]) and True * (
                abs(j - l) < l - 2
            )
        return Y

    B = ln.asarray(np.eye(3)[:, :, None] * np.full(3, 1j), format=ln.CSF(3))
    lists = ln.SparseByteMap(ln.Dense(ln.SparseCOO(1, ln.Element(False, "bool"))))
    C = ln.asarray(np.eye(3, dtype=bool)[:, :, None] & np.ones(5, bool), format=lists)
    runs = ln.SparseHash(ln.SparseRunList(ln.SparseCOO(1, ln.Element(-3.0))))
    args = {"Y": ln.empty_tensor(runs), "C": C, "B": B}
    check(Subject.of(f.program, args), args)


@pytest.mark.parametrize(("function", "limit"), [(ln.fmin, math.inf), (ln.fmax, -math.inf)])
@pytest.mark.parametrize("level", [ln.Dense, ln.SparseList])
def test_the_limit_of_what_ignores_nan_is_a_number(function, limit, level):
    """fmin(inf, nan) is inf: what a result begins with was left out, and the NaN was the result."""

    @ln.kernel
    def f(y, z, A):
        y[...] = limit
        z[...] = 0.0
        for i in ...:
            y[i] = function(y[i], A[i])
            z[i] = function(limit, A[i])
        return y, z

    args = {"y": ln.empty_tensor(ln.Dense(ln.Element(limit)))}
    args["z"] = ln.empty_tensor(ln.Dense(ln.Element(0.0)))
    args["A"] = ln.asarray(np.array([math.nan, 1.0, 0.0]), format=level(ln.Element(0.0)))
    check(Subject.of(f.program, args), args)


def test_a_float_that_is_true_changes_no_truth_value():
    """`Y and inf` is Y: elements that stay False were stored."""

    @ln.kernel
    def f(Y, A):
        Y[...] = False
        for i in range(1, A.shape[0]):
            for j in range(2):
                for k in range(2):
                    Y[i, j, k] = Y[i, j, k] and A[i, i]
        return Y

    args = {"Y": ln.empty_tensor(ln.Dense(ln.SparseList(ln.Dense(ln.Element(False, "bool")))))}
    args["A"] = ln.asarray(np.full((2, 2), math.inf), format=ln.COO.with_fill(math.inf))
    check(Subject.of(f.program, args), args)


def test_what_meets_is_counted_of_matrices_only():
    """A level of two dimensions below a dense one has three levels, and is no matrix."""

    @ln.kernel
    def f(Y, A):
        Y[...] = 0.0
        for i, j in ...:
            for k in range(A.shape[0]):
                Y[j, i, k] += A[i, j, A.shape[0] - 1 - i]
        return Y

    pairs, lists = (ln.SparseCOO(2, ln.Element(0.0)), ln.SparseList(ln.Dense(ln.Element(0.0))))
    A = ln.asarray(np.arange(8.0).reshape(2, 2, 2), format=ln.Dense(pairs))
    args = {"Y": ln.empty_tensor(ln.Dense(lists)), "A": A}
    check(Subject.of(f.program, args), args)


@pytest.mark.parametrize("level", [ln.SparseList, ln.RunList, ln.SparseRunList, ln.Dense])
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_of_two_may_be_there(level, backend):
    """Of `coalesce(A[~i], B[~(i - 4)], 9)`, `A` is there where `B` is not."""

    @ln.kernel
    def f(y, A, B, C):
        y[...] = 0
        for i in range(C.shape[0]):
            y[i] = ln.coalesce(A[~i], B[~(i - 4)], 9)
        return y

    a, b = np.array([0.0, 2.0, 2.0, 0.0, 5.0]), np.array([1.0, 1.0, 0.0])
    format = level(ln.Element(0.0))
    given = [ln.asarray(x, format=format) for x in (a, b)]
    with ln.config(backend=backend):
        found = f(ln.empty_tensor(format), *given, ln.asarray(np.zeros(9)))
    ln.testing.assert_equal(found, np.array([*a, 1.0, 0.0, 9.0, 9.0]))
