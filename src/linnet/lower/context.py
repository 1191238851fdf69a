"""What lowering carries along, and the questions that several of its files ask of a loop body."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import TypeAlias, assert_never

from linnet import imp, loops
from linnet.algebra.table import greater_equal, less, logical_and
from linnet.codelets.build import Builder
from linnet.errors import Location
from linnet.formats.fiber import Fiber, Register, Storage
from linnet.formats.looplets import (
    FILL,
    Fill,
    Lookup,
    Looplet,
    Missing,
    Run,
    Sequence,
    Spike,
    Stepper,
    Switch,
    Thunk,
    Truth,
    Value,
)
from linnet.imp.order import Order
from linnet.loops.positions import is_positional
from linnet.loops.rewrite import accesses, rewrite_stmt, walk
from linnet.loops.solve import Scope, is_mask, walk_of
from linnet.lower.trace import Trace
from linnet.normalize.facts import Facts
from linnet.normalize.known import INSIDE, data
from linnet.normalize.simplify import MISSING, simplify
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """A check made while a kernel runs: what to say if it fails. Its number is its place."""

    message: str
    at: Location | None


Bounds: TypeAlias = tuple[imp.Expr, imp.Expr]


@dataclass(frozen=True, slots=True)
class Space:
    """The positions below a fiber, in each level down to the one that is gone through.

    Those of a level follow one another between its two `bounds`, outermost level first.
    """

    fiber: Fiber
    bounds: tuple[Bounds, ...]


@dataclass(frozen=True, slots=True)
class FlatLoop:
    """One of several loops through positions that are to become one, and the fiber that it walks.

    The positions are those of the stepper, or all indices if there is none.
    """

    loop: loops.Loop
    fiber: Fiber
    stepper: Stepper | None


UNKNOWN = 2**62
"""How many indices a part has, where nobody says it: there are no more."""


@dataclass(slots=True)
class Counting:
    """A loop that counts parts of a range, open around the loop over these parts.

    Together the two loops visit all indices between the `bounds`, if these are known. Of the fibers
    that the inner one has `written`, some are `opened` around both; `begin` is what has to be done
    before the first part. A walk that has come to an end in one part goes on from there in the next
    one: `reached` has its first position, and the variable for where it stands. The `counters` are
    the loop itself and those inside that count parts of its parts, the `longest` of which has so
    many indices. What is walked may be `chosen` anew in each part.
    """

    bounds: tuple[imp.Expr, imp.Expr] | None
    written: frozenset[Fiber]
    opened: dict[Cursor, Looplet] = field(default_factory=dict)
    begin: list[imp.Stmt] = field(default_factory=list)
    reached: dict[Cursor, tuple[imp.Expr, imp.Var]] = field(default_factory=dict)
    counters: set[str] = field(default_factory=set)
    longest: int = UNKNOWN
    chosen: bool = False


@dataclass(slots=True)
class Context:
    """The code so far, the tensors, what is known of them, and the loops that are open."""

    b: Builder
    storages: dict[str, Storage]
    facts: Facts
    dims: dict[tuple[str, int], imp.Expr]
    registers: dict[str, imp.Var] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    indices: list[str] = field(default_factory=list)
    running: list[bool] = field(default_factory=list)  # open loops: do they really loop?
    walked: set[str] = field(default_factory=set)
    ends: dict[Cursor, imp.Expr] = field(default_factory=dict)
    known: Order = field(default_factory=lambda: Order(set()))
    refused: dict[str, imp.Var] = field(default_factory=dict)  # see `lower.searches`
    begins: dict[Cursor, imp.Expr] = field(default_factory=dict)
    carried: frozenset[str] = frozenset()  # scalars that are read while they are updated
    parts: int = 1  # into which the open loops have been cut (`lower.masks`)
    trace: Trace | None = None  # what is done, if somebody looks
    counting: dict[str, Counting] = field(default_factory=dict)  # by the index of the inner loop
    spaces: dict[loops.Positions, Space] = field(default_factory=dict)  # open ones
    products: dict[loops.Range, list[Bounds]] = field(default_factory=dict)  # `lower.products`
    between: dict[loops.Range, tuple[tuple[imp.Expr, ...], tuple[imp.Expr, ...]]] = field(
        default_factory=dict
    )  # `lower.coordinates`
    tiles: dict[str, loops.Range] = field(default_factory=dict)  # whose coordinates loops have
    clips: dict[loops.Range, Bounds] = field(default_factory=dict)  # of positions, by their range
    wholes: dict[str, Bounds] = field(default_factory=dict)  # of loops over parts
    led: dict[str, Fiber] = field(default_factory=dict)  # where loops through positions are
    flat: dict[loops.Range, list[FlatLoop]] = field(default_factory=dict)  # `lower.flat`
    reached: dict[tuple[str, int], imp.Var] = field(default_factory=dict)  # `lower.stored`
    counts: dict[str, loops.Expr] = field(default_factory=dict)  # how far loops from 0 run
    bounded: dict[loops.Range, Bounds] = field(default_factory=dict)  # those that were checked
    again: frozenset[str] = frozenset()  # indices that have a value again in the next part

    def begin(self, cursor: Cursor) -> imp.Expr:
        """Where a fiber begins, as the loop that walks it counts."""
        return self.begins.get(cursor, imp.ZERO)

    def dim(self, cursor: Cursor) -> imp.Expr:
        """Where a fiber ends, as the loop that walks it counts."""
        end = self.ends.get(cursor)
        return cursor.fiber.dim if end is None else end

    def leads(self, index: str, looplet: object) -> None:
        """Note the fiber that a loop through positions comes to at its index."""
        while not isinstance(looplet, Fiber | Fill):
            match looplet:
                case Spike(tail):
                    looplet = tail
                case Switch(_, head):
                    looplet = head
                case Lookup(body) | Run(body) | Thunk(_, body):
                    looplet = body
                case Sequence(phases):  # where something is stored
                    looplet = next((p.body for p in phases if p.body != Run(FILL)), FILL)
                case _:
                    return
        if isinstance(looplet, Fiber):
            self.led[index] = looplet

    def is_flat(self, indices: list[str]) -> bool:
        """Whether one of these loops becomes one with others, so that it cannot be left alone."""
        return any(f.loop.index in indices for found in self.flat.values() for f in found)

    def named(self, x: imp.Expr, name: str) -> imp.Const | imp.Var:
        """A value that does not change, in a variable if it is computed."""
        if isinstance(x, imp.Const | imp.Var):
            return x
        var = self.b.let(name, x)
        self.known.introduce(var, x)
        return var

    def simplify(self, stmt: loops.Stmt) -> loops.Stmt:
        """`stmt` without what the laws make needless."""
        return simplify(stmt, self.facts)

    def collect(self, lower: Callable[[], None]) -> imp.Block:
        """The code that `lower` emits, as a block of its own."""
        with self.b.collect() as stmts:
            lower()
        return imp.Block(tuple(stmts))


@dataclass(frozen=True, slots=True)
class Cursor:
    """A fiber that a loop walks, for reading or for writing. All accesses to it share one walk.

    `index` is the index as it was written, the loop's own or that plus something known before.
    """

    fiber: Fiber
    update: bool
    protocol: str
    index: loops.Expr
    at: Location | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The tensor's."""
        return self.fiber.storage.name

    @property
    def plain(self) -> bool:
        """Whether the index is the loop's own."""
        return isinstance(self.index, loops.Index)


