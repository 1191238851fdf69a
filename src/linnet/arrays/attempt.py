"""One node of a graph as one nest of loops: whether that can be, and in what order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import reduce
from math import prod

from linnet import loops
from linnet.algebra.dtypes import Number, as_python, concrete
from linnet.algebra.table import multiply
from linnet.arrays.arrange import After, arrange, edges, in_order, reordered, with_edges
from linnet.arrays.cost import Operand, cheapest
from linnet.arrays.counted import Counted, counted, is_full, passes_over
from linnet.arrays.graph import fill_of
from linnet.arrays.masked import row_format, row_of, with_row
from linnet.arrays.nest import NUMBERS, At, Pull, Scalar, all_scalars
from linnet.arrays.nodes import Labels, Leaf, Node, Reduce
from linnet.arrays.result import format_of_result, simplified
from linnet.arrays.trace import Trace
from linnet.arrays.twins import Twins
from linnet.formats.element import ShortCircuit
from linnet.formats.format import Format
from linnet.formats.named import SCALAR, stack
from linnet.formats.tensor import Tensor
from linnet.loops.rewrite import rewrite_expr, walk
from linnet.names import Names
from linnet.normalize.simplify import same
from linnet.records import dataclass
from linnet.runtime.measure import well_filled

UNNAMED = Labels()
SHORT = stack(ShortCircuit())


@dataclass(slots=True)
class Known:
    """The tensors that kernels can read: operands, and what other kernels have computed."""

    trace: Trace
    names: dict[int, str] = field(default_factory=dict)  # by the identity of nodes
    formats: dict[str, Format] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    results: frozenset[str] = frozenset()  # what the user calls them
    once: frozenset[int] = frozenset()  # nodes, by identity, that are needed in one place
    twins: Twins = field(default_factory=dict)
    fresh: Names = field(default_factory=lambda: Names({NUMBERS}))

    def __post_init__(self) -> None:
        for number, tensor in enumerate(self.trace.tensors):
            leaves = [n for n in self.trace.nodes if isinstance(n, Leaf) and n.tensor is tensor]
            name = self.fresh.fresh(leaves[0].name or self._unnamed(tensor, number))
            contents = tensor.contents()
            self.formats[name], self.stored[name] = contents.format, contents.nnz
            self.slots[name], self.shapes[name] = number, contents.shape
            self.names |= {id(node): name for node in leaves}

    def another(self) -> str:
        """A name for what is computed: R, but for what the user calls so."""
        return next(n for n in iter(lambda: self.fresh.fresh("R"), None) if n not in self.results)

    def _unnamed(self, tensor: Tensor, number: int) -> str:
        """A name for a tensor that has none, and is not a result: `c` for a number."""
        letters = [chr(ord("A") + (number + k) % 26) for k in range(26)]
        return next(
            n for n in ("" if tensor.ndim else "c", *letters, "X_") if n and n not in self.results
        )


class Attempt:
    """A node, pulled apart into an expression over tensors and the scalars that it needs."""

    def __init__(
        self,
        known: Known,
        node: Node,
        wanted: Format | None,
        labels: Labels = UNNAMED,
        early: bool = False,
    ) -> None:
        """With `early`, a reduction is a scalar in the loops, which may leave them early."""
        self.known, self.node, self.wanted = known, node, wanted
        self.out, self.kernel = labels.result, labels.kernel
        own = isinstance(node, Leaf)
        names = known.names if own else {k: v for k, v in known.names.items() if k != id(node)}
        taken = Names(known.fresh._taken | {labels.result})
        self.pull = Pull(known.trace, names, known.twins, taken)
        hints = labels.free or ("",) * len(node.shape)
        self.free = tuple(self.pull.index(hint) for hint in hints)
        at = tuple(At(name) for name in self.free)
        self.scalars: list[Scalar] = []
        self.reduced: list[str] = []
        self.op = node.function if isinstance(node, Reduce) and not early else None
        if isinstance(node, Reduce) and not early:
            self.reduced, self.value = self.pull.body(node, at, self.scalars, labels.reduced)
        else:
            self.value = self.pull.expr(node, at, self.scalars)
        self.order: list[str] = []
        self.against: list[loops.Access] = []
        self.turned: dict[str, tuple[str, Format]] = {}  # names of what is stored otherwise first

    # -- order -------------------------------------------------------------------------------------

    def missing(self) -> list[tuple[Reduce, str]]:
        """Reductions that have to be computed before, and why; also finds the order of loops."""
        self._mask()
        indices = [*self.free, *self.reduced]
        first: After = {i: set() for i in indices}
        for scalar in self.scalars:
            outside = [g for g in indices if g not in scalar.outer]
            first = with_edges(first, [(f, g) for f in scalar.outer for g in outside])
            if in_order(first) is None:
                return [(scalar.node, "other results are needed in another order of loops")]
        self.order, self.against = self._arranged(indices, first)
        late = [s for s in self.scalars if s.outer]
        if self.against and late:
            why = f"{self.against[0].tensor} is walked in another order where it is used"
            return [(s.node, why) for s in late]
        for scalar in all_scalars(self.scalars):
            if scalar.row is None and self._backward(scalar):
                return [(scalar.node, "its operands are walked in another order")]
        self._turn()
        return []

    def _mask(self) -> None:
        """Compute reductions row by row that cannot be scalars, where a mask needs them."""
        for number, scalar in enumerate(self.scalars):
            if scalar.scalars or id(scalar.node) not in self.known.once:
                continue
            if not self.well_filled or not self._backward(scalar):
                continue
            own = Attempt(self.known, scalar.node, None)
            if own.missing() or own.against or not own.is_led():
                continue
            names = (*own.free, *own.reduced)
            row = row_of(scalar, own.order, names, self.value, self.formats, self.types(),
                         self.pull.fresh)  # fmt: skip
            if row is not None:
                self.scalars[number] = row
                self.value = with_row(self.value, row)

    def is_led(self) -> bool:
        """Whether nothing is to be done where no sparse operand stores anything."""
        return self._is_idle(lambda a: not is_full(self.known.formats[str(a.tensor)]))

    def _turn(self) -> None:
        """Name what is stored otherwise first; a tensor read in both ways has two names."""
        as_it_is = {str(a.tensor) for a in self.reads() if a not in self.against}
        for access in self.against:
            name = str(access.tensor)
            format = reordered(self.known.formats[name], access, self.order)
            taken = name in as_it_is or self.turned.get(name, (name, format)) != (name, format)
            alias = self.pull.fresh.fresh(name) if taken else name
            self.turned[alias] = (name, format)
            if taken:
                other = loops.Access(alias, access.indices, access.protocols, access.at)
                self.value = exchanged(self.value, access, other)

    def _arranged(self, indices: list[str], first: After) -> tuple[list[str], list[loops.Access]]:
        """The order of loops, and the operands to be stored otherwise for it."""
        known, own = self.known, {s.temp for s in self.scalars}
        read = [a for a in dict.fromkeys(accesses_in(self.value)) if a.tensor not in own]
        if self.op is not None and read:
            operands = [
                Operand(a, known.formats[str(a.tensor)], known.stored[str(a.tensor)],
                        self._decides(a))
                for a in read
            ]  # fmt: skip
            sizes = {i: self._extent(i) for i in indices}
            found = cheapest(indices, self.free, operands, sizes, first)
            if found is not None:
                return found
        return arrange(indices, read, known.formats, known.stored, first)

    def _decides(self, access: loops.Access) -> bool:
        """Whether nothing is to be done where an operand stores nothing."""
        return self._is_idle(lambda a: a == access)

    def _is_idle(self, absent: Callable[[loops.Access], bool]) -> bool:
        """Whether a reduction gets nothing where some accesses have nothing stored."""
        assert self.op is not None
        value = simplified(self.value, self.formats, self.types(), absent)
        identity = self.op.identity(self.dtype)
        known = isinstance(value, loops.Literal) and identity is not None
        return known and same(value.value, identity)  # type: ignore[union-attr]

    def _extent(self, index: str) -> int:
        """How far an index runs in the graph at hand."""
        size = self._size(index)
        assert isinstance(size, loops.Dimension)
        if size.tensor == NUMBERS:
            return self.known.trace.numbers[size.mode]
        return self.known.shapes[size.tensor][size.mode]

    def _backward(self, scalar: Scalar) -> bool:
        """Whether a scalar's operands are stored in an order in which it cannot be computed."""
        inner = set(scalar.indices)
        pairs = self._edges(scalar)
        nested = any(s.outer and not s.outer >= scalar.outer for s in scalar.scalars)
        behind = any(a in inner and b not in inner for a, b in pairs)
        after = with_edges({i: set() for i in scalar.indices}, pairs)
        return nested or behind or in_order(after) is None

    def ordered(self, scalar: Scalar, path: tuple[str, ...]) -> tuple[str, ...]:
        """The loops of a scalar in order."""
        after = with_edges({i: set() for i in scalar.indices}, self._edges(scalar))
        for inner in scalar.scalars:
            own = inner.outer & set(scalar.indices)
            rest = [g for g in scalar.indices if g not in own]
            after = with_edges(after, [(f, g) for f in own for g in rest])
        order = in_order(after)
        assert order is not None
        return tuple(order)

    def _edges(self, scalar: Scalar) -> list[tuple[str, str]]:
        formats = self.known.formats
        return [p for a in accesses_in(scalar.value) for p in edges(a, formats[str(a.tensor)])]

    # -- the result --------------------------------------------------------------------------------

    @property
    def formats(self) -> dict[str, Format]:
        """The formats of tensors as the kernel gets them."""
        rows = {s.temp: row_format(s) for s in self.scalars if s.row is not None}
        turned = {alias: format for alias, (_, format) in self.turned.items()}
        return self.known.formats | rows | turned

    @property
    def dtype(self) -> str:
        """The dtype of the result."""
        return concrete(self.node.dtype)

    @property
    def well_filled(self) -> bool:
        """Whether no operand is much longer than it holds values."""
        return all(well_filled(tensor.contents()) for tensor in self.known.trace.tensors)

    def result(self) -> tuple[Number, Format]:
        """What the result is declared with, and its format."""
        node = self.node
        init = node.initial if isinstance(node, Reduce) else fill_of(node)
        if self.wanted is None:
            format = format_of_result(
                self.value, self.free, self.order, self.op, init, self.formats, self.types(),
                self.well_filled,
            )  # fmt: skip
            return init, format
        fill = self.wanted.fill_value
        if fill is not None and self.op is None:
            init = fill
        return init, self.wanted

    def estimate(self) -> int:
        """How many values the result may hold: as many as there are places, or as are visited."""
        places = prod(self.node.shape)
        held = [self.known.stored[self.origin(str(a.tensor))] for a in self.reads() if a.indices]
        return min(places, max([1, *held]) * (8 if len(held) > 1 and self.reduced else 1))

    def final(self, init: Number, format: Format) -> Format | None:
        """The fill value of a dense reduction is nominal, where it is not one that it holds."""
        if self.op is None or self.wanted is not None or same(init, fill_of(self.node)):
            return None
        settled = format.with_dtype(self.dtype) if format.dtype is None else format
        return settled.with_fill(as_python(0, self.dtype))

    def types(self) -> dict[str, str]:
        """The dtypes of all names in the value."""
        types = {n: f.dtype or "float64" for n, f in self.formats.items()}
        return types | {s.temp: s.node.dtype for s in all_scalars(self.scalars)}

    # -- statements --------------------------------------------------------------------------------

    def counted(self, names: tuple[str, str]) -> Counted | None:
        """How the result is counted, if what is not stored takes part in it."""
        if self.op is None:
            return None
        sizes = [self._size(i) for i in self.reduced]
        count = reduce(lambda a, b: loops.Call(multiply, (a, b)), sizes[1:], sizes[0])
        return counted(
            self.op, self.value, self.free, self.order, names, count, self.dtype,
            self.formats, self.types(), self._local(),
        )  # fmt: skip

    def passes_over(self) -> bool:
        """Whether what is not stored changes nothing, and need not be visited."""
        if self.op is None:
            return False
        known = (self.dtype, self.formats, self.types(), self._local())
        return passes_over(self.op, self.value, *known)

    def _local(self) -> frozenset[str]:
        """Scalars that exist in the loops only."""
        return frozenset(s.temp for s in self.scalars if s.outer)

    def _size(self, index: str) -> loops.Expr:
        """How far an index runs."""
        if index not in self.pull.bound:
            return loops.Dimension(NUMBERS, self.pull.extents[index])
        for access in self.reads():
            if loops.Index(index) in access.indices:
                return loops.Dimension(str(access.tensor), access.indices.index(loops.Index(index)))
        raise AssertionError(f"nothing says how far {index} runs")

    def extents(self) -> dict[str, loops.Extent | None]:
        """How far the loops run: over a dimension of an operand, or as far as is said."""
        names = {*self.free, *self.reduced}
        names |= {i for s in all_scalars(self.scalars) for i in s.indices}
        extents: dict[str, loops.Extent | None] = dict.fromkeys(names)
        for name in names - self.pull.bound:
            stop = loops.Dimension(NUMBERS, self.pull.extents[name])
            extents[name] = loops.Extent(loops.Literal(0), stop)
        return extents

    def temporaries(self) -> list[tuple[str, Format]]:
        """The scalars, each once. Those that one value decides end their loops."""
        found: dict[str, Format] = {}
        for scalar in all_scalars(self.scalars):
            row = scalar.row
            if row is not None:
                from linnet.formats.insertion import marks_format  # brings all workspaces along

                found |= {row.marks: marks_format(), row.some: SCALAR}
                found[scalar.temp] = row_format(scalar)
            else:
                found[scalar.temp] = SHORT if decides_early(scalar.node) else SCALAR
        return list(found.items())

    def notes(self) -> list[str]:
        """What is said of rows that are computed under a mask."""
        found = []
        for scalar in self.scalars:
            if scalar.row is not None:
                names = dict.fromkeys(str(a.tensor) for a in accesses_in(scalar.row.needed))
                where = " or ".join(names)
                found.append(f"{scalar.temp}, a row of {scalar.node.function.name}-reduce, is "
                             f"computed only where {where} stores something")  # fmt: skip
        return found

    def may_end_early(self) -> bool:
        """Whether loops over the reduced indices are innermost, and one value may end them."""
        inside = self.order[len(self.free) :]
        _, format = self.result()
        dense = all(level.full for level in format.levels[:-1])
        return decides_early(self.node) and set(inside) == set(self.reduced) and dense

    def reads(self) -> list[loops.Access]:
        """All accesses to tensors that are not the kernel's own."""
        values = [self.value, *(s.value for s in all_scalars(self.scalars))]
        temps = {s.temp for s in all_scalars(self.scalars)}
        found = [n for v in values for n in walk(v) if isinstance(n, loops.Access)]
        return [a for a in found if a.tensor not in temps]

    def origin(self, name: str) -> str:
        """The tensor that a name stands for."""
        return self.turned[name][0] if name in self.turned else name


def decides_early(node: Node) -> bool:
    """Whether a reduction is known as soon as one element is: any, all."""
    return (
        isinstance(node, Reduce)
        and node.dtype == "bool"
        and node.function.name in ("logical_or", "logical_and")
    )


def exchanged(expr: loops.Expr, old: loops.Expr, new: loops.Expr) -> loops.Expr:
    """An expression with one part for another."""
    return rewrite_expr(expr, lambda e: new if e == old else None)


def accesses_in(expr: loops.Expr) -> list[loops.Access]:
    """The accesses of an expression that have indices."""
    return [n for n in walk(expr) if isinstance(n, loops.Access) and n.indices]
