"""Programs that no pass may make."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linnet.algebra.table import add, negative
from linnet.errors import InternalError
from linnet.formats.named import CSR, DENSE
from linnet.frontend.text import parse_text
from linnet.loops import (
    Access,
    Assign,
    Block,
    Call,
    Declare,
    Dimension,
    Freeze,
    Index,
    Let,
    Literal,
    Loop,
    Name,
    Program,
    Stmt,
)
from linnet.loops.check import check, check_dimensions, check_modes, check_unique
from linnet.normalize.lifecycles import insert_lifecycles
from linnet.normalize.scopes import name_scopes

SPGEMM = parse_text("""
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            d = A[i, k]
            w[j] += d * B[k, j]
        for j in ...:
            C[i, j] = w[j]
""")

i = Index("i")
s, y_i = Access("s", ()), Access("y", (i,))
one = Literal(1)


def program(body: Stmt, **temporaries: object) -> Program:
    return Program("k", ("s", "y", "A"), tuple(temporaries.items()), body, ())  # type: ignore[arg-type]


def test_legal():
    check(SPGEMM)
    named = name_scopes(SPGEMM)
    check(named)
    check_unique(named)
    moded = insert_lifecycles(named)
    check(moded)
    check_modes(moded)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (Assign(y_i, None, one), "i is not the index of a loop around it"),
        (Assign(s, None, Name("d")), "d is not named by a let around it"),
        (Let("d", one, Assign(s, None, Index("d"))), "d is not the index of a loop around it"),
        (Loop("i", None, Loop("i", None, Block())), "i is bound again"),
        (Loop("s", None, Block()), "s is bound again"),
        (Loop("i", None, Let("i", one, Block())), "i is bound again"),
        (Assign(Access("z", ()), None, one), "z is not a tensor"),
        (Assign(s, None, Access("s", (one,))), "s has 1 dimensions, not 0"),
        (Assign(s, None, Access("w", (one,))), "w has 2 dimensions, not 1"),
        (Assign(s, None, Access("w", (one, one))), "w is used before it is declared"),
        (
            Loop("i", None, Block((Declare("w", one), Assign(s, None, Dimension("w", 2))))),
            "w has no dimension 2",
        ),
        (
            Block((Loop("i", None, Declare("w", one)), Assign(s, None, Access("w", (one, one))))),
            "w is used before it is declared",
        ),
        (Declare("w", one, (one,)), "w has 2 dimensions, not 1"),
        (Freeze("z"), "z is not a tensor"),
        (Assign(s, None, Call(add, (one,))), "add takes 2 arguments"),
        (Assign(s, negative, one), "negative is not an update"),
        (
            Loop("i", None, Assign(Access("y", (i,), ("", "walk")), None, one)),
            "y has not one protocol per index",
        ),
    ],
)
def test_illegal(body: Stmt, message: str):
    with pytest.raises(InternalError) as caught:
        check(program(body, w=CSR))
    assert caught.value.message == f"not a legal loop program: {message}"


def test_illegal_tensors():
    with pytest.raises(InternalError, match="two tensors are called s"):
        check(program(Block(), s=DENSE(1)))
    with pytest.raises(InternalError, match="the result z is not a tensor of k"):
        check(replace(program(Block()), results=("z",)))


def test_not_unique():
    with pytest.raises(InternalError, match="the name j is bound twice"):
        check_unique(SPGEMM)


def test_no_dimensions():
    with pytest.raises(InternalError, match="the declaration of C has no dimensions"):
        check_dimensions(SPGEMM)
    with pytest.raises(InternalError, match="the loop over i has no extent"):
        check_dimensions(program(Loop("i", None, Block())))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y[0] = 1", "y is not in update mode"),
        ("y[...] = 0\nx[0] = y[0]", "y is not in read mode"),
        ("ln.freeze(y)\ny[0] = 1", "y is not in update mode"),
        ("y[...] = 0\nfor i in ...:\n    ln.freeze(y)\n    x[i] = 0", "x is not in update mode"),
        ("y[...] = 0\nfor i in ...: ln.freeze(y)", "a block inside changes the mode of y"),
    ],
)
def test_wrong_mode(text: str, message: str):
    with pytest.raises(InternalError, match=message):
        check_modes(parse_text(f"def k(y, x):\n    {text.replace(chr(10), chr(10) + '    ')}"))
