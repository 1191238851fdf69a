"""Functions in equations: of users, of plain Python, of NumPy; and what is refused, and how."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("text", "names", "message", "mark"),
    [
        ("y[i] += f(A[i,j])", {"f": np.add}, "takes 2 arguments, not 1", "f(A"),
        ("y[i] += q(A[i,j])", {}, "`q` is not defined", "q(A"),
        ("y[i] += A(A[i,j])", {}, "`A` is not a function", "A(A"),
        ("y[i] += A[i,j] * f(A[i,j])", {"f": np.add}, "takes 2 arguments", "f(A"),
    ],
)
def test_the_place_in_the_equation_is_marked(text, names, message, mark):
    with pytest.raises(LinnetError, match=message) as caught:
        ln.einsum(text, A=A, **names)
    error = caught.value
    assert error.at.file == __file__
    _, line, pointer = error.why.splitlines()
    assert line[pointer.index("^") :].startswith(mark)


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