@dataclass(frozen=True, slots=True)
class Mask:
    """A comparison of the loop's index with something known before the loop."""

    call: loops.Call
    update: bool = False
    name: str = "mask"

    def truth(self, value: bool) -> loops.Expr:
        """What the comparison is in some part of the loop, where it is not made."""
        positional = is_positional(self.call)
        literal = loops.Literal(value, "bool", structural=positional)
        return literal if positional else data(literal)


def cursors_of(ctx: Context, body: loops.Stmt, index: str) -> list[Cursor]:
    """What the loop over `index` walks, in program order: fibers, and comparisons of the index."""
    found: dict[Cursor, None] = {}
    nodes = list(walk(body))
    inner = {n.index for n in nodes if type(n) is loops.Loop}
    inner |= {n.name for n in nodes if type(n) is loops.Let}
    scope = Scope(index, inner, ctx.facts.types)
    for access, is_target in accesses(body):
        if isinstance(access.tensor, Fiber) and access.indices:
            head = access.indices[0]
            if walk_of(head, scope) is not None:
                cursor = Cursor(access.tensor, is_target, _protocol(access), head, access.at)
                found[cursor] = None
    for node in nodes:
        if type(node) is loops.Call and is_mask(node, scope):
            found[Mask(node)] = None  # type: ignore[index]
    return list(found)


