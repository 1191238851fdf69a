"""What results of truth values store: where conditions hold, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from tests.programs.formats import nest
from tests.programs.storing import PAIRS, SPARSE, check, drawn, stored

import linnet as ln


def pattern(letters: str, places: np.ndarray) -> ln.Tensor:
    """A vector of truth values that are not kept."""
    format = nest(letters)
    levels = (*format.levels[:-1], ln.Pattern())
    return ln.asarray(places, format=ln.Format(levels, format.order))


@ln.kernel
def either(c, a, b):
    c[...] = False
    for i in ...:
        c[i] = a[i] | b[i]


@ln.kernel
def both(c, a, b):
    c[...] = False
    for i in ...:
        c[i] = a[i] & b[i]


@ln.kernel
def exclusive(c, a, b):
    c[...] = False
    for i in ...:
        c[i] = a[i] ^ b[i]


@ln.kernel
def unequal(c, a, b):
    c[...] = False
    for i in ...:
        c[i] = a[i] != b[i]


@ln.kernel
def without(c, a, b):
    c[...] = False
    for i in ...:
        c[i] = a[i] & ~b[i]


@ln.kernel
def without_if(c, a, b):
    c[...] = False
    for i in ...:
        if a[i] and not b[i]:
            c[i] = True


@ln.kernel
def implication(c, a, b):
    c[...] = True
    for i in ...:
        c[i] = ~a[i] | b[i]


@ln.kernel
def xor_if(c, a, b):
    c[...] = False
    for i in ...:
        if a[i]:
            if not b[i]:
                c[i] = True
        elif b[i]:
            c[i] = True


LOGIC = [  # kernel, value, places where values are kept, places where they are not
    (either, np.logical_or, np.logical_or, np.logical_or),
    (both, np.logical_and, np.logical_and, np.logical_and),
    (exclusive, np.logical_xor, np.logical_or, np.logical_xor),
    (unequal, np.logical_xor, np.logical_or, np.logical_xor),
    (without, lambda a, b: a & ~b, lambda p, q: p, lambda p, q: p & ~q),
    (implication, lambda a, b: ~a | b, lambda p, q: p, lambda p, q: p & ~q),
]


@pytest.mark.parametrize(
    ("kernel", "value", "kept", "known"), LOGIC, ids=lambda x: getattr(x, "__name__", "")
)
def test_truth_values(kernel, value, kept, known):
    (a, p), (b, q) = drawn(3, dtype="bool"), drawn(4, dtype="bool")
    fill = kernel is implication
    for n, (f, g) in enumerate(PAIRS):
        result = SPARSE[n % 4]
        operands = [stored(f, a, p, False), stored(g, b, q, False)]
        check(kernel, result, operands, value(a, b), kept(p, q), fill)
        operands = [pattern(f, p), pattern(g, q)]
        check(kernel, result, operands, value(p, q), known(p, q), fill)


@pytest.mark.parametrize(
    ("kernel", "value"), [(without_if, lambda a, b: a & ~b), (xor_if, np.logical_xor)]
)
def test_conditions_store_where_they_hold(kernel, value):
    (a, p), (b, q) = drawn(3, dtype="bool"), drawn(4, dtype="bool")
    for n, (f, g) in enumerate(PAIRS):
        operands = [stored(f, a, p, False), stored(g, b, q, False)]
        check(kernel, SPARSE[n % 4], operands, value(a, b), value(a, b), False)
        operands = [pattern(f, p), pattern(g, q)]
        check(kernel, SPARSE[n % 4], operands, value(p, q), value(p, q), False)


@ln.kernel
def large(c, a):
    c[...] = 0
    for i in ...:
        if a[i] > 4:
            c[i] = a[i]


@ln.kernel
def small(c, a):
    c[...] = 0
    for i in ...:
        if a[i] < 4:
            c[i] = 1.0


@ln.kernel
def chosen(c, a):
    c[...] = 0
    for i in ...:
        c[i] = a[i] if a[i] > 4 else 0


@pytest.mark.parametrize("letters", SPARSE)
def test_conditions_on_values(letters):
    a, p = drawn(5)
    for result in SPARSE:
        check(large, result, [stored(letters, a, p)], np.where(a > 4, a, 0), a > 4)
        check(small, result, [stored(letters, a, p)], np.where(a < 4, 1.0, 0), a < 4)
        check(chosen, result, [stored(letters, a, p)], np.where(a > 4, a, 0), p)
