"""`@ln.function`: a function of the user, with what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from types import FunctionType
from typing import Any, overload

import numpy as np

from linnet.algebra import regions
from linnet.algebra.body import Body
from linnet.algebra.dtypes import Number, as_python, canonical, concrete
from linnet.algebra.function import Case, Constant, Function, add_cases, no_constant
from linnet.algebra.lookup import lookup
from linnet.algebra.meaning import meaning
from linnet.algebra.table import FUNCTIONS
from linnet.algebra.user import emit_of, types_of
from linnet.errors import ArgumentError, DTypeError, Location
from linnet.formats.located import located
from linnet.python.source import source_of
from linnet.records import dataclass

Law = Number | Mapping[Number, int | str]
"""A value for which a law holds, or values with the argument that must have it."""


@overload
def function(
    text: Callable[..., object],
    *,
    name: str | None = None,
    commutative: bool = False,
    associative: bool = False,
    idempotent: bool = False,
    identity: Law | None = None,
    annihilator: Law | None = None,
    distributes_over: Iterable[object] = (),
    dtype: object = None,
    iteration_space: str | None = None,
    fills: Number | Mapping[str, Number] = 0,
    outside: Number | None = None,
) -> Function: ...


@overload
def function(
    text: None = None,
    *,
    name: str | None = None,
    commutative: bool = False,
    associative: bool = False,
    idempotent: bool = False,
    identity: Law | None = None,
    annihilator: Law | None = None,
    distributes_over: Iterable[object] = (),
    dtype: object = None,
    iteration_space: str | None = None,
    fills: Number | Mapping[str, Number] = 0,
    outside: Number | None = None,
) -> Callable[[Callable[..., object]], Function]: ...


def function(
    text: Callable[..., object] | None = None,
    *,
    name: str | None = None,
    commutative: bool = False,
    associative: bool = False,
    idempotent: bool = False,
    identity: Law | None = None,
    annihilator: Law | None = None,
    distributes_over: Iterable[object] = (),
    dtype: object = None,
    iteration_space: str | None = None,
    fills: Number | Mapping[str, Number] = 0,
    outside: Number | None = None,
) -> Function | Callable[[Callable[..., object]], Function]:
    """Make a function that kernels can call from plain Python, compiled from its text.

    What is said about it lets the compiler leave out work: `identity=0` that `f(x, 0)` and
    `f(0, x)` are x, `identity={0: "y"}` that only the first is; `annihilator` likewise, of a value
    that decides alone. `iteration_space="x | y"` says where there is something to compute: where x
    or y differ from `fills`; everywhere else the result is `outside`, by default that of `fills`.
    It is taken at your word; `ln.check_properties` tries it out. `dtype` is the type of the result,
    if not that which the text gives it.

    >>> hinge = ln.function(lambda x: max(0, 1 - x))
    >>> hinge(0.25)
    0.75
    """
    said = Claims(
        commutative, associative, idempotent, _own(identity), _own(annihilator),
        _functions(distributes_over), iteration_space, _own(fills), outside,
    )  # fmt: skip
    if text is None:
        return lambda text: made(text, name, dtype, said)
    return made(text, name, dtype, said)


@dataclass(frozen=True, slots=True)
class Claims:
    """What is said about a function."""

    commutative: bool
    associative: bool
    idempotent: bool
    identity: Law | None
    annihilator: Law | None
    distributes_over: tuple[Function, ...]
    space: str | None
    fills: Number | Mapping[str, Number]
    outside: Number | None


def made(text: Callable[..., object], name: str | None, dtype: object, said: Claims) -> Function:
    """The function; what cannot be true of it is refused."""
    body, params = _read(text, name, dtype)
    laws = _laws(body.name, params, said.identity, said.annihilator)
    space, fills = _space(body.name, params, said)
    body.claims = said
    # the compiler knows its own functions by name, and must not take this for one of them
    unique = f"{body.name}_" if body.name in FUNCTIONS else body.name
    return Function(
        unique, len(params), types_of(body), emit_of(body), meaning(body),
        commutative=said.commutative, associative=said.associative, idempotent=said.idempotent,
        identity=laws["identity"], annihilator=laws["annihilator"],
        left_identity=laws["left_identity"], right_identity=laws["right_identity"],
        constants=_constants(body.name, params, said.annihilator),
        repeat="once" if said.idempotent and said.associative else "",
        distributes_over=said.distributes_over, body=body, params=params, space=space,
        fills=fills, outside=said.outside, make_case=_case,
    )  # fmt: skip


# -- reading what is given -------------------------------------------------------------------------


def _read(
    text: Callable[..., object], name: str | None, dtype: object
) -> tuple[Body, tuple[str, ...]]:
    """The text and its parameters; what cannot be read is refused here, at the user's line."""
    if not isinstance(text, FunctionType):
        raise _refusal(
            f"ln.function wants a Python function, not {text!r}", hint="write it with def or lambda"
        )
    args = source_of(text).definition.args
    if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
        at = source_of(text).location(source_of(text).definition)
        raise ArgumentError(f"the parameters of `{text.__name__}` must be plain names", at=at)
    lambda_ = text.__code__.co_name == "<lambda>"
    called = name or (source_of(text).definition.name if lambda_ else text.__name__)
    if not called.isidentifier():
        raise _refusal(f"{called!r} is not a name")
    held = None if dtype is None else located(canonical)(dtype)
    return Body(text, called, held, ""), tuple(a.arg for a in args.args)


