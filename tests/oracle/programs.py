"""Random loop programs. Every program made here has a meaning: names are bound, modes are kept.

A tensor belongs to the block that declares it, and each statement of that block either reads or
writes it. `Author` writes blocks; it knows what may be read and written where (`Scope`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from linnet import loops
from linnet.algebra import table
from linnet.algebra.dtypes import kind
from linnet.formats.format import Format
from linnet.loops.rewrite import block, walk
from tests.oracle.data import INDEX, SMALL, WILD, Recipe, bound, widths
from tests.oracle.formats import COMMON, INSERTING, fills, formats
from tests.oracle.values import (
    BINARY,
    COMPARISONS,
    UNARY,
    UPDATES,
    Typed,
    call,
    converted,
    limited,
    literals,
)

NAMES = ("i", "j", "k", "l", "m")
LONGEST = 5  # of dimensions


@dataclass(frozen=True)
class Known:
    """A tensor of the program: which dimension each mode has, and how large its values are."""

    name: str
    dims: tuple[str, ...]
    format: Format
    bound: float

    @property
    def dtype(self) -> str:
        assert self.format.dtype is not None
        return self.format.dtype


@dataclass(frozen=True)
class Running:
    """A loop: `low <= index < size of dim - high`."""

    index: str
    dim: str
    low: int = 0
    high: int = 0
    full: bool = True


@dataclass(frozen=True)
class Scope:
    """What may be used in a statement."""

    loops: tuple[Running, ...] = ()
    lets: tuple[Typed, ...] = ()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    inside: bool = False  # in a branch


@dataclass(frozen=True)
class Case:
    """A program, and how its arguments are made."""

    program: loops.Program
    recipes: dict[str, Recipe]  # of arguments that hold something
    outputs: dict[str, Format]  # of those that are declared
    dims: dict[str, tuple[str, ...]]
    least: dict[str, int]  # the smallest size of each dimension


@dataclass(frozen=True)
class Style:
    """What kind of programs are written."""

    operands: int = 3
    ndim: int = 3
    depth: int = 3
    loops: int = 4
    statements: int = 3
    temporaries: bool = True
    branches: bool = True
    computed: bool = True
    ranges: bool = True
    kept: bool = True


@dataclass
class Author:
    """Writes one program."""

    draw: st.DrawFn
    style: Style
    least: dict[str, int] = field(default_factory=dict)
    tensors: dict[str, Known] = field(default_factory=dict)
    recipes: dict[str, Recipe] = field(default_factory=dict)
    anchors: dict[str, loops.Dimension] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    temporaries: dict[str, Format] = field(default_factory=dict)
    limits: dict[str, str] = field(default_factory=dict)  # index tensors: the dimension they index
    left: int = 0  # statements that may still be written
    room: int = 0  # accesses to sparse tensors: what they need in code multiplies

    # -- choices ---------------------------------------------------------------------------------

    def one_in(self, n: int) -> bool:
        return self.draw(st.integers(0, n - 1)) == n - 1

    def choose(self, options):
        return self.draw(st.sampled_from(options))

    # -- tensors ---------------------------------------------------------------------------------

    def program(self) -> Case:
        dims = ("a", "b", "c")[: self.draw(st.integers(1, 3))]
        self.least = {d: self.choose((0, 0, 0, 1, 2)) for d in dims}
        for k in range(self.draw(st.integers(1, self.style.operands))):
            self.operand("ABCDE"[k])
        if self.style.computed and self.one_in(4):
            self.index_operand()
        kept = self.kept_output() if self.style.kept and self.one_in(4) else None
        operands = frozenset(self.tensors)
        self.left = self.draw(st.integers(1, self.style.statements))
        body = self.top(operands, kept)
        made = [name for name in self.outputs if name != kept]
        params = tuple(self.draw(st.permutations([*self.outputs, *operands - {kept}])))
        temporaries = tuple(self.temporaries.items())
        written = {n.target.tensor for n in walk(body) if isinstance(n, loops.Assign)}
        results = tuple(n for n in self.outputs if n in written)
        program = loops.Program("f", params, temporaries, body, results)
        outputs = {name: self.tensors[name].format for name in made}
        return Case(
            program, self.recipes, outputs, {p: self.tensors[p].dims for p in params}, self.least
        )

    def operand(self, name: str) -> None:
        ndim = self.draw(st.sampled_from([n for n in (1, 2, 1, 2, 3, 0, 4, 5) if n <= self.style.ndim]))
        dims = tuple(self.choose(tuple(self.least)) for _ in range(ndim))
        format = self.draw(formats(ndim))
        how = WILD if self.one_in(3) else SMALL
        self.recipes[name] = Recipe(format, self.draw(widths(format)), how)
        size = max(bound(format.dtype, how), self.size_of_fill(format))
        self.tensors[name] = Known(name, dims, format, size)
        for mode, dim in enumerate(dims):
            self.anchors.setdefault(dim, loops.Dimension(name, mode))

    def index_operand(self) -> None:
        """Integers that are coordinates of a dimension."""
        dim = self.choose(tuple(self.least))
        self.least[dim] = max(1, self.least[dim])
        dims = tuple(self.choose(tuple(self.least)) for _ in range(self.choose((1, 1, 2))))
        format = self.draw(formats(len(dims), self.choose(("int64", "int32", "uint8")))).with_fill(0)
        self.recipes["I"] = Recipe(format, self.draw(widths(format)), INDEX, dim)
        self.tensors["I"] = Known("I", dims, format, LONGEST)
        self.limits["I"] = dim
        for mode, d in enumerate(dims):
            self.anchors.setdefault(d, loops.Dimension("I", mode))

    def kept_output(self) -> str | None:
        """An argument that is updated without being declared."""
        dims = tuple(self.choose(tuple(self.anchors)) for _ in range(self.choose((1, 2, 0)))) if self.anchors else ()
        format = self.draw(formats(len(dims), kinds=INSERTING, pattern=False))
        self.recipes["K"] = Recipe(format, self.draw(widths(format)), SMALL)
        size = max(bound(format.dtype, SMALL), self.size_of_fill(format))
        self.tensors["K"] = Known("K", dims, format, size)
        self.outputs.append("K")
        return "K"

    @staticmethod
    def size_of_fill(format: Format) -> float:
        fill = abs(format.fill_value)
        return fill if fill < float("inf") else 0  # infinities and NaN stay what they are

    # -- blocks ----------------------------------------------------------------------------------

    def top(self, operands: frozenset[str], kept: str | None) -> loops.Stmt:
        """The outermost block; outputs are declared at its beginning as they come up."""
        writes = frozenset() if kept is None else frozenset({kept})
        scope = Scope(reads=operands - writes, writes=writes)
        stmts = [self.block(scope)]
        if not self.outputs:
            stmts.append(self.assign(scope, ()))
        declared = [n for n in self.outputs if n != kept]
        if declared and self.one_in(4):
            name = self.choose(tuple(declared))
            stmts += self.after(scope, name)
        new = [n for n in self.outputs if n not in declared and n != kept]
        heads = [self.declaration(n, stmts, scope) for n in (*declared, *new)]
        return block([*heads, *stmts])

    def after(self, scope: Scope, name: str) -> list[loops.Stmt]:
        """Statements that read an output, once it is complete."""
        self.left += 1
        for other in self.outputs:
            scope = replace(scope, writes=scope.writes - {other})
        return [self.statement(replace(scope, reads=scope.reads | {name}), read=name)]

    def declaration(self, name: str, stmts: list[loops.Stmt], scope: Scope) -> loops.Declare:
        """Dimensions follow from full loops; where others write, they are said."""
        tensor = self.tensors[name]
        init = loops.Literal(tensor.format.fill_value, None if self.one_in(2) else tensor.dtype)
        if kind(tensor.dtype) == "b":
            init = loops.Literal(bool(tensor.format.fill_value))
        partial = frozenset(r.index for r in scope.loops if not r.full)
        writes = list(_writes(loops.Block(tuple(stmts)), name, partial))
        plain = bool(writes) and all(ok for ok in writes)
        if tensor.dims and plain and not self.one_in(5):
            return loops.Declare(name, init)
        dims = tuple(self.anchors[d] for d in tensor.dims)
        return loops.Declare(name, init, dims or None)

    def block(self, scope: Scope) -> loops.Stmt:
        if self.style.temporaries and self.left > 1 and self.one_in(3):
            return self.with_temporary(scope)
        stmts = [self.statement(scope)]
        while self.left > 0 and self.one_in(3):
            stmts.append(self.statement(scope))
        return block(stmts)

    def with_temporary(self, scope: Scope) -> loops.Stmt:
        """Declare, update, read; and if its format can take it, update and read again."""
        name = f"w{len(self.temporaries)}"
        dims = tuple(self.choose(tuple(self.anchors)) for _ in range(self.choose((1, 0, 2, 1)))) if self.anchors else ()
        again = self.one_in(4)
        format = self.draw(formats(len(dims), pattern=False, **({"kinds": INSERTING} if again else {})))
        self.temporaries[name] = format
        self.tensors[name] = Known(name, dims, format, self.size_of_fill(format))
        writing = replace(scope, writes=scope.writes | {name})
        reading = replace(scope, reads=scope.reads | {name})
        stmts = [self.statement(writing, write=name), self.statement(reading, read=name)]
        if again:
            # what was read is used: a larger bound of what is written next would be too late
            stmts += [self.statement(reading, read=name)]
        elif self.one_in(3):
            stmts += [self.statement(reading, read=name)]
        return block([self.declaration(name, stmts, scope), *stmts])

    # -- statements ------------------------------------------------------------------------------

    def statement(self, scope: Scope, write: str | None = None, read: str | None = None) -> loops.Stmt:
        self.left -= 1
        if not (scope.loops or scope.lets or scope.inside):
            self.room = 6
        wanted = self.tensors[write].dims if write else self.tensors[read].dims if read else ()
        running = [r.dim for r in scope.loops]
        missing = [d for d in wanted if d not in running]
        if missing or (len(scope.loops) < self.style.depth and self.one_in(2) and self.anchors):
            return self.nest(scope, missing, write, read)
        if self.style.branches and self.one_in(4):
            return self.branch(scope, write, read)
        if self.style.branches and self.one_in(5):
            return self.let(scope, write, read)
        return self.assign(scope, (write, read))

    def nest(self, scope: Scope, wanted: list[str], write: str | None, read: str | None) -> loops.Stmt:
        """Loops over the dimensions of some tensor, in any order, and a block inside."""
        dims = list(wanted)
        if not dims or self.one_in(3):
            candidates = [t for t in sorted(scope.reads) if self.tensors[t].dims]
            more = self.tensors[self.choose(candidates)].dims if candidates else ()
            dims += [d for d in more if d not in dims or self.one_in(3)]
        dims = dims or [self.choose(tuple(self.anchors))]
        room = max(1, len(wanted), self.style.loops - len(scope.loops))
        dims = list(self.draw(st.permutations(dims[:room])))
        return self.loop(scope, dims, write, read)

    def loop(self, scope: Scope, dims: list[str], write: str | None, read: str | None) -> loops.Stmt:
        if not dims:
            self.left += 1
            if write or read:
                return self.statement(scope, write, read)
            return self.block(scope)
        dim, *rest = dims
        taken = {r.index for r in scope.loops}
        index = next(n for n in (*NAMES, "p", "q", "r", "s", "t") if n not in taken)
        extent, running = self.extent(scope, index, dim)
        inner = replace(scope, loops=(*scope.loops, running))
        body = self.loop(inner, rest, write, read)
        if extent is None and (not self.implied(body, index) or self.one_in(8)):
            extent = loops.Extent(loops.Literal(0), self.anchors[dim])
        return loops.Loop(index, extent, body)

    def extent(self, scope: Scope, index: str, dim: str) -> tuple[loops.Extent | None, Running]:
        """How far a loop runs; None for the whole dimension."""
        size = self.anchors[dim]
        if not self.style.ranges or not self.one_in(4):
            return None, Running(index, dim)
        plain = Running(index, dim, full=False)
        zero, outer = loops.Literal(0), [r for r in scope.loops if r.dim == dim]
        c = self.choose((1, 2))
        shorter = loops.Call(table.subtract, (size, loops.Literal(c)))
        options = [
            (loops.Extent(loops.Literal(c), size), replace(plain, low=c)),
            (loops.Extent(zero, shorter), replace(plain, high=c)),
            (loops.Extent(loops.Literal(1), shorter), replace(plain, low=1, high=c)),
        ]
        for r in outer:
            i = loops.Index(r.index)
            after = loops.Call(table.add, (i, loops.Literal(1)))
            options += [
                (loops.Extent(zero, i), plain),
                (loops.Extent(i, size), plain),
                (loops.Extent(after, size), replace(plain, low=1)),
                (loops.Extent(zero, after), plain),
            ]
        return self.choose(options)

    def implied(self, body: loops.Stmt, index: str) -> bool:
        """Whether an operand says how far a loop runs."""
        operands = {n for n in self.recipes if n not in self.outputs}
        targets = {id(n.target) for n in walk(body) if isinstance(n, loops.Assign)}
        return any(
            n.tensor in operands and loops.Index(index) in n.indices
            for n in walk(body)
            if isinstance(n, loops.Access) and id(n) not in targets
        )

    def branch(self, scope: Scope, write: str | None, read: str | None) -> loops.Stmt:
        cond = self.condition(scope)
        scope = replace(scope, inside=True)
        then = self.inner(scope, write, read)
        orelse: loops.Stmt = loops.NOTHING
        if self.one_in(2) and self.left > 0:
            orelse = self.inner(scope, write, read)
        return loops.If(cond.expr, then, orelse)

    def inner(self, scope: Scope, write: str | None, read: str | None) -> loops.Stmt:
        if write or read or self.left <= 0:
            return self.statement(scope, write, read)
        return self.block(scope)

    def let(self, scope: Scope, write: str | None, read: str | None) -> loops.Stmt:
        value = self.expression(scope, self.draw(st.integers(0, 2)), read)
        name = f"x{len(scope.lets)}"
        dtype = value.dtype
        known = Typed(loops.Name(name), dtype, value.bound)
        body = self.inner(replace(scope, lets=(*scope.lets, known)), write, read)
        return loops.Let(name, value.expr, body)

    def assign(self, scope: Scope, wanted: tuple[str | None, ...]) -> loops.Stmt:
        write, read = wanted if wanted else (None, None)
        value = self.expression(scope, self.choose((1, 0, 2, 2, 3)), read)
        target = self.target(scope, write)
        tensor = self.tensors[target.tensor]
        op = self.choose(UPDATES) if self.one_in(2) or not self.one_in(2) else None
        size = self.updated(tensor, op, value, len(scope.loops))
        if size is None:
            op, size = None, self.updated(tensor, None, value, 0)
        if size is None:
            value = self.small(scope, tensor)
            size = max(tensor.bound, 1)
        self.tensors[tensor.name] = replace(tensor, bound=size)
        return loops.Assign(target, op, value.expr)

    def small(self, scope: Scope, tensor: Known) -> Typed:
        return Typed(loops.Literal(True if tensor.dtype == "bool" else 1), "weak_int", 1)

    def updated(self, tensor: Known, op, value: Typed, depth: int) -> float | None:
        """How large the values of a tensor are after an update; None if they would not be exact."""
        times = LONGEST**depth
        if op is None:
            size = converted(value, tensor.dtype)
            return None if size is None else max(size, tensor.bound)
        old = Typed(loops.Literal(0), tensor.dtype, tensor.bound)
        result = call(op, old, value)
        if result is None:
            return None
        once = converted(result, tensor.dtype)
        if once is None:
            return None
        match op.name:
            case "add" | "subtract":
                grown: float = tensor.bound + times * value.bound
            case "multiply":
                if value.bound > 1 and kind(tensor.dtype) in "fc":
                    return None
                grown = tensor.bound if value.bound <= 1 else 2.0**64
            case _:
                grown = max(once, tensor.bound)
        computed = call(op, replace(old, bound=grown), value)
        return None if computed is None else limited(max(grown, once), tensor.dtype)

    def target(self, scope: Scope, write: str | None) -> loops.Access:
        """Where to write: the tensor asked for, another that fits, or a new output."""
        names = [write] if write else sorted(scope.writes | {n for n in self.outputs if self.is_open(scope, n)})
        if not write and (not names or (len(self.outputs) < 3 and self.one_in(3))):
            names = []
        for name in self.draw(st.permutations(names)):
            access = self.access(scope, self.tensors[name], update=True)
            if access is not None:
                return access
        return self.new_output(scope)

    def is_open(self, scope: Scope, name: str) -> bool:
        return name not in scope.reads and name.startswith("Y")

    def new_output(self, scope: Scope) -> loops.Access:
        """An output whose modes are some of the indices of the loops around."""
        name = f"Y{len(self.outputs)}"
        running = list(self.draw(st.permutations(scope.loops)))
        count = self.draw(st.integers(0, len(running)))
        chosen = running[: min(max(count, len(running) - 1), 4)]
        format = self.draw(formats(len(chosen)))
        self.outputs.append(name)
        dims = tuple(r.dim for r in chosen)
        self.tensors[name] = Known(name, dims, format, self.size_of_fill(format))
        return loops.Access(name, tuple(loops.Index(r.index) for r in chosen))

    # -- expressions -----------------------------------------------------------------------------

    def condition(self, scope: Scope) -> Typed:
        a = self.expression(scope, self.draw(st.integers(0, 1)))
        if kind(a.dtype) == "b" and self.one_in(2):
            return a
        b = self.expression(scope, 0)
        for op in self.draw(st.permutations(COMPARISONS)):
            found = call(op, a, b)
            if found is not None:
                return found
        return Typed(loops.Literal(True), "weak_bool", 1)

    def expression(self, scope: Scope, depth: int, read: str | None = None) -> Typed:
        """An expression; `read` names a tensor that it uses if it can."""
        if depth == 0:
            return self.atom(scope, read)
        if self.one_in(5):
            value = self.expression(scope, depth - 1, read)
            return call(self.choose(UNARY), value) or value
        if self.one_in(8):
            cond, no = self.condition(scope), self.expression(scope, depth - 1)
            yes = self.expression(scope, depth - 1, read)
            return call(table.where, cond, yes, no) or yes
        a, b = self.expression(scope, depth - 1, read), self.expression(scope, depth - 1)
        if self.one_in(2):
            a, b = b, a
        return call(self.choose(BINARY), a, b) or call(table.maximum, a, b) or a

    def atom(self, scope: Scope, read: str | None = None) -> Typed:
        names = sorted(scope.reads)
        if read is None and self.one_in(6):
            return self.simple(scope)
        order = [read] if read else self.draw(st.permutations(names))
        for name in order:
            if self.cost(name) > self.room and not read:
                continue
            access = self.access(scope, self.tensors[name])
            if access is not None:
                self.room -= self.cost(name)
                known = self.tensors[name]
                return Typed(access, known.dtype, known.bound)
        return self.simple(scope)

    def cost(self, name: str) -> int:
        """How many cases an access may double."""
        return sum(level.width for level in self.tensors[name].format.levels if not level.full)

    def simple(self, scope: Scope) -> Typed:
        if scope.lets and self.one_in(2):
            return self.choose(scope.lets)
        if scope.loops and self.one_in(2):
            return Typed(loops.Index(self.choose(scope.loops).index), "int64", LONGEST)
        return self.draw(literals())

    def access(self, scope: Scope, tensor: Known, update: bool = False) -> loops.Access | None:
        indices = []
        for dim in tensor.dims:
            index = self.index(scope, dim, deep=0 if update else 1)
            if index is None:
                return None
            indices.append(index)
        return loops.Access(tensor.name, tuple(indices))

    def index(self, scope: Scope, dim: str, deep: int) -> loops.Expr | None:
        """An index that stays within a dimension."""
        mine = [r for r in scope.loops if r.dim == dim]
        plain: list[loops.Expr] = [loops.Index(r.index) for r in mine]
        if plain and not (self.style.computed and self.one_in(8)):
            return self.choose(plain)
        options = list(self.computed(scope, dim, mine, deep))
        if options:
            return self.choose(options)
        return self.choose(plain) if plain else None

    def computed(self, scope: Scope, dim: str, mine: list[Running], deep: int) -> Iterator[loops.Expr]:
        for c in range(self.least[dim]):
            yield loops.Literal(c)
        for r in mine:
            i = loops.Index(r.index)
            for c in range(1, r.high + 1):
                yield loops.Call(table.add, (i, loops.Literal(c)))
            for c in range(1, r.low + 1):
                yield loops.Call(table.subtract, (i, loops.Literal(c)))
            last = loops.Call(table.subtract, (self.anchors[dim], loops.Literal(1)))
            yield loops.Call(table.subtract, (last, i))
            yield loops.Call(table.floor_divide, (i, loops.Literal(2)))
            for s in mine:
                j = loops.Index(s.index)
                if r is not s:
                    yield loops.Call(table.minimum, (i, j))
                    yield loops.Call(table.absolute, (loops.Call(table.subtract, (i, j)),))
        for name, target in self.limits.items():
            if target == dim and deep and name in scope.reads:
                where = [self.index(scope, d, deep - 1) for d in self.tensors[name].dims]
                if None not in where and self.room >= self.cost(name):
                    self.room -= self.cost(name)
                    yield loops.Access(name, tuple(where))


def _writes(stmt: loops.Stmt, name: str, partial: frozenset[str]) -> Iterator[bool]:
    """For every write to a tensor: are all its indices those of full loops?"""
    match stmt:
        case loops.Assign(target) if target.tensor == name:
            yield all(isinstance(i, loops.Index) and i.name not in partial for i in target.indices)
        case loops.Loop(index, extent, body):
            full = extent is None or isinstance(extent.stop, loops.Dimension) and extent.start == loops.Literal(0)
            yield from _writes(body, name, partial - {index} if full else partial | {index})
        case loops.If(_, then, orelse):
            yield from _writes(then, name, partial)
            yield from _writes(orelse, name, partial)
        case loops.Let(_, _, body):
            yield from _writes(body, name, partial)
        case loops.Block(stmts):
            for s in stmts:
                yield from _writes(s, name, partial)


@st.composite
def cases(draw: st.DrawFn, style: Style = Style()) -> Case:
    """A program and its arguments' formats."""
    return Author(draw, style).program()
