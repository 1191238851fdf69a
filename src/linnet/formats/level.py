"""`Level`: what one storage level can do. Each level is one file beside this one.

A level stores one dimension (some store several) of many fibers at once. A fiber is told by its
position; the position of a subfiber in the child level is what walking a fiber yields. The five
functions of FINCH Table 3 appear here as methods that return looplets or emit code:

    reading   unfurl(fiber, index)        -> looplet over subfibers
    writing   declare()                   forget all fibers
              reserve(stop)               room for the fibers at positions < stop
              initialize(start, stop)     make those fibers empty
              update(fiber, index)        -> looplet over subfibers to be written
              freeze(count), thaw(count)  `count` fibers are complete and may be read, or back

In code, "the level" is a pair of a `Storage` and a level number.
"""

from __future__ import annotations

from functools import cache
from os import urandom
from typing import TYPE_CHECKING, ClassVar

from linnet.errors import FormatError, Location
from linnet.records import dataclass

if TYPE_CHECKING:
    import numpy as np

    from linnet import imp
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage
    from linnet.formats.looplets import Looplet


STORED = "stored"  # the protocol of an access to what is stored, and not to its mirror image
ONCE = "once"  # the protocol of an update that promises to write no element twice
APPEND = "append"  # the same, and all in the order of storage, inside the dimension
INSIDE = "inside"  # the protocol of slices, which do not leave their dimension
WORD = "word"  # the protocol of an access by a list and a number in it, as `Level.grid` says
NEAR = "near"  # the protocol of a walk through a part of a fiber: the ends of parts are close
WITHIN = "within"  # the protocol of an index that is known to lie in its dimension
PERMISSIVE = "permissive"  # the protocol of `A[~i]`: nothing is there beyond the bounds


@dataclass(frozen=True, slots=True)
class Array:
    """A buffer that a level keeps: its name, and what its elements are.

    Roles: "position" and "coordinate" (int32 or int64, each array its own), "flag" (bool),
    "table" (int64), "value" (the leaf's dtype). One that is per `fiber` has an element for each
    fiber, or one more; others have one for each entry. Elements of one that `ascends` do not
    decrease, and if they are `unique` no two are equal: of coordinates, those of one fiber.
    """

    name: str
    role: str
    fiber: bool = False
    ascends: bool = False
    unique: bool = False


POINTERS = Array("ptr", "position", fiber=True, ascends=True)
"""Where the entries of each fiber begin, and where those of the last one end."""
COORDINATES = Array("idx", "coordinate", ascends=True, unique=True)
"""The coordinates of the entries of a fiber, in order."""


def search_of(protocol: str) -> str:
    """The codelet that looks for an index among those of a fiber: from where it is, or anywhere."""
    return "gallop" if protocol in ("gallop", NEAR) else "search"


