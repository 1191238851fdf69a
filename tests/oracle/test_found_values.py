"""Programs that went wrong once for the values that they met: each is here so that it does not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet.errors import DiscordanceWarning, FormatError
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel

FARTHEST = (-(2**63), -(2**63) + 1, 2**63 - 2, 2**63 - 1)
COMPARED = ("{} < {}", "{} <= {}", "{} > {}", "{} >= {}", "{} == {}", "{} != {}")


def _comparing(text: str) -> Kernel:
    """A program that writes where a comparison of `A[i]` holds."""
    lines = ("def f(Y, A):", "    Y[...] = 0.0", "    for i in ...:")
    lines += ("        for j in range(A.shape[0]):", f"            if {text}:")
    lines += ("                Y[i, j] = 1.0", "    return Y")
    return Kernel(parse_text("\n".join(lines)))


@pytest.mark.parametrize("index", ["j", "j + 3", "j - 3", "j + A[5]", "j - A[5]"])
@pytest.mark.parametrize("compared", COMPARED)
def test_numbers_far_from_every_index(compared, index):
    """A loop ends where `A[i] < j` begins to hold: behind the last number there is none."""
    values = np.array([*FARTHEST, 0, 3, 5])
    kernel = _comparing(compared.format("A[i]", index))
    args = {"A": ln.asarray(values), "Y": ln.empty_tensor(ln.DENSE(2))}
    shift = {"j": 0, "j + 3": 3, "j - 3": -3, "j + A[5]": 3, "j - A[5]": -3}[index]
    holds = [
        [float(eval(compared.format(int(value), j + shift))) for j in range(len(values))]
        for value in values
    ]
    for backend in BACKENDS:
        with ln.config(backend=backend):
            found = kernel(ln.empty_tensor(ln.DENSE(2)), args["A"])
        assert found.to_numpy().tolist() == holds
    check(Subject.of(kernel.program, args), args)


def test_a_number_that_is_no_fill_is_no_integer_for_c():
    """`isnan` is a macro in C, and goes by the type of what stands there."""

    @ln.kernel
    def f(Y, A):
        w = ln.temp(ln.SparseScalar(ln.nan, "float64"))
        ln.declare(Y, 0.0, (A.shape[0],))
        w[...] = ln.nan
        for i in range(1, A.shape[0]):
            w[()] = 1
            Y[i] += w[()]
        return Y

    args = {"Y": ln.empty_tensor(ln.DENSE(1)), "A": ln.asarray(np.zeros(3))}
    check(Subject.of(f.program, args), args)


def test_the_first_update_of_another_element_is_refused():
    """All indices of a fiber with one element share its value, which is not theirs to end by."""

    @ln.kernel
    def f(Y, A):
        ln.declare(Y, 7, (A.shape[0],))
        for i in range(A.shape[0]):
            for k in range(A.shape[1]):
                Y[i] = Y[i] or A[k, i]
        return Y

    A = ln.asarray(np.zeros((2, 2)), format=ln.DCSR)
    with pytest.warns(DiscordanceWarning), pytest.raises(FormatError, match="one per fiber"):
        f(ln.empty_tensor(ln.SparsePinpoint(ln.Element(7, "int64"))), A)


def test_what_begins_anew_is_not_repeated():
    """Of two equal iterations one is done, twice as much: but not to what both of them declare."""

    @ln.kernel
    def f(Y, A, B):
        w = ln.temp(ln.Element(0.0, "float64"))
        Y[...] = 0.0
        for i in range(A.shape[0]):  # noqa: B007
            w[...] = 0.0
            for j in range(A.shape[0]):  # noqa: B007
                w[()] += B[0, 0]
                Y[()] += w[()]
        return Y

    args = {"Y": ln.scalar(0.0), "A": ln.asarray(np.zeros(2))}
    args["B"] = ln.asarray(np.full((2, 2), 3.0), format=ln.CSR.with_fill(1.0))
    check(Subject.of(f.program, args), args)


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize(("ends", "found"), [((2, 2**64 - 1), 12), ((2**63, 2**63 + 3), 0)])
def test_a_loop_to_an_unsigned_number_beyond_all_indices(backend, ends, found):
    """As an index it was negative: the loop did nothing, or began before the first element."""

    @ln.kernel
    def f(s, b, x):
        s[...] = 0
        for i in range(b[0], b[1]):
            s[()] += ln.coalesce(x[~i], 0)
        return s

    with ln.config(backend=backend):
        for format in (ln.DENSE(1), ln.CSF(1), ln.RunList(ln.Element())):
            x = ln.asarray(np.arange(1, 6), format=format)
            assert f(ln.scalar(0), np.array(ends, "uint64"), x).item() == found


def test_what_stands_for_a_missing_row_takes_no_room():
    """Of a row that is not stored, what lies beyond the bounds is the number that coalesce names.

    A number that tests of indices choose is known: 2**33 of them were to be written.
    """

    @ln.kernel
    def f(Y, A, B):
        Y[...] = 0.0
        for j, k, i in ...:
            Y[j, k, i] += A[j, k, i] - ln.coalesce(B[j, ~(k - 1), i], 0.0)
        return Y

    wide, coo = 2**33, ln.COO(3)
    A = ln.tensor([[3], [0], [5]], [1.0], (wide,) * 3, coo)
    B = ln.tensor([[4], [0], [7]], [2.0], (wide,) * 3, coo)
    Y = f(ln.empty_tensor(ln.CSF(3)), A.to(ln.CSF(3)), B.to(ln.CSF(3)))
    assert [c.tolist() for c in Y.coords] == [[3, 4], [0, 1], [5, 7]]
    assert Y.data.tolist() == [1.0, -2.0]
