"""Python functions as loop programs."""

from __future__ import annotations

import ast
import builtins
import doctest
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.frontend.bodies import body
from tests.unit.frontend.kernels import define, kernel, ln

from linnet import loops
from linnet.algebra import table
from linnet.errors import LinnetError
from linnet.formats.format import Format
from linnet.frontend.parse import parse, parse_tree
from linnet.loops import (
    Access,
    Assign,
    Call,
    Declare,
    Dimension,
    Extent,
    If,
    Index,
    Let,
    Literal,
    Loop,
    Name,
)
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.python.source import Source

i, j = Index("i"), Index("j")


# -- the function ----------------------------------------------------------------------------------


def spmv(y, A, x):
    """A docstring."""
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


def test_spmv():
    program = parse(spmv)
    assert (program.name, program.params, program.results) == ("spmv", ("y", "A", "x"), ("y",))
    product = Call(table.multiply, (Access("A", (i, j)), Access("x", (j,))))
    assert program.body == loops.Block(
        (
            Declare("y", Literal(0)),
            Loop("i", None, Loop("j", None, Assign(Access("y", (i,)), table.add, product))),
        )
    )


def test_everything_has_its_place():
    program = parse(spmv)
    first = inspect.getsourcelines(spmv)[1]
    lines = {}
    for node in walk(program.body):
        at = getattr(node, "at", None)
        if at is not None:
            assert at.file == __file__
            lines.setdefault(at.line - first, []).append(at.text[at.column : at.end_column])
    assert lines == {
        2: ["y[...] = 0"],
        3: ["for i, j in ...", "for i, j in ..."],
        4: ["y[i] += A[i, j] * x[j]", "A[i, j]", "x[j]", "y[i]"],
    }
    assert program.at.line == first


def test_nested_decorated_and_indented():
    def plain(f):
        return f

    @plain
    @plain
    def inner(y):
        """Text
        at the margin."""
        # a comment at the right place
        y[()] = 1  # and another

    at = parse(inner).body.at
    assert at.text.strip().startswith("y[()] = 1")
    assert (at.column, at.end_column) == (8, 17)


def test_wrapped_functions_are_found():
    @functools.wraps(spmv)
    def other(*args):
        return spmv(*args)

    assert parse(other) == parse(spmv)


def test_annotations_and_positional_only():
    program = kernel(
        "def k(y: object, /, x: 'Tensor') -> None:\n    y[()] = x[()]\n    return None"
    )
    assert program.params == ("y", "x")
    assert program.results == ()


def test_several_results():
    assert kernel("def k(a, b):\n    a[...] = 0\n    b[...] = 0\n    return a, b").results == (
        "a",
        "b",
    )
    assert kernel("def k(a):\n    a[...] = 0").results == ()


def test_doctest():
    test = doctest.DocTestParser().get_doctest(
        textwrap.dedent("""
            >>> def k(y):
            ...     y[()] = 1
            >>> parse(k).body.at.text
            '    y[()] = 1'
        """),
        {"parse": parse},
        "example",
        None,
        None,
    )
    assert doctest.DocTestRunner().run(test).failed == 0


# -- loops and conditions --------------------------------------------------------------------------


def test_ranges():
    assert body("for k in range(3): pass") == Loop(
        "k", Extent(Literal(0), Literal(3)), loops.NOTHING
    )
    assert body("for k in range(1, A.shape[1]): pass") == Loop(
        "k", Extent(Literal(1), Dimension("A", 1)), loops.NOTHING
    )
    assert body("for k in range(1, 2, 1): pass") == body("for k in range(1, 2): pass")


def test_a_name_for_dots_is_read_as_dots():
    written = body("for i, j in ...:\n    y[i] += A[i, j]")
    assert body("for i, j in ln.extents:\n    y[i] += A[i, j]") == written
    assert body("for i, j in everywhere:\n    y[i] += A[i, j]", everywhere=...) == written
    with pytest.raises(LinnetError, match=r"loops over `\.\.\.` or range"):
        body("for i in x:\n    y[i] += x[i]")


def test_sibling_loops_may_share_an_index():
    assert body("for i in ...: pass\nfor i in ...: pass") == loops.Block(
        (Loop("i", None, loops.NOTHING), Loop("i", None, loops.NOTHING))
    )


