"""`records` makes what `dataclasses.dataclass` and `typing.NamedTuple` make."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing
from dataclasses import FrozenInstanceError, field
from itertools import product
from typing import ClassVar

import pytest

from linnet import records

NAN = float("nan")
OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq, "repr": repr}
    for frozen, slots, eq, repr in product((True, False), repeat=4)
]


def plain():
    class Plain:
        """Two fields."""

        x: int
        y: object = 2

    return Plain


def single():
    class Single:
        """One field."""

        x: object

    return Single


def empty():
    class Empty:
        """No fields."""

    return Empty


def made():
    class Made:
        """Defaults that are made, and fields that are not compared."""

        x: int
        items: list[int] = field(default_factory=list)
        at: str = field(default="here", compare=False)
        hidden: int = field(default=0, repr=False)

    return Made


def completed():
    class Completed:
        """Something to do when it is made."""

        x: int
        y: int = 1

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("negative")

        def __repr__(self):
            return "own"

        def __hash__(self):
            return 7

    return Completed


def shared():
    class Shared:
        """A variable of the class, which is no field."""

        count: ClassVar[int] = 3
        x: int

    return Shared


SHAPES = [plain, single, empty, made, completed, shared]


def both(shape, options):
    return [module.dataclass(**options)(shape()) for module in (records, dataclasses)]


def outcome(run):
    """What a call gives, or the type of what it raises."""
    try:
        return run()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_methods_of_the_standard_library(shape, options):
    ours, theirs = both(shape, options)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__doc__ == theirs.__doc__
    names = [[(f.name, f.type) for f in dataclasses.fields(c)] for c in (ours, theirs)]
    assert names[0] == names[1]
    for args in ((), (1,), (-1,), (1, 2), (1, [3], "there", 5), (1, 2, 3, 4, 5)):
        a, b = (outcome(lambda c=c, args=args: c(*args)) for c in (ours, theirs))
        if isinstance(b, type):
            assert a is b
            continue
        if options["repr"]:
            assert repr(a) == repr(b)
        other, twin = ours(*args), theirs(*args)
        assert (a == other) == (b == twin)
        assert (a == ours(*args[:1], *[9 for _ in args[1:]])) == (
            b == theirs(*args[:1], *[9 for _ in args[1:]])
        )
        assert a != b
        if options["eq"]:
            assert outcome(lambda a=a: hash(a)) == outcome(lambda b=b: hash(b))
        assert dataclasses.asdict(a) == dataclasses.asdict(b)


@pytest.mark.parametrize("shape", [plain, single, completed])
def test_what_is_identical_is_equal(shape):
    """As in a tuple; the standard library compares fields one by one since 3.13."""
    ours = records.dataclass(frozen=True)(shape())
    assert ours(NAN) == ours(NAN)
    assert hash(ours(NAN)) == hash(ours(NAN))
    assert ours(NAN) != ours(float("nan"))


@pytest.mark.skipif(not hasattr(copy, "replace"), reason="new in Python 3.13")
def test_copies_with_other_values():
    class Named(records.NamedTuple):
        x: int
        y: int = 2

    ours, theirs = both(plain, {"frozen": True, "slots": True})
    assert copy.replace(ours(1), y=5) == ours(1, 5)
    assert copy.replace(theirs(1), y=5) == theirs(1, 5)
    assert copy.replace(Named(1), y=5) == Named(1, 5)
    for made in (ours(1), theirs(1), Named(1)):
        with pytest.raises((TypeError, ValueError)):
            copy.replace(made, z=5)


@pytest.mark.parametrize("slots", [True, False])
def test_frozen_objects_stay(slots):
    ours, theirs = both(plain, {"frozen": True, "slots": slots})
    for x in (ours(1), theirs(1)):
        for change in (lambda x=x: setattr(x, "x", 3), lambda x=x: delattr(x, "y")):
            with pytest.raises(FrozenInstanceError):
                change()
        with pytest.raises((FrozenInstanceError, TypeError)):
            x.z = 1
        assert (x.x, x.y) == (1, 2)
    assert hasattr(ours(1), "__dict__") == (not slots)
    assert dataclasses.replace(ours(1), y=5) == ours(1, 5)
    with pytest.raises(TypeError):
        dataclasses.replace(ours(1), z=5)


@records.dataclass(frozen=True, slots=True)
class Point:
    """At the top of a module, to be pickled."""

    x: int
    y: tuple[int, ...] = ()


@records.dataclass(frozen=True)
class Base:
    """With a field of its own."""

    x: int = 0


@records.dataclass(frozen=True)
class Derived(Base):
    """And another."""

    y: int = 1


def test_pickles_and_copies():
    point = Point(1, (2, 3))
    for other in (pickle.loads(pickle.dumps(point)), copy.copy(point), copy.deepcopy(point)):
        assert other == point
        assert other.__class__ is Point
    match point:
        case Point(x, y):
            assert (x, y) == (1, (2, 3))


def test_classes_inherit_from_either_kind():
    assert Derived(3) == Derived(3, 1) != Derived(3, 2)
    assert repr(Derived(y=4)) == "Derived(x=0, y=4)"
    with pytest.raises(FrozenInstanceError):
        Derived().x = 1
    assert Base(1) != Derived(1)

    @dataclasses.dataclass(frozen=True)
    class Theirs(Base):
        z: int = 2

    assert Theirs(1, 3).z == 3
    with pytest.raises(FrozenInstanceError):
        Theirs().z = 1
    for module in (records, dataclasses):
        with pytest.raises(TypeError, match="frozen"):

            @module.dataclass
            class Thawed(Base):
                """Not frozen, and its base is."""


@pytest.mark.parametrize("slots", [True, False])
@pytest.mark.parametrize("frozen", [True, False])
def test_what_is_derived_has_the_fields_that_the_standard_library_finds(frozen, slots):
    def derived(module):
        make = module.dataclass(frozen=frozen, slots=slots)

        @make
        class Above:
            """Two fields, and variables of the class."""

            x: int
            y: list[int] = field(default_factory=list)
            width: ClassVar[int] = 1
            depth: ClassVar[int] = 2

        @make
        class Below(Above):
            """A field again, one instead of a variable of the class, and one that is new."""

            x: int = 7
            width: int
            z: str = "here"

        @make
        class Last(Below):
            """A variable of the class instead of a field."""

            z: ClassVar[str] = "there"

        return Above, Below, Last

    for ours, theirs in zip(derived(records), derived(dataclasses), strict=True):
        assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
        assert ours.__match_args__ == theirs.__match_args__
        assert ours.__qualname__ == theirs.__qualname__
        assert ours.__dict__.get("__slots__") == theirs.__dict__.get("__slots__")
        a, b = ours(5), theirs(5)
        assert dataclasses.asdict(a) == dataclasses.asdict(b)
        assert repr(a) == repr(b)
        assert (a.width, a.depth) == (b.width, b.depth)
        assert dataclasses.replace(a, x=6) == ours(6)


def test_calls_are_refused_by_the_name_of_the_class():
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required"):
        Point()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=2)


def test_objects_that_hold_themselves_are_printed():
    @records.dataclass(slots=True)
    class Ring:
        """A list that may hold the ring."""

        items: list[object]

    ring = Ring([])
    ring.items.append(ring)
    assert repr(ring).endswith("Ring(items=[...])")


def test_fields_by_keyword_are_refused():
    with pytest.raises(TypeError, match="take dataclasses"):

        @records.dataclass
        class Named:
            """A field that has to be named."""

            x: int = field(default=0, kw_only=True)


class OurPoint(records.NamedTuple):
    """A place."""

    x: int
    y: float | None = None
    label: str = "here"

    def doubled(self):
        return self._replace(x=2 * self.x)


class TheirPoint(typing.NamedTuple):
    """A place."""

    x: int
    y: float | None = None
    label: str = "here"

    def doubled(self):
        return self._replace(x=2 * self.x)


def test_named_tuples_are_those_of_the_standard_library():
    for ours, theirs in (
        (OurPoint(3), TheirPoint(3)),
        (OurPoint(3, 0.5, "z"), TheirPoint(3, 0.5, "z")),
    ):
        assert ours == theirs
        assert tuple(ours.doubled()) == tuple(theirs.doubled())
        assert repr(ours) == repr(theirs).replace("Their", "Our")
        assert ours._asdict() == theirs._asdict()
        assert pickle.loads(pickle.dumps(ours)) == ours
        assert type(copy.deepcopy(ours)) is OurPoint
    assert OurPoint._fields == TheirPoint._fields
    assert OurPoint._field_defaults == TheirPoint._field_defaults
    assert (OurPoint.__doc__, OurPoint.__module__) == (TheirPoint.__doc__, TheirPoint.__module__)
    assert (OurPoint.__mro__[1:], type(OurPoint)) == ((tuple, object), type)
    assert typing.get_type_hints(OurPoint) == typing.get_type_hints(TheirPoint)
    assert OurPoint.__match_args__ == ("x", "y", "label")


def test_named_tuples_refuse_what_those_of_the_standard_library_do():
    for wrong in ((), (1, 2, 3, 4)):
        with pytest.raises(TypeError, match="argument"):
            OurPoint(*wrong)
    with pytest.raises(AttributeError):
        OurPoint(1).x = 2
    assert not hasattr(OurPoint(1), "__dict__")
    assert str(inspect.signature(OurPoint)).count("=") == 2
    for call in (
        lambda point: point(),
        lambda point: point(1, 2, 3, 4),
        lambda point: point(1, z=2),
        lambda point: point._make([1]),
        lambda point: point._make([1, 2, 3]) == (1, 2, 3),
        lambda point: point(1)._replace(x=2) == (2, None, "here"),
    ):
        assert outcome(lambda call=call: call(OurPoint)) == outcome(
            lambda call=call: call(TheirPoint)
        )
    with pytest.raises((TypeError, ValueError), match="unexpected field names"):
        OurPoint(1)._replace(z=2)
    with pytest.raises(TypeError, match="default"):

        class Late(records.NamedTuple):
            """A field without a default after one that has it."""

            x: int = 1
            y: int


def test_elements_have_names_without_what_is_private_to_the_library(monkeypatch):
    monkeypatch.setattr(records, "_element", records._by_position)

    class Point(records.NamedTuple):
        x: int
        y: int = 4

    assert (Point(3).x, Point(3).y) == (3, 4)
    with pytest.raises(AttributeError):
        Point(1).x = 2
