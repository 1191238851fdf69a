"""Index notation in a string, read, planned, compiled and run: `ln.einsum` the first time."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache
from operator import index
from types import FunctionType

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.algebra.lookup import by_update, lookup
from linnet.arrays.equation import graph_of
from linnet.arrays.evaluate import evaluate, planned, run
from linnet.arrays.graph import leaf, node_of
from linnet.arrays.lazy import Lazy
from linnet.arrays.nodes import Constant, Labels, Leaf, Node, Notation
from linnet.arrays.plan import Plan
from linnet.arrays.slices import Part, viewed
from linnet.arrays.subscripts import contraction
from linnet.errors import ArgumentError, KernelSyntaxError, LinnetError, Location
from linnet.formats.construct import asarray
from linnet.formats.format import Format
from linnet.formats.named import FormatLike, as_format
from linnet.formats.tensor import Tensor
from linnet.frontend.functions import function
from linnet.frontend.text import parse_text
from linnet.records import dataclass
from linnet.runtime.memory import Memory

_EQUATION = re.compile(r"\s*(\w+)\s*(\[[^\]]*\])?\s*([^\s\w=]*|\s\w+)=(?!=)\s*(.+)", re.DOTALL)
_TOO_DEEP = "it is nested too deeply"
_SHORTER = "a long sum is written as several equations, or as loops in a kernel"
_FAST: Memory[tuple[object, ...], tuple[Plan, tuple[str | Tensor, ...]]] = Memory()


def computed(
    equation: str,
    *tensors: object,
    format: FormatLike | None,
    fill_value: Number | None,
    **operands: object,
) -> Tensor:
    """What an equation says, of operands in order or by name (`frontend.einsum`)."""
    if tensors:
        return _contracted(equation, tensors, operands, format)  # type: ignore[return-value]
    key = _quick_key(equation, operands, format, fill_value)
    known = None if key is None else _FAST.get(key)
    if known is not None:
        plan, given = known  # operands by name, and the numbers of the equation
        return run(plan, [operands[t] if type(t) is str else t for t in given])[0]  # type: ignore[misc]
    made, labels, nodes = noted(equation, operands, fill_value)
    if any(isinstance(v, Lazy) for v in operands.values()):
        return Lazy(made)  # type: ignore[return-value]
    wanted = None if format is None else as_format(format, len(made.shape))
    if wanted is not None and fill_value is not None:
        wanted = wanted.with_fill(fill_value)
    try:
        return _evaluated(made, labels, nodes, wanted, key)
    except RecursionError:
        raise _unreadable(equation, _TOO_DEEP, 0, _SHORTER) from None


def _evaluated(
    node: Node,
    labels: Labels,
    nodes: Mapping[str, Node],
    wanted: Format | None,
    key: tuple[object, ...] | None,
) -> Tensor:
    """The tensor of an equation; its plan is kept if it needs nothing but the operands."""
    if key is None or isinstance(node, Leaf):
        return evaluate([node], [wanted], [labels])[0]
    made, found = planned([node], [wanted], [labels])
    if made.filled or any(step.large or step.numbers for step in made.steps):
        return evaluate([node], [wanted], [labels])[0]
    names = {id(n.tensor): name for name, n in nodes.items() if isinstance(n, Leaf)}
    _FAST.put(key, (made, tuple([names.get(id(t), t) for t in found.tensors])))
    return run(made, found.tensors)[0]


def _quick_key(
    equation: str, operands: Mapping[str, object], format: object, fill: Number | None
) -> tuple[object, ...] | None:
    """What tells how an equation over tensors is computed; None if it is not as simple as that."""
    key: list[object] = [equation, repr(fill)]
    first: dict[int, int] = {}  # an operand that is given twice is one tensor of the plan
    try:
        hash(format)
    except TypeError:
        return None
    key.append(format)
    for name, value in operands.items():
        if type(value) is Tensor and (contents := value._contents) is not None:
            which = first.setdefault(id(value), len(first))
            size = contents.nnz.bit_length() // 3
            key += (name, which, contents.signature, contents.shape, size)
        elif isinstance(value, Function):
            key += (name, value)
        else:
            return None
    return tuple(key)


def _contracted(
    subscripts: str, tensors: tuple[object, ...], named: Mapping[str, object], format: object
) -> Tensor | Lazy:
    """NumPy's form: `"ij,jk->ik"` and operands in order."""
    if named:
        raise ArgumentError(
            f"operands are given in order and by name, {next(iter(named))}, to {subscripts!r}",
            hint="subscripts like 'ij,jk->ik' go with the first, equations with the second",
        )
    nodes = [t.node if isinstance(t, Lazy) else node_of(t) for t in tensors]
    made = contraction(subscripts, nodes)
    if any(isinstance(t, Lazy) for t in tensors):
        return Lazy(made)
    wanted = None if format is None else as_format(format, len(made.shape))  # type: ignore[arg-type]
    return evaluate([made], [wanted])[0]


