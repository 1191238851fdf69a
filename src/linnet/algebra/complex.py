"""Functions of complex numbers, by way of their real and imaginary parts.

What has branches is a codelet (`complex_codelets`, `complex_inverses`), in double precision.
"""

from __future__ import annotations

from collections.abc import Callable

from linnet.algebra.emit import Args, cast, parts
from linnet.algebra.function import Emit
from linnet.imp import Binary, Call, Const, Expr

Parts = tuple[Expr, Expr]
OfParts = Callable[[Expr, Expr], Parts]


def of_parts(function: OfParts) -> Emit:
    """A function that maps the parts of a number to the parts of another."""

    def emit(args: Args, dtype: str) -> Expr:
        return Call("complex", function(*parts(args[0])), dtype)

    return emit


def by_codelet(name: str) -> Emit:
    """A function that branches, of the parts of its arguments."""

    def emit(args: Args, dtype: str) -> Expr:
        given = tuple([cast(part, "float64") for z in args for part in parts(z)])
        return cast(Call(f"complex_{name}", given, "complex128"), dtype)

    return emit


def rint(x: Expr, y: Expr) -> Parts:
    """Each part rounded."""
    return Call("rint", (x,), x.dtype), Call("rint", (y,), y.dtype)


def power(args: Args, dtype: str) -> Expr:
    """`a ** b`; a square or a cube is a product."""
    a, b = args
    if isinstance(b, Const) and b.value in (2, 3):
        square = Binary("*", a, a, dtype)
        return square if b.value == 2 else Binary("*", square, a, dtype)
    return by_codelet("pow")(args, dtype)
