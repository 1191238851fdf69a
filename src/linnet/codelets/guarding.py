"""Codelets that somebody else wrote, with every index looked at before it is used.

`guarded(codelet, types, alarm)` is the codelet with two more kinds of parameters: after its own,
the length of every array that it has, and then an array `alarm` of two cells. The length of an
array that is not to be written is given as its negative. What lies outside is not read or written;
`alarm[0]` says that this was tried. `alarm[1]` counts how deep a codelet has called itself.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from dataclasses import replace
from functools import lru_cache
from types import FunctionType

from linnet import imp
from linnet.imp.rewrite import rewrite, walk
from linnet.python.translate import Module, Types, define, translation

_DEEPEST = 1000  # calls of a codelet by itself
_READ, _WRITE = "read_inside", "write_inside"


def read_inside(array: Sequence[int], at: int, length: int, alarm: MutableSequence[int]) -> int:
    """`array[at]`, if there is such a place."""
    if at < 0 or at >= abs(length):
        alarm[0] = 1
        return 0
    return array[at]


def write_inside(
    array: MutableSequence[int], at: int, value: int, length: int, alarm: MutableSequence[int]
) -> None:
    """`array[at] = value`, if there is such a place and it may be written."""
    if at < 0 or at >= length:
        alarm[0] = 1
        return
    array[at] = value


@lru_cache(maxsize=256)
def guarded(codelet: FunctionType, types: Types, alarm: str) -> FunctionType:
    """The codelet for arguments of these types, made safe; `alarm` is the dtype of that array."""

    def guarded() -> None:
        pass

    assert isinstance(guarded, FunctionType)
    own = {f.name: f for f in translation(codelet, types).module}
    cells = imp.Buffer(f"alarm{_ending(own)}", alarm)
    made: list[imp.Function] = [
        *_accessors(alarm),
        *(g for f in own.values() for g in _guard(f, own, cells)),
    ]
    lengths = (imp.INT,) * sum(t.endswith("*") for t in types)
    define(guarded, (*types, *lengths, f"{alarm}*"), tuple(made))
    return guarded


def _ending(own: dict[str, imp.Function]) -> str:
    """What to put at the end of new names, so that no parameter or variable has them."""
    taken = {p.name for f in own.values() for p in f.params}
    for f in own.values():
        bound = (n for n in walk(f.body) if isinstance(n, imp.Let | imp.For))
        taken |= {n.var.name for n in bound}
    ending = ""
    while any(name.endswith((f"alarm{ending}", f"length{ending}")) for name in taken):
        ending += "_"
    return ending


def _accessors(alarm: str) -> Module:
    array, number = f"{imp.INT}*", imp.INT
    read = translation(_plain(read_inside), (array, number, number, f"{alarm}*")).module[-1]
    types = (array, number, number, number, f"{alarm}*")
    write = translation(_plain(write_inside), types).module[-1]
    return replace(read, name=_READ), replace(write, name=_WRITE)


def _plain(function: object) -> FunctionType:
    assert isinstance(function, FunctionType)
    return function


def _guard(f: imp.Function, own: dict[str, imp.Function], alarm: imp.Buffer) -> Module:
    """A codelet with lengths and an alarm, and checks of both indices and depth."""
    arrays = [p for p in f.params if isinstance(p, imp.Buffer)]
    lengths = tuple(_length(a, alarm) for a in arrays)

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.Load(buffer, index):
                args = (imp.Address(buffer), index, _length(buffer, alarm), imp.Address(alarm))
                return imp.Call(_READ, args, imp.INT)
            case imp.Store(buffer, index, value):
                what = (imp.Address(buffer), index, value)
                more = (_length(buffer, alarm), imp.Address(alarm))
                return imp.Do(imp.Call(_WRITE, (*what, *more), "void"))
            case imp.While(cond):  # what it waits for may never come
                quiet = imp.eq(imp.Load(alarm, imp.ZERO), imp.Const(0, alarm.dtype))
                return replace(node, cond=imp.binary("and", cond, quiet))
            case imp.Call(name, args) if name in own:
                passed = tuple(_length(a.buffer, alarm) for a in args if isinstance(a, imp.Address))
                return replace(
                    node, function=_named(name, alarm), args=(*args, *passed, imp.Address(alarm))
                )
        return None

    params = (*f.params, *lengths, alarm)
    made = replace(f, name=_named(f.name, alarm), params=params, body=rewrite(f.body, rule))
    if not any(isinstance(n, imp.Call) and n.function == f.name for n in walk(f.body)):
        return (made,)
    inner = replace(made, name=f"{made.name}_inside")
    return inner, replace(made, body=_counted(inner, alarm))


def _counted(inner: imp.Function, alarm: imp.Buffer) -> imp.Block:
    """Call a codelet that calls itself, unless it has done so too often."""
    args = tuple(imp.Address(p) if isinstance(p, imp.Buffer) else p for p in inner.params)
    call = imp.Call(inner.name, args, inner.dtype or "void")
    depth, one = imp.Load(alarm, imp.ONE), imp.Const(1, alarm.dtype)
    deeper = imp.Store(alarm, imp.ONE, imp.binary("+", depth, one))
    back = imp.Store(alarm, imp.ONE, imp.binary("-", depth, one))
    ring = imp.Store(alarm, imp.ZERO, one)
    too_deep = imp.binary(">", depth, imp.Const(_DEEPEST, alarm.dtype))
    if inner.dtype is None:
        going = imp.If(too_deep, imp.Block((ring,)), imp.Block((imp.Do(call),)))
        return imp.Block((deeper, going, back))
    result = imp.Var("result", inner.dtype)
    go = imp.If(too_deep, imp.Block((ring,)), imp.Block((imp.Assign(result, call),)))
    nothing = imp.Let(result, imp.Cast(imp.ZERO, inner.dtype))
    return imp.Block((deeper, nothing, go, back, imp.Return(result)))


def _length(array: imp.Buffer, alarm: imp.Buffer) -> imp.Var:
    return imp.Var(f"{array.name}_length{alarm.name.removeprefix('alarm')}")


def _named(name: str, alarm: imp.Buffer) -> str:
    """A name that tells the type of the alarm, too: a codelet that calls itself keeps it."""
    return f"guarded_{name}_{alarm.dtype}"
