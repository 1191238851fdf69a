"""Python outside the loop language: the place, the first line and the hint of every refusal."""

# ruff: noqa: E501 (a case is a line)

from __future__ import annotations

import ast
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tests.unit.frontend.kernels import kernel

import linnet as ln
from linnet.errors import KernelSyntaxError, LinnetError
from linnet.frontend.parse import parse
from linnet.python.source import source_of

# A line of a kernel over `y`, `A`, `x`, with a loop over i and j around it; the part that is marked;
# the message; the hint.
LINES = [
    ("while x[i] > 0: pass", "while x[i] > 0: pass", "a while loop cannot be used in a kernel", "loop with `for i in ...:` or `for i in range(a, b):`"),
    ("break", "break", "break ends one loop, and here are several", "write a loop for each index: `for i in ...:` and below it `for j in ...:`"),
    ("for k in range(i, i + 1): break", "break", "break ends a loop over one index, which ends anyway", "put what follows under `if`"),
    ("for k in range(3): break; y[i] = 1", "y[i] = 1", "nothing is run after a break", "leave it out"),
    ("continue", "continue", "continue cannot be used in a kernel", "put what follows under `if`"),
    ("with x: pass", "with x: pass", "a with statement cannot be used in a kernel", "open it around the call of the kernel"),
    ("raise x", "raise x", "raise cannot be used in a kernel", "check arguments before the call of the kernel"),
    ("assert x[i]", "assert x[i]", "assert cannot be used in a kernel", "check arguments before the call of the kernel"),
    ("del x", "del x", "del cannot be used in a kernel", "leave it out: a temporary lives until the end of its block"),
    ("import os", "import os", "an import cannot be used in a kernel", "import it at the top of the file"),
    ("from os import path", "from os import path", "an import cannot be used in a kernel", "import it at the top of the file"),
    ("global g", "global g", "a global statement cannot be used in a kernel", "pass what changes as a parameter"),
    ("def f(): pass", "def f(): pass", "a function cannot be used in a kernel", "define it outside, under @ln.function, and call it here"),
    ("class C: pass", "class C: pass", "a class cannot be used in a kernel", "define it outside the kernel"),
    ("d: float = x[i]", "d: float = x[i]", "an annotated assignment cannot be used in a kernel", "leave the annotation out: `d = …`"),
    ("y[i] = (d := x[i])", "d := x[i]", "an assignment inside an expression cannot be used in a kernel", "give it a line of its own: `d = …`"),
    ("y[i] = lambda: 1", "lambda: 1", "a lambda cannot be used in a kernel", "define it outside, under @ln.function, and call it here"),
    ("y[i] = [x[i]]", "[x[i]]", "a list cannot be used in a kernel", "pass it as a tensor"),
    ("y[i] = x[i], 1", "x[i], 1", "a tuple cannot be used in a kernel", "compute one value at a time"),
    ("y[i] = {1}", "{1}", "a set cannot be used in a kernel", "compute it before the kernel, in plain Python"),
    ("y[i] = {1: 2}", "{1: 2}", "a dict cannot be used in a kernel", "compute it before the kernel, in plain Python"),
    ("y[i] = [a for a in x]", "[a for a in x]", "a comprehension cannot be used in a kernel", "write the loop: `for i in ...:`"),
    ("y[i] = sum(a for a in x)", "sum(a for a in x)", "`sum` is not a function that a kernel can call", "write the sum as a loop: `s[()] += …`"),
    ("y[i] = (yield)", "yield", "yield cannot be used in a kernel", "store each value in a tensor: `y[i] = …`"),
    ('y[i] = f"{x}"', 'f"{x}"', "a string cannot be used in a kernel", "a kernel computes with numbers"),
    ('y[i] = "a"', '"a"', "a string is not a value", "a kernel computes with numbers"),
    ("y[i] = None", "None", "None is not a value", "a kernel computes with numbers"),
    ("y[i] = ...", "...", "`...` is not a value", "a kernel computes with numbers"),
    ("y[i] = A @ x", "A @ x", "the operator @ cannot be used in a kernel", "write the sum: `C[i, j] += A[i, k] * B[k, j]`"),
    ("y[i] = x[i] is x[j]", "x[i] is x[j]", "the operator `is` cannot be used in a kernel", "use =="),
    ("y[i] = x[i] in x", "x[i] in x", "the operator `in` cannot be used in a kernel", "compare with == and `or`"),
    ("y[i] = 1000000000000000000000 + 10 ** 30", "1000000000000000000000", "this integer does not fit 64 bits", "write it as a float, such as 1e20"),
    # accesses
    ("y[i] = A[i][j]", "A[i][j]", "a tensor is indexed once", "write A[i, j], not A[i][j]"),
    ("y[i] = A[i, :]", ":", "a slice cannot be used in a kernel", "loop over an index instead: `for i in range(a, b):` and A[i]"),
    ("y[i] = x[-1]", "-1", "a negative index does not count from the end", "count from the start: `A[A.shape[0] - 1]` is the last one"),
    ('y[i] = x["a"]', '"a"', "a string cannot be an index", "write one index per dimension, such as A[i, j]"),
    ("y[i] = x[1.5]", "1.5", "1.5 cannot be an index", "an index is an integer"),
    ("y[i] = x[True]", "True", "True cannot be an index", "an index is an integer"),
    ("y[i] = x[None]", "None", "None cannot be an index", "write one index per dimension, such as A[i, j]"),
    ("y[i] = x[...]", "...", "`...` as an index only declares: `A[...] = 0`", "write one index per dimension, such as A[i, j]"),
    ("y[i] = x[[i]]", "[i]", "a list cannot be used in a kernel", "pass it as a tensor"),
    ("y[i] = x[ln.gallop(ln.walk(j))]", "ln.walk(j)", "ln.walk stands around a whole index, and takes one index", None),
    ("y[~(i - 1)] = x[i]", "y[~(i - 1)]", "`~` is for reading: nothing is written outside", "write under a condition: `if i < y.shape[0]: y[i] = …`"),
    ("y[i] = i[j]", "i[j]", "`i` is a loop index and takes no indices", None),
    ("y[i] = A[i, j] + A[i]", "A[i]", "`A` has 1 index here and 2 indices in line 4", "give a tensor one index per dimension, everywhere; `s[()]` has none"),
    ("y[i] = A[i, j] + A", "A", "`A` has no index here and 2 indices in line 4", "give a tensor one index per dimension, everywhere; `s[()]` has none"),
    ("y[i] = x.shape", "x.shape", "`x.shape` is not a value", "write `x.shape[0]`, the size of one dimension"),
    ("y[i] = x.shape[i]", "x.shape[i]", "the dimension must be a number", "write `x.shape[0]`, `x.shape[1]`, …"),
    ("y[i] = x[i] + x.shape[1]", "x.shape[1]", "`x` has no dimension 1", None),
    ("y[i] = -18446744073709551615", "-18446744073709551615", "this integer does not fit 64 bits", "write it as a float, such as 1e20"),
    ("y[i] = x.T", "x.T", "`x.T` is not a value", "a kernel computes with numbers"),
    ("y[i] = len(x)", "len(x)", "`len` is not a function that a kernel can call", "write `A.shape[0]`, the size of one dimension"),
    ("y[i] = table[i]", "table[i]", "`table` is not a parameter of the kernel", "pass it to the kernel as a parameter"),
    ("y[i] = table", "table", "`table` is not a parameter of the kernel", "pass it to the kernel as a parameter"),
    ("y[i] = table[0]", "table[0]", "`table` is not a parameter of the kernel", "pass it to the kernel as a parameter"),
    # names
    ("y[i] = xx[j]", "xx", "`xx` is not defined", "did you mean `x`?"),
    ("y[i] = nowhere", "nowhere", "`nowhere` is not defined", "pass it as a parameter"),
    ("y[i] = np", "np", "`np` is a module, not a value", "a kernel computes with numbers"),
    ("y[i] = math.sin", "math.sin", "`math.sin` is a function, not a value", "call it: `math.sin(…)`"),
    ("y[i] = math.nothing", "math.nothing", "`math.nothing` cannot be evaluated when the kernel is defined", None),
    ("i = 3", "i", "`i` is already a loop index, from line 3", "give it another name"),
    ("x = 3", "x", "`x` is already a parameter, from line 1", "`x[...] = 0` declares it, `x[i] = …` assigns to it"),
    ("d = 1; d = 2", "d", "`d` is already a value, from line 4", "give the new value another name; a sum is kept in `s = ln.scalar(0.0)`, `s[()] += …`"),
    ("d = 1; d += 2", "d += 2", "`d` is a value and cannot be changed", "use a scalar: `s = ln.scalar(0.0)`, then `s[()] += …`"),
    ("x += 2", "x += 2", "`x` is a tensor and needs its indices", "`x[()] += …` updates a scalar, `x[i] += …` a vector"),
    ("i += 2", "i += 2", "`i` is a value and cannot be changed", "use a scalar: `s = ln.scalar(0.0)`, then `s[()] += …`"),
    ("y[...] += 1", "y[...] += 1", "`[...]` only declares, with `=`", "loop over it: `for i in ...:` and `y[i] += …`"),
    ("d, e = x[i]", "d, e = x[i]", "each of these names needs a value of its own", "`a, b = x[i], y[i]`"),
    ("d, y[i] = x[i], 1", "d, y[i] = x[i], 1", "only new names can be unpacked to", "write two lines"),
    ("d = e = x[i]", "d = e = x[i]", "one assignment at a time", "write two lines"),
    ("x.shape = 3", "x.shape", "`x.shape` cannot be assigned to", "assign to a tensor, `C[i] = …`, or to a new name, `d = …`"),
    ("x[i]", "x[i]", "this computes a value and drops it", "store it: `y[i] = …` or `d = …`"),
    ("return y", "return y", "a kernel returns once, at its end", "return at the end of the kernel; put what follows under `if`"),
    # calls
    ("y[i] = x[i].conj()", "x[i].conj()", "the method `x[i].conj` cannot be called in a kernel", "call the function: `np.conj(…)`"),
    ("y[i] = x.sum()", "x.sum()", "the method `x.sum` cannot be called in a kernel", "a kernel computes with numbers"),
    ("y[i] = x(i)", "x(i)", "`x` is not a function", None),
    ("y[i] = print(i)", "print(i)", "`print` is not a function that a kernel can call", "define it under @ln.function, or use the functions of math, NumPy and ln"),
    ("y[i] = np.add(x[i], x[i], out=y)", "out=y", "`np.add` takes plain arguments here", "write them in order"),
    ("y[i] = np.add(*x)", "*x", "`np.add` takes plain arguments here", "write them in order"),
    ("y[i] = np.sqrt(x[i], 1)", "np.sqrt(x[i], 1)", "`np.sqrt` takes 1 argument, not 2", None),
    ("y[i] = min(x[i])", "min(x[i])", "`min` takes 2 arguments, not 1", None),
    ("y[i] = ln.temp(ln.CSR)", "ln.temp(ln.CSR)", "`ln.temp` makes no value", "`w = ln.temp(…)`"),
    ("y[i] = 1 + ln.scalar(0)", "ln.scalar(0)", "`ln.scalar` makes no value", "give it a line of its own"),
    ("ln.declare(y, 0, x.shape)", "x.shape", "the sizes of a tensor are written one by one", "`ln.declare(y, 0, (A.shape[0], A.shape[1]))`, and `(n,)` for a vector"),
    ("w = ln.temp(x)", "x", "a temporary's format must be known when the kernel is defined", "build it from names outside the kernel"),
    ("w = ln.temp(3)", "ln.temp(3)", "not a format: 3 is not a format", "such as `ln.temp(ln.Dense(ln.Element(0.0)))`"),
    ("w = ln.temp()", "ln.temp()", "ln.temp takes one format", "`w = ln.temp(ln.CSR)`"),
    ("w = ln.scalar('a')", "ln.scalar('a')", None, None),
    # loops
    ("for k in x: pass", "x", "a kernel loops over `...` or range(a, b)", "loop over the index, `for i in ...:`, and read `x[i]`"),
    ("for k in enumerate(x): pass", "enumerate(x)", "a kernel loops over `...` or range(a, b)", "loop over the index, `for i in ...:`, and read what you need at i"),
    ("for k in [1, 2]: pass", "[1, 2]", "a kernel loops over `...` or range(a, b)", "loop with `for i in ...:` or `for i in range(a, b):`"),
    ("for k in range(0, 9, 2): pass", "2", "a range counts up by one", "count by one and multiply: `for k in range(n):` and `start + 2 * k`"),
    ("for k in range(): pass", "range()", "range takes a start and a stop", "`range(a, b)`"),
    ("for k, l in range(3): pass", "k, l", "a range has one index", "`for i in range(n):` and below it `for j in range(m):`"),
    ("for i in ...: pass", "i", "`i` is already a loop index, from line 3", "give it another name"),
    ("for k, k in ...: pass", "k", "`k` is already a loop index, from line 4", "give it another name"),
    ("for x[i] in ...: pass", "x[i]", "a loop index is a name", "`for i, j in ...:`"),
    ("for k, *l in ...: pass", "k, *l", "a loop index is a name", "`for i, j in ...:`"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "marked", "message", "hint"), LINES, ids=[c[0] for c in LINES])
