"""Kernels whose tensors are read, written or returned where they may not be: place and message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from linnet import loops
from linnet.errors import LifecycleError
from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.named import stack
from linnet.frontend import words as ln
from linnet.frontend.parse import parse
from linnet.normalize.lifecycles import insert_lifecycles

VECTOR = stack(Dense(Element(0.0)))


def refused(program: Callable[..., object] | loops.Program, place: str) -> LifecycleError:
    """The error, which must point at `place` in the user's text."""
    if not isinstance(program, loops.Program):
        program = parse(program)
    with pytest.raises(LifecycleError) as caught:
        insert_lifecycles(program)
    error = caught.value
    assert error.at is not None
    assert error.at.file == __file__
    assert error.at.text[error.at.column : error.at.end_column] == place
    assert error.hint
    return error


# -- read and written ------------------------------------------------------------------------------


def test_one_statement():
    def kernel(x):
        for i in range(9):
            x[i] = x[i + 1]

    error = refused(kernel, "x[i + 1]")
    assert error.message == "x is read and written in the loop over `i`"


def test_one_statement_at_the_outside():
    def kernel(x):
        x[0] = x[1] + 1

    error = refused(kernel, "x[1]")
    assert error.message == "x is read and written in one statement"


def test_the_message_in_full():
    def kernel(x, y):
        for i in ...:
            x[i] += y[i]
            y[i] += x[i]

    error = refused(kernel, "y[i]")
    assert str(error).splitlines() == [
        "y is read and written in the loop over `i`",
        f'  File "{__file__}", line {error.at.line if error.at else 0}',
        "    y[i] += x[i]",
        "    ^^^^",
        "why:  between reading and writing a tensor is frozen or thawed, in the block it belongs "
        "to",
        "try:  combine with what an element holds by an update, y[…] += …; carry a value to the "
        "next iteration in a scalar, s = ln.scalar(0.0); else write to a temporary here and copy "
        "it to y afterwards",
    ]


def test_an_index():
    def kernel(x):
        for i in ...:
            x[x[i]] += 1

    assert refused(kernel, "x[i]").message == "x is read and written in the loop over `i`"


def test_a_condition():
    def kernel(x, y):
        for i in ...:
            if x[i] < y[i]:
                x[i] = y[i]

    assert refused(kernel, "x[i]").message == "x is read and written in the loop over `i`"


def test_a_condition_at_the_outside():
    def kernel(x, y):
        if x[0] < y[0]:
            x[0] = y[0]

    assert refused(kernel, "x[0]").message == "x is read and written in one `if`"


def test_the_extent_of_a_loop():
    def kernel(n, y):
        for i in range(n[()]):
            n[()] += y[i]

    assert refused(kernel, "n[()]").message == "n is read and written in the loop over `i`"


def test_an_initial_value():
    def kernel(x):
        x[...] = x[0]

    assert refused(kernel, "x[0]").message == "x is read and written in one statement"


def test_the_block_of_the_declaration_counts():
    def kernel(y, x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            for j in ...:
                w[j] += x[i]
            y[i] += w[i]

    error = refused(kernel, "w[i]")
    assert error.message == "w is read and written in the loop over `i`"


def test_an_update_in_an_inner_block_of_what_is_being_read():
    def kernel(y, x):
        for i in ...:
            y[i] += x[i]
            if i > 0:
                for j in ...:
                    x[j] += 1

    error = refused(kernel, "x[j]")
    assert error.message == "x is read and written in the loop over `i`"


def test_two_branches():
    def kernel(x, y):
        if y[0] > 0:
            y[1] += x[0]
        else:
            x[0] += 1

    assert refused(kernel, "y[1]").message == "y is read and written in one `if`"


# -- where a declaration reaches -------------------------------------------------------------------


def _without_declaration() -> loops.Program:
    """The front end refuses this itself, so it is built by hand from a kernel that is right."""

    def kernel(y, x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            w[i] = x[i]
        y[...] = 0
        for i in ...:
            y[i] = w[i]

    program = parse(kernel)
    assert isinstance(program.body, loops.Block)
    return replace(program, body=loops.Block(program.body.stmts[1:]))


def test_a_temporary_without_declaration():
    error = refused(_without_declaration(), "w[i]")
    assert error.message == "w is used before it is declared"
    assert error.hint == "write w[...] = 0 before this statement"


def test_a_temporary_after_its_block():
    def kernel(y, x):
        w = ln.temp(VECTOR)
        for i in ...:
            w[...] = 0
            w[i] = x[i]
        for i in ...:
            y[i] += w[i]

    error = refused(kernel, "w[i]")
    assert error.message == "w is used outside the block that declares it"
    assert error.why == "a declaration in a loop or an `if` holds to the end of that block"
    assert error.hint == "move w[...] = … out to the block of this statement, before it"


def test_a_temporary_after_its_block_in_the_same_loop():
    def kernel(y, x):
        w = ln.temp(VECTOR)
        for i in ...:
            if x[i] > 0:
                w[...] = 0
            w[i] += 1

    error = refused(kernel, "w[i]")
    assert error.message == "w is used outside the block that declares it"


def test_a_parameter_updated_beside_its_block():
    def kernel(y, x):
        for i in ...:
            if x[i] > 0:
                y[...] = 0
            y[i] += 1

    error = refused(kernel, "y[i]")
    assert error.message == "y is used outside the block that declares it"


def test_a_parameter_updated_before_it_is_declared_in_a_loop():
    def kernel(y, x):
        for i in ...:
            y[i] += x[i]
            y[...] = 0

    error = refused(kernel, "y[i]")
    assert error.message == "y is used outside the block that declares it"


@pytest.mark.parametrize("word", ["freeze", "thaw"])
def test_frozen_in_another_block(word: str):
    def freezes(y, x):
        y[...] = 0
        for i in ...:
            y[i] += x[i]
            ln.freeze(y)

    def thaws(y, x):
        for i in ...:
            ln.thaw(y)
            y[i] += x[i]

    error = refused(freezes if word == "freeze" else thaws, f"ln.{word}(y)")
    assert error.message == "y is used outside the block that declares it"


# -- results ---------------------------------------------------------------------------------------


def test_a_result_that_is_never_written():
    def kernel(y, x):
        for i in ...:
            y[i] += x[i]
        return x

    error = refused(kernel, "def kernel(y, x):")
    assert error.message == "x is returned but is never written"
    assert error.why == "a kernel returns those of its arguments that it has written to"
    assert error.hint == "return only what kernel writes, or write to x"


def test_a_temporary_as_a_result():
    def kernel(y, x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            y[i] += x[i]
            w[i] += x[i]
        return w

    error = refused(kernel, "def kernel(y, x):")
    assert error.message == "w is returned but is not an argument"
    assert error.hint == "make w an argument of kernel"


def test_a_kernel_without_results():
    def kernel(x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            w[i] += x[i]

    error = refused(kernel, "def kernel(x):")
    assert error.message == "kernel writes to none of its arguments"
    assert error.hint == "give it an output, and write to that: y[...] = 0, then y[i] = …"
