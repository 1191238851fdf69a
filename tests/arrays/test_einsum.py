"""Random subscripts over random formats, into random formats: what `numpy.einsum` gives."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, note
from hypothesis import strategies as st
from tests.oracle.data import SMALL, recipes, tensors
from tests.oracle.formats import WRITTEN, formats

import linnet as ln

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
