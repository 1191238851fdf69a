"""What shape does a tensor have from one declaration to the next? Between `dimensions` and `sizes`.

A parameter comes with dimensions of its own. A declared tensor has the sizes that the loops give it
which write to it before it is first read; then its shape is settled. Where two shapes of one tensor
come together — after an `if`, at the head of a loop — they must agree if the tensor is used there.
"""

from __future__ import annotations

from dataclasses import field

from linnet.errors import Location, ShapeError
from linnet.loops.nodes import Access, Dimension, Literal
from linnet.normalize.shape_checks import Use
from linnet.normalize.sizes import Place, Sizes, Source
from linnet.records import dataclass


@dataclass(eq=False, slots=True)
class Shape:
    """The sizes of a tensor, one per mode.

    `own` are the modes whose size is the dimension with which an argument came. For a declared
    tensor, `place` is where, `previous` its shape before, `filled` the modes that loops without an
    extent write to, `stops` the ends of explicit ranges that write to a mode, and `most` what these
    do not go beyond.
    """

    tensor: str
    sizes: tuple[int, ...]
    own: set[int] = field(default_factory=set)
    place: Place | None = None
    at: Location | None = None
    previous: Shape | None = None
    filled: set[int] = field(default_factory=set)
    stops: list[tuple[int, Source]] = field(default_factory=list)
    most: list[tuple[int, Source]] = field(default_factory=list)
    settled: bool = False
    joined: list[Shape] = field(default_factory=list)
    used: bool = False

    @property
    def open(self) -> bool:
        """Whether what writes to the tensor still decides its size."""
        return self.place is not None and not self.settled


def unwritten(tensor: str, mode: int, at: Location | None) -> Use:
    """A mode whose size no index shows."""
    return Use("", Access(tensor, ()), mode, at)


class Shapes:
    """Makes, joins and settles shapes."""

    def __init__(self, sizes: Sizes, params: frozenset[str]) -> None:
        self._sizes = sizes
        self._params = params
        self._declared: list[Shape] = []

    def argument(self, tensor: str, rank: int) -> Shape:
        """The shape with which an argument comes."""
        return Shape(tensor, self._new(rank), set(range(rank)))

    def declared(
        self, tensor: str, rank: int, place: Place, at: Location | None, previous: Shape | None
    ) -> Shape:
        """The shape of a tensor after a declaration."""
        if previous is not None:
            self.settle(previous)
        shape = Shape(tensor, self._new(rank), place=place, at=at, previous=previous)
        self._declared.append(shape)
        return shape

    def both(self, one: Shape, *others: Shape) -> Shape:
        """The shape where several come together."""
        shape = Shape(one.tensor, self._new(len(one.sizes)))
        for other in (one, *others):
            self.join(shape, other)
        return shape

    def _new(self, rank: int) -> tuple[int, ...]:
        return tuple([self._sizes.new() for _ in range(rank)])

    def join(self, shape: Shape, other: Shape) -> None:
        """`other` is one more of those that come together in `shape`."""
        shape.joined.append(other)
        shape.own |= other.own
        if shape.used:
            self._agree(shape, other)

    def use(self, shape: Shape) -> None:
        """The tensor is used here: what comes together here must agree."""
        if not shape.used:
            shape.used = True
            for other in shape.joined:
                self._agree(shape, other)

    def _agree(self, shape: Shape, other: Shape) -> None:
        self.use(other)
        for a, b in zip(shape.sizes, other.sizes, strict=True):
            self._sizes.join(a, b)

    def settle(self, shape: Shape) -> None:
        """The tensor is read, or declared anew: what has written to it decides its size."""
        if shape.settled:
            return
        shape.settled = True
        for other in shape.joined:
            self.settle(other)
        if shape.place is not None:
            for mode in range(len(shape.sizes)):
                if mode not in shape.filled and not self._end_with_range(shape, mode):
                    self._keep(shape, mode)

    def settle_all(self) -> None:
        """At the end of the program, decide what is still open."""
        for shape in self._declared:
            self.settle(shape)
        for shape in self._declared:
            assert shape.place is not None
            for mode, size in enumerate(shape.sizes):
                if self._sizes.known(size, shape.place) is None:
                    self._end_with_range(shape, mode) or self._keep(shape, mode)
                known = self._sizes.known(size, shape.place) is not None
                if not (known or shape.used or shape.tensor in self._params):  # any size will do
                    use = unwritten(shape.tensor, mode, shape.at)
                    self._sizes.say(size, Source(Literal(0), use, 0, shape.place))

    def _end_with_range(self, shape: Shape, mode: int) -> bool:
        """Explicit ranges give the size, if they mean the same at the declaration.

        Of tiles, which end elsewhere each, it is what all of them stay within.
        """
        assert shape.place is not None
        place, moved = shape.place, self._sizes.moved
        stops = [s for m, s in shape.stops if m == mode and moved(s, place) is not None]
        stops = stops or [s for m, s in shape.most if m == mode and moved(s, place) is not None]
        if not stops:
            return False
        literals = [(s.expr.value, k) for k, s in enumerate(stops) if isinstance(s.expr, Literal)]
        last = max(literals)[1] if len(literals) == len(stops) else 0
        self._sizes.say(shape.sizes[mode], stops[last])
        return True

    def _keep(self, shape: Shape, mode: int) -> bool:
        """Nothing gives the size: a parameter keeps the one that it has."""
        previous = shape.previous
        if previous is None or shape.place is None or shape.tensor not in self._params:
            return False
        self.use(previous)
        self._sizes.join(shape.sizes[mode], previous.sizes[mode])
        if mode in previous.own:
            shape.own.add(mode)
            use, own = unwritten(shape.tensor, mode, shape.at), Dimension(shape.tensor, mode)
            self._sizes.say(shape.sizes[mode], Source(own, use, 0, shape.place))
        return True


# -- errors ----------------------------------------------------------------------------------------


def wrong_rank(
    what: str, count: int, tensor: str, rank: int, unit: str, at: Location | None
) -> ShapeError:
    """A tensor is given another number of indices or sizes than it has dimensions."""
    hint = f"give {tensor} {_count(rank, unit)}"
    if rank == 0:
        hint = f"{tensor} is a scalar: write {tensor}[()]"
    message = f"{what} has {_count(count, unit)} but {tensor} has {_count(rank, 'dimension')}"
    return ShapeError(message, at=at, hint=hint)


def no_such_mode(tensor: str, mode: int, rank: int, at: Location | None) -> ShapeError:
    """A dimension that a tensor does not have is asked for."""
    what = f"{tensor}.shape[{mode}] does not exist"
    return ShapeError(f"{what}: {tensor} has {_count(rank, 'dimension')}", at=at)


def _count(n: int, unit: str) -> str:
    """`1 index`, `2 indices`"""
    return f"1 {unit}" if n == 1 else f"{n} {'indices' if unit == 'index' else unit + 's'}"
