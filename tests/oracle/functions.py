"""Functions of a user: with bodies, laws, cases and iteration spaces. Their results stay small.

Outside its space a body gives what is said of it: what a user claims is believed.
"""

from __future__ import annotations

from tests.functions.claimed import gcd, larger

import linnet as ln


@ln.function(iteration_space="x & ~y")
def unless(x, y):
    """The first, where there is no second."""
    return x if y == 0 else 0


@ln.function(commutative=True, iteration_space="(x | y) & ~(x & y)")
def one_of(x, y):
    """The one that is there alone."""
    if x != 0 and y != 0:
        return 0
    return x if y == 0 else y


@ln.function(iteration_space="x & y", outside=0)
def both(x, y):
    """The second, where both are."""
    return y if x != 0 else 0


@ln.function
def clipped(x):
    """A function of one argument with two ways out."""
    if x < -1:
        return -1 + 0 * x
    return x


USER = (unless, one_of, larger, both)
WHOLE = (gcd,)  # remainders of floats are not whole