def test_conditions():
    s = Access("s", ())
    one = Assign(s, None, Literal(1))
    assert body("if s: s[()] = 1") == If(s, one, loops.NOTHING)
    assert body("if s: s[()] = 1\nelse: pass") == body("if s: s[()] = 1")
    nested = If(Literal(False), one, one)
    assert body("if s: pass\nelif False: s[()] = 1\nelse: s[()] = 1") == If(
        s, loops.NOTHING, nested
    )


def test_lets_hold_for_the_rest_of_the_block():
    stmt = body("s[()] = 1\nd = 2\ns[()] = d\ne, f = d, 3\ns[()] = f")
    s = Access("s", ())
    last = Assign(s, None, Name("f"))
    inner = Let("e", Name("d"), Let("f", Literal(3), last))
    let = Let("d", Literal(2), loops.Block((Assign(s, None, Name("d")), inner)))
    assert stmt == loops.Block((Assign(s, None, Literal(1)), let))


def test_branches_may_use_one_name():
    stmt = body("if s: d = 1\nelse: d = 2")
    assert isinstance(stmt, If)
    assert stmt.orelse == Let("d", Literal(2), loops.NOTHING)


# -- declarations and temporaries ------------------------------------------------------------------


def test_declarations():
    assert body("y[...] = 0\ns[...] = 1.5") == loops.Block(
        (Declare("y", Literal(0)), Declare("s", Literal(1.5)))
    )


def test_temporaries():
    program = kernel("""
        def k(y):
            w = ln.temp(ln.Dense(ln.Element(0.0)))
            for i in ...:
                w[...] = 0
                v = ln.temp(sparse)
                v[...] = 0
    """, sparse=ln.SparseList(ln.Element(0.0)))  # fmt: skip
    (w, dense), (v, sparse) = program.temporaries
    assert (w, v) == ("w", "v")
    assert isinstance(dense, Format)
    assert (dense.describe(), sparse.describe()) == (
        "Dense(Element(0.0))",
        "SparseList(Element(0.0))",
    )


def test_two_temporaries_with_one_name():
    program = kernel("""
        def k(y):
            if y[()]:
                w = ln.temp(ln.CSR)
                w[...] = 0
            else:
                w = ln.temp(ln.Dense(ln.Element(0.0)))
                w[...] = 1
    """)
    assert [name for name, _ in program.temporaries] == ["w", "w_2"]
    assert program.body.orelse.tensor == "w_2"


def test_a_family_takes_its_dimensions_from_the_accesses():
    program = kernel("""
        def k(y):
            w = ln.temp(ln.DENSE)
            w[...] = 0
            for i, j in ...:
                w[i, j] = y[i]
    """)
    assert program.temporaries[0][1].ndim == 2
    with pytest.raises(LinnetError, match="nothing tells the number of dimensions"):
        kernel("def k(y):\n    w = ln.temp(ln.DENSE)\n    w[...] = 0")


def test_scalars_are_declared_where_they_are_made():
    program = kernel("""
        def k(y, x):
            for i in ...:
                s = ln.scalar(1.5)
                s[()] += x[i]
                y[i] = s
    """)
    ((name, format),) = program.temporaries
    assert (name, format.ndim, format.dtype) == ("s", 0, "float64")
    assert program.body.body.stmts[0] == Declare("s", Literal(1.5))
    assert kernel("def k(y):\n    s = ln.scalar(0, dtype='int8')").temporaries[0][1].dtype == "int8"


def test_life_cycle_words():
    assert body("ln.freeze(y)\nln.thaw(y)\nln.declare(y, 0, (3, A.shape[0]))") == loops.Block(
        (
            loops.Freeze("y"),
            loops.Thaw("y"),
            Declare("y", Literal(0), (Literal(3), Dimension("A", 0))),
        )
    )


# -- anything at all -------------------------------------------------------------------------------

