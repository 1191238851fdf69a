"""Between any two formats: a conversion keeps values, and stores no more than it must."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracle.check import BACKENDS, Subject, check, describe
from tests.oracle.data import SIGNED, SMALL, WILD, recipes, square, tensors
from tests.oracle.formats import READ, WRITTEN, formats

import linnet as ln
from linnet.algebra.dtypes import Number
from linnet.algebra.exact import converter
from linnet.formats.element import Pattern
from linnet.runtime.convert import copy_kernel
from linnet.testing import dense


@given(st.data())
def test_conversions(data):
    ndim = data.draw(st.sampled_from((2, 1, 3, 0, 4)))
    source = data.draw(formats(ndim, data.draw(st.sampled_from((READ, READ, (ln.Dense,))))))
    same = data.draw(st.booleans())
    target = data.draw(formats(ndim, WRITTEN, source.dtype if same else None))
    if same and not isinstance(target.leaf, Pattern) and data.draw(st.booleans()):
        fill = data.draw(st.sampled_from(_turned(source.fill_value)))
        source, target = source.with_fill(fill), target.with_fill(fill)
    recipe = data.draw(recipes(source, data.draw(st.sampled_from((SMALL, WILD, SIGNED)))))
    subject = None
    for _ in range(2):
        shape = tuple(
            data.draw(st.sampled_from((2, 3, 1, 0) if ndim > 3 else (2, 3, 1, 0, 4)))
            for _ in range(ndim)
        )
        shape = square(shape, source)
        tensor = data.draw(tensors(recipe, shape, 1))
        program = copy_kernel(source, target).program
        args = {"B": ln.empty_tensor(target), "A": tensor}
        note(describe(program, args))
        subject = subject or Subject.of(program, args)
        check(subject, args, data.draw(st.sampled_from(((), (), BACKENDS[:1], BACKENDS))))
        result = subject.interpreted(args, {"A": shape, "B": shape})["B"]
        right = converter(target.dtype)(dense(tensor))
        values = dense(result)
        assert ((values == right) | ((values != values) & (right != right))).all(), (
            f"B is {values}, should be {right}"
        )
        assert (_signs(values) == _signs(right)).all(), f"B is {values}, should be {right}"


def _turned(fill: Number) -> tuple[Number, ...]:
    """A fill value; a zero with other signs, too, on both sides: what is not stored has none."""
    if fill != 0 or not isinstance(fill, float | complex):
        return (fill,)
    if isinstance(fill, float):
        return fill, -0.0
    return fill, complex(0.0, -0.0), complex(-0.0, 0.0)


def _signs(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Of zeros, of both parts of complex numbers."""
    parts = (array.real, array.imag) if array.dtype.kind in "fc" else ()
    return np.array([np.signbit(part) & (part == 0) for part in parts])


def test_complex_numbers_to_real_ones():
    """The sign of a zero is that of the real part."""
    A = ln.asarray(np.array([1 + 0j, complex(-0.0, 0.0), 0j]))
    B = ln.empty_tensor(ln.CSF(1).with_dtype("float64").with_fill(0.0))
    assert copy_kernel(A.format, B.format)(B, A).nnz == 2
