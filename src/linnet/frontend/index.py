"""Index notation as Python: `i, j = ln.indices("i j")`, `y = ln.output()`, `y[i] = A[i, j] * x[j]`.

An assignment to an output is noted, and computed when the output is asked for.
"""

from __future__ import annotations

import linecache
import re
import string
from collections.abc import Mapping
from types import FrameType
from typing import Any

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.arrays.check import indices as indices_in
from linnet.arrays.describe import explained
from linnet.arrays.equation import graph_of
from linnet.arrays.evaluate import evaluate
from linnet.arrays.graph import leaf
from linnet.arrays.lazy import Lazy, asked_for
from linnet.arrays.nodes import Labels, Node, Notation
from linnet.arrays.printer import show
from linnet.arrays.written import Expression, IndexVar, as_expression
from linnet.errors import ArgumentError, FormatError, LifecycleError, Location, frame_of_caller
from linnet.explanation import Explanation
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.named import FormatLike, as_format
from linnet.formats.tensor import Tensor
from linnet.loops.rewrite import rewrite_expr, walk
from linnet.names import Names
from linnet.records import dataclass

_RESULT = "out"


@located
def indices(names: str) -> Any:
    """Indices of these names: one for one name, a tuple for several.

    >>> i, j, k = ln.indices("i j k")
    """
    given = names.replace(",", " ").split() if isinstance(names, str) else []
    if not given or not all(name.isidentifier() for name in given):
        raise ArgumentError(f"{names!r} does not name indices", hint='ln.indices("i j k")')
    if len(set(given)) < len(given):
        raise ArgumentError(f"an index is named twice in {names!r}")
    made = tuple(IndexVar(name) for name in given)
    return made[0] if len(made) == 1 else made


@located
def output(format: FormatLike | None = None, fill_value: Number | None = None) -> Output:
    """A tensor that an equation in index notation is to compute.

    The format is chosen if it is not given, as for `ln.einsum`.

    >>> i, j = ln.indices("i j")
    >>> y = ln.output()
    >>> y[i] = A[i, j] * x[j]
    >>> y.run()
    """
    return Output(format, fill_value)


@dataclass(frozen=True, slots=True)
class Named:
    """An equation with the names of the user, its operands, and what is asked of its result.

    `known` are the names of operands by those under which expressions of the user know them.
    """

    notation: Notation
    operands: Mapping[str, Tensor | Lazy]
    fill: Number | None
    wanted: Format | None
    known: Mapping[str, str]