def test_refused_line(line: str, marked: str, message: str | None, hint: str | None):
    text = f"def k(y, A, x):\n    y[...] = 0\n    for i, j in ...:\n        {line}\n    return y\n"
    with pytest.raises(LinnetError) as caught:
        kernel(text, table=np.zeros(3), g=1)
    error = caught.value
    assert error.at is not None
    assert error.at.line == 4
    assert error.at.text[error.at.column : error.at.end_column] == marked
    if message is not None:
        assert error.message == message
        assert error.hint == hint


HEADS = [
    ("def k(*A): pass", "A", "`A` is not a plain parameter", "name each tensor: `def kernel(C, A, B):`"),
    ("def k(**A): pass", "A", "`A` is not a plain parameter", "name each tensor: `def kernel(C, A, B):`"),
    ("def k(*, A): pass", "A", "`A` is not a plain parameter", "name each tensor: `def kernel(C, A, B):`"),
    ("def k(A, n=3): pass", "3", "a parameter of a kernel has no default", "use a number of the surrounding code in the body instead"),
    ("async def k(A): pass", "async def k(A): pass", "`k` cannot be async: Linnet compiles it", "write it with plain def"),
    ("def k(A): return A[0]", "A[0]", "`A[0]` cannot be returned", "assign it to a tensor, `s[()] = …`, and return that: `return s`"),
    ("def k(A): return B", "B", "`B` is not defined", "pass it as a parameter"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "marked", "message", "hint"), HEADS, ids=[c[0] for c in HEADS])
