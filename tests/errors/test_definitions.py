"""What `@ln.kernel` is put on: functions, of all kinds, and things that are none."""

from __future__ import annotations

import copy
import functools
import linecache
import math
import pickle

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ArgumentError, InternalError, KernelSyntaxError, LinnetError
from linnet.runtime import specialize


def plain(y, x):
    y[...] = 0
    for i in ...:
        y[i] = x[i] + 1
    return y


async def asynchronous(y, x):
    y[...] = 0


def generator(y, x):
    y[...] = 0
    yield y


class Kernels:
    @ln.kernel
    def copied(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i]
        return y

    def method(self, y):
        y[...] = 0


@ln.kernel
def doubled(y, x):
    """Twice x."""
    y[...] = 0
    for i in ...:
        y[i] = 2 * x[i]
    return y


def in_cell(text: str, name: str = "<cell>", **names: object) -> dict[str, object]:
    """Run text as a notebook does."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"ln": ln, "np": np} | names
    exec(compile(text, name, "exec"), space)
    return space


def output() -> ln.Tensor:
    return ln.empty_tensor(ln.DENSE(1))


@pytest.mark.parametrize(
    "thing",
    [5, "def f(): pass", len, np.add, np.sum, Kernels, Kernels().method, doubled,
     functools.partial(plain), staticmethod(plain), classmethod(plain), plain.__code__],
    ids=lambda thing: type(thing).__name__,
)  # fmt: skip
def test_what_is_no_function(thing):
    with pytest.raises(ArgumentError) as caught:
        ln.kernel(thing)
    error = caught.value
    assert error.message == f"@ln.kernel wants a function, not {thing!r}"
    assert error.hint == "write it with def, and put @ln.kernel directly above"
    assert error.at.file == __file__


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (asynchronous, "`asynchronous` cannot be async: Linnet compiles it"),
        (generator, "yield cannot be used in a kernel"),
        (lambda y: y, "a kernel is a function, not a lambda"),
    ],
)
def test_functions_that_are_no_kernels(function, message):
    with pytest.raises(KernelSyntaxError) as caught:
        ln.kernel(function)
    assert caught.value.message == message
    assert caught.value.at.file == __file__
    assert caught.value.hint


def test_a_kernel_in_a_class():
    assert Kernels.copied(output(), [1.0, 2.0]).to_numpy().tolist() == [1, 2]
    assert Kernels().copied(output(), [1.0, 2.0]).to_numpy().tolist() == [1, 2]


def test_a_decorated_function():
    def decorate(f):
        @functools.wraps(f)
        def call(*args):
            return f(*args)

        return call

    assert ln.kernel(decorate(plain))(output(), [1.0]).to_numpy().tolist() == [2]


def test_a_kernel_from_a_notebook():
    text = "@ln.kernel\ndef k(y, x):\n    y[...] = 0\n    for i in ...:\n        y[i] = x[i] * 3\n"
    kernel = in_cell(text)["k"]
    assert kernel(output(), [1.0, 2.0]).to_numpy().tolist() == [3, 6]
    # the same cell, run again with another text
    kernel = in_cell(text.replace("3", "4"))["k"]
    assert kernel(output(), [1.0, 2.0]).to_numpy().tolist() == [4, 8]


def test_an_error_shows_the_cell_and_not_the_file_that_was_compiled_first():
    """Machine code is shared by all kernels with the same text; their places are their own."""
    text = (
        "@ln.kernel\ndef k(y, x, I):\n    y[...] = 0\n    for i in ...:\n        y[i] = x[I[i]]\n"
    )
    for n in range(3):
        kernel = in_cell("\n" * n + text, f"<cell {n}>")["k"]
        with pytest.raises(IndexError) as caught:
            kernel(output(), np.ones(3), np.array([7]))
        assert caught.value.at.file == f"<cell {n}>"
        assert caught.value.at.line == 5 + n
        assert caught.value.at.text.strip() == "y[i] = x[I[i]]"


def test_a_kernel_without_text():
    space: dict[str, object] = {}
    exec("def k(y):\n    y[...] = 0\n", space)
    with pytest.raises(KernelSyntaxError) as caught:
        ln.kernel(space["k"])
    assert caught.value.message == "the source of `k` is not available"
    assert caught.value.hint == "define it in a file or a notebook cell"


def test_names_that_mean_something_elsewhere():
    """Names of C, of LLVM, of Python, and of the variables that the compiler makes itself."""
    template = (
        "@ln.kernel\ndef k({y}, {A}, {x}):\n    {y}[...] = 0\n    for {i}, {j} in ...:\n"
        "        {y}[{i}] += {A}[{i}, {j}] * {x}[{j}]\n    return {y}\n"
    )
    for words in (
        "y_val A1_ptr x_val n_i n_j",
        "int double restrict i32 ptr",
        "args grow status q target",
        "main malloc free define at",
        "α β γ δ ε",
        "self type id print len",
        "_ __ ___ ____ _____",
    ):
        names = dict(zip("yAxij", words.split(), strict=True))
        kernel = in_cell(template.format(**names), f"<{words}>")["k"]
        A = ln.asarray([[1.0, 2.0], [0.0, 3.0]], format="csr")
        assert kernel(output(), A, [1.0, 1.0]).to_numpy().tolist() == [3, 3]


@pytest.mark.parametrize("count", [250, 400])
def test_an_expression_that_is_too_long(count):
    text = f"y[i] = {' + '.join(['x[i]'] * count)}"
    text = f"@ln.kernel\ndef k(y, x):\n    y[...] = 0\n    for i in ...:\n        {text}\n"
    with pytest.raises(KernelSyntaxError) as caught:
        in_cell(text)["k"](output(), np.ones(3))
    assert caught.value.message == "`k` is nested too deeply"
    assert "split long expressions" in caught.value.hint
    assert caught.value.at.file == "<cell>"


@pytest.mark.parametrize("count", [700, 1500])
@pytest.mark.parametrize("x", [2.0, np.ones(3)], ids=["number", "array"])
def test_a_function_that_is_too_long(count, x):
    f = in_cell(f"@ln.function\ndef f(x):\n    return {'+'.join(['x'] * count)}\n")["f"]
    with pytest.raises(KernelSyntaxError, match="`f` is nested too deeply") as caught:
        f(x)
    assert caught.value.at.file == "<cell>"


def test_many_statements_are_not_too_many():
    lines = "".join(f"        y[i] += x[i] * {k}\n" for k in range(60))
    text = f"@ln.kernel\ndef k(y, x):\n    y[...] = 0\n    for i in ...:\n{lines}"
    total = float(sum(range(60)))
    assert in_cell(text)["k"](output(), [1.0, 2.0]).to_numpy().tolist() == [total, 2 * total]


def test_temporaries_that_are_not_used():
    @ln.kernel
    def kernel(y, x):
        v = ln.temp(ln.SparseByteMap(ln.Element(0)))  # noqa: F841
        w = ln.temp(ln.CSF)  # noqa: F841
        y[...] = 0
        for i in ...:
            y[i] = x[i]

    assert kernel(output(), [1.0]).to_numpy().tolist() == [1]


def test_a_temporary_of_a_family_without_accesses():
    def kernel(y, x):
        w = ln.temp(ln.CSF)
        y[...] = 0
        w[...] = 0

    with pytest.raises(LinnetError) as caught:
        ln.kernel(kernel)
    assert caught.value.at.text.strip() == "w = ln.temp(ln.CSF)"
    assert caught.value.hint == "say it: CSF(2)"


def test_a_mistake_of_ours_is_called_one(monkeypatch):
    def broken(*args):
        raise KeyError("whatever")

    monkeypatch.setattr(specialize, "normalize", broken)
    with pytest.raises(InternalError) as caught:
        ln.kernel(plain)(output(), np.ones(3, np.float32))
    assert caught.value.message == "`plain` cannot be compiled: KeyError 'whatever'"
    assert caught.value.at.text == "def plain(y, x):"
    assert "DENSE(1), DENSE(1)" in caught.value.why
    assert isinstance(caught.value.__cause__, KeyError)


# -- kernels as objects ----------------------------------------------------------------------------


def test_what_a_kernel_says_of_itself():
    assert repr(doubled) == "<kernel doubled(y, x)>"
    assert doubled.__doc__ == "Twice x."
    assert doubled.__module__ == __name__
    assert Kernels.copied.__qualname__ == "Kernels.copied"
    assert copy.copy(doubled) is doubled
    assert copy.deepcopy([doubled])[0] is doubled


def test_a_kernel_is_pickled_by_name(monkeypatch):
    # as the module is called that a user would have imported
    monkeypatch.setattr(math, "doubled", doubled, raising=False)
    monkeypatch.setattr(doubled, "__module__", "math")
    assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_parentheses_after_the_decorator():
    with pytest.raises(ArgumentError) as caught:
        ln.kernel()
    assert caught.value.message == "@ln.kernel wants a function"
    assert caught.value.hint == "put @ln.kernel directly above a def, without parentheses"
