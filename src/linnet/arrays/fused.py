"""Calls of a function that is fused: run as a whole, and not read again for arguments like these.

Python runs the function on lazy arrays, and what it returns is planned and computed. Where nothing
but its arguments decides what that is (`captured`), the plan holds for all calls with arrays of the
same formats and sizes, and numbers of which the same holds (`moving`): from the third on they go to
the kernels at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from linnet.arrays.captured import captured, is_fixed
from linnet.arrays.describe import explained
from linnet.arrays.evaluate import counting, evaluated
from linnet.arrays.graph import leaf
from linnet.arrays.lazy import Lazy
from linnet.arrays.moving import Law, Moving, Notes, only
from linnet.arrays.nodes import Constant, Labels, Node
from linnet.arrays.plan import Plan
from linnet.arrays.remembered import Remembered, alike, bound_of, forms_of, sources_of
from linnet.arrays.trace import Trace
from linnet.errors import ArgumentError, LinnetError
from linnet.explanation import Explanation
from linnet.formats.construct import asarray
from linnet.formats.contents import Contents
from linnet.formats.from_numpy import share
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.options import current
from linnet.runtime.measure import measure

Key: TypeAlias = tuple[object, ...]
Ways: TypeAlias = tuple[Remembered, ...]

_KINDS = 256  # of arguments, for which a function is remembered
_WAYS = 8  # for arguments of a kind, as numbers among them decide
_NEVER = "computed anew each time"
_HERE = Lazy(Constant(0, "int64"))  # in the place of lazy arrays that were computed
_EXACT = frozenset((bool, str, bytes, type(None), type(...)))
_BY_TEXT = frozenset((float, complex, range))  # which tells 0.0 from -0.0


class Calls:
    """A function of arrays, and how it was computed for arguments of some kinds."""

    __slots__ = ("_function", "_known", "_readable")

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._known: dict[Key, Ways | str] = {}  # replaced as a whole: threads may look
        self._readable = True  # until something else is known

    def run(self, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """What the function returns, computed."""
        given, names = (args, ()) if not named else ((*args, *named.values()), tuple(named))
        for arg in given:
            if type(arg) is not Tensor:
                given = [_argument(arg) for arg in given]
                break
        held: list[Contents] = []
        numbers: list[int] = []
        key = _key(given, names, held, numbers) if self._readable else None
        ways = None if key is None else self._known.get(key)
        if key is None or ways == _NEVER:
            return self._computed(given, names)
        if ways is None:
            self._remember(key, ())
            return self._computed(given, names)
        for way in ways:
            found = way.law.numbers(numbers) if numbers else numbers  # type: ignore[union-attr]
            if found is not None and way.captured.holds():  # type: ignore[union-attr]
                try:
                    return way.run(given, held, found)  # type: ignore[union-attr]
                except LinnetError:  # those who run the function tell what is wrong, and where
                    return self._computed(given, names)
        if self._is_worth_it(key, ways, numbers):  # type: ignore[arg-type]
            return self._learned(key, given, names, numbers)
        return self._computed(given, names)

    def _is_worth_it(self, key: Key, ways: Ways, numbers: Sequence[int]) -> bool:
        """Whether to remember one more way: it holds for many numbers, or for these once more."""
        if not ways or not numbers or (len(ways) < _WAYS and any(way.law.moves for way in ways)):
            return True
        exact = (*key, *numbers)
        if exact in self._known:
            return True
        self._remember(exact, ())
        return False

    def _remember(self, key: Key, how: Ways | str) -> None:
        known = self._known if len(self._known) < _KINDS else {}
        self._known = {**known, key: how}

    @located
    def _computed(self, given: Sequence[Any], names: Sequence[str]) -> Any:
        """The function run by Python, and what it returns computed."""
        made = self._made(given, names)
        nodes = [part.node for part in _lazy_parts(made)]
        return _with_parts(made, iter(_evaluated(nodes)[0])) if nodes else made

    def explained(self, args: Sequence[Any], named: Mapping[str, Any]) -> Explanation:
        """What a call would compute, and how."""
        given = [_argument(arg) for arg in (*args, *named.values())]
        nodes = [part.node for part in _lazy_parts(self._made(given, tuple(named)))]
        if not nodes:
            raise ArgumentError("a function that returns no lazy array has no kernels to explain")
        return explained(nodes, (), _labels(nodes))

    def _made(self, given: Sequence[Any], names: Sequence[str]) -> Any:
        """What the function returns, with lazy arrays in it."""
        lazily = [Lazy(leaf(arg)) if isinstance(arg, Tensor) else arg for arg in given]
        first = len(given) - len(names)
        return self._function(*lazily[:first], **dict(zip(names, lazily[first:], strict=True)))

    @located
    def _learned(
        self, key: Key, given: Sequence[Any], names: Sequence[str], numbers: Sequence[int]
    ) -> Any:
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
        outs, plan, trace = _evaluated(nodes)
        sources = sources_of(trace, [arg for arg in given if type(arg) is Tensor])
        if computed or sources is None or not _is_told(made) or not around.holds():
            self._remember(key, _NEVER)
            return _with_parts(made, iter(outs))
        law, moved = self._law(given, names, numbers, trace)
        forms, is_large = forms_of(moved.numbers), any(step.large for step in plan.steps)
        self._add(key, Remembered(
            around, law, plan, sources, forms,
            tuple([forms_of(n.shape) for n in moved.nodes]) if is_large else (),
            tuple([(k, outs[k].contents().format) for k in plan.filled]),
            bound_of(plan, trace, sources, forms, outs), _parts_of(made),
        ))  # fmt: skip
        return _with_parts(made, iter(outs))

    def _law(
        self, given: Sequence[Any], names: Sequence[str], numbers: Sequence[int], trace: Trace
    ) -> tuple[Law, Trace]:
        """For which integers a function goes the way of a trace, and the trace for all of them."""
        notes = Notes(numbers)
        moving = iter(notes.arguments())
        if numbers:
            with suppress(Exception), counting() as computed:  # it may want to know what they are
                made = self._made([_with_numbers(arg, moving) for arg in given], names)
                nodes = [part.node for part in _lazy_parts(made)]
                found = None if computed or not _is_told(made) else alike(nodes, notes, trace)
                if found is not None:
                    return notes.law(), found
        return only(numbers), trace

    def _add(self, key: Key, way: Remembered) -> None:
        """Remember one more way, and forget those that hold no more, or the oldest."""
        ways = self._known.get(key, ())
        old = [w for w in ways if type(w) is Remembered and w.captured.holds()]
        self._remember(key, (way, *old[: _WAYS - 1]))


def _evaluated(nodes: Sequence[Node]) -> tuple[list[Tensor], Plan, Trace]:
    """Nodes computed together, under the names that `compute` gives them."""
    return evaluated(nodes, (None,) * len(nodes), _labels(nodes))


def _labels(nodes: Sequence[Node]) -> tuple[Labels, ...]:
    return (Labels(),) * len(nodes) if len(nodes) > 1 else ()


# -- arguments -------------------------------------------------------------------------------------


@located
def _argument(value: Any) -> Any:
    """An array becomes a tensor; numbers and other things stay as they are."""
    if type(value) is Tensor or type(value) is int or type(value) in _EXACT:
        return value
    if type(value) is np.ndarray:
        return share(value)
    is_array = isinstance(value, np.ndarray) or hasattr(value, "tocsr")
    return asarray(value) if is_array and not isinstance(value, Tensor | Lazy) else value


def _key(
    given: Sequence[Any], names: tuple[str, ...], held: list[Contents], numbers: list[int]
) -> Key | None:
    """What of arguments the way of computing depends on, if that can be told.

    What the arrays hold, of which it tells, is added to `held`, and integers, of which it does not
    tell what they are, to `numbers`.
    """
    key: list[object] = [id(current().code), names]
    for arg in given:
        if type(arg) is Tensor:
            p = arg._contents
            if p is None:
                return None
            key += (p._signature or p.signature, p.shape, p._measure or measure(p))
            held.append(p)
        elif not _tell(arg, key, numbers):
            return None
    if len({*held}) < len(held):
        key.append(tuple([held.index(p) for p in held]))
    return tuple(key)


def _tell(value: Any, key: list[object], numbers: list[int]) -> bool:
    """Add what there is to know of a value to a key; False if that is not all of it."""
    kind = type(value)
    key.append(kind)
    if kind is int:
        numbers.append(value)
    elif kind in _EXACT:
        key.append(value)
    elif kind in _BY_TEXT:
        key.append(repr(value))
    elif kind is slice:
        return all(_tell(v, key, numbers) for v in (value.start, value.stop, value.step))
    elif kind is tuple:
        key.append(len(value))
        return all(_tell(v, key, numbers) for v in value)
    else:
        return False
    return True


def _with_numbers(value: Any, moving: Iterator[Moving]) -> Any:
    """A value with others in the place of its integers, in the order in which they are told."""
    kind = type(value)
    if kind is int:
        return next(moving)
    if kind is slice:
        parts = (value.start, value.stop, value.step)
        return slice(*[_with_numbers(part, moving) for part in parts])
    return tuple([_with_numbers(v, moving) for v in value]) if kind is tuple else value


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
