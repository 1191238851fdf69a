"""Calls of a function that is fused: run as a whole, and not read again for arguments like these.

Python runs the function on lazy arrays, and what it returns is planned and computed. Where nothing
but its arguments decides what that is (`captured`), the plan holds for all calls with arrays of the
same formats and sizes, and the same numbers: from the third on they go to the kernels at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from linnet.arrays.captured import captured, is_fixed
from linnet.arrays.evaluate import counting, evaluated
from linnet.arrays.graph import leaf
from linnet.arrays.lazy import Lazy
from linnet.arrays.nodes import Constant, Labels, Node
from linnet.arrays.plan import Plan
from linnet.arrays.remembered import Remembered, bound_of, sources_of
from linnet.arrays.trace import Trace
from linnet.errors import LinnetError
from linnet.formats.construct import asarray
from linnet.formats.contents import Contents
from linnet.formats.from_numpy import share
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.options import current
from linnet.runtime.measure import measure
from linnet.runtime.watch import watch

Key: TypeAlias = tuple[object, ...]

_KINDS = 256  # of arguments, for which a function is remembered
_ONCE, _NEVER = "computed once", "computed anew each time"
_HERE = Lazy(Constant(0, "int64"))  # in the place of lazy arrays that were computed
_EXACT = frozenset((int, bool, str, bytes, type(None), type(...)))
_BY_TEXT = frozenset((float, complex, slice, tuple, range))  # which tells 0.0 from -0.0


class Calls:
    """A function of arrays, and how it was computed for arguments of some kinds."""

    __slots__ = ("_function", "_known", "_readable")

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._known: dict[Key, Remembered | str] = {}  # replaced as a whole: threads may look
        self._readable = True  # until something else is known

    def __call__(self, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """What the function returns, computed."""
        values = (*args, *named.values()) if named else args
        given = [arg if type(arg) is Tensor else _argument(arg) for arg in values]
        names = tuple(named)
        held: list[Contents] = []
        key = _key(given, names, held) if self._readable else None
        found = None if key is None else self._known.get(key)
        if type(found) is Remembered and found.captured.holds():
            try:
                return found.run([arg for arg in given if type(arg) is Tensor], held)
            except LinnetError:  # those who run the function tell what is wrong, and where
                return self._computed(given, names)
        if key is None or found == _NEVER:
            return self._computed(given, names)
        if found is None:
            self._remember(key, _ONCE)
            return self._computed(given, names)
        return self._learned(key, given, names)

    def _remember(self, key: Key, how: Remembered | str) -> None:
        known = self._known if len(self._known) < _KINDS else {}
        self._known = {**known, key: how}

    @located
    def _computed(self, given: Sequence[Any], names: Sequence[str]) -> Any:
        """The function run by Python, and what it returns computed."""
        made = self._made(given, names)
        nodes = [part.node for part in _lazy_parts(made)]
        return _with_parts(made, iter(_evaluated(nodes)[0])) if nodes else made

    def _made(self, given: Sequence[Any], names: Sequence[str]) -> Any:
        """What the function returns, with lazy arrays in it."""
        lazily = [Lazy(leaf(arg)) if isinstance(arg, Tensor) else arg for arg in given]
        first = len(given) - len(names)
        return self._function(*lazily[:first], **dict(zip(names, lazily[first:], strict=True)))

    @located
    def _learned(self, key: Key, given: Sequence[Any], names: Sequence[str]) -> Any:
        """The same; how it went is remembered, if it goes that way whenever arguments are alike."""
        around = captured(self._function)
        if around is None:
            self._readable = False
            return self._computed(given, names)
        with counting() as computed:
            made = self._made(given, names)
        nodes = [part.node for part in _lazy_parts(made)]
        if not nodes:
            self._remember(key, _NEVER)
            return made
        with watch() as seen:
            outs, plan, trace = _evaluated(nodes)
        sources = sources_of(trace, [arg for arg in given if type(arg) is Tensor])
        if computed or sources is None or not _is_told(made) or not around.holds():
            self._remember(key, _NEVER)
            return _with_parts(made, iter(outs))
        self._remember(key, Remembered(
            around, plan, sources, tuple(trace.numbers), tuple([n.shape for n in trace.nodes]),
            tuple([(k, outs[k].contents().format) for k in plan.filled]),
            bound_of(plan, trace, sources, outs, seen), _parts_of(made),
        ))  # fmt: skip
        return _with_parts(made, iter(outs))


def _evaluated(nodes: Sequence[Node]) -> tuple[list[Tensor], Plan, Trace]:
    """Nodes computed together, under the names that `compute` gives them."""
    labels = (Labels(),) * len(nodes) if len(nodes) > 1 else ()
    return evaluated(nodes, (None,) * len(nodes), labels)


# -- arguments -------------------------------------------------------------------------------------


@located
def _argument(value: Any) -> Any:
    """An array becomes a tensor; numbers and other things stay as they are."""
    if type(value) is Tensor or type(value) in _EXACT:
        return value
    if type(value) is np.ndarray:
        return share(value)
    is_array = isinstance(value, np.ndarray) or hasattr(value, "tocsr")
    return asarray(value) if is_array and not isinstance(value, Tensor | Lazy) else value


def _key(given: Sequence[Any], names: tuple[str, ...], held: list[Contents]) -> Key | None:
    """What of arguments the way of computing depends on, if that can be told.

    What the arrays hold, of which it tells, is added to `held`.
    """
    key: list[object] = [id(current()), names]
    ids: list[int] = []
    for arg in given:
        kind = type(arg)
        if kind is Tensor:
            p = arg._contents
            if p is None:
                return None
            key += (p._signature or p.signature, p.shape, p._measure or measure(p))
            held.append(p)
            ids.append(id(arg))
        elif kind in _EXACT:
            key += (kind, arg)
        elif kind in _BY_TEXT and _is_plain(arg):
            key += (kind, repr(arg))
        else:
            return None
    if len({*ids}) < len(ids):
        key.append(tuple([ids.index(k) for k in ids]))
    return tuple(key)


def _is_plain(value: Any) -> bool:
    """Whether the text of a value of Python tells all of it."""
    if type(value) is tuple:
        return all(map(_is_plain, value))
    if type(value) is slice:
        return all(map(_is_plain, (value.start, value.stop, value.step)))
    return type(value) in _EXACT or type(value) in (float, complex, range)


# -- results ---------------------------------------------------------------------------------------


def _is_told(made: object) -> bool:
    """Whether a function returns lazy arrays, and things that are what they are for ever."""
    match made:
        case Lazy():
            return True
        case tuple() | list():
            return all(map(_is_told, made))
        case dict():
            return all(map(is_fixed, made)) and all(map(_is_told, made.values()))
        case _:
            return is_fixed(made)


def _parts_of(made: object) -> Callable[[Sequence[Tensor]], object] | None:
    """How tensors become what a function returns; None if that is one of them."""
    if isinstance(made, Lazy):
        return None
    parts = _with_parts(made, repeat(_HERE))
    return lambda outs: _with_parts(parts, iter(outs))


def _lazy_parts(made: object) -> Iterator[Lazy]:
    """The lazy arrays in tuples, lists and dictionaries."""
    match made:
        case Lazy():
            yield made
        case tuple() | list():
            for part in made:
                yield from _lazy_parts(part)
        case dict():
            for part in made.values():
                yield from _lazy_parts(part)


def _with_parts(made: Any, found: Iterator[Any]) -> Any:
    """The same with tensors in the place of lazy arrays, in order."""
    match made:
        case Lazy():
            return next(found)
        case tuple() | list():
            parts = [_with_parts(part, found) for part in made]
            return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)
        case dict():
            return {key: _with_parts(part, found) for key, part in made.items()}
        case _:
            return made