def _refusal(message: str, why: str | None = None, hint: str | None = None) -> ArgumentError:
    return ArgumentError(message, at=Location.of_caller(), why=why, hint=hint)


def _functions(given: Iterable[object]) -> tuple[Function, ...]:
    found = []
    for each in given if isinstance(given, tuple | list | set | frozenset) else (given,):
        function = lookup(each)
        if function is None:
            raise _refusal(f"{each!r} is not a function that Linnet knows")
        found.append(function)
    return tuple(found)


def _laws(
    name: str, params: tuple[str, ...], identity: Law | None, annihilator: Law | None
) -> dict[str, Constant]:
    """The laws that hold on both sides, and those of a binary function that hold on one."""
    laws: dict[str, Constant] = dict.fromkeys(
        ("identity", "left_identity", "right_identity", "annihilator"), no_constant
    )
    if identity is not None and len(params) != 2:
        why = f"`{name}` has {len(params)} arguments"
        raise _refusal("only a function of two arguments has an identity", why=why)
    if isinstance(identity, Mapping):
        for value, where in identity.items():
            side = ("left_identity", "right_identity")[_position(name, params, where)]
            laws[side] = _fixed(value)
    elif identity is not None:
        laws["identity"] = _fixed(identity)
    if annihilator is not None and not isinstance(annihilator, Mapping):
        laws["annihilator"] = _fixed(annihilator)
    return laws


def _constants(
    name: str, params: tuple[str, ...], annihilator: Law | None
) -> tuple[tuple[Number, int | None, Number], ...]:
    """Annihilators of one argument."""
    if not isinstance(annihilator, Mapping):
        return ()
    return tuple((_plain(v), _position(name, params, p), _plain(v)) for v, p in annihilator.items())


def _own(given: Any) -> Any:
    """What is said of values, which the user may change later."""
    return dict(given) if isinstance(given, Mapping) else given


def _fixed(value: Number) -> Constant:
    """The value in every type that holds it."""
    number = _plain(value)

    def constant(dtype: str) -> Number | None:
        try:
            return as_python(number, concrete(dtype))
        except DTypeError:
            return None

    return constant


def _plain(value: object) -> Number:
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | float | complex):
        raise _refusal(f"{value!r} is not a number")
    return value


def _position(name: str, params: tuple[str, ...], where: int | str) -> int:
    if isinstance(where, str) and where in params:
        return params.index(where)
    if isinstance(where, int) and 0 <= where < len(params):
        return where
    raise _refusal(
        f"`{name}` has no argument {where!r}", hint=f"one of {', '.join(params)}, or a position"
    )


def _space(
    name: str, params: tuple[str, ...], said: Claims
) -> tuple[regions.Region | None, tuple[Number, ...]]:
    """The iteration space, and the values of arguments that it speaks of."""
    if said.space is None:
        return None, ()
    if not isinstance(said.space, str):
        raise _refusal(f"an iteration space is a text, not {said.space!r}", hint='such as "x | y"')
    try:
        space = regions.normalize(regions.parse(said.space))
    except ValueError as error:
        raise _refusal(
            f"the iteration space {said.space!r} of `{name}` is not one",
            why=str(error),
            hint='write it like "x | y & ~z"',
        ) from None
    for leaf in regions.leaves(space):
        _position(name, params, leaf)
    if said.outside is None and regions.holds(space, lambda name: False):
        raise _refusal(
            f"nothing says what `{name}` is outside its iteration space",
            why="its arguments are not all fill values there",
            hint="give the value: outside=0",
        )
    fills = said.fills
    given = fills if isinstance(fills, Mapping) else dict.fromkeys(params, fills)
    return space, tuple(_plain(given.get(p, 0)) for p in params)


# -- cases -----------------------------------------------------------------------------------------


def _case(general: Function, text: Callable[..., object], values: Mapping[str, Number]) -> Function:
    """Add a case to a function, and for a commutative one those with its arguments exchanged."""
    assert general.body is not None
    body, params = _read(text, f"{general.label}_case", general.body.dtype)
    if len(params) != general.arity:
        at = source_of(text).location(source_of(text).definition)  # type: ignore[arg-type]
        raise ArgumentError(
            f"a case of `{general.label}` takes {general.arity} arguments, not {len(params)}", at=at
        )
    if not values:
        raise _refusal(f"a case of `{general.label}` is for a value", hint="@f.case(y=0)")
    known = {_position(general.label, general.params, n): _plain(v) for n, v in values.items()}
    special = _plain_function(body, params)
    orders = [tuple(range(general.arity))]
    if general.commutative:
        orders = list(permutations(range(general.arity)))
    cases: dict[tuple[tuple[int, Number], ...], Case] = {}
    for order in orders:  # argument `order[k]` is handed over as the k-th
        where = tuple(sorted((order[k], v) for k, v in known.items()))
        cases.setdefault(where, Case(where, special, order))
    add_cases(general, tuple(cases.values()))
    return general


def _plain_function(body: Body, params: tuple[str, ...]) -> Function:
    """A function of which nothing is said."""
    return Function(
        body.name, len(params), types_of(body), emit_of(body), meaning(body), body=body,
        params=params,
    )  # fmt: skip


def case_of(text: FunctionType, name: str, dtype: object) -> Function:
    """What computes a case, once more from its text."""
    return _plain_function(*_read(text, name, dtype))