def noted(
    equation: str, operands: Mapping[str, object], fill: Number | None = None
) -> tuple[Node, Labels, dict[str, Node]]:
    """What an equation computes, its names, and its operands."""
    functions = {n: f for n, v in operands.items() if (f := _function(v)) is not None}
    given = {n: _operand(n, v) for n, v in operands.items() if n not in functions}
    found = read(equation, tuple(given), tuple(sorted(functions.items())))
    for name in operands:
        if re.search(rf"\b{re.escape(name)}\b", equation) is None:
            raise ArgumentError(f"`{name}` is given, and is not in the equation {equation!r}")
    parts = {s.name: viewed(given[s.operand], s.index) for s in found.slices}
    made, labels = graph_of(found.notation, given | parts, fill)
    return made, labels, given


def _function(value: object) -> Function | None:
    """The function that an operand stands for; one of plain Python is compiled from its text."""
    return (
        _own(value) if isinstance(value, FunctionType) and lookup(value) is None else lookup(value)
    )


@lru_cache(maxsize=256)
def _own(text: FunctionType) -> Function:
    return function(text)


def _operand(name: str, value: object) -> Node:
    if isinstance(value, Lazy):
        return value.node
    if isinstance(value, Tensor):
        return leaf(value, name)
    try:
        node = node_of(value)
        return leaf(asarray(value), name) if isinstance(node, Constant | Leaf) else node
    except Exception as error:
        if hasattr(error, "message"):
            error.message = f"`{name}`: {error.message}"
        raise


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of an operand that an equation reads under a name of its own."""

    name: str
    operand: str
    index: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """An equation, and the parts of operands in it: `A[2:9, :][i, j]`."""

    notation: Notation
    slices: tuple[Slice, ...]


@lru_cache(maxsize=1024)
def read(
    equation: str, tensors: tuple[str, ...], functions: tuple[tuple[str, object], ...]
) -> Read:
    """The equation in a string."""
    found = _EQUATION.fullmatch(equation)
    if found is None:
        raise _unreadable(equation, "it is not of the form `C[i, j] += …`", 0)
    name, subscripts, sign, value = found.groups()
    op = _update(sign.strip(), dict(functions), equation, found.start(3))
    left = f"{name}{subscripts or '[()]'}"
    slices, value = _parts(value, equation, found.start(4), tensors)
    known = (*tensors, *(s.name for s in slices))
    indices = _indices(value, known, equation, found.start(4))
    indices |= _indices(f"_{left[len(name) :]}", (), equation, found.start(2))
    loop = f"for {', '.join(sorted(indices))} in ...:\n    " if indices else ""
    try:
        program = parse_text(f"{loop}{left} = {value}", dict(functions))
    except LinnetError as error:
        raise _marked(error, equation, found.start(4) - len(f"{left} = ")) from None
    stmt = program.body
    while isinstance(stmt, loops.Loop | loops.Block):
        stmt = stmt.body if isinstance(stmt, loops.Loop) else stmt.stmts[0]
    if not isinstance(stmt, loops.Assign) or (stmt.op is not None):
        raise _unreadable(equation, f"`{name}` is what is computed, and cannot be read", 0)
    unknown = [p for p in program.params if p not in known and p != name]
    if unknown:
        at = equation.find(unknown[0], found.start(4))
        raise _unreadable(equation, f"`{unknown[0]}` is not given", at, f"pass {unknown[0]}=…")
    return Read(Notation(stmt.target, op, stmt.value), slices)


def _update(sign: str, functions: Mapping[str, object], equation: str, at: int) -> Function | None:
    if not sign:
        return None
    op = by_update.get(f"{sign}=") or lookup(functions.get(sign)) or lookup(sign)
    if op is None:
        raise _unreadable(equation, f"there is no update `{sign}=`", at)
    return op


def _indices(text: str, tensors: tuple[str, ...], equation: str, at: int) -> set[str]:
    """The names inside brackets that are not operands."""
    tree = _parsed(text, equation, at)
    inside = [n.slice for n in ast.walk(tree) if isinstance(n, ast.Subscript)]
    names = {n.id for s in inside for n in ast.walk(s) if isinstance(n, ast.Name)}
    return names - set(tensors)


def _parsed(text: str, equation: str, at: int) -> ast.Expression:
    try:
        return ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        place = at + (error.offset or 1) - 1
        raise _unreadable(equation, f"this is not an expression: {error.msg}", place) from None
    except RecursionError:
        raise _unreadable(equation, _TOO_DEEP, at, _SHORTER) from None


# -- parts of operands -----------------------------------------------------------------------------


def _parts(
    value: str, equation: str, at: int, tensors: tuple[str, ...]
) -> tuple[tuple[Slice, ...], str]:
    """The parts of operands in an expression, and the expression with names for them."""
    tree = _parsed(value, equation, at)
    namer = _Namer(tensors, equation)
    try:
        changed = namer.visit(tree)
        return tuple(namer.found), ast.unparse(changed) if namer.changed else value
    except RecursionError:
        raise _unreadable(equation, _TOO_DEEP, at, _SHORTER) from None


class _Namer(ast.NodeTransformer):
    """Gives `A[2:9, :]` in `A[2:9, :][i, j]` a name, and reads a number `c` as `c[()]`."""

    def __init__(self, tensors: tuple[str, ...], equation: str) -> None:
        self.tensors, self.equation = tensors, equation
        self.found: list[Slice] = []
        self.changed = False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """An operand by itself: the element of one without dimensions."""
        if node.id not in self.tensors:
            return node
        self.changed = True
        nothing = ast.Tuple([], ast.Load())
        return ast.copy_location(ast.Subscript(node, nothing, ast.Load()), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`A.shape` is of the operand, not of an element."""
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """What is called is no element."""
        node.args = [self.visit(arg) for arg in node.args]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Name the part whose elements are read."""
        match node.value:
            case ast.Subscript(ast.Name(tensor), index) if tensor in self.tensors:
                name = f"{tensor}_{len(self.found) + 1}"
                while name in self.tensors:
                    name += "_"
                self.found.append(Slice(name, tensor, self._index(index)))
                self.changed = True
                inner = ast.Name(name, ast.Load())
                return ast.copy_location(ast.Subscript(inner, node.slice, ast.Load()), node)
        if not isinstance(node.value, ast.Name):
            node.value = self.visit(node.value)
        node.slice = self.visit(node.slice)
        return node

    def _index(self, index: ast.expr) -> tuple[Part, ...]:
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        return tuple(self._part(p) for p in parts)

    def _part(self, part: ast.expr) -> Part:
        try:
            if isinstance(part, ast.Slice):
                ends = (part.lower, part.upper, part.step)
                return slice(*(None if e is None else index(ast.literal_eval(e)) for e in ends))
            value = ast.literal_eval(part)
            return value if value is None or value is ... else index(value)
        except (ValueError, TypeError):
            why = f"`{ast.unparse(part)}` selects a part of an operand, and is not a number"
            raise _unreadable(self.equation, why, 0) from None


def _marked(error: LinnetError, equation: str, offset: int) -> LinnetError:
    """An error in the text of an equation, as one of the user's line, with the place marked."""
    inner, error.at = error.at, Location.of_caller()
    if inner is not None:
        at = max(0, inner.column - (len(inner.text) - len(inner.text.lstrip())) + offset)
        error.why = f"{error.why or 'it is in the equation'}\n{_pointed(equation, at)}"
    return error


def _pointed(text: str, at: int) -> str:
    line = " ".join(text.split("\n"))
    return f"        {line}\n        {' ' * max(0, at)}^"


def _unreadable(text: str, why: str, at: int, hint: str | None = None) -> KernelSyntaxError:
    why = f"{why}\n{_pointed(text, at)}"
    return KernelSyntaxError(
        f"cannot read the equation {text!r}", at=Location.of_caller(), why=why, hint=hint
    )