@dataclass(frozen=True)
class Level:
    """A storage level. Subclasses say what they keep and how it is walked and written."""

    arrays: ClassVar[tuple[Array, ...]] = ()
    width: ClassVar[int] = 1  # dimensions stored (SparseCOO sets its own)
    leaf: ClassVar[bool] = False
    strided: ClassVar[bool] = False  # can be walked with a stride: coordinates lie in one array
    sliced: ClassVar[bool] = False  # can be read with a stride: says where what it stores ends
    located: ClassVar[bool] = False  # can be read at any index without a search ("follow")
    full: ClassVar[bool] = False  # every index of a fiber has a subfiber, as in Dense
    short_circuit: ClassVar[bool] = False  # a leaf whose loop ends when its value cannot change
    specialized: ClassVar[bool] = False  # a scalar whose fill value is looked for when it is read
    unstored: ClassVar[bool] = False  # a scalar at a place where nothing is stored
    selective: ClassVar[bool] = False  # a leaf that stores only some of the values written to it
    sequential: ClassVar[bool] = False  # written in order, each fiber in one go
    reopens: ClassVar[bool] = False  # … or in several: its last fiber can be opened again
    resumes: ClassVar[bool] = False  # … and the last entry of that can be gone on with
    skips: ClassVar[bool] = False  # some of its children are not visited where it is written
    covers: ClassVar[bool] = False  # every index of a fiber is stored, some of them together
    runs: ClassVar[bool] = False  # neighbours that are alike are stored once
    vacant: ClassVar[bool] = False  # there may be nothing at a position
    spans: ClassVar[bool] = False  # what lies between two stored indices is stored, too
    pads: ClassVar[bool] = False  # with an index others are stored, too, beside it
    mirrored: ClassVar[bool] = False  # what is stored at [i, j] is read at [j, i], too
    per_fiber: ClassVar[bool] = False  # keeps something for each fiber, also for unused ones
    limit: ClassVar[str] = ""  # what a fiber has one of: writing another is an error
    comparable: ClassVar[bool] = True  # fibers can be compared as soon as they are written
    merges: ClassVar[bool] = False  # updates are combined with each other, in groups
    ascends: ClassVar[bool] = False  # `idx` has the indices of a fiber, in order, as `ptr` says
    outermost: ClassVar[bool] = False  # stores the first dimensions of a tensor, and no others

    def takes(self, factor: int, update: bool = False) -> bool:
        """Whether a loop can walk along such a multiple of its index; a negative one, backward."""
        if factor < 0:
            return not (update or self.full) and (self.strided or self.sliced)
        return factor == 1 or self.full or self.strided or (self.sliced and not update)

    @property
    def tile(self) -> tuple[int, int]:
        """How many fibers, and how many of their indices, are stored together where it pads."""
        return 1, 1

    @property
    def grid(self) -> tuple[int, int] | None:
        """The rows and columns of the tiles whose lists hold the entries of a mirrored matrix.

        Both are powers of two, and less than 2**31 places together. Lists are numbered strip by
        strip, and have the words `column * rows + row` of entries below the diagonal, which count
        from the first place in the tile; a last one has the rows of those on it.
        """
        return None

    @property
    def scattered(self) -> Level | None:
        """The level as it is written in any order, once the entries of each fiber are counted."""
        return None

    def written(self, below: tuple[Level, ...]) -> tuple[Level, ...]:
        """The levels that kernels write over those below; if they are others, it is converted."""
        return (self,)

    @property
    def stamp(self) -> str:
        """What the code of a level depends on besides its name: what a user has written."""
        return _text_of(type(self))  # type: ignore[arg-type]

    # -- reading ---------------------------------------------------------------------------------

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        """The subfibers along `index`."""
        raise NotImplementedError

    def positions(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr] | None:
        """Where the children of the fibers from lo to hi are, if they follow one another."""
        return None

    def entries(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr] | None:
        """Where the list is that walks through the fibers from lo to hi go along."""
        return self.positions(storage, level, lo, hi)

    def parent(
        self, b: Builder, storage: Storage, level: int, q: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> imp.Expr | None:
        """The fiber, of those from lo to hi, that child q lies in."""
        return None

    def stretch(
        self, storage: Storage, level: int, p: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr] | None:
        """Where the children from lo to hi of fiber p are, if their indices follow one another."""
        return None

    # -- writing ---------------------------------------------------------------------------------

    def variables(self, storage: Storage, level: int) -> tuple[imp.Var, ...]:
        """Variables that live as long as the kernel and start at zero."""
        return ()

    def declare(self, b: Builder, storage: Storage, level: int) -> None:
        """Forget all fibers."""

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        """Make room for the fibers at positions below `stop`."""
        raise NotImplementedError

    def initialize(
        self, b: Builder, storage: Storage, level: int, start: imp.Expr, stop: imp.Expr
    ) -> None:
        """Make the fibers from `start` to `stop` empty (all fill)."""

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        """The subfibers along `index`, for writing."""
        raise NotImplementedError

    def forget(self, b: Builder, storage: Storage, level: int, start: imp.Expr) -> None:
        """Take back what is stored for the fibers from `start` on: they are empty."""

    def ending(
        self, b: Builder, fiber: Fiber, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[tuple[imp.Stmt, ...], tuple[imp.Stmt, ...]] | None:
        """How a loop ends the fibers from lo to hi, of which each turn comes to the next, `fiber`.

        What is done before the loop, and at the end of a turn; None if fibers end by themselves.
        """
        return None

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        """Finish `count` fibers, and the levels below."""
        raise NotImplementedError

    def thaw(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        """Allow `count` fibers, and the levels below, to be updated again."""
        raise NotImplementedError

    def complete(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        """Let what has been written to the fibers below `stop` be compared."""

    def alike(
        self, b: Builder, storage: Storage, level: int, p: imp.Expr, q: imp.Expr
    ) -> imp.Expr | None:
        """Whether two complete fibers hold the same; None if they cannot be compared."""
        return None

    # -- checking and showing what is stored (arrays in memory, no code) -------------------------

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        """Check the arrays of `count` fibers; return the number of child fibers.

        Raises FormatError naming `label`, the array and the first offending position. Nothing that
        passes can make a kernel read or write out of bounds.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Inner(Level):
    """A level above another."""

    child: Level

    def __post_init__(self) -> None:
        if not isinstance(self.child, Level):
            raise FormatError(
                f"{type(self).__name__} is a level above another, and {self.child!r} is none",
                at=Location.of_caller(),
                hint=f"ln.{type(self).__name__}(ln.Element()) stores values",
            )

    def label(self, child: str) -> str:
        """How the level prints, around its child."""
        return f"{type(self).__name__}({child})"

    def __repr__(self) -> str:
        return self.label(repr(self.child))


@cache
def _text_of(kind: type[Level]) -> str:
    """The text of a level that is not Linnet's own: a changed one has other machine code.

    What this package holds is covered by the stamp of the disk cache.
    """
    own = [k for k in kind.__mro__ if k is not object and not k.__module__.startswith("linnet.")]
    if not own:
        return ""
    from inspect import getsource  # takes long to import

    try:
        return "\n".join([getsource(k) for k in own])
    except (OSError, TypeError):  # typed in, or made: known to this process alone
        return f"{kind.__module__}.{kind.__qualname__} {urandom(16).hex()}"