def test_refused_function(text: str, marked: str, message: str, hint: str):
    with pytest.raises(KernelSyntaxError) as caught:
        kernel(text)
    error = caught.value
    assert error.at is not None
    assert error.at.text[error.at.column : error.at.end_column] == marked
    assert (error.message, error.hint) == (message, hint)


def test_a_name_does_not_outlive_its_block():
    with pytest.raises(KernelSyntaxError) as caught:
        kernel("""
            def k(y, x):
                for i in ...:
                    if x[i] > 0:
                        d = x[i]
                    y[i] = d
        """)
    assert (
        str(caught.value)
        == textwrap.dedent(f"""\
        `d` has no value here
          File "{caught.value.at.file}", line 5
            y[i] = d
                   ^
        why:  a name lives from its assignment or loop to the end of that block
        try:  assign to `d` in this block or around it, before this line; to carry a value out of a block, use `s = ln.scalar(0.0)` and `s[()] = …`""")
    )


def test_a_global_with_the_name_of_a_local_is_not_seen():
    with pytest.raises(KernelSyntaxError, match="`d` has no value here"):
        kernel("def k(y):\n    for i in ...:\n        y[i] = d\n        d = 1", d=3)


def test_the_whole_message():
    with pytest.raises(KernelSyntaxError) as caught:
        kernel("""
            def k(y, x):
                y[...] = 0
                for i in range(0, 10, 2):
                    y[i] = x[i]
        """)
    assert str(caught.value) == textwrap.dedent(f"""\
        a range counts up by one
          File "{caught.value.at.file}", line 3
            for i in range(0, 10, 2):
                                  ^
        try:  count by one and multiply: `for k in range(n):` and `start + 2 * k`""")


