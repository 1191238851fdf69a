"""`dataclass` and `NamedTuple`: nearly those of the standard library, and made sooner.

There, the text of each method of each class is put together and compiled while the class is made:
half a millisecond each, and half of what importing this package took. Here, comparing and printing
are functions that all classes share, and `__init__` is one code for all classes with as many
fields, in which the names of the parameters are replaced; so is `__new__` of named tuples.
Annotations are kept as they are written; what begins with `ClassVar` is no field. What is found is
noted as `dataclasses` notes it, whose functions take these classes, and which derives others from
them. Fields are compared as elements of tuples are, NaN with itself as equal, too; the standard
library does so before 3.13. Modules that use this import `annotations` from `__future__`.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import cache
from inspect import get_annotations
from operator import attrgetter, itemgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

Class = type[Any]
Values = Callable[[Any], tuple[Any, ...]]


def _by_position(k: int, doc: str) -> Any:
    """What reads an element of a tuple by name, of public parts."""
    return property(itemgetter(k), doc=doc)


# The library's own way takes two thirds of the time; it is private, so it may be gone one day.
_element = getattr(collections, "_tuplegetter", _by_position)


class _Made:
    """In the place of a default that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()


def _example(frozen: bool) -> Any:
    """A class with a field, of which `dataclasses` says how it notes what it finds."""
    body = {"__doc__": "An example.", "__annotations__": {"x": "int"}}
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(type("_", (), body))
    made.__dataclass_params__.frozen = frozen
    return made


_PARAMETERS = {frozen: _example(frozen).__dataclass_params__ for frozen in (True, False)}
_ORDINARY = _example(frozen=True).__dataclass_fields__["x"]._field_type


def _dataclass(
    cls: Class | None = None,
    /,
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    frozen: bool = False,
    slots: bool = False,
) -> Any:
    """As `dataclasses.dataclass`, of which it takes the options that are used here."""
    if cls is None:
        return lambda cls: _processed(cls, init, repr, eq, frozen, slots)
    return _processed(cls, init, repr, eq, frozen, slots)


class _Tuple(tuple[Any, ...]):
    """What tuples whose fields have names do, whatever these are."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes: Any) -> Any:
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    __replace__ = _replace  # what `copy.replace` calls

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        told = ", ".join([f"{name}={value!r}" for name, value in self._asdict().items()])
        return f"{self.__class__.__name__}({told})"


_METHODS = {name: each for name, each in vars(_Tuple).items() if callable(getattr(_Tuple, name))}


class _Named(type):
    """What makes a subclass of `tuple` of a class that is derived from `NamedTuple`."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        fields = tuple(body.get("__annotations__", ()))
        given = {field: body[field] for field in fields if field in body}
        if fields[len(fields) - len(given) :] != tuple(given):
            raise TypeError(f"{name}: a field without a default after one that has it")
        made = {field: _element(k, "") for k, field in enumerate(fields)}
        made |= {"_fields": fields, "_field_defaults": given, "__match_args__": fields}
        made |= {"__slots__": (), "__new__": _new(name, fields, tuple(given.values()))}
        return type(name, (tuple,), _METHODS | body | made)


