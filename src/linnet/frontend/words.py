"""The words of the kernel language that are not functions of values.

They mean something inside a kernel, where the front end reads them and never calls them.
"""

from __future__ import annotations

from typing import Any, NoReturn

from linnet.errors import KernelSyntaxError, Location

extents: Any = ...
"""`for i, j in ln.extents:` is `for i, j in ...:`, where a type checker wants to see a sequence."""


def temp(format: object, order: tuple[int, ...] | None = None) -> NoReturn:
    """`w = ln.temp(format)`: a temporary tensor, to be declared by `w[...] = 0`.

    `order` says which mode each level stores, where it is not the first to the last.
    """
    _outside("temp")


def gallop(index: object) -> NoReturn:
    """`A[ln.gallop(j)]`: let the structure of A lead the loop over j."""
    _outside("gallop")


def walk(index: object) -> NoReturn:
    """`A[ln.walk(j)]`: go through what A stores along j, in order."""
    _outside("walk")


def follow(index: object) -> NoReturn:
    """`A[ln.follow(j)]`: look A up at each j, whatever its structure."""
    _outside("follow")


def stored(where: Any, within: Any = None, order: tuple[int, ...] | None = None) -> Any:
    """`for i, j in ln.stored(A):` goes through what A stores, `ln.stored(A[i, :])` through a row.

    With a range, it is what is stored `within`: `ln.stored(A[i, :], range(8))`.
    There is an index for each `:`, from the first mode to the last; `order` says which mode is
    whose, where they are others. In `A[i, ln.stored(j)]` of a symmetric A, as printed programs show
    it, it is what is stored and not its mirror image.
    """
    _outside("stored")


def product(*ranges: object) -> Any:
    """`for i, j in ln.product(range(n), range(m)):` goes through all pairs, in order."""
    _outside("product")


def along(several: Any, *outer: object) -> Any:
    """`for j in ln.along(ln.stored(A), i):` is the inner one of the loops over i and j."""
    _outside("along")


def coordinates(positions: Any) -> Any:
    """`for i in ln.coordinates(ln.part(ln.stored(x), t, 32)):` goes from part to part without gaps.

    They are all coordinates from those of the first of these positions on to the next part.
    """
    _outside("coordinates")


def part(whole: Any, number: object, size: object) -> Any:
    """`for i in ln.part(range(n), t, 32):` are 32 indices of a range, those of its part t."""
    _outside("part")


def parts(whole: Any, size: object) -> Any:
    """`for t in range(ln.parts(range(n), 32)):` counts the parts of 32 indices of a range."""
    _outside("parts")


def place(whole: Any, *at: object) -> Any:
    """`ln.place(ln.part(range(n), t, 32), i)`: which of the 32 indices the loop over i is at."""
    _outside("place")


def bound(whole: Any, kind: object, value: object) -> Any:
    """`for j in ln.bound(range(n), "MaxExact", 128):` says that n is 128, which calls check."""
    _outside("bound")


def unrolled(whole: Any, factor: object) -> Any:
    """`for j in ln.unrolled(range(n), 4):` has the body of the loop in its code four times."""
    _outside("unrolled")


def flat(whole: Any) -> Any:
    """`for i, j in ln.flat(ln.stored(A)):` is one loop, which looks where a row ends."""
    _outside("flat")


def vector(whole: Any, race: object) -> Any:
    """`for j in ln.vector(range(n), "NoRaces"):` makes several turns of the loop at once."""
    _outside("vector")


def declare(tensor: object, init: object, dims: object) -> NoReturn:
    """`ln.declare(w, 0, (n, m))`: `w[...] = 0`, with the dimensions given."""
    _outside("declare")


def freeze(tensor: object) -> NoReturn:
    """`ln.freeze(w)`: the updates of w end, and it may be read."""
    _outside("freeze")


def thaw(tensor: object) -> NoReturn:
    """`ln.thaw(w)`: the reads of w end, and it may be updated."""
    _outside("thaw")


def fill(value: object) -> NoReturn:
    """`ln.fill(0.0)`: the value at places where nothing is stored, as printed programs show it."""
    _outside("fill")


def _outside(word: str) -> NoReturn:
    raise KernelSyntaxError(
        f"ln.{word} is part of the kernel language and means nothing outside a kernel",
        at=Location.of_caller(),
        hint="use it in a function under @ln.kernel",
    )


PROTOCOLS = (gallop, walk, follow, stored)
STATEMENTS = (temp, declare, freeze, thaw)
RANGES = (part, parts, place, bound, stored, coordinates, product, along)
HOWS = (flat, unrolled, vector)