def _protocol(access: loops.Access) -> str:
    return access.protocols[0] if access.protocols else ""


def as_value(cursor: Cursor, payload: Value) -> Fiber | loops.Expr:
    """What an access or a comparison becomes: a subfiber, or a value."""
    match payload:
        case Fiber(storage) if payload.constant is not None and not cursor.update:
            return loops.Literal(payload.constant, storage.format.dtype)
        case Fiber():
            return payload
        case Truth(value):
            assert isinstance(cursor, Mask)
            return cursor.truth(value)
        case Missing(site):
            dtype = cursor.fiber.storage.format.dtype
            assert dtype is not None
            return loops.Value(imp.Call(MISSING, (imp.Const(site, imp.INT),), dtype))
        case Fill() if isinstance(cursor, Mask):
            return cursor.truth(False)
        case Fill():
            format = cursor.fiber.storage.format
            assert format.fill_value is not None
            return loops.Literal(format.fill_value, format.dtype, structural=True)
        case _:
            assert_never(payload)


def resolve(
    body: loops.Stmt, index: str, payloads: Mapping[Cursor, Fiber | loops.Expr]
) -> loops.Stmt:
    """Replace the accesses and comparisons that a loop walks by what they are at its index."""
    masks = {c.call: v for c, v in payloads.items() if isinstance(c, Mask)}  # type: ignore[attr-defined]
    if masks:
        relations = {call.function.name for call in masks}  # to look up all calls would take time

        def known(e: loops.Expr) -> loops.Expr | None:
            is_relation = isinstance(e, loops.Call) and e.function.name in relations
            return masks.get(e) if is_relation else None  # type: ignore[return-value]

        body = rewrite_stmt(body, on_expr=known)
    if len(masks) == len(payloads):
        return body

    def found(access: loops.Access, update: bool) -> loops.Expr | None:
        if not isinstance(access.tensor, Fiber) or not access.indices:
            return None
        cursor = Cursor(access.tensor, update, _protocol(access), access.indices[0])
        payload = payloads.get(cursor)
        if update and isinstance(payload, loops.Value):
            return loops.Access(missing_target(cursor, payload), ())
        if isinstance(payload, loops.Literal) and "permissive" in access.protocols[1:]:
            return _within_bounds(access, access.tensor.storage, payload)
        if payload is None or not isinstance(payload, Fiber):
            return payload
        return replace(
            access, tensor=payload, indices=access.indices[1:], protocols=access.protocols[1:]
        )

    return replace_accesses(body, found)


def _within_bounds(access: loops.Access, storage: Storage, fill: loops.Literal) -> loops.Expr:
    """The fill value of a fiber that is not stored, where the other indices are within bounds."""
    rest, protocols = access.indices[1:], access.protocols[1:]
    modes = storage.format.order[-len(rest) :]
    value: loops.Expr = fill
    assert fill.dtype is not None
    nothing = loops.Value(imp.Call(MISSING, (imp.Const(0, imp.INT),), fill.dtype))
    for index, protocol, mode in zip(rest, protocols, modes, strict=True):
        if protocol == "permissive":
            dim: loops.Expr = loops.Dimension(storage.name, mode)
            if storage.temporary:  # what it was declared with, which callers may not know
                dim = loops.Value(storage.dims[mode])
            low = loops.Call(greater_equal, (index, loops.Literal(0)))
            inside = loops.Call(logical_and, (low, loops.Call(less, (index, dim))))
            value = loops.Call(INSIDE, (inside, value, nothing))
    return value


