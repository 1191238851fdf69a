"""What is not restricted Python is refused, at its place."""

# ruff: noqa: B007, F841, RET503, RET504 (the programs are odd on purpose)

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.python.test_translate import gcd

from linnet.errors import KernelSyntaxError
from linnet.python.translate import translate

INT, FLOAT = "int64", "float64"


def refuses_continue(a):
    for i in range(a):
        continue


def refuses_list(a):
    x = [a]
    return x


def refuses_keyword(a):
    return gcd(a, y=1)


def refuses_unknown(a):
    return unheard_of(a)  # noqa: F821


def refuses_early_read(a):
    while a > 0:
        a -= x  # noqa: F821
        x = 1
    return a


def refuses_counter_after(a):
    for i in range(a):
        a += i
    return i


def refuses_one_way(a):
    if a > 0:
        x = 1
    return x


def refuses_missing_return(a):
    if a > 0:
        return 1


def refuses_loop(a):
    for x in a:
        a += x
    return a


def refuses_for_else(a):
    for _ in range(a):
        a += 1
    else:
        a = 1
    return a


def refuses_lazy_choice(a):
    while (gcd(a, 2) if a else 1) > 3:
        a += 1
    return a


def refuses_number_index(a):
    return a[0]


def refuses_truth(a):
    b = a and 3
    return b


def refuses_text(a):
    return "text"


def refuses_try(a):
    try:
        a += 1
    finally:
        pass
    return a


def swaps(a):
    pass


def refuses_void(a):
    return swaps(a) + 1


def refuses_mix(a):
    return np.uint64(a) + a


def refuses_integer_power(a):
    return 2**a


def refuses_is(a):
    return a is None


def refuses_default(a, b=1):
    return a


def refuses_step(a):
    for i in range(0, 10, a):
        a += i
    return a


@pytest.mark.parametrize(
    ("function", "text", "message"),
    [
        (refuses_continue, "continue", "`continue` cannot be compiled"),
        (refuses_list, "[a]", "`[a]` is outside of what can be compiled"),
        (refuses_keyword, "gcd(a, y=1)", "arguments are given by position"),
        (refuses_unknown, "unheard_of", "the name `unheard_of` is not known here"),
        (refuses_early_read, "a -= x", "`x` may be read before it is given a value"),
        (refuses_counter_after, "return i", "`i` may be read before it is given a value"),
        (refuses_one_way, "return x", "`x` may be read before it is given a value"),
        (refuses_missing_return, "def ref", "`refuses_missing_return` may return no value"),
        (refuses_loop, "a:", "a loop runs over a `range`"),
        (refuses_for_else, "for _", "a statement of this kind (for) cannot be compiled"),
        (refuses_lazy_choice, "gcd(a, 2) if", "this choice cannot be made inside a condition"),
        (refuses_number_index, "a[0]", "`a` is no array"),
        (refuses_truth, "a and 3", "`and` and `or` are for truth values here"),
        (refuses_text, '"text"', "`'text'` is outside of what can be compiled"),
        (refuses_try, "try:", "a statement of this kind (try) cannot be compiled"),
        (refuses_void, "swaps(a)", "`swaps` gives no value"),
        (refuses_mix, "np.uint64", "int64 do not meet; convert one of them"),
        (refuses_integer_power, "2**a", "an integer is raised only to the powers 2 and 3"),
        (refuses_is, "a is None", "`is` and `in` are outside"),
        (refuses_step, "range(0", "the step of a range is a number other than zero"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_refusals(function, text, message):
    with pytest.raises(KernelSyntaxError) as found:
        translate(function, (INT,), {})
    at = found.value.at
    assert at is not None
    assert message in found.value.message
    assert at.file == __file__
    assert text in at.text


def test_refusals_of_parameters():
    with pytest.raises(KernelSyntaxError, match="without defaults"):
        translate(refuses_default, (INT, INT), {})
    with pytest.raises(KernelSyntaxError, match="2 arguments are expected, and 1 given"):
        translate(gcd, (INT,), {})


def test_the_place_of_an_indented_function():
    def wrong(a):
        return a + {}

    with pytest.raises(KernelSyntaxError) as found:
        translate(wrong, (INT,), {})
    at = found.value.at
    assert at is not None
    assert at.text[at.column : at.end_column] == "{}"


def test_functions_without_source_are_refused():
    space: dict = {}
    exec("def f(a):\n    return a", space)
    with pytest.raises(KernelSyntaxError, match="source of `f` is not available"):
        translate(space["f"], (INT,), {})
