"""Errors as objects: what they say of places, and what is left of them in other processes."""

from __future__ import annotations

import inspect
import pickle
import traceback
from pathlib import Path

import numpy as np
import pytest

import linnet as ln
from linnet import errors
from linnet.errors import (
    ArgumentError,
    DiscordanceWarning,
    DTypeError,
    LifecycleError,
    LinnetError,
    ShapeError,
)
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel

EYE = np.eye(3)
ONES = np.ones(3)


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]


KINDS = [k for k in vars(errors).values() if inspect.isclass(k) and issubclass(k, LinnetError)]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_come_back_from_other_processes(kind):
    at = errors.Location("file.py", 3, 4, 6, "    ab cd")
    error = kind("what", source="text") if kind is errors.BuildError else kind("what", at=at)
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is kind
    assert str(copied) == str(error)
    assert "what" in "".join(traceback.format_exception(copied))


def test_the_place_of_a_caller_whose_folder_is_called_like_ours():
    file = f"{Path(errors.__file__).parent}_of_a_user/program.py"
    space = {"ln": ln}
    with pytest.raises(DTypeError) as caught:
        exec(compile("\nln.asarray(None)", file, "exec"), space)
    assert (caught.value.at.file, caught.value.at.line) == (file, 2)


WRONG = {
    "size": (lambda: (ln.empty_tensor(ln.DENSE(1)), EYE, np.ones(4)), ShapeError),
    "dimensions": (lambda: (ln.empty_tensor(ln.DENSE(1)), EYE, EYE), ShapeError),
    "result": (lambda: (ln.empty_tensor(ln.CSR), EYE, ONES), ShapeError),
    "dtype": (
        lambda: (ln.empty_tensor(ln.DENSE(1).with_dtype("int8")), EYE, ONES * 1j),
        DTypeError,
    ),
}


@pytest.mark.parametrize(("arguments", "kind"), WRONG.values(), ids=WRONG)
def test_the_line_of_the_kernel_and_that_of_the_call(arguments, kind):
    y, A, x = arguments()
    with pytest.raises(kind) as caught:
        spmv(y, A, x)  # the call
    error = caught.value
    assert error.at.text.strip() == "y[i] += A[i, j] * x[j]"
    assert error.call.text.strip() == "spmv(y, A, x)  # the call"
    assert error.call.file == __file__
    text = str(error)
    assert text.index(str(error.at)) < text.index(f"in the call\n{error.call}")
    assert str(pickle.loads(pickle.dumps(error))) == text


def test_an_error_in_the_call_itself_has_one_place():
    with pytest.raises(ArgumentError) as caught:
        spmv(EYE)
    assert caught.value.call is None
    assert "in the call" not in str(caught.value)


@pytest.mark.parametrize("dtype", ["float16", "object"])
def test_operators_with_arrays_whose_values_are_none_of_ours(dtype):
    for operator in (lambda x, y: x @ y, lambda x, y: x + y, lambda x, y: y - x):
        with pytest.raises(DTypeError, match=f"does not hold values of dtype {dtype}") as caught:
            operator(ln.asarray(EYE, format="csr"), ONES.astype(dtype))
        assert caught.value.at.file == __file__


def test_loops_of_one_name_are_called_by_it() -> None:
    """Passes tell them apart; what is said to the user has the names of the user."""
    text = """def f(y, x):
    y[...] = 0
    for i in ...:
        y[i] += x[i]
    for i in ...:
        y[i] += x[i] * y[i]
    return y"""
    with pytest.raises(LifecycleError, match="in the loop over `i`"):
        Kernel(parse_text(text)).code(ln.empty_tensor(ln.DENSE(1)), ln.ones(3))

    @ln.kernel
    def g(y, z, A):
        y[...] = 0
        z[...] = 0
        for i, j in ...:
            y[i] += A[i, j]
        for j, i in ...:
            z[j] += A[i, j]

    results = [ln.empty_tensor(f) for f in (ln.DENSE(1), ln.CSF(1))]
    with pytest.warns(DiscordanceWarning, match=r"^A\[i, j\] goes against .* loop over `j` is"):
        g(*results, ln.asarray(np.eye(3), format=ln.CSR))


@ln.kernel
def largest(y, c, d):
    y[...] = 0
    for i in ...:
        y[i] = max(y[i], c[i])


@ln.kernel
def compared(y, c, d):
    for i in ...:
        y[i] = c[i] < c[i]


@ln.kernel
def chosen(y, c, d):
    for i in ...:
        if c[i] < 2:
            y[i] = d[i]


@ln.kernel
def named(y, c, d):
    for i in ...:
        t = c[i] // 2
        y[i] = t


@ln.kernel
def gathered(y, c, d):
    for i in ...:
        y[i] += d[c[i] // 2]


@pytest.mark.parametrize(
    ("kernel", "line"),
    [
        (largest, "y[i] = max(y[i], c[i])"),
        (compared, "y[i] = c[i] < c[i]"),
        (chosen, "if c[i] < 2:"),
        (named, "t = c[i] // 2"),
        (gathered, "y[i] += d[c[i] // 2]"),
    ],
)
def test_functions_of_types_that_they_are_not_defined_for(kernel, line):
    """The line of the kernel, and that of the call."""
    y = ln.empty_tensor(ln.DENSE(1)) if kernel is largest else ln.zeros(3)
    with pytest.raises(DTypeError, match="is not defined for") as caught:
        kernel(y, ln.asarray(ONES * 1j), ln.asarray(ONES))
    assert caught.value.at.file == __file__
    assert caught.value.at.text.strip() == line
    assert caught.value.call.text.strip().startswith("kernel(y, ")
