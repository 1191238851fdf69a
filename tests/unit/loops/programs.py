"""Random loop programs, legal in names and shapes, for the laws of printing and rewriting."""

from __future__ import annotations

from hypothesis import strategies as st

from linnet import loops
from linnet.algebra.lookup import by_symbol
from linnet.algebra.table import FUNCTIONS, choose
from linnet.formats.element import Element
from linnet.formats.named import CSC, stack
from linnet.formats.sparse_list import SparseList
from linnet.loops.bases import coordinates
from linnet.loops.bounds import BOUNDS
from linnet.loops.printer import show
from linnet.loops.rewrite import block, walk

TENSORS = {"y": 1, "A": 2, "x": 1, "s": 0, "w": 2, "v": 1}
PARAMS = ("y", "A", "x", "s")
TEMPORARIES = (
    ("w", CSC.with_fill(0.5).with_dtype("float32")),
    ("v", stack(SparseList(Element(float("inf"))))),
)
CALLED = [f for f in FUNCTIONS.values() if f.name != "where"]
UPDATES = [f for f in FUNCTIONS.values() if f.arity == 2] + [choose(0), choose(float("inf"))]

numbers = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.complex_numbers(allow_subnormal=False),
)


@st.composite
def literals(draw) -> loops.Literal:
    value = draw(numbers)
    wide = "uint64" if type(value) is int and value >= 2**63 else "int64"
    dtypes = {bool: "bool", int: wide, float: "float64", complex: "complex128"}
    dtype = draw(st.sampled_from([None, dtypes[type(value)]]))
    return loops.Literal(value, dtype, draw(st.booleans()))


@st.composite
def exprs(draw, indices: tuple[str, ...], names: tuple[str, ...], depth: int) -> loops.Expr:
    leaves = [literals(), st.builds(loops.Dimension, st.just("A"), st.integers(0, 1))]
    leaves.append(
        st.builds(loops.Parts, st.builds(loops.Positions, st.just("A"), st.just(())), literals())
    )
    if indices:
        leaves.append(st.sampled_from(indices).map(loops.Index))
    if names:
        leaves.append(st.sampled_from(names).map(loops.Name))
    if depth == 0:
        return draw(st.one_of(leaves))
    kind = draw(st.sampled_from(["leaf", "access", "operator", "call", "where"]))
    inner = exprs(indices, names, depth - 1)
    match kind:
        case "access":
            return draw(accesses(indices, names, depth - 1))
        case "operator":
            f = draw(st.sampled_from(list(by_symbol.values())))
            return loops.Call(f, tuple(draw(inner) for _ in range(f.arity)))
        case "call":
            f = draw(st.sampled_from([*CALLED, choose(0)]))
            return loops.Call(f, tuple(draw(inner) for _ in range(f.arity)))
        case "where":
            return loops.Call(FUNCTIONS["where"], (draw(inner), draw(inner), draw(inner)))
        case _:
            return draw(st.one_of(leaves))


@st.composite
def accesses(
    draw, indices: tuple[str, ...], names: tuple[str, ...], depth: int, read: bool = True
) -> loops.Access:
    tensor = draw(st.sampled_from(sorted(TENSORS)))
    found = tuple(draw(_index(indices, names, depth)) for _ in range(TENSORS[tensor]))
    words = ["", "", "gallop", "walk", "follow"] + ["permissive"] * read  # nothing writes outside
    protocols = tuple(draw(st.sampled_from(words)) for _ in found)
    return loops.Access(tensor, found, protocols if any(protocols) else ())


@st.composite
def _index(draw, indices: tuple[str, ...], names: tuple[str, ...], depth: int) -> loops.Expr:
    found = draw(exprs(indices, names, depth))
    if isinstance(found, loops.Literal):  # the language refuses other numbers as indices
        return loops.Literal(draw(st.integers(0, 5)))
    return found


