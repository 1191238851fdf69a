"""What is printed is the language of kernels, and reads back as the same program."""

from __future__ import annotations

import dataclasses
import textwrap

import pytest
from hypothesis import given
from tests.unit.loops.programs import programs

from linnet.algebra.function import Function
from linnet.algebra.table import FUNCTIONS, choose
from linnet.frontend.text import parse_text
from linnet.loops import Access, Assign, Call, Expr, Index, Literal, Program
from linnet.loops.printer import show


@given(programs())
def test_print_and_parse(program: Program):
    text = show(program)
    again = parse_text(text)
    assert show(again) == text
    assert again.temporaries == program.temporaries
    assert (again.params, again.results) == (program.params, program.results)
    assert repr(placeless(again.body)) == repr(placeless(program.body))  # NaN differs from itself


def placeless(node: object) -> object:
    """A program without the places where it was written."""
    if isinstance(node, tuple):
        return tuple(placeless(n) for n in node)
    if dataclasses.is_dataclass(node) and type(node).__module__ == "linnet.loops.nodes":
        fields = [f.name for f in dataclasses.fields(node)]
        kept = {name: placeless(getattr(node, name)) for name in fields if name != "at"}
        return type(node)(**kept)
    return node


def test_a_program():
    text = textwrap.dedent("""\
        def gustavson(C, A, B):
            w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
            z = ln.temp(ln.Dense(ln.SparseList(ln.Element(inf, 'float32'))), order=(1, 0))
            C[...] = 0
            for i in ...:
                ln.declare(w, 0, (B.shape[1],))
                for k, j in ...:
                    w[j] += A[i, k] * B[k, j]
                ln.freeze(w)
                for j in range(1, A.shape[0] - 1):
                    d = w[j]
                    if d > 0 and not d == 3:
                        C[i, j] = d
                    elif i == j:
                        C[i, j] = min(C[i, j], d)
                    else:
                        C[i, j + 1] |= 1 if d < B[ln.gallop(i), ~(j + 1)] else 0
                ln.thaw(w)
            return C""")
    assert show(parse_text(text)) == text


i, j, k = Index("i"), Index("j"), Index("k")


def f(name: str, *args: Expr) -> Call:
    return Call(FUNCTIONS[name], args)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (f("add", i, f("add", j, k)), "i + (j + k)"),
        (f("add", f("add", i, j), k), "i + j + k"),
        (f("subtract", i, f("subtract", j, k)), "i - (j - k)"),
        (f("multiply", f("add", i, j), k), "(i + j) * k"),
        (f("pow", f("negative", i), j), "(-i) ** j"),
        (f("negative", f("pow", i, j)), "-i ** j"),
        (f("pow", i, f("negative", j)), "i ** -j"),
        (f("pow", f("pow", i, j), k), "(i ** j) ** k"),
        (f("pow", i, f("pow", j, k)), "i ** j ** k"),
        (f("pow", Literal(-1), j), "(-1) ** j"),
        (f("less", f("less", i, j), k), "(i < j) < k"),
        (f("logical_and", i, f("logical_or", j, k)), "i and (j or k)"),
        (f("logical_not", f("less", i, j)), "not i < j"),
        (f("equal", f("logical_not", i), j), "(not i) == j"),
        (f("where", i, j, f("where", j, k, i)), "j if i else k if j else i"),
        (f("where", i, f("where", j, k, i), j), "(k if j else i) if i else j"),
        (f("add", f("where", i, j, k), i), "(j if i else k) + i"),
        (f("minimum", i, j), "min(i, j)"),
        (f("sqrt", i), "ln.sqrt(i)"),
        (f("astype_float32", i), "ln.astype_float32(i)"),
        (f("negative", Literal(1)), "ln.negative(1)"),
        (Call(choose(0), (i, j)), "ln.choose(0)(i, j)"),
        (Literal(float("-inf")), "-inf"),
        (Literal(1 - 2j), "complex(1.0, -2.0)"),
        (Literal(2j), "2j"),
        (Literal(1.5, "float32"), "np.float32(1.5)"),
        (Literal(True, "bool"), "np.bool_(True)"),
        (Literal(0.0, structural=True), "ln.fill(0.0)"),
        (Access("s", ()), "s[()]"),
        (Access("A", (f("bitwise_invert", i),)), "A[ln.bitwise_invert(i)]"),
        (Access("A", (i, j), ("permissive", "walk")), "A[~i, ln.walk(j)]"),
    ],
)
def test_expression(expr: Expr, text: str):
    assert show(expr) == text


def test_a_tensor_with_the_name_of_a_function():
    program = parse_text("def k(min, x):\n    min[...] = 0\n    min[0] = ln.minimum(x[0], 1)")
    assert "ln.minimum(x[0], 1)" in show(program)
    assert parse_text(show(program)) == program


def test_a_function_of_the_user():
    mine = Function("mine", 2, *(getattr(FUNCTIONS["add"], n) for n in ("types", "emit", "numpy")))
    text = "def k(y, x):\n    y[0] = mine(y[0], x[0])"
    program = parse_text(text, {"mine": mine})
    assert program.body == Assign(Access("y", (Literal(0),)), mine, Access("x", (Literal(0),)))
    assert show(program) == text


def test_statements_alone():
    program = parse_text("""
        y[...] = 0
        for i, j in ...:
            d = A[i, j]
            y[i] += d * x[j]
    """)
    assert (program.params, program.results) == (("y", "A", "x"), ("y",))
    assert show(program.body).splitlines()[0] == "y[...] = 0"


def test_an_update_at_an_index_that_differs_from_itself():
    add, fmod = FUNCTIONS["add"], FUNCTIONS["fmod"]
    target = Access("A", (Call(add, (Access("s", ()), Literal(float("nan")))),))
    program = Program("k", ("A", "s"), (), Assign(target, fmod, Literal(False)), ())
    again = parse_text(show(program))
    assert isinstance(again.body, Assign)
    assert again.body.op is fmod