def test_columns_count_characters():
    with pytest.raises(KernelSyntaxError) as caught:
        kernel("def k(y, ä):\n    for ö in ...:\n        y[ö] = ä[ö] + ü")
    at = caught.value.at
    assert at.text[at.column : at.end_column] == "ü"


def test_a_statement_over_several_lines_is_marked_on_its_first():
    with pytest.raises(KernelSyntaxError) as caught:
        kernel("def k(y, x):\n    for i in ...:\n        y[i] = [x[i],\n            1]")
    assert caught.value.at.line == 3
    assert str(caught.value).splitlines()[3].strip() == "^^^^^^"


def test_an_error_of_the_user_is_the_cause():
    with pytest.raises(KernelSyntaxError) as caught:
        kernel("def k(y):\n    w = ln.temp(1 / 0)")
    assert caught.value.why == "ZeroDivisionError: division by zero"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_error_of_ours_gets_the_place():
    with pytest.raises(LinnetError) as caught:
        kernel("def k(y):\n    w = ln.temp(ln.Element(0.5, 'int8'))")
    assert "does not fit the dtype int8" in caught.value.message
    assert caught.value.at.line == 2


def test_code_without_text():
    scope: dict = {}
    exec("def k(y): pass", scope)
    with pytest.raises(KernelSyntaxError) as caught:
        parse(scope["k"])
    assert caught.value.message == "the source of `k` is not available"
    assert caught.value.hint == "define it in a file or a notebook cell"


def test_a_lambda():
    with pytest.raises(KernelSyntaxError, match="a kernel is a function, not a lambda"):
        parse(lambda y: y)


