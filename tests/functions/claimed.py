"""Functions of a user, each with a claim that its body keeps."""

from __future__ import annotations

import linnet as ln


@ln.function(commutative=True, iteration_space="x | y")
def gcd(x, y):
    """Euclid, in a loop."""
    x, y = abs(x), abs(y)
    while x != 0:
        x, y = y % x, x
    return y


@gcd.case(y=0)
def _(x, y):
    return abs(x)


@ln.function(iteration_space="x & ~y")
def unless(x, y):
    """The first, where there is no second."""
    return x if y == 0 else 0 * x


@ln.function(iteration_space="x | ~y", outside=0)
def implied(x, y):
    return 1 + x if y == 0 else x


@ln.function(commutative=True, idempotent=True, associative=True)
def larger(x, y):
    """The maximum, of which nothing is known but that."""
    return x if x > y else y
