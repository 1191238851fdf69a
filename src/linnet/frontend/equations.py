"""Index notation in a string, planned, compiled and run: `ln.einsum` the first time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import FunctionType

import numpy as np

from linnet import loops
from linnet.algebra.dtypes import Number, canonical, concrete
from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup
from linnet.arrays.check import indices as notation_indices
from linnet.arrays.equation import graph_of
from linnet.arrays.evaluate import evaluate, planned, run
from linnet.arrays.graph import converted, leaf, node_of
from linnet.arrays.lazy import Lazy
from linnet.arrays.nodes import Constant, Labels, Leaf, Node
from linnet.arrays.plan import Plan
from linnet.arrays.slices import viewed
from linnet.arrays.subscripts import contraction
from linnet.errors import ArgumentError, DTypeError, LinnetError, RangeError
from linnet.formats.construct import asarray
from linnet.formats.format import Format
from linnet.formats.named import FormatLike, as_format
from linnet.formats.tensor import Tensor
from linnet.frontend.equation_text import Read, Slice, marked, read, too_deep
from linnet.frontend.functions import function
from linnet.frontend.schedules import ScheduledEquation, scheduled_of
from linnet.loops.rewrite import rewrite_expr, walk
from linnet.names import Names
from linnet.runtime.memory import Memory
from linnet.runtime.scheduled import Commanded

_SCHEDULED: Memory[tuple[object, ...], ScheduledEquation] = Memory()
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
        raise too_deep(equation) from None


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
    other = next((name for name in named if name not in _OPTIONS), None)
    if other is not None:
        raise ArgumentError(
            f"operands are given in order and by name, {other}, to {subscripts!r}",
            hint="subscripts like 'ij,jk->ik' go with the first, equations with the second",
        )
    nodes = [t.node if isinstance(t, Lazy) else node_of(t) for t in tensors]
    nodes = [_computed_in(node, named) for node in nodes]
    made = contraction(subscripts, nodes)
    if any(isinstance(t, Lazy) for t in tensors):
        return Lazy(made)
    wanted = None if format is None else as_format(format, len(made.shape))  # type: ignore[arg-type]
    return evaluate([made], [wanted])[0]


_OPTIONS = ("dtype", "casting", "optimize")  # of NumPy's, where operands are in order


def _computed_in(node: Node, options: Mapping[str, object]) -> Node:
    """An operand in the type that is computed in; products are put in order in any case."""
    dtype, casting = options.get("dtype"), options.get("casting", "safe")
    optimize = options.get("optimize")
    if not isinstance(optimize, bool | str | list | tuple | None):
        raise ArgumentError(f"optimize is True or False, not {optimize!r}")
    if dtype is None:
        return node
    wanted = canonical(dtype)
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise RangeError(f"there is no casting {casting!r}", hint='"safe", "same_kind", "unsafe"')
    if not np.can_cast(concrete(node.dtype), wanted, casting):
        raise DTypeError(
            f"an operand of dtype {concrete(node.dtype)} is not cast to {wanted}",
            why=f"the casting is {casting!r}",
            hint='casting="same_kind" for a narrower type, "unsafe" for one of another kind',
        )
    return converted(node, wanted)


def noted(
    equation: str, operands: Mapping[str, object], fill: Number | None = None
) -> tuple[Node, Labels, dict[str, Node]]:
    """What an equation computes, its names, and its operands."""
    found, given = _given(equation, operands)
    try:
        parts = {s.name: _part(s, given[s.operand]) for s in found.slices}
        made, labels = graph_of(found.notation, given | parts, fill)
    except LinnetError as error:
        raise marked(error, equation) from None
    return made, labels, given


def _given(equation: str, operands: Mapping[str, object]) -> tuple[Read, dict[str, Node]]:
    """An equation that has been read, and its operands."""
    functions = {n: f for n, v in operands.items() if (f := _function(v)) is not None}
    given = {n: _operand(n, v) for n, v in operands.items() if n not in functions}
    found = read(equation, tuple(given), tuple(sorted(functions.items())))
    for name in operands:
        if re.search(rf"\b{re.escape(name)}\b", equation) is None:
            raise ArgumentError(f"`{name}` is given, and is not in the equation {equation!r}")
    return found, given


def scheduled(
    equation: str,
    operands: Mapping[str, object],
    format: FormatLike | None,
    fill: Number | None,
    schedule: str | Commanded,
) -> ScheduledEquation:
    """An equation under a schedule, as one nest of loops (`ln.schedule`)."""
    text = schedule.commands if isinstance(schedule, Commanded) else schedule
    key = _quick_key(equation, operands, format, fill)
    known = None if key is None else _SCHEDULED.get((*key, text))
    if known is not None:
        return known.over({n: v for n, v in operands.items() if isinstance(v, Tensor)})
    found, given = _given(equation, operands)
    notation, wanted = found.notation, None
    if format is not None:
        wanted = as_format(format, len(notation.target.indices))
        wanted = wanted if fill is None else wanted.with_fill(fill)
    names = Names({*operands, *notation_indices(notation)})
    parts = {s.name: names.fresh(f"{s.operand}_part") for s in found.slices}
    try:
        nodes = given | {parts[s.name]: _part(s, given[s.operand]) for s in found.slices}
        read_ones = {n.tensor for n in walk(notation.value) if isinstance(n, loops.Access)}
        used = {n: v for n, v in nodes.items() if n in {parts.get(str(r), r) for r in read_ones}}
        value = rewrite_expr(notation.value, lambda e: _under(e, parts))
        made = scheduled_of(replace(notation, value=value), used, wanted, fill, {})
    except LinnetError as error:
        raise marked(error, equation) from None
    made = made.apply(text)
    if key is not None and not found.slices:
        _SCHEDULED.put((*key, text), made.over({}))  # which keeps no tensors
    return made


def _under(expr: loops.Expr, names: Mapping[str, str]) -> loops.Expr | None:
    """An access to a part of an operand, by the name of the part."""
    match expr:
        case loops.Access(str(tensor)) if tensor in names:
            return replace(expr, tensor=names[tensor])
    return None


def _part(part: Slice, operand: Node) -> Node:
    try:
        return viewed(operand, part.index)
    except LinnetError as error:
        error.at = part.at
        raise


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
