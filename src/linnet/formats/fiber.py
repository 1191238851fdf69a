"""`Storage`, `Fiber`, `Register`: a tensor, one fiber of it, one value of it, in generated code."""

from __future__ import annotations

from dataclasses import field

from linnet import imp
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Storage:
    """A tensor in generated code: its format, and the variables and buffers that hold it.

    `dims[m]` is the size of mode m; `buffers[k]` maps the buffer names of storage level k to
    buffers (the leaf's come last). `init` is the value that unwritten elements have. `counts`
    says, where that was counted, how many entries each fiber of a scattered level will have.
    `skipping` are the levels some of whose fibers are not visited where they are written, as far
    as is known; `found` collects those for which that turns out while lowering, and `notes` what a
    level wants to remember from writing a tensor to finishing it. `sites` numbers the errors of
    levels that cannot hold everything. `op` is the function by which it is updated, where that is
    one. A `temporary` is written before it is read, so that variables still say what it holds; one
    that is `unordered` need not list what it holds in order.
    """

    name: str  # by which it is found; the others are compared if that is the same
    format: Format = field(hash=False)
    dims: tuple[imp.Expr, ...] = field(hash=False)
    init: imp.Expr = field(hash=False)
    buffers: tuple[dict[str, imp.Buffer], ...] = field(compare=False, hash=False, repr=False)
    prefixes: tuple[str, ...] = field(compare=False, hash=False, repr=False)
    counts: imp.Buffer | None = field(compare=False, hash=False, repr=False, default=None)
    skipping: frozenset[int] = field(compare=False, hash=False, repr=False, default=frozenset())
    found: set[int] = field(compare=False, hash=False, repr=False, default_factory=set)
    notes: dict[int, str] = field(compare=False, hash=False, repr=False, default_factory=dict)
    sites: dict[int, int] = field(compare=False, hash=False, repr=False, default_factory=dict)
    op: Function | None = field(compare=False, hash=False, repr=False, default=None)
    temporary: bool = field(compare=False, hash=False, repr=False, default=False)
    unordered: bool = field(compare=False, hash=False, repr=False, default=False)

    def dim(self, level: int, sub: int = 0) -> imp.Expr:
        """The size of the dimension that part `sub` of a level stores."""
        return self.dims[self.format.modes_of(level)[sub]]

    def prefix(self, level: int) -> str:
        """How the names of a level's variables begin."""
        return self.prefixes[level]

    def refuse(self, level: int) -> imp.Stmt:
        """Give up: a fiber of this level has no place for what is written to it."""
        return imp.Return(imp.Const(imp.NO_PLACE | self.sites[level] << 8, imp.INT))

    def below(self, level: int) -> Level:
        """The level under this one."""
        return self.format.levels[level + 1]


@dataclass(frozen=True, slots=True)
class Fiber:
    """The fiber at `pos` of storage level `level`; what an access has left to walk.

    `sub` and `state` belong to levels that store several dimensions at once: how many have been
    walked, and what the level must remember of it. In update mode, `dirty` is the flag to set when
    something is written below, and `fresh` says that the storage of this fiber has not been
    initialized. One that is read may be there or not, as `present` says while running. One that is
    written in parts may come to its last index `again`, and may be `reopened`: it is the last one
    that was written, if it was. Where one that is `ended` by the loop around it ends is no matter
    of what is written to it.
    """

    storage: Storage  # by which it is found, as storage is by its name
    level: int
    pos: imp.Expr = field(hash=False)
    sub: int = 0
    state: tuple[imp.Expr, ...] = field(hash=False, default=())
    dirty: imp.Var | None = field(hash=False, default=None)
    fresh: bool = False
    present: imp.Var | None = field(hash=False, default=None)
    again: bool = False
    reopened: bool = False
    ended: bool = field(hash=False, compare=False, default=False)

    @property
    def dim(self) -> imp.Expr:
        """The size of the dimension that is walked next."""
        return self.storage.dim(self.level, self.sub)

    @property
    def kind(self) -> Level:
        """The level that this is a fiber of."""
        return self.storage.format.levels[self.level]

    @property
    def constant(self) -> Number | None:
        """What all values of a leaf are, where they are not kept."""
        constant: Number | None = getattr(self.kind, "constant", None)
        return constant

    @property
    def prefix(self) -> str:
        """How the names of variables for this fiber begin."""
        return self.storage.prefix(self.level)

    def buffer(self, name: str) -> imp.Buffer:
        """A buffer of this fiber's level."""
        return self.storage.buffers[self.level][name]

    def child(self, pos: imp.Expr, dirty: imp.Var | None = None, fresh: bool = False) -> Fiber:
        """The fiber at `pos` of the next level."""
        return Fiber(
            self.storage, self.level + 1, pos, dirty=dirty, fresh=fresh, reopened=self.again
        )


@dataclass(frozen=True, slots=True)
class Register:
    """One value of a tensor, kept in a variable while a loop updates it.

    `dirty` is the flag to set when it is written.
    """

    storage: Storage
    var: imp.Var
    dirty: imp.Var | None = None