def test_a_file_that_has_changed(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def k(y):\n    y[...] = 0\n")
    scope: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    path.write_text("x = 1\n")
    with pytest.raises(KernelSyntaxError, match="the source of `k` cannot be found in its file"):
        parse(scope["k"])


def imported(path, name="k"):
    """A function as if its file had been imported."""
    scope: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope[name]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("2 * x[i]", "3 * x[i]"),
        ("2 * x[i]", "2 + x[i]"),
        ("2 * x[i]", "2.0 * x[i]"),
        ("2 * x[i]", "x[i] * 2"),
        ("2 * x[i]", "(2 * x)[i]"),
        ("x[i]", "z[i]"),
        ("(y, x)", "(y, x, z)"),
        ("in ...", "in range(2)"),
        ("def k", "x = 1\n\n\ndef k"),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_a_file_in_which_the_kernel_has_changed(tmp_path, before, after, inside):
    """The text that is found now is not that of the function which was imported."""
    path = tmp_path / "mine.py"
    text = (
        "def k(y, x):\n    y[...] = 0\n    for i in ...:\n        y[i] = 2 * x[i]\n    return y\n"
    )
    if inside:
        text = f"def k():\n{textwrap.indent(text, '    ')}    return k\n"
    path.write_text(text)
    first, second = ((k() if inside else k) for k in (imported(path), imported(path)))
    assert parse(first).params == ("y", "x")
    path.write_text(text.replace(before, after) + "# changed\n")
    with pytest.raises(KernelSyntaxError, match="the source of `k` cannot be found in its file"):
        parse(second)
    assert parse(first).params == ("y", "x")  # as it was read


SEVERAL = """
import math, numpy as np
scale = 3.0
half, twice = made(lambda x: x / 2), made(lambda x: x * 2)
one, two, same = made(lambda x: 1), made(lambda x: 2), made(lambda x: 1)
defaults = lambda x, f=lambda x: x * 2: f(x)
class Holder:
    __hidden = 1
    def method(self, __own=7):
        at = 2.0
        def k(y: np.ndarray, x: "no" = None) -> object:
            for i in ...:
                y[i] = at * scale * x[i] + math.sqrt(x[i])
        def f(x):
            return math.sqrt(x) * at + np.sin(__own)
        return k, f
    def k(y, x): y[...] = 0
def after(x, given=[lambda x: x + 1]):
    return x + 1
"""


def test_what_is_around_a_function(tmp_path):
    """Classes, functions, imports, annotations and lambdas beside it do not hide its text."""
    path = tmp_path / "mine.py"
    path.write_text(SEVERAL)
    scope: dict = {"made": lambda f: f}
    exec(compile(SEVERAL, str(path), "exec"), scope)

    def text(name):
        return ast.unparse(source_of(scope[name]).definition.body)

    names = ("half", "twice", "one", "two", "same", "defaults", "after")
    assert [text(name) for name in names] == [
        "return x / 2", "return x * 2", "return 1", "return 2", "return 1", "return f(x)",
        "return x + 1",
    ]  # fmt: skip
    kernel, function = scope["Holder"]().method()
    assert ast.unparse(source_of(kernel).definition).startswith("def k(y: np.ndarray, x: 'no'")
    assert source_of(function).definition.name == "f"
    assert parse(scope["Holder"].k).params == ("y", "x")
    inner = source_of(scope["defaults"].__defaults__[0])
    assert ast.unparse(inner.definition.body) == "return x * 2"


def test_lambdas_that_cannot_be_told_apart(tmp_path):
    """Where Python keeps no columns, lambdas of one line are told apart by what they run.

    Those that use what is around them are refused, unless they are alike.
    """
    path = tmp_path / "mine.py"
    path.write_text(
        "import linnet as ln\n"
        "f, g = ln.function(lambda x: x + 1), ln.function(lambda x: x + 1)\n"
        "print(f(1), g(1))\n"
        "f = ln.function(lambda x: x * 2)\n"
        "print(f(2))\n"
        "f, g = ln.function(lambda x: x + 1), ln.function(lambda x: x - 1)\n"
        "print(f(2), g(2))\n"
        "one, two, same = [ln.function(f) for f in (lambda x: 1, lambda x: 2, lambda x: 1)]\n"
        "print(one(7), two(7), same(7))\n"
        "def both(a):\n"
        "    return ln.function(lambda x: x + a), ln.function(lambda x: x - a)\n"
        "f, g = both(1)\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", str(path)]
    paths = {"PYTHONPATH": str(Path(ln.__file__).parent.parent)}
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **paths})
    assert ended.stdout.split() == ["2", "2", "4", "3", "1", "1", "2", "1"]
    assert "the source of `<lambda>` cannot be found in its file" in ended.stderr
    assert "line 11" in ended.stderr