def _new(name: str, fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
    """`def __new__(_cls, x, y=…): …`, by the code for as many fields."""
    code = _tuple_code(len(fields)).replace(co_varnames=("_cls", *fields))
    new = FunctionType(code, {"_tuple_new": tuple.__new__}, "__new__", defaults)
    new.__qualname__ = f"{name}.__new__"
    return new


@cache
def _tuple_code(count: int) -> CodeType:
    """The code of `__new__` for so many fields."""
    names = "".join([f"a{k}, " for k in range(count)])
    code: CodeType = eval(f"lambda _cls, {names}: _tuple_new(_cls, ({names}))").__code__
    return code


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from typing import NamedTuple as NamedTuple
else:
    dataclass = _dataclass

    class NamedTuple(metaclass=_Named):
        """The base of classes of tuples whose fields have names."""


def _processed(cls: Class, init: bool, repr: bool, eq: bool, frozen: bool, slots: bool) -> Class:
    """The class with its fields, and the methods that it does not have itself."""
    own = {name for name, value in cls.__dict__.items() if value is not None}
    bases: list[Any] = [base for base in cls.__mro__[1:] if dataclasses.is_dataclass(base)]
    if any(base.__dataclass_params__.frozen != frozen for base in bases):
        raise TypeError("of a dataclass and its base, both are frozen or none is")
    found = _fields(cls)
    if slots:
        cls = _with_slots(cls, tuple(found))
    cls.__dataclass_fields__ = found
    cls.__dataclass_params__ = _PARAMETERS[frozen]
    fields = tuple(found.values())
    made: dict[str, Any] = {"__match_args__": tuple([f.name for f in fields if f.init])}
    made["__replace__"] = _replace
    if init:
        made["__init__"] = _init(cls, [f for f in fields if f.init], frozen)
    if repr:
        made["__repr__"] = _repr
    if eq:
        made["__eq__"] = _eq(_getter([f.name for f in fields if f.compare]))
        hashed = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
        made["__hash__"] = _hash(_getter(hashed)) if frozen else None
    if frozen and not bases:
        made |= _frozen(cls, frozenset(found), slots)
    for name, method in made.items():
        if name not in own:
            setattr(cls, name, method)
    return cls


def _fields(cls: Class) -> dict[str, Any]:
    """The fields of the bases, and those that the class has itself, as `dataclasses` tells them."""
    found: dict[str, Any] = {}
    for base in cls.__mro__[:0:-1]:
        found |= getattr(base, "__dataclass_fields__", {})
    for name, kind in get_annotations(cls).items():
        if kind.startswith("ClassVar"):
            found.pop(name, None)
        else:
            found[name] = _field(cls, name, kind)
    return {name: f for name, f in found.items() if f._field_type is _ORDINARY}


def _field(cls: Class, name: str, kind: str) -> Any:
    """A field of a class, which keeps the default as its attribute, if there is one."""
    value: Any = getattr(cls, name, MISSING)
    if not isinstance(value, Field):
        is_slot = isinstance(value, MemberDescriptorType)  # of a base
        value = dataclasses.field(default=MISSING if is_slot else value)
    elif value.default is MISSING:
        delattr(cls, name)
    else:
        setattr(cls, name, value.default)
    value.name, value.type, value._field_type = name, kind, _ORDINARY
    value.kw_only = value.kw_only is True  # it may be MISSING
    return value


def _with_slots(cls: Class, names: tuple[str, ...]) -> Class:
    """The class once more, with slots for those fields for which no base has one."""
    there = {slot for base in cls.__mro__[1:] for slot in base.__dict__.get("__slots__", ())}
    left_out = {*names, "__dict__", "__weakref__"}
    body = {name: value for name, value in cls.__dict__.items() if name not in left_out}
    body["__slots__"] = tuple([name for name in names if name not in there])
    kind: Any = type(cls)
    made: Class = kind(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _replace(self: Any, /, **changes: Any) -> Any:
    """`__replace__` of all classes, which `copy.replace` calls."""
    return dataclasses.replace(self, **changes)


# -- making ----------------------------------------------------------------------------------------


def _init(cls: Class, fields: Sequence[Field[Any]], frozen: bool) -> FunctionType:
    """`def __init__(self, x, y=…): …`, by the code for as many fields."""
    ways = tuple([(_way(cls, f, frozen), f.default_factory is not MISSING) for f in fields])
    code = _code(ways, hasattr(cls, "__post_init__"))
    names = {f"a{k}": f.name for k, f in enumerate(fields)}
    code = code.replace(
        co_varnames=tuple([names.get(name, name) for name in code.co_varnames]),
        co_names=tuple([names.get(name, name) for name in code.co_names]),
        co_consts=tuple([names.get(c, c) if type(c) is str else c for c in code.co_consts]),
    )
    scope: dict[str, Any] = {"_put": object.__setattr__, "_MADE": _MADE}
    scope["__name__"] = cls.__module__  # errors look for the line that called
    for k, f in enumerate(fields):
        scope[f"_put{k}"] = getattr(getattr(cls, f.name, None), "__set__", None)
        scope[f"_make{k}"] = f.default_factory
    given = [_MADE if made else f.default for f, (_, made) in zip(fields, ways, strict=True)]
    init = FunctionType(code, scope, "__init__", tuple([d for d in given if d is not MISSING]))
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {f.name: f.type for f in fields} | {"return": None}
    return init


def _way(cls: Class, field: Field[Any], frozen: bool) -> str:
    """How a field is set: by assignment; if that is refused, by its slot, or else by its name."""
    if field.kw_only:
        raise TypeError(f"{field.name!r} is given by keyword: take dataclasses.dataclass")
    if not frozen:
        return "assignment"
    return "slot" if isinstance(getattr(cls, field.name, None), MemberDescriptorType) else "name"


@cache
def _code(ways: tuple[tuple[str, bool], ...], post: bool) -> CodeType:
    """The code of `__init__` for fields `a0`, `a1` … that are set in these ways, or made."""
    lines = [f"def __init__({', '.join(['self', *[f'a{k}' for k in range(len(ways))]])}):"]
    for k, (way, made) in enumerate(ways):
        value = f"_make{k}() if a{k} is _MADE else a{k}" if made else f"a{k}"
        match way:
            case "slot":
                lines.append(f"    _put{k}(self, {value})")
            case "name":
                lines.append(f"    _put(self, 'a{k}', {value})")
            case _:
                lines.append(f"    self.a{k} = {value}")
    lines.append("    self.__post_init__()" if post else "    pass")
    scope: dict[str, Any] = {}
    exec("\n".join(lines), scope)
    code: CodeType = scope["__init__"].__code__
    return code


def _getter(names: Sequence[str]) -> Values:
    """The values of fields as a tuple, in which what is identical is equal, NaN too."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda self: ()
    only = attrgetter(names[0])
    return lambda self: (only(self),)


def _eq(values: Values) -> Callable[[Any, Any], Any]:
    def __eq__(self: Any, other: object) -> Any:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return __eq__


def _hash(values: Values) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


@recursive_repr()
def _repr(self: Any) -> str:
    """`__repr__` of all classes."""
    fields = [f.name for f in dataclasses.fields(self) if f.repr]
    told = ", ".join([f"{name}={getattr(self, name)!r}" for name in fields])
    return f"{self.__class__.__qualname__}({told})"


# -- frozen ----------------------------------------------------------------------------------------


def _frozen(cls: Class, names: frozenset[str], slots: bool) -> dict[str, Any]:
    """What keeps objects as they are; those with slots are pickled by their fields."""

    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    made: dict[str, Any] = {"__setattr__": __setattr__, "__delattr__": __delattr__}
    return made | {"__getstate__": _getstate, "__setstate__": _setstate} if slots else made


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