class Output:
    """What an equation computes: `y[i] = …` notes it, `y.run()` and `ln.compute(y)` do it."""

    def __init__(self, format: FormatLike | None, fill_value: Number | None) -> None:
        self._format = format
        self._fill = fill_value
        self._notation: Notation | None = None
        self._operands: dict[str, Tensor | Lazy] = {}
        self._called: dict[str, str] = {}  # what the user calls them, and the output itself
        self._known: dict[str, str] = {}  # under which names expressions know the operands

    @located
    def __setitem__(self, key: object, value: object) -> None:
        if self._notation is not None:
            raise LifecycleError(
                "this output has an equation already",
                why="it is one tensor, which one equation computes",
                hint="make another one with ln.output()",
            )
        target = loops.Access(_RESULT, tuple(_plain(k) for k in _keys(key)))
        given = as_expression(value)
        op, body = _update(target, given.expr)
        if any(isinstance(n, loops.Access) and n.tensor == _RESULT for n in walk(body)):
            raise LifecycleError(
                "the output is read by its own equation",
                why="only an update may, such as y[i] += … or y[i] = ln.minimum(y[i], …)",
            )
        names = _names(body)
        renamed = rewrite_expr(body, lambda e: _renamed(e, names))
        self._notation = Notation(target, op, renamed, Location.of_caller())
        self._operands = {names[old]: given.operands[old] for old in names}
        self._known = names
        self._called = names_of({**self._operands, _RESULT: self}, frame_of_caller())

    def __getitem__(self, key: object) -> Expression:
        """For updates: `y[i] += …` reads `y[i]`, and so does `y[i] = ln.minimum(y[i], …)`."""
        return Expression(loops.Access(_RESULT, tuple(_plain(k) for k in _keys(key))), {})

    @property
    def notation(self) -> Notation:
        """The equation."""
        if self._notation is None:
            raise LifecycleError(
                "this output has no equation yet",
                at=Location.of_caller(),
                hint="assign one: y[i] = A[i, j] * x[j]",
            )
        return self._notation

    def graph(self) -> tuple[Node, Format | None, Labels]:
        """What is to be computed, in what format, under which names."""
        nodes = {n: _node(n, t) for n, t in self._operands.items()}
        node, labels = graph_of(self.notation, nodes, self._fill)
        return node, self._wanted(len(node.shape)), labels

    def _wanted(self, ndim: int) -> Format | None:
        """The format that is asked for."""
        wanted = None if self._format is None else as_format(self._format, ndim)
        if wanted is not None and self._fill is not None:
            wanted = wanted.with_fill(self._fill)
        return wanted

    def named(self) -> Named:
        """The equation under the names of the user, as far as they can be known."""
        notation, own = self.notation, Names(set(indices_in(self.notation)))
        order = (_RESULT, *self._operands)
        names = {old: own.fresh(self._called.get(old, "y" if old == _RESULT else old))
                 for old in order}  # fmt: skip
        target, value = (rewrite_expr(e, lambda e: _renamed(e, names))
                         for e in (notation.target, notation.value))  # fmt: skip
        assert isinstance(target, loops.Access)
        operands = {names[old]: array for old, array in self._operands.items()}
        known = {old: names[new] for old, new in self._known.items()}
        made = Notation(target, notation.op, value, notation.at)
        return Named(made, operands, self._fill, self._wanted(len(target.indices)), known)

    @located
    def run(self) -> Tensor:
        """The tensor."""
        node, wanted, labels = self.graph()
        return evaluate([node], [wanted], [labels])[0]

    @located
    def explain(self, *others: object) -> Explanation:
        """The kernels that would compute it, with others, and why they are what they are."""
        asked = [asked_for(array) for array in (self, *others)]
        return explained(*zip(*asked, strict=True))

    def __repr__(self) -> str:
        return f"Output({'' if self._notation is None else show(self._notation)})"


def _keys(key: object) -> tuple[object, ...]:
    return key if isinstance(key, tuple) else (key,)


def _plain(key: object) -> loops.Index:
    """An index of an output, which is a name."""
    if not isinstance(key, IndexVar):
        raise FormatError(
            f"{key!r} is not an index of a result",
            at=Location.of_caller(),
            why="every element of the result is computed once",
            hint='use plain indices, from ln.indices("i j")',
        )
    return loops.Index(key.name)


def _update(target: loops.Access, value: loops.Expr) -> tuple[Function | None, loops.Expr]:
    """`y[i] = f(y[i], e)` is an update of y with f."""
    match value:
        case loops.Call(function, (first, rest)) if first == target:
            return function, rest
        case loops.Call(function, (rest, last)) if last == target and function.commutative:
            return function, rest
    return None, value


def _names(expr: loops.Expr) -> dict[str, str]:
    """Letters for the tensors of an expression, in order of appearance."""
    found = dict.fromkeys(
        str(n.tensor) for n in walk(expr) if isinstance(n, loops.Access) and n.tensor != _RESULT
    )
    letters = string.ascii_uppercase
    return {old: letters[k % 26] + "_" * (k // 26) for k, old in enumerate(found)}


def _renamed(expr: loops.Expr, names: dict[str, str]) -> loops.Expr | None:
    match expr:
        case loops.Access(str(tensor), where) if tensor in names:
            return loops.Access(names[tensor], where)
    return None


def names_of(values: Mapping[str, object], frame: FrameType | None) -> dict[str, str]:
    """What the code of a frame calls some values, those names first that its line has."""
    if frame is None:
        return {}
    code, line = frame.f_code, linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    words = set(re.findall(r"\w+", line))
    names = [*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names]
    names.sort(key=lambda name: name not in words)
    around, own = frame.f_globals, frame.f_locals
    found: dict[str, str] = {}
    for name in names:
        value = own.get(name, around.get(name))
        for known, meant in values.items():
            if value is meant:
                found.setdefault(known, name)
    return found


def _node(name: str, array: Tensor | Lazy) -> Node:
    return array.node if isinstance(array, Lazy) else leaf(array, name)
