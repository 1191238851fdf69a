"""Kernels called with the wrong arguments: what is refused, at which line, in which words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import linnet as ln
from linnet.errors import (
    ArgumentError,
    DTypeError,
    IndexBoundsError,
    LifecycleError,
    LinnetError,
    ShapeError,
)

EYE = np.eye(3)
ONES = np.ones(3)


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def accumulate(y, x):
    for i in ...:
        y[i] += x[i]


@ln.kernel
def both(y, z, x):
    y[...] = 0
    z[...] = 0
    for i in ...:
        y[i] = x[i]
        z[i] = 2 * x[i]


@ln.kernel
def gather(y, x, I):
    y[...] = 0
    for i in ...:
        y[i] = x[I[i]]


@ln.kernel
def scatter(y, x, I):
    for i in ...:
        y[I[i]] += x[i]


def vector() -> ln.Tensor:
    return ln.empty_tensor(ln.DENSE(1))


def refused(
    kind: type[LinnetError], call: Callable[[], object], message: str, hint: str | None = ""
) -> LinnetError:
    """The call raises this, at a line of this file."""
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert str(error).splitlines()[0] == message
    assert error.at is not None
    assert error.at.file == __file__
    if hint is not None:
        assert hint in (error.hint or "")
    return error


def marked(error: LinnetError) -> str:
    """What the carets stand under."""
    assert error.at is not None
    return error.at.text[error.at.column : error.at.end_column]


# -- how many --------------------------------------------------------------------------------------


def test_too_few_and_too_many():
    refused(
        ArgumentError, lambda: spmv(vector(), EYE), "`spmv` takes 3 tensors (y, A, x), not 2", None
    )
    refused(ArgumentError, lambda: spmv(), "`spmv` takes 3 tensors (y, A, x), not 0", None)
    refused(
        ArgumentError,
        lambda: spmv(vector(), EYE, ONES, ONES),
        "`spmv` takes 3 tensors (y, A, x), not 4",
        None,
    )


def test_arguments_by_name():
    assert spmv(vector(), x=ONES, A=2 * EYE).to_numpy().tolist() == [2, 2, 2]
    parameters = "its parameters are y, A, x"
    refused(
        ArgumentError,
        lambda: spmv(vector(), EYE, z=ONES),
        "`spmv` has no parameter `z`",
        parameters,
    )
    refused(
        ArgumentError, lambda: spmv(vector(), EYE, A=EYE), "`spmv` was given `A` twice", parameters
    )
    refused(
        ArgumentError,
        lambda: spmv(vector(), A=EYE),
        "`spmv` takes 3 tensors (y, A, x), not 2",
        None,
    )


# -- of which kind ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "kind", "message"),
    [
        (None, DTypeError, "this NoneType does not hold numbers"),
        ("abc", DTypeError, "this str does not hold numbers"),
        (b"abc", DTypeError, "this bytes does not hold numbers"),
        ({}, DTypeError, "this dict does not hold numbers"),
        ({1, 2}, DTypeError, "this set does not hold numbers"),
        ([1, [2]], ShapeError, "the rows of this list differ in length"),
        (10**30, DTypeError, "this int does not fit 64 bits"),
        (np.ma.array(ONES), ArgumentError, "this MaskedArray is a masked array"),
        (np.ones(3, object), DTypeError, "Linnet does not hold values of dtype object"),
        (np.zeros(3, "M8[s]"), DTypeError, "Linnet does not hold values of dtype datetime64[s]"),
        (np.zeros(3, "f2"), DTypeError, "Linnet does not hold values of dtype float16"),
        (np.zeros(3, "i1,i1").view("V2"), DTypeError, "Linnet does not hold values of dtype |V2"),
        (spmv, DTypeError, "this Kernel does not hold numbers"),
        (ln.CSR, DTypeError, "this Format does not hold numbers"),
        (np.ndarray, DTypeError, "this type does not hold numbers"),
        ((v for v in ONES), DTypeError, "this generator does not hold numbers"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_not_a_tensor(x, kind, message):
    refused(kind, lambda: spmv(vector(), EYE, x), f"`x` of `spmv`: {message}", None)


@pytest.mark.parametrize(
    "x",
    [
        [1.0, 2.0, 3.0],
        (1, 2, 3),
        range(1, 4),
        np.array([1, 2, 3], ">i4"),
        np.array([1, 2, 3], ">f8"),
        np.array([3.0, 2.0, 1.0])[::-1],
        np.array([1.0, 9.0, 2.0, 9.0, 3.0])[::2],
        np.arange(1.0, 4.0).view(type("Mine", (np.ndarray,), {})),
        bytearray(b"\x01\x02\x03"),
        memoryview(np.arange(1.0, 4.0)),
        np.frombuffer(np.arange(1.0, 4.0).tobytes()),
        np.frombuffer(b"\0" + np.arange(1.0, 4.0).tobytes(), np.uint8)[1:].view(float),
        np.broadcast_to(np.arange(1, 4), (2, 3))[1],
    ],
    ids=range(13),
)
def test_what_is_as_good_as_a_tensor(x):
    assert spmv(vector(), EYE, x).to_numpy().tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "A",
    [
        np.array([[1, 2], [3, 4]]).view(np.matrix),
        np.asfortranarray([[1, 2], [3, 4]]),
        np.array([[4, 3], [2, 1]])[::-1, ::-1],
        np.array([[1, 9, 2], [9, 9, 9], [3, 9, 4]])[::2, ::2],
        [[1, 2], [3, 4]],
    ],
    ids=range(5),
)
def test_matrices_in_any_order_of_memory(A):
    assert spmv(vector(), A, [1.0, 1.0]).to_numpy().tolist() == [3.0, 7.0]


def test_numbers_and_arrays_without_dimensions():
    for x in (1.0, 7, np.float32(1), np.array(2.0), ln.scalar(0.0)):
        error = refused(
            ShapeError,
            lambda x=x: spmv(vector(), EYE, x),
            "x[j] has 1 index but x has 0 dimensions",
            "write x[()]",
        )
        assert marked(error) == "x[j]"


def test_no_elements():
    assert spmv(vector(), np.zeros((0, 3)), ONES).shape == (0,)
    assert spmv(vector(), np.zeros((3, 0)), np.zeros(0)).to_numpy().tolist() == [0, 0, 0]


# -- outputs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [ONES, [], None, 1.0], ids=["array", "list", "None", "number"])
def test_an_output_is_a_tensor_of_ours(y):
    error = refused(
        ArgumentError,
        lambda: spmv(y, EYE, ONES),
        "`y` is written by `spmv`, so it must be a tensor of Linnet",
        "pass ln.empty_tensor(format)",
    )
    assert error.why == f"it is a {type(y).__name__}, whose memory is not ours to write to"


def test_what_is_updated_is_a_tensor_of_ours():
    array = np.ones(3)
    refused(
        ArgumentError,
        lambda: accumulate(array, ONES),
        "`y` is written by `accumulate`, so it must be a tensor of Linnet",
        "pass ln.asarray(…)",
    )
    assert accumulate(ln.asarray(array), ONES).to_numpy().tolist() == [2, 2, 2]
    assert array.tolist() == [1, 1, 1]


def test_an_operand_without_contents():
    error = refused(
        LifecycleError,
        lambda: spmv(vector(), ln.empty_tensor(ln.CSR), ONES),
        "`A` has no contents yet, and `spmv` reads it",
        "pass it as the output of a kernel first",
    )
    assert "none has" in (error.why or "")


def test_an_update_of_nothing():
    refused(
        LifecycleError,
        lambda: accumulate(vector(), ONES),
        "`y` has no contents yet, and `accumulate` updates what it holds",
        "declare it in the kernel, `y[...] = 0`",
    )


def test_one_tensor_as_two_outputs():
    y = vector()
    refused(
        ArgumentError,
        lambda: both(y, y, ONES),
        "`y` and `z` are one tensor, and `both` writes both",
        "pass two tensors",
    )
    both(y, vector(), ONES)


def test_the_wrong_number_of_dimensions():
    error = refused(
        ShapeError,
        lambda: spmv(ln.empty_tensor(ln.CSR), EYE, ONES),
        "y[i] has 1 index but y has 2 dimensions",
    )
    assert marked(error) == "y[i]"
    error = refused(
        ShapeError,
        lambda: spmv(vector(), ONES, ONES),
        "A[i, j] has 2 indices but A has 1 dimension",
    )
    assert marked(error) == "A[i, j]"


def test_dimensions_that_do_not_fit():
    error = refused(
        ShapeError,
        lambda: spmv(vector(), np.ones((3, 4)), ONES),
        "`j` is 4 in A[i, j] (mode 1 of A) but 3 in x[j] (mode 0 of x)",
        None,
    )
    assert marked(error) == "x[j]"
    refused(
        ShapeError,
        lambda: accumulate(ln.asarray(np.ones(4)), ONES),
        "`i` is 3 in x[i] (mode 0 of x) but 4 in y[i] (mode 0 of y)",
        None,
    )


# -- indices that are computed ---------------------------------------------------------------------


@pytest.mark.parametrize("index", [[0.0], [np.nan], [1j]], ids=str)
def test_an_index_that_is_no_integer(index):
    dtype = np.asarray(index).dtype
    error = refused(
        DTypeError,
        lambda: gather(vector(), ONES, np.asarray(index)),
        f"an index is an integer, not {dtype}",
        "x.astype(np.int64)",
    )
    assert marked(error) == "x[I[i]]"


@pytest.mark.parametrize("format", [ln.DENSE, ln.CSF, ln.COO], ids=str)
@pytest.mark.parametrize("bad", [3, -1, 2**62, -(2**63), 2**63 - 1])
def test_a_read_outside(format, bad):
    x = ln.asarray(ONES, format=format)
    with pytest.raises(IndexBoundsError) as caught:
        gather(vector(), x, np.array([0, bad]))
    assert marked(caught.value) == "x[I[i]]"
    assert "an index runs from 0 to the size of its dimension less one" in str(caught.value)
    assert "ln.coalesce(A[~i], 0)" in (caught.value.hint or "")
    assert gather(vector(), x, np.array([2, 0])).to_numpy().tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "uint64"])
def test_a_read_outside_with_indices_of_any_type(dtype):
    limit = np.iinfo(dtype).max
    with pytest.raises(IndexBoundsError):
        gather(vector(), ONES, np.array([limit], dtype))


@pytest.mark.parametrize("bad", [3, -1, 2**62])
def test_a_write_outside_changes_nothing(bad):
    y = ln.asarray(np.zeros(3))
    with pytest.raises(IndexBoundsError) as caught:
        scatter(y, ONES, np.array([0, 1, bad]))
    assert marked(caught.value) == "y[I[i]]"
    assert y.to_numpy().tolist() == [0, 0, 0]
    assert scatter(y, ONES, np.array([0, 2, 2])).to_numpy().tolist() == [1, 0, 2]
