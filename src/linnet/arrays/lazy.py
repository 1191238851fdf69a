"""`Lazy`: an array that is not computed yet, and what computes it.

Graphs and plans are imported when there is the first lazy array: whoever asks whether an array is
lazy does not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import Number, concrete
from linnet.errors import ArgumentError, Location, NotComputedError
from linnet.formats.format import Format
from linnet.formats.located import bordered, located
from linnet.formats.named import FormatLike, as_format
from linnet.formats.operators import Operators
from linnet.formats.tensor import Tensor
from linnet.formats.to_scipy import is_asked_by_operator
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet.arrays.nodes import Labels, Node
    from linnet.explanation import Explanation

P = ParamSpec("P")
R = TypeVar("R")


class Lazy(Operators):
    """An array expression. Operations on it are noted; `ln.compute` runs them all together."""

    __slots__ = ("node",)
    __array_priority__ = 2000.0  # NumPy arrays and tensors leave operators to us

    def __init__(self, node: Node) -> None:
        self.node = node

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of every dimension."""
        return self.node.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.node.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.node.shape, dtype=object))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return np.dtype(concrete(self.node.dtype))

    @property
    def fill_value(self) -> Number:
        """What the elements are where no operand stores anything."""
        return _module("graph").fill_of(self.node)  # type: ignore[no-any-return]

    @property
    def T(self) -> Lazy:
        """The transpose: dimensions in reverse."""
        return Lazy(_module("graph").permuted(self.node, tuple(reversed(range(self.ndim)))))

    @located
    def compute(self, format: FormatLike | None = None) -> Tensor:
        """The tensor, in a format that is given or chosen."""
        wanted = None if format is None else as_format(format, self.ndim)
        return _evaluate([self.node], [wanted])[0]

    @located
    def explain(self, *others: object) -> Explanation:
        """The kernels that would compute the array, with others, and why they are what they are."""
        asked = [asked_for(array) for array in (self, *others)]
        return _module("describe").explained(*zip(*asked, strict=True))  # type: ignore[no-any-return]

    @located
    def __bool__(self) -> bool:
        raise ArgumentError(
            "whether a lazy array is true is not known before it is computed",
            why="operations on it are noted, and run together later",
            hint="compute it first, if ln.compute(x): …, or choose elements with ln.where",
        )

    @located
    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentError("an array without dimensions has no length")
        return self.shape[0]

    # A single number is computed where one is needed.

    def item(self, *index: Any) -> Number:
        """The value of an array with one element, or of one at an index, which is computed now."""
        return self.compute().item(*index)

    def __float__(self) -> float:
        return float(self.compute())

    def __int__(self) -> int:
        return int(self.compute())

    def __complex__(self) -> complex:
        return complex(self.compute())

    def __index__(self) -> int:
        return self.compute().__index__()

    def __format__(self, spec: str) -> str:
        return format(self.compute(), spec) if spec else str(self)

    @located
    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[Any]:
        if is_asked_by_operator():
            return np.array(None, object)
        raise _not_computed("NumPy asked for the elements of a lazy array")

    def __getattr__(self, name: str) -> Any:
        if name in _OF_ELEMENTS:
            raise _not_computed(f"a lazy array has no `{name}` before it is computed")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"Lazy(shape={self.shape}, dtype={self.dtype})"


_OF_ELEMENTS = frozenset(
    name for name in dir(Tensor) if not name.startswith("_") and not hasattr(Operators, name)
)


def _not_computed(message: str) -> NotComputedError:
    return NotComputedError(
        message,
        at=Location.of_caller(),
        why="operations on it are noted, and run together later",
        hint="compute it first: ln.compute(x)",
    )


@located
def lazy(x: object) -> Lazy:
    """An array whose operations are not run at once, but together: see `ln.compute`.

    >>> X = ln.lazy(A)
    >>> means, squares = ln.compute(X.sum(0) / 10, (X * X).sum(0))
    """
    return x if isinstance(x, Lazy) else Lazy(_module("graph").node_of(x))


@located
def compute(*arrays: object) -> Any:
    """The tensors that lazy arrays stand for: one for one, a tuple for several.

    All of them are computed together, with as few passes over the operands as possible.
    """
    if len(arrays) == 1 and type(arrays[0]) is Lazy:
        return _evaluate((arrays[0].node,))[0]
    if not arrays:
        raise ArgumentError("compute() wants at least one array")
    asked = [asked_for(a) for a in arrays]
    found = _evaluate(*zip(*asked, strict=True))
    return found[0] if len(found) == 1 else tuple(found)


@located
def fuse(function: Callable[P, R]) -> Fused[P, R]:
    """The same function of arrays, run as a whole: its operations become few kernels.

    What it returns may be an array, or tuples, lists and dictionaries of them.

    >>> @ln.fuse
    ... def normalized(X):
    ...     return X / X.sum(1, keepdims=True)
    """
    if not callable(function):
        raise ArgumentError(f"fuse takes a function of arrays, not {function!r}")

    return Fused(function)


class Fused(Generic[P, R]):
    """A function of arrays that is run as a whole: it takes and gives what the function does."""

    def __init__(self, function: Callable[P, R]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._run: Callable[..., R] | None = None

    @bordered
    def __call__(self, *args: P.args, **named: P.kwargs) -> R:
        """Run the function as a whole."""
        run = self._run
        if run is None:
            run = self._run = _module("fused").Calls(self._function).run
        return run(args, named)

    @located
    def explain(self, *args: Any, **named: Any) -> Explanation:
        """The kernels that a call would run, and why they are what they are."""
        return _module("fused").Calls(self._function).explained(args, named)  # type: ignore[no-any-return]

    @overload
    def __get__(self, instance: None, owner: object = None) -> Fused[P, R]: ...
    @overload
    def __get__(self, instance: object, owner: object = None) -> Callable[..., R]: ...
    def __get__(self, instance: object, owner: object = None) -> Callable[..., R]:
        """In a class it is a method, as functions are."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<fused {getattr(self, '__qualname__', repr(self._function))}>"

    def __copy__(self) -> Fused[P, R]:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Fused[P, R]:
        return self

    def __reduce__(self) -> str | tuple[object, ...]:
        """By name where that can be imported; else the function goes itself.

        It is made before its surroundings are, in which it may be named.
        """
        sending = imported("linnet.python.sending")
        module, name = getattr(self, "__module__", None), getattr(self, "__qualname__", "")
        if sending.is_imported(self, module, name):
            return str(name)
        function = sending.sendable(self._function)
        return object.__new__, (Fused,), function, None, None, Fused.__init__


@cache
def _module(name: str) -> Any:
    return imported(f"linnet.arrays.{name}")


def _evaluate(*asked: Sequence[Any]) -> list[Tensor]:
    return _module("evaluate").evaluate(*asked)  # type: ignore[no-any-return]


def asked_for(array: object) -> tuple[Node, Format | None, Labels]:
    """What is to be computed, in what format, under which names."""
    graph = getattr(array, "graph", None)  # an output of index notation has one
    return (lazy(array).node, None, _module("nodes").Labels()) if graph is None else graph()
