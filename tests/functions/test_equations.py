"""Functions in equations: of users, of plain Python, of NumPy; and what is refused, and how."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ArgumentError, DTypeError, KernelSyntaxError, LinnetError
from linnet.testing import dense

X = np.array([[0.0, 2.0, 0.0], [3.0, 0.0, -1.0]])
A = ln.asarray(X, format=ln.CSR)


def plain(v):
    return v * v + 1 if v > 0 else 2 * v


def test_a_function_of_plain_python_will_do():
    want = np.where(X > 0, X * X + 1, 2 * X).sum(1)
    np.testing.assert_array_equal(dense(ln.einsum("y[i] += f(A[i,j])", A=A, f=plain)), want)
    got = ln.einsum("y[i] += f(A[i,j])", A=A, f=lambda v: v * v + 1 if v > 0 else 2 * v)
    np.testing.assert_array_equal(dense(got), want)


def test_functions_of_all_kinds():
    largest = ln.function(lambda a, b: max(a, b), identity=-np.inf, commutative=True)
    np.testing.assert_array_equal(dense(ln.einsum("y[i] f= A[i,j]", A=A, f=largest)), X.max(1))
    np.testing.assert_array_equal(dense(ln.einsum("y[i] += f(A[i,j])", A=A, f=np.abs)), [2, 4])
    np.testing.assert_allclose(
        dense(ln.einsum("y[i] logaddexp= A[i,j]", A=A)), np.logaddexp.reduce(X, axis=1)
    )
    z = X + 1j * X[:, ::-1]
    f = ln.function(lambda u, v: u * v.conjugate() if abs(u) > 1 else u + 1j * v)
    got = ln.einsum("C[i,j] = f(A[i,j], B[i,j])", A=ln.asarray(z, format=ln.CSR), B=z, f=f)
    np.testing.assert_allclose(dense(got), np.where(np.abs(z) > 1, z * z.conj(), z + 1j * z))


# what is wrong, and the text that begins where it is marked; each with nothing before it, with a
# number, a part of an operand and a letter of two bytes before it, and in a line of its own
WRONG = [
    ("q(A[i,j])", "`q` is not defined", "q(A"),
    ("z", "`z` is not defined", "z"),
    ("A(A[i,j])", "`A` is not a function", "A(A"),
    ("np.add(A[i,j])", "takes 2 arguments, not 1", "np.add("),
    ("max(A[i,j], key=3)", "takes plain arguments", "key=3"),
    ("max(*A[i,j])", "takes plain arguments", "*A"),
    ("A[i,j].T", "is not a value", "A[i,j].T"),
    ("A.shape", "is not a value", "A.shape"),
    ("A.shape[7]", "has no dimension 7", "A.shape[7]"),
    ("A[i,j][i]", "`i` selects a part", "i,j]["),
    ("A[0:1.5, :][i,j]", "`0:1.5` selects a part", "0:1.5"),
    ("A[0, 0, 0][i,j]", "there are 3 indices for 2 dimensions", "A[0, 0, 0]"),
    ("A[0:1, :][i,j,k]", "has 3 indices", "A[0:1, :]["),
    ("A[i,j,i]", "has 3 indices", "A[i,j,i]"),
    ("A[j,i]", "`[ij]` is", "A[j,i]"),
    ("A[i,1.5]", "cannot be an index", "1.5"),
    ("A[i,-1]", "a negative index", "-1"),
    ("A[i,j:]", "slice", "j:]"),
    ("A[k + 1,j]", "nothing says how far `k` runs", "A[k + 1,j]"),
    ("B[i,j]", "`B` is not given", "B[i,j]"),
    ("y[i]", "`y` is what is computed", "y[i]"),
    ("'text'", "a string is not a value", "'text'"),
    ("...", "is not a value", "..."),
    ("10**30", "does not fit 64 bits", "10**30"),
    ("[A[i,j]]", "a list", "[A[i,j]]"),
    ("(A[i,j], 1)", "a tuple", "(A[i,j], 1)"),
    ("{A[i,j]}", "a set", "{A[i,j]}"),
    ("(A[i,j] is 3)", "`is`", "A[i,j] is 3"),
    ("(3 if z else A[i,j])", "`z` is not defined", "z else"),
    ("(A[i,j] and z)", "`z` is not defined", "z)"),
    ("(-z)", "`z` is not defined", "z)"),
    ("(A[i,j] @ A[i,j])", "operator @", "A[i,j] @"),
    ("(lambda x: x)", "lambda", "lambda x"),
    ("[v for v in A]", "cannot be used", "[v for"),
    ("(v := 3)", "cannot be used", "v := 3"),
    ("f'{A}'", "cannot be used", "f'{A}'"),
    ("A[i,j", "this is not an expression", "[i,j"),
    ("3)", "this is not an expression", ")"),
]
BEFORE = ["", "c * ", "A[0:2, :][i,j] + ", "ä[i] * c * A[:, 0][i] * ", "A[i,\nj] + "]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(("wrong", "message", "mark"), WRONG)
def test_the_place_in_the_equation_is_marked(before, wrong, message, mark):
    """Whatever is before it, and by whatever it is refused: when it is read, or with the sizes."""
    text = f" y[i]  +=  A[i,j] - {before}{wrong}"
    names = {name: v for name, v in {"c": 2.0, "ä": np.ones(2)}.items() if name in before}
    with pytest.raises(LinnetError) as caught:
        ln.einsum(text, A=A, **names)
    error = caught.value
    assert re.search(message, str(error))
    assert error.at.file == __file__
    *_, line, pointer = error.why.splitlines()
    place = pointer.index("^")
    assert line[place:].startswith(mark)
    assert place >= len(f"         y[i]  +=  A[i,j] - {before}")


@pytest.mark.parametrize(
    ("text", "message", "mark"),
    [
        ("y[1.5] += A[i,j]", "cannot be an index", "1.5]"),
        ("y[i+] += A[i,j]", "this is not an expression", "]"),
        ("y[i,i] += A[i,j]", "must be different names", "y[i,i]"),
        ("y[k] += A[i,j]", "nothing says how far `k` runs", "y[k]"),
        ("  y[i] foo= A[i,j]", "there is no update `foo=`", "foo="),
        ("y[i] ?= A[i,j]", "there is no update", "?="),
        ("C += A", "has 0 indices", "A"),
        ("C = A[:, 0][i] * A.shape[7]", "`A` has no dimension 7", "A[:, 0]"),
    ],
)
def test_the_place_of_what_is_not_in_the_value_is_marked(text, message, mark):
    with pytest.raises(LinnetError) as caught:
        ln.einsum(text, A=A)
    assert re.search(message, str(caught.value))
    *_, line, pointer = caught.value.why.splitlines()
    assert line[pointer.index("^") :].startswith(mark)


def test_an_equation_of_several_lines():
    got = ln.einsum("y[i] +=\n  A[i,\n    j] * c", A=A, c=2)
    np.testing.assert_array_equal(dense(got), 2 * X.sum(1))
    got = ln.einsum("y[i] +=\n    A[i,j] * c\n    - A[i,j]\n", A=A, c=2)
    np.testing.assert_array_equal(dense(got), X.sum(1))
    with pytest.raises(LinnetError, match="has 1 index here") as caught:
        ln.einsum("y[i] += A[i,j]\n    - A[i]", A=A)
    *_, line, pointer = caught.value.why.splitlines()
    assert line[pointer.index("^") :] == "A[i]"


def test_a_part_of_an_operand_is_called_what_it_is():
    with pytest.raises(LinnetError) as caught:
        ln.einsum("y[i] = A[:,1:][i,j] * A[::-1][i,j]", A=A)
    assert caught.value.message == "`j` is 2 in A[:, 1:][i, j] but 3 in A[::-1][i, j]"


@pytest.mark.parametrize("count", [700, 4000])
def test_a_sum_that_is_too_long(count):
    with pytest.raises(KernelSyntaxError, match="cannot read the equation") as caught:
        ln.einsum(f"y[i] += {'+'.join(['A[i,j]'] * count)}", A=A)
    assert caught.value.at.file == __file__
    assert "nested too deeply" in caught.value.why


@pytest.mark.parametrize("count", range(125, 300, 25))
def test_a_sum_that_may_be_too_long(count):
    """Passes go deeper than the text is nested: wherever that ends, it is refused by name."""
    try:
        found = ln.einsum(f"y[i] += {'+'.join(['A[i,j]'] * count)}", A=A)
    except (KernelSyntaxError, ArgumentError) as error:
        assert "nested too deeply" in str(error)  # noqa: PT017
    else:
        np.testing.assert_array_equal(dense(found), count * dense(A).sum(axis=1))


@pytest.mark.parametrize("part", ["j", "1.5:", "'1':", "'x'", "1.0"])
def test_parts_that_are_no_numbers(part):
    with pytest.raises(KernelSyntaxError, match="cannot read the equation") as caught:
        ln.einsum(f"y[i] += A[{part}][i]", A=A)
    assert caught.value.at.file == __file__  # and not a line of Python's own `ast`


def test_a_number_has_no_indices():
    np.testing.assert_array_equal(dense(ln.einsum("y[i] += c * A[i,j] * c", A=A, c=2.0)), [8, 8])
    np.testing.assert_array_equal(dense(ln.einsum("y[i] += A[:, 0][i] * c", A=A, c=3)), [0, 9])
    got = ln.einsum("y[i] += c * A[i,j] / A.shape[0]", A=A, c=3.0)
    np.testing.assert_array_equal(dense(got), [3, 3])
    with pytest.raises(LinnetError, match="0 indices") as caught:
        ln.einsum("C += A", A=A)
    assert caught.value.at.file == __file__


def test_operands_that_do_not_occur():
    with pytest.raises(ArgumentError, match="`B` is given, and is not in the equation"):
        ln.einsum("y[i] += A[i,j]", A=A, B=A)
    with pytest.raises(ArgumentError, match="`f` is given"):
        ln.einsum("y[i] += A[i,j]", A=A, f=plain)


def test_what_an_update_does_not_take():
    with pytest.raises(DTypeError, match="maximum is not defined for complex128"):
        ln.einsum("y[i] max= A[i,j]", A=A * 1j)
    with pytest.raises(KernelSyntaxError, match="cannot read the equation ''"):
        ln.einsum("", A=A)
    with pytest.raises(LinnetError, match="has no identity"):
        ln.einsum("y[i] f= A[i,j]", A=A, f=ln.function(lambda a, b: a - b))


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"iteration_space": 3}, "an iteration space is a text, not 3"),
        ({"iteration_space": "x | z"}, "no argument 'z'"),
        ({"dtype": "float99"}, "'float99' is not a dtype"),
        ({"annihilator": {0: 5}}, "no argument 5"),
    ],
)
def test_claims_that_are_none(claims, message):
    with pytest.raises(LinnetError, match=message) as caught:
        ln.function(lambda x, y: x + y, **claims)
    assert caught.value.at.file == __file__


@pytest.mark.parametrize(
    ("text", "said", "place"),
    [
        ("ij,jk->i!", "look like", 8),
        ("ij,jk->iz", "the index `z`", 8),
        ("ij, j.k->i", "an ellipsis", 4),
        ("ij,jk->ii", "there twice", 8),
        ("ij,jk->......", "an ellipsis", 7),
        ("ij", "1 operands; 2 are given", 0),
    ],
)
def test_the_place_in_subscripts_is_marked(text, said, place):
    with pytest.raises(ln.LinnetError, match="cannot read the subscripts") as raised:
        ln.einsum(text, np.eye(3), np.eye(3))
    assert said in str(raised.value)
    marked = str(raised.value).splitlines()[-1]
    assert marked == " " * (8 + place) + "^"


@pytest.mark.parametrize(
    ("text", "said", "place"),
    [
        ("y[i] = A[i, j] *", "it ends where an operand is to follow", 16),
        ("y[i] = A[i, j] + -", "it ends where an operand is to follow", 18),
        ("y[i] = A[i, j] *) 2", "not an expression", 16),
        ("y[i] = A[0, i] * A[9, i]", "`9` reaches 9 in A[9, i]", 17),
        ("y[i] = A[i, i + 3]", "`i + 3` reaches", 7),
        ("y[i] = A[i, j] * A.shape[7]", "it has 2 indices elsewhere in it", 17),
        ("y[i] = A[i, j] + A[i]", "1 index here and 2 indices elsewhere in it", 17),
    ],
)
def test_the_place_in_an_equation_is_marked(text, said, place):
    with pytest.raises(LinnetError) as caught:
        ln.einsum(text, A=np.eye(3))
    shown = str(caught.value)
    assert said in shown
    assert f"        {text}\n        {' ' * place}^" in shown
    assert "line 1" not in shown
