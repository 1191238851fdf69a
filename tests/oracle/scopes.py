"""What a program knows while it is being written, and what there is when it is complete."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from hypothesis import strategies as st
from tests.oracle.data import Recipe
from tests.oracle.values import Typed

from linnet import loops
from linnet.algebra.function import Function
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.loops.printer import show
from linnet.loops.rewrite import walk

SIZES = (2, 3, 1, 0, 4, 5)  # of dimensions
LONG = (33, 20, 3, 1, 64, 0)  # so that loops are vectorized and memory grows
T = TypeVar("T")


@dataclass(frozen=True)
class Style:
    """What kind of programs are written."""

    operands: int = 3
    ndim: int = 3
    depth: int = 4  # of loops
    statements: int = 3
    terms: int = 3  # the depth of expressions
    room: int = 5  # levels of sparse tensors that one statement may search or merge
    temporaries: bool = True
    branches: bool = True
    computed: bool = True  # indices that are not those of loops
    ranges: bool = True
    kept: bool = True  # outputs that are updated without being declared
    careless: bool = False  # indices may leave their dimensions
    decided: bool = False  # often, what is missing beside a value decides whether it counts
    gathers: bool = False  # indices are mostly looked up
    beside: bool = False  # indices mostly lie beside those of loops
    choices: bool = False  # values are mostly chosen by tests, of values that are not finite
    affine: bool = False  # masks and indices are mostly sums, with numbers that are read
    steps: bool = False  # a loop over steps, in which tensors are both read and updated
    tiles: bool = False  # loops over parts of a dimension, inside loops that count them
    nested: bool = False  # all statements are inside loops
    leaves: bool = False  # loops may be left by `break`
    cut: bool = False  # where digits are lost, that is said: otherwise it is refused
    levels: tuple[type[Level], ...] = ()  # of operands; any, if none are said
    sizes: tuple[int, ...] = SIZES

    @property
    def longest(self) -> int:
        """The largest size of a dimension."""
        return max(self.sizes)


@dataclass(frozen=True)
class Known:
    """A tensor of the program: which dimension each mode has, and how large its values are."""

    name: str
    dims: tuple[str, ...]
    format: Format
    bound: float
    op: Function | None = None  # by which alone it is updated, if `merges`
    steady: bool = False  # its bound holds already for all updates there will be

    @property
    def merges(self) -> bool:
        """Whether all updates have to be by one function."""
        return any(level.merges for level in self.format.levels)

    @property
    def dtype(self) -> str:
        """The type of its values."""
        assert self.format.dtype is not None
        return self.format.dtype

    @property
    def cost(self) -> int:
        """By how many searches or merges an access multiplies the code."""
        return sum(l.width for l in self.format.levels if not (l.full or l.leaf))


@dataclass(frozen=True)
class Running:
    """A loop: `low <= index < size of dim - high`; `stride * index` lies inside, too.

    A `guest` runs over another dimension, and a condition keeps it in this one.
    """

    index: str
    dim: str
    low: int = 0
    high: int = 0
    stride: int = 1
    full: bool = True
    guest: bool = False


@dataclass(frozen=True)
class Scope:
    """What may be used in a statement. No tensor may be both read and written."""

    loops: tuple[Running, ...] = ()
    lets: tuple[Typed, ...] = ()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    sums: tuple[tuple[str, loops.Expr], ...] = ()  # indices that conditions keep in a dimension
    outermost: bool = False
    rounds: int = 1  # how often a loop over steps does all this

    def inside(self, *running: Running) -> Scope:
        """In a block of a statement, perhaps of a loop."""
        return replace(self, loops=(*self.loops, *running), outermost=False)


@dataclass(frozen=True)
class Wish:
    """A tensor that a statement has to write or to read."""

    write: str | None = None
    read: str | None = None


ANY = Wish()


@dataclass(frozen=True)
class Case:
    """A program, and how its arguments are made."""

    program: loops.Program
    recipes: dict[str, Recipe]  # of arguments that hold something
    outputs: dict[str, Format]  # of those that are declared
    dims: dict[str, tuple[str, ...]]
    least: dict[str, int]  # the smallest size of each dimension
    sizes: tuple[int, ...]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What Hypothesis prints of it."""
        printer.text(show(self.program))


@dataclass
class Notebook:
    """All that has been said so far: the base of those who write."""

    draw: st.DrawFn
    style: Style
    least: dict[str, int] = field(default_factory=dict)
    tensors: dict[str, Known] = field(default_factory=dict)
    recipes: dict[str, Recipe] = field(default_factory=dict)
    anchors: dict[str, loops.Dimension] = field(default_factory=dict)  # the size of a dimension
    outputs: list[str] = field(default_factory=list)
    temporaries: dict[str, Format] = field(default_factory=dict)
    lets: int = 0  # how many names there are
    hosts: set[str] = field(default_factory=set)  # indices that are guests somewhere
    visited: set[str] = field(default_factory=set)  # tensors that have guests among their indices
    left: int = 0  # statements that may still be written
    room: int = 0  # see `Style`

    def one_in(self, n: int) -> bool:
        """True once in a while, and False in the simplest example."""
        return self.draw(st.integers(0, n - 1)) == n - 1

    def choose(self, options: tuple[T, ...] | list[T]) -> T:
        """One of these; the first in the simplest example."""
        return self.draw(st.sampled_from(options))

    def shuffled(self, items: tuple[T, ...] | list[T]) -> list[T]:
        """These in any order."""
        return list(self.draw(st.permutations(items)))

    def kinds(self, usual: tuple[type[Level], ...]) -> tuple[type[Level], ...]:
        """Of which levels formats are made."""
        return usual

    def operands(self) -> set[str]:
        """Parameters that are only read."""
        return {name for name in self.recipes if name not in self.outputs}

    def implied(self, body: loops.Stmt, index: str) -> bool:
        """Whether the access to an operand says how far a loop runs."""
        return any(
            isinstance(n, loops.Access)
            and n.tensor in self.operands()
            and any(
                i == loops.Index(index) and protocol != "permissive"
                for i, protocol in zip(
                    n.indices, n.protocols or ("",) * len(n.indices), strict=True
                )
            )
            for n in walk(body)
        )
