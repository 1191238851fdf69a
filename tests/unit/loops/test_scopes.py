"""Every loop and let with a name of its own."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from tests.unit.loops.programs import programs

from linnet.frontend.text import parse_text
from linnet.loops import Access, Assign, Index, Let, Literal, Loop, Name, Program
from linnet.loops.check import check_unique
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.normalize.scopes import name_scopes

CASES = [
    # siblings
    (
        """
        for i in ...:
            y[i] = x[i]
        for i in ...:
            z[i] = y[i]
        """,
        """
        for i in ...:
            y[i] = x[i]
        for i_2 in ...:
            z[i_2] = y[i_2]
        """,
    ),
    # a name that the user has chosen is not taken away
    (
        """
        for i in ...:
            y[i] = x[i]
        for i in ...:
            for i_2 in range(i):
                z[i, i_2] = y[i]
        """,
        """
        for i in ...:
            y[i] = x[i]
        for i_3 in ...:
            for i_2 in range(i_3):
                z[i_3, i_2] = y[i_3]
        """,
    ),
    # lets, also where they name what an index named before
    (
        """
        if s[()]:
            d = 1
            y[d] = d
        else:
            d = 2
            for d_2 in ...:
                y[d_2] = d
        """,
        """
        if s[()]:
            d = 1
            y[d] = d
        else:
            d_3 = 2
            for d_2 in ...:
                y[d_2] = d_3
        """,
    ),
]


def _write(name: str) -> Assign:
    return Assign(Access("y", (Name(name),)), None, Literal(1))


@pytest.mark.parametrize(("before", "after"), CASES)
def test_renaming(before: str, after: str):
    assert show(name_scopes(parse_text(before)).body) == textwrap.dedent(after).strip()


def test_what_is_unique_stays_as_it_is():
    program = parse_text("for i, j in ...: y[i] += A[i, j] * x[j]")
    assert name_scopes(program) is program


def test_nested_loops_of_one_name():
    lets = Let("i", Index("i"), Let("d", Name("i"), Let("d", Name("d"), _write("d"))))
    body = Loop("i", None, Loop("i", None, lets))
    named = name_scopes(Program("k", ("y",), (), body, ()))
    assert show(named.body).splitlines() == [
        "for i, i_2 in ...:",
        "    i_3 = i_2",
        "    d = i_3",
        "    d_2 = d",
        "    y[d_2] = 1",
    ]


def test_a_tensor_keeps_its_name():
    body = Loop("y", None, Let("x", Index("y"), Let("free", Name("x"), _write("free"))))
    named = name_scopes(Program("k", ("y", "x"), (), body, ()))
    assert show(named.body).splitlines()[0] == "for y_2 in ...:"


@given(programs())
def test_names_are_unique(program: Program):
    named = name_scopes(program)
    check_unique(named)
    assert name_scopes(named) is named
    assert len(list(walk(named.body))) == len(list(walk(program.body)))