@st.composite
def stmts(draw, indices: tuple[str, ...], names: tuple[str, ...], depth: int) -> loops.Stmt:
    kinds = ["assign", "declare", "freeze", "thaw", "nothing"]
    if depth:
        kinds += ["loop", "if", "block", "block", "let"] * 2
    expr = exprs(indices, names, 2)
    inner = stmts(indices, names, depth - 1) if depth else None
    match draw(st.sampled_from(kinds)):
        case "assign":
            op = draw(st.sampled_from([None, *UPDATES]))
            target, value = draw(accesses(indices, names, 1, read=False)), draw(expr)
            if _reads(value, target):
                # `s = s + 1` is read as an update, `s = fmod(s, s)` as none: `s -= …` is one
                op = FUNCTIONS["subtract"]
            return loops.Assign(target, op, value)
        case "declare":
            tensor = draw(st.sampled_from(sorted(TENSORS)))
            dims = st.tuples(*[exprs(indices, names, 1)] * TENSORS[tensor])
            return loops.Declare(tensor, draw(expr), draw(st.none() | dims))
        case "freeze":
            return loops.Freeze(draw(st.sampled_from(sorted(TENSORS))))
        case "thaw":
            return loops.Thaw(draw(st.sampled_from(sorted(TENSORS))))
        case "loop":
            return draw(some_loops(indices, names, depth))
        case "let":
            name = f"d{len(names)}"
            return loops.Let(name, draw(expr), draw(stmts(indices, (*names, name), depth - 1)))
        case "if":
            return loops.If(draw(expr), draw(inner), draw(inner))
        case "block":
            return _canonical(draw(st.lists(inner, max_size=3)))
        case _:
            return loops.NOTHING


@st.composite
def some_loops(draw, indices: tuple[str, ...], names: tuple[str, ...], depth: int) -> loops.Stmt:
    """A loop, or those over several coordinates: all of them together, or one by itself."""
    index = f"i{len(indices)}"
    extent = draw(st.none() | ranges(indices, names))
    count = 1 if extent is None else coordinates(extent)
    if count == 1:
        return loops.Loop(index, extent, draw(stmts((*indices, index), names, depth - 1)))
    found = [f"i{len(indices) + k}" for k in range(count or 2)]
    if draw(st.integers(0, 3)) == 0 and count > 1:
        outer = tuple(
            draw(exprs(indices, names, 0)) for _ in range(draw(st.integers(0, count - 1)))
        )
        inside = draw(stmts((*indices, index), names, depth - 1))
        return loops.Loop(index, loops.Along(extent, outer), inside)
    stmt = draw(stmts((*indices, *found), names, depth - 1))
    for k, name in reversed(list(enumerate(found))):
        outer = tuple(map(loops.Index, found[:k]))
        stmt = loops.Loop(name, loops.Along(extent, outer), stmt)
    return stmt


@st.composite
def ranges(draw, indices: tuple[str, ...], names: tuple[str, ...]) -> loops.Range:
    """Extents, what tensors store, products of extents, and parts of all these."""
    expr = exprs(indices, names, 1)
    extents = st.builds(loops.Extent, expr, expr)
    match draw(st.sampled_from(["extent", "extent", "stored", "product"])):
        case "stored":
            found: loops.Range = draw(positions(indices, names))
        case "product":
            found = loops.Product(tuple(draw(st.lists(extents, min_size=2, max_size=3))))
        case _:
            found = draw(extents)
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        if draw(st.booleans()):
            size = draw(expr | st.builds(loops.Parts, st.just(found), expr))
            found = loops.Part(found, draw(expr), size)
        else:
            kind, value = draw(st.sampled_from(BOUNDS)), draw(st.integers(1, 99))
            found = loops.Bounded(found, kind, value)
    return found


@st.composite
def positions(draw, indices: tuple[str, ...], names: tuple[str, ...]) -> loops.Positions:
    """Some modes of a tensor, in any order, and where it is gone through in others."""
    tensor = draw(st.sampled_from([t for t, ndim in TENSORS.items() if ndim]))
    order = draw(st.permutations(range(TENSORS[tensor])))
    count = draw(st.integers(0, len(order)))
    if count == 0:
        return loops.Positions(tensor, ())
    others = sorted(order[count:])[: draw(st.integers(0, len(order)))]
    given = tuple((mode, draw(_index(indices, names, 1))) for mode in others)
    return loops.Positions(tensor, tuple(order[:count]), given)


def _reads(value: loops.Expr, target: loops.Access) -> bool:
    """Whether a value reads a target: as written, for NaN differs from itself."""
    return any(isinstance(e, loops.Access) and show(e) == show(target) for e in walk(value))


def _canonical(parts: list[loops.Stmt]) -> loops.Stmt:
    """A block in which a let ends the block: what follows it is in its body."""
    flat = block(parts)
    found = list(flat.stmts) if isinstance(flat, loops.Block) else [flat]
    for k, part in enumerate(found[:-1]):
        if isinstance(part, loops.Let):
            return block(found[: k + 1])
    return flat


@st.composite
def programs(draw) -> loops.Program:
    body = draw(stmts((), (), 4))
    results = draw(st.sampled_from([(), ("y",), ("y", "w")]))
    return loops.Program("k", PARAMS, TEMPORARIES, body, results)
