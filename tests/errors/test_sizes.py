"""Results that are too large, or whose size cannot be told: refused before anything runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import linnet as ln
from linnet.errors import (
    DTypeError,
    FormatError,
    IndexBoundsError,
    LinnetError,
    OutOfMemoryError,
    ShapeError,
)
from linnet.frontend.words import declare


@ln.kernel
def outer(C, a, b):
    C[...] = 0
    for i, j in ...:
        C[i, j] = a[i] * b[j]


@ln.kernel
def outer_of_three(C, a, b, c):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = a[i] * b[j] * c[k]


@ln.kernel
def by_way_of_a_matrix(y, a, b):
    w = ln.temp(ln.Dense(ln.Dense(ln.Element(0.0))))
    y[...] = 0
    w[...] = 0
    for i, j in ...:
        w[i, j] = a[i] * b[j]
    for i, j in ...:
        y[i] += w[i, j]


@ln.kernel
def kronecker(c, a, b):
    declare(c, 0, (a.shape[0] * b.shape[0],))
    for i, k in ...:
        c[i * b.shape[0] + k] += a[i] * b[k]


@ln.kernel
def upto(y, n):
    y[...] = 0
    for i in range(n[()]):
        y[i] = 1


@ln.kernel
def sized(y, n):
    declare(y, 0, (n[()],))
    for i in ...:
        y[i] = 1


@ln.kernel
def shifted(y, x):
    y[...] = 0
    for i in ...:
        y[i] = x[i + 1]


@ln.kernel
def from_a_sum(y, s, x):
    s[...] = 0
    for i in ...:
        s[()] += x[i]
    y[...] = 0
    for i in range(s[()]):
        y[i] = 1


@ln.kernel
def first(y, n, x):
    y[...] = 0
    for i in range(n[()]):
        y[i] = x[i]


def empty(format: object = None) -> ln.Tensor:
    return ln.empty_tensor(ln.DENSE(1) if format is None else format)


def one(n: int, at: int = 0) -> ln.Tensor:
    """A long vector with one entry."""
    return ln.tensor([[at]], [1.0], (n,), format=ln.CSF(1))


def refused(
    kind: type[LinnetError], call: Callable[[], object], message: str, hint: str | None = None
) -> LinnetError:
    """The call raises this, at a line of this file."""
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert str(error).splitlines()[0] == message
    assert error.at is not None
    assert error.at.file == __file__
    assert hint is None or hint in (error.hint or "")
    return error


def marked(error: LinnetError) -> str:
    assert error.at is not None
    return error.at.text[error.at.column : error.at.end_column]


# -- products of dimensions ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "levels",
    [
        ln.Dense(ln.Dense(ln.Element(0.0))),
        ln.SparseByteMap(ln.SparseByteMap(ln.Element(0.0))),
        ln.Dense(ln.SparseByteMap(ln.Element(0.0))),
    ],
    ids=str,
)
def test_a_product_beyond_64_bits(levels):
    # the product of these is 0 in 64 bits
    error = refused(
        OutOfMemoryError,
        lambda: outer(empty(levels), one(2**32), one(2**32)),
        f"the result `C` would have room for {2**64} elements",
        "store these dimensions in sparse levels",
    )
    assert isinstance(error, MemoryError)
    assert "its shape is (4294967296, 4294967296)" in (error.why or "")


def test_dimensions_of_32_bits_whose_product_is_beyond_64():
    refused(
        OutOfMemoryError,
        lambda: outer_of_three(empty(ln.DENSE(3)), one(2**22), one(2**22), one(2**20)),
        f"the result `C` would have room for {2**64} elements",
    )


def test_dense_levels_below_a_sparse_one():
    format = ln.SparseList(ln.Dense(ln.Dense(ln.Element(0.0))))
    refused(
        OutOfMemoryError,
        lambda: outer_of_three(empty(format), one(5), one(2**32), one(2**32)),
        f"the result `C` would have room for {2**64} elements",
    )


@pytest.mark.parametrize("n", [2**63 - 1, 2**62, 2**60])
def test_more_fibers_than_there_can_be_pointers(n):
    refused(
        OutOfMemoryError,
        lambda: outer(empty(ln.CSR), one(n), one(3)),
        f"the result `C` would have room for {n} elements",
    )


def test_a_temporary_that_no_memory_can_hold():
    refused(
        OutOfMemoryError,
        lambda: by_way_of_a_matrix(empty(ln.CSF(1)), one(2**32), one(2**32)),
        f"the temporary `w` would have room for {2**64} elements",
        "store these dimensions in sparse levels",
    )


def test_more_than_the_machine_has():
    error = refused(
        OutOfMemoryError,
        lambda: outer(empty(ln.CSR), one(2**45), one(3)),
        "there is not enough memory for the result of `outer`",
        "use sparser formats",
    )
    assert error.why == "the operands are as they were"


@pytest.mark.parametrize("format", [ln.CSF(2), ln.COO(2), ln.DCSR], ids=str)
def test_sparse_results_may_be_as_large_as_they_like(format):
    n = 2**62
    C = outer(empty(format), one(n, n - 1), one(n, n - 2))
    assert C.shape == (n, n)
    stored = [array for name, array in C.buffers.items() if name.startswith("idx")]
    assert [array.tolist() for array in stored] == [[n - 1], [n - 2]]


# -- dimensions that are computed ------------------------------------------------------------------


def test_coordinates_become_wider_than_those_of_the_operands():
    n = 70_000  # its square has more than 32 bits
    c = kronecker(empty(ln.SparseHash(ln.Element(0.0))), one(n, n - 1), one(n, n - 1))
    assert c.shape == (n * n,)
    assert c.buffers["idx0"].tolist() == [n * n - 1]


def test_the_memory_of_narrow_coordinates_is_not_reused_for_wide_ones():
    C = empty(ln.CSF(2))
    for n in (4, 2**40, 4, 2**40):
        a = ln.tensor([[0, n - 1]], [1.0, 2.0], (n,), format=ln.CSF(1))
        outer(C, a, a)
        assert C.buffers["idx1"].tolist() == [0, n - 1, 0, n - 1]
        assert C.buffers["val"].tolist() == [1.0, 2.0, 2.0, 4.0]


def test_a_dimension_beyond_64_bits():
    error = refused(
        ShapeError,
        lambda: kronecker(empty(ln.CSF(1)), one(2**40), one(2**40)),
        f"dimension 0 of the result `c` would be {2**80}",
    )
    assert error.why == "coordinates are 64-bit integers"


@pytest.mark.parametrize("format", [ln.DENSE(1), ln.CSF(1), ln.COO(1)], ids=str)
def test_a_size_that_is_passed(format):
    for n in (0, 3, np.int8(5), np.uint64(2)):
        y = upto(empty(format), n)
        assert y.shape == (int(n),)
        assert y.to_numpy().tolist() == [1] * int(n)
    assert upto(empty(format), -3).shape == (0,)


def test_a_size_that_is_passed_and_wrong():
    error = refused(
        DTypeError, lambda: upto(empty(), 2.5), "a bound of a range is an integer, not float64"
    )
    assert marked(error) == "for i in range(n[()])"
    error = refused(DTypeError, lambda: sized(empty(), 2.5), "a size is an integer, not float64")
    assert marked(error) == "declare(y, 0, (n[()],))"
    refused(ShapeError, lambda: sized(empty(), -1), "`y` would have a dimension of -1, n[()]")
    refused(
        ShapeError,
        lambda: upto(empty(), np.uint64(2**63)),
        f"dimension 0 of the result `y` would be {2**63}",
    )
    refused(
        OutOfMemoryError,
        lambda: upto(empty(), 2**62),
        f"the result `y` would have room for {2**62} elements",
    )


def test_a_size_that_is_not_known_before():
    error = refused(
        ShapeError,
        lambda: from_a_sum(empty(), ln.scalar(0), np.arange(3)),
        "the size of `y`, max(s[()], 0), is not known before the kernel runs",
        "compute it first",
    )
    assert marked(error) == "y[...] = 0"


def test_nothing_says_how_large_a_result_is():
    error = refused(
        ShapeError,
        lambda: shifted(empty(), np.arange(4.0)),
        "`y` has no shape, and nothing in `shifted` says what it is",
        "pass a tensor that has a shape",
    )
    assert marked(error) == "y[...] = 0"
    y = ln.asarray(np.zeros(3))
    assert shifted(y, np.arange(4.0)).to_numpy().tolist() == [1, 2, 3]


def test_a_range_that_leaves_an_operand():
    for n in (5, 2**40):
        with pytest.raises(IndexBoundsError) as caught:
            first(empty(ln.CSF(1)), n, np.ones(4))
        assert marked(caught.value) == "x[i]"


@ln.kernel
def neighbours(y, A, x):
    y[...] = 0.0
    for i in ...:
        y[i] = ln.coalesce(A[~(i - 1)], 0.0) + (x[i] if i < 3 else A[i])


def test_too_many_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnet.codelets.build.MOST", 5)
    A = ln.zeros(5, format=ln.CSF(1))
    with pytest.raises(FormatError, match="too many cases") as caught:
        neighbours.code(ln.empty_tensor(ln.DENSE(1)), A, np.ones(5))
    text = str(caught.value)
    assert "y[i] = ln.coalesce(A[~(i - 1)]" in text
    assert "The cases of each: `A[~(i - 1)]` 6, `A[i]` 2, `i < 3` 2" in text
    assert "temporary of its own" in text


@pytest.mark.parametrize("make", [lambda: ln.eye(2**45), lambda: ln.linspace(0, 1, 2**45)])
def test_memory_for_what_is_made_is_asked_for(make):
    with pytest.raises(OutOfMemoryError) as caught:
        make()
    assert caught.value.at.file == __file__