def missing_target(cursor: Cursor, missing: loops.Value) -> Register:
    """A place beyond the bounds: writing to it is an error."""
    assert isinstance(missing.code, imp.Call)
    site = missing.code.args[0]
    assert isinstance(site, imp.Const)
    return Register(cursor.fiber.storage, imp.Var(f"{MISSING} {site.value}"))


def replace_accesses(
    body: loops.Stmt, change: Callable[[loops.Access, bool], loops.Expr | None]
) -> loops.Stmt:
    """Replace accesses; `change` is told whether an access is the target of an assignment."""

    def on_expr(e: loops.Expr) -> loops.Expr | None:
        return change(e, False) if isinstance(e, loops.Access) else None

    def on_stmt(s: loops.Stmt) -> loops.Stmt | None:
        if not isinstance(s, loops.Assign):
            return None
        target = change(s.target, True)
        if target is None:
            return None
        assert isinstance(target, loops.Access)
        return loops.Assign(target, s.op, s.value, s.at)

    return rewrite_stmt(body, on_stmt, on_expr)


def targets(body: loops.Stmt) -> list[loops.Access]:
    """The accesses that are written."""
    return [access for access, is_target in accesses(body) if is_target]


def storage_of(access: loops.Access) -> Storage | None:
    """The tensor of an access that is being lowered."""
    return access.tensor.storage if isinstance(access.tensor, Fiber | Register) else None


def name_of(access: loops.Access) -> str:
    """The name of the tensor of an access, which may be declared only later."""
    storage = storage_of(access)
    return str(access.tensor) if storage is None else storage.name


def surely_writes(body: loops.Stmt, storage: Storage) -> bool:
    """Whether running `body` always writes something to the tensor."""
    match body:
        case loops.Assign(target):
            return storage_of(target) == storage and not _may_be_idle(body, storage)
        case loops.Let(_, _, inner):
            return surely_writes(inner, storage)
        case loops.If(_, then, orelse):
            return surely_writes(then, storage) and surely_writes(orelse, storage)
        case loops.Block(stmts):
            return any(surely_writes(s, storage) for s in stmts)
        case _:
            return False


def _may_be_idle(stmt: loops.Assign, storage: Storage) -> bool:
    """Whether an update stores nothing for some values: not true, or outside a function's space."""
    calls = (n for n in walk(stmt.value) if isinstance(n, loops.Call))
    return storage.format.leaf.selective or any(c.function.space is not None for c in calls)


def settle(body: loops.Stmt, fibers: Iterable[Fiber]) -> loops.Stmt:
    """Say that these fibers have been initialized."""
    fresh = set(fibers)

    def change(access: loops.Access, update: bool) -> loops.Expr | None:
        if update and access.tensor in fresh:
            assert isinstance(access.tensor, Fiber)
            return replace(access, tensor=replace(access.tensor, fresh=False))
        return None

    return replace_accesses(body, change) if fresh else body


def fresh_targets(body: loops.Stmt) -> list[Fiber]:
    """The fibers written in `body` that have not been initialized."""
    found = {
        t.tensor: None for t in targets(body) if isinstance(t.tensor, Fiber) and t.tensor.fresh
    }
    return list(found)


def initialize(ctx: Context, body: loops.Stmt, fibers: Iterable[Fiber]) -> loops.Stmt:
    """Initialize fibers now, since what follows may not visit all of them."""
    fibers = list(fibers)
    for fiber in fibers:
        storage, level = fiber.storage, fiber.level
        fiber.kind.initialize(ctx.b, storage, level, fiber.pos, fiber.pos + 1)
    return settle(body, fibers)