WEIRD = """
def weird(y, A):
    {}
"""
BODIES = [
    "...", "pass", "'text'", "yield", "yield from y", "await y", "async with y: pass",
    "async for i in y: pass", "return", "return (yield)", "return *y, A", "nonlocal_ = 1",
    "try:\n        pass\n    finally:\n        pass", "match y:\n        case _: pass",
    "lambda: (yield)", "y[i := 0] = 1", "y[*A] = 1", "y[:, ::2] = 1", "y.a.b[0].c = 1",
    "(a, b), c = y", "[a, *b] = y", "a = *b, c = y", "y[0] = y[0] = 1", "for y.a in ...: pass",
    "for (a, (b, c)) in ...: pass", "for () in ...: pass", "() = ()", "del y[0]", "y[()][()] = 1",
    "print(f'{y!r:>{A}}')", "A = A if A else A", "a: int", "a: int = 1", "global y2",
    "y[...] = y[...]", "y[..., 0] = 1", "y @= A", "y[0] @= A", "y[0] = y @ A", "(y)[0] = 1",
    "y[0] = {**y}", "y[0] = y if (lambda: 1)() else 2", "y[0] = [][0]", "y[0] = ''.join(y)",
    "y[0] = (1).real", "y[0] = 1 .__add__(2)", "y[0] = __debug__", "y[0] = __name__",
    "y[0] = NotImplemented", "y[0] = b'x'", "y[0] = 10**400", "y[0] = 1e400", "y[0] = -0.0",
    "y[0] = ((((1))))", "y[0] = not not not 1", "y[0] = 1 < 2 < 3 != 4", "y[0] = 1 in (1,)",
    "y[0] = range(3)", "for i in range(*y): pass", "for i in range(n=3): pass",
    "for i in range: pass", "for i in (...): pass", "for i in ..., ...: pass", "if y: pass",
    "if (a := y): pass", "while True: break", "import a.b as c", "from . import x",
    "class y: pass", "def y(): pass", "async def f(): pass", "@A\n    def f(): pass", "raise",
    "ln.temp", "ln.temp()", "w = ln.temp(*y)", "w = ln.temp(**y)", "w = ln.temp(lambda: y)",
    "w = ln.temp((yield))", "w = ln.temp(ln.temp(ln.CSR))", "s = ln.scalar()", "s = ln.scalar(y)",
    "s = ln.scalar(None)", "s = ln.scalar(0, fill=3)", "ln.freeze()", "ln.freeze(A, 1)",
    "ln.declare(y, 0)", "ln.declare(y, 0, 1)", "y[ln.gallop()] = 1", "y[ln.gallop(0, 1)] = 1",
    "y[ln] = 1", "y[np.array] = 1", "y[~~0] = 1", "y[~-1] = 1", "y[0] = ln.gallop(1)", "_ = y",
    "y[0] = float('x')", "y[0] = np.float32('x')", "y[0] = int(1.5)", "y[0] = np.zeros(3)[0]",
    "y[0] = np.longdouble(1)", "y[0] = np.str_('x')", "y[0] = np.datetime64('2020')",
    "y[0] = type(y)", "y[0] = weird(y)", "y[0] = y.shape[True]", "y[0] = y.shape[-1]",
    "y[0] = y.shape[0][0]", "y.shape[0] = 1", "y[0] = np.add.reduce(A)", "y[0] = np.sum(A)",
    "y[0] = np.min(A)", "y[0] = np.add", "y[0] = np.nan", "y[0] = np", "y[0] = (y, A)[0]",
]  # fmt: skip


def outcome(read: Callable[[], loops.Program]) -> str:
    """The program, or the error if that shows a place."""
    try:
        return show(read())
    except LinnetError as error:
        return str(error) if error.at is not None and error.at.text else ""


@pytest.mark.parametrize("text", BODIES)
def test_any_body_is_a_program_or_refused(text: str):
    source = WEIRD.format(text)
    try:
        function = define(source)
    except SyntaxError:
        pytest.skip("not Python")
    if inspect.iscoroutinefunction(function) or isinstance(function, type):
        pytest.skip("not a function")
    assert outcome(lambda: parse(function))


@pytest.mark.parametrize("module", ["ast", "typing", "asyncio.tasks", "statistics", "test_parse"])
def test_any_function_is_a_program_or_refused(module: str):
    file = sys.modules[module].__file__ if module in sys.modules else __file__
    text = Path(file).read_text(encoding="utf-8")
    source = Source(file, tuple(text.splitlines()), 0)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert outcome(lambda n=node: parse_tree(n, source, vars(builtins)))
