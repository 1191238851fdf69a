"""Random subscripts and equations over random formats, into random formats: what NumPy gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note, reject, settings
from hypothesis import strategies as st
from tests.oracle.data import SMALL, recipes, tensors
from tests.oracle.formats import WRITTEN, formats

import linnet as ln
from linnet.errors import FormatError

DTYPES = ("int64", "float64", "int8", "float32", "complex128", "bool")
LETTERS = "ijklm"


@st.composite
def operands(draw: st.DrawFn) -> tuple[list[str], list[ln.Tensor]]:
    """Subscripts, which may repeat a letter, and small tensors of these shapes."""
    size = {letter: draw(st.integers(0, 4)) for letter in LETTERS}
    subscripts, found = [], []
    for _ in range(draw(st.integers(1, 4))):
        letters = draw(st.lists(st.sampled_from(LETTERS), max_size=3))
        format = draw(formats(len(letters), WRITTEN, draw(st.sampled_from(DTYPES))))
        x = draw(tensors(draw(recipes(format, SMALL)), tuple(size[i] for i in letters)))
        subscripts.append("".join(letters))
        found.append(x)
    return subscripts, found


@given(data=st.data())
def test_subscripts(data: st.DataObject) -> None:
    subscripts, given = data.draw(operands())
    used = sorted(set("".join(subscripts)))
    kept = data.draw(st.permutations(used))[: data.draw(st.integers(0, 3))]
    text = f"{','.join(subscripts)}->{''.join(kept)}"
    note("\n".join([text, *(f"{x!r} of {x.format}" for x in given)]))
    arrays = [x.to_numpy() for x in given]
    assume(all(np.abs(a.astype(complex)).max(initial=0) < 10 for a in arrays))  # exact sums
    expected = np.einsum(text, *arrays)
    format = data.draw(st.none() | formats(len(kept), WRITTEN, str(expected.dtype)))
    if format is not None and format.fill_value != 0:
        format = None
    note(f"into {format}")
    result = ln.einsum(text, *given, format=format)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(result.to_numpy(), expected)


# -- equations -------------------------------------------------------------------------------------


@ln.function
def leaning(x, y):
    """Of neither side more is known than this."""
    return x - 2 * y if x < y else y


UPDATES = {"+=": np.add, "max=": np.maximum, "min=": np.minimum, "*=": np.multiply}
SMALLEST = {"+=": 0, "*=": 1}  # what an empty sum or product is; of nothing there is no maximum
CALLS = {
    "{} + {}": np.add,
    "{} - {}": np.subtract,
    "{} * {}": np.multiply,
    "min({}, {})": np.minimum,
    "max({}, {})": np.maximum,
    "leaning({}, {})": lambda x, y: np.where(x < y, x - 2 * y, y),
}
MOST = 2**20  # products up to here are exact


@dataclass
class Equation:
    """The operands of an equation, and what each index runs over."""

    draw: st.DrawFn
    size: dict[str, int]
    places: dict[str, Any]
    operands: dict[str, ln.Tensor] = field(default_factory=dict)
    letters: dict[str, list[str]] = field(default_factory=dict)  # of the access to each
    used: set[str] = field(default_factory=set)  # indices whose sizes operands tell

    def term(self, depth: int) -> tuple[str, Any]:
        """The text of an expression, and its values for all indices at once."""
        if depth and self.draw(st.integers(0, 3)):
            name = self.draw(st.sampled_from(list(CALLS)))
            (a, x), (b, y) = self.term(depth - 1), self.term(depth - 1)
            return f"({name})".format(a, b), CALLS[name](x, y)
        match self.draw(st.sampled_from(("access",) * 5 + ("number", "index", "where"))):
            case "number":
                number = self.draw(st.sampled_from((1, 0, 2, -1)))
                return str(number), np.int64(number)
            case "index":
                i = self.draw(st.sampled_from(list(self.size)))
                return i, self.places[i]
            case "where":
                i, j = (self.draw(st.sampled_from(list(self.size))) for _ in range(2))
                (a, x), (b, y) = self.access(), self.access()
                cond = self.places[i] <= self.places[j]
                return f"where({i} <= {j}, {a}, {b})", np.where(cond, x, y)
            case _:
                return self.access()

    def access(self) -> tuple[str, Any]:
        """An element of an operand, which may be like another one."""
        name = "ABCDEFGH"[len(self.operands)]
        twin = self.draw(st.sampled_from((None, None, *self.operands)))
        if twin is None:
            letters = self.draw(st.lists(st.sampled_from(list(self.size)), max_size=3))
            dtype = self.draw(st.sampled_from(("int64", "float64")))
            format = self.draw(formats(len(letters), WRITTEN, dtype))
            fill = self.draw(st.sampled_from((0, 0, 1, -3)))
            format = format.with_fill(np.dtype(dtype).type(fill).item())
        else:
            letters, format = self.letters[twin], self.operands[twin].format
        self.letters[name] = letters
        shape = tuple(self.size[i] for i in letters)
        self.operands[name] = self.draw(tensors(self.draw(recipes(format, SMALL)), shape))
        self.used.update(letters)
        array = self.operands[name].to_numpy()
        values = array[tuple(self.places[i] for i in letters)]
        return f"{name}[{', '.join(letters) or '()'}]", values

    def alike(self) -> dict[str, ln.Tensor]:
        """The first of operands that are alike in place of each of them."""
        first: dict[object, ln.Tensor] = {}
        contents = {n: x.contents() for n, x in self.operands.items()}
        return {
            n: first.setdefault((c.signature, c.shape), self.operands[n])
            for n, c in contents.items()
        }


@settings(max_examples=settings().max_examples // 2)  # each of them is a kernel
@given(data=st.data())
def test_equations(data: st.DataObject) -> None:
    letters = "ijk"[: data.draw(st.integers(1, 3))]
    size = {i: data.draw(st.sampled_from((2, 3, 1, 4, 0))) for i in letters}
    places = dict(zip(letters, np.indices(tuple(size.values())), strict=True))
    equation = Equation(data.draw, size, places)
    text, values = equation.term(data.draw(st.integers(0, 2)))
    assume(equation.used == set(letters) and len(equation.operands) < 6)
    kept = "".join(data.draw(st.permutations(letters)))[: data.draw(st.integers(0, 3))]
    update = data.draw(st.sampled_from(list(UPDATES)))
    reduced = tuple(k for k, i in enumerate(letters) if i not in kept)
    assume(update in SMALLEST or all(size[letters[k]] for k in reduced))
    values = np.broadcast_to(values, tuple(size.values()))
    expected = UPDATES[update].reduce(values, axis=reduced) if reduced else values
    assume(np.abs(expected.astype(float)).max(initial=0) < MOST)
    left = sorted(kept, key=letters.index)
    expected = expected.transpose([left.index(i) for i in kept])
    format = data.draw(st.none() | formats(len(kept), WRITTEN, str(expected.dtype)))
    text = f"Y[{', '.join(kept)}] {update} {text}" if kept else f"Y {update} {text}"
    described = [f"{n} = {x!r} of {x.format}" for n, x in equation.operands.items()]
    note("\n".join([text, *described, f"into {format}"]))
    given = {"leaning": leaning} if "leaning" in text else {}
    try:
        ln.einsum(text, **equation.alike(), **given, format=format)  # of which nothing is left
        result = ln.einsum(text, **equation.operands, **given, format=format)
    except FormatError as error:  # the one limit of kernels that equations can meet
        if "too many cases" not in str(error):
            raise
        reject()
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(result.to_numpy(), expected)


def test_an_operand_that_was_given_twice_is_not_read_for_another():
    rng = np.random.default_rng(0)
    arrays = [rng.integers(1, 9, (4, 4)) for _ in range(2)]
    for format in (ln.DENSE, ln.CSR):
        X, Y = (ln.asarray(x, format=format) for x in arrays)
        for A, B in ((X, X), (X, Y), (Y, X), (Y, Y), (X, X)):
            result = ln.einsum("C[i, j] += A[i, k] * B[k, j]", A=A, B=B)
            np.testing.assert_array_equal(result.to_numpy(), A.to_numpy() @ B.to_numpy())


@pytest.mark.parametrize(
    ("equation", "mark"),
    [
        ("y[i] = a[i] & b[i]", 7),
        ("y[i] = b[i] + (~a[i])", 16),
        ("y[i] = b[i] * (a[i] % c[i])", 15),
    ],
)
def test_a_dtype_that_a_function_does_not_take_is_marked(equation, mark):
    operands = {"a": np.ones(3), "b": np.ones(3, int), "c": np.ones(3, complex)}
    used = {name: x for name, x in operands.items() if f"{name}[" in equation}
    with pytest.raises(ln.LinnetError) as caught:
        ln.einsum(equation, **used)
    assert isinstance(caught.value, TypeError)
    assert caught.value.at.file == __file__
    *_, text, under = caught.value.why.split("\n")
    assert text.strip() == equation
    assert under.index("^") - text.index("y") == mark
