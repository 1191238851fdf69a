"""Random calls on random arrays, in every format, in chains: values, shapes and dtypes as NumPy's.

Arrays come in any nest of levels, with any fill value and dtype; a call has arguments that NumPy
accepts. Chains matter: a function must take what another one returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st
from tests.oracle.data import SMALL, WILD, recipes, square, tensors
from tests.oracle.formats import READ, WRITTEN, formats

import linnet as ln

Draw = st.DrawFn
Call = tuple[str, Callable[[Any], Any], Callable[[Any], Any]]  # its text, ours, NumPy's
MOST = 4096  # elements that a chain may come to


def _axis(draw: Draw, a: np.ndarray) -> int:
    return draw(st.integers(-a.ndim, a.ndim - 1))


def _same(text: str) -> Call:
    """A call that is written alike in both: `xp` is the namespace, `x` the array."""
    ours = eval(f"lambda x: {text}", {"xp": ln, "np": np})
    theirs = eval(f"lambda x: {text}", {"xp": np, "np": np})
    return text, ours, theirs


def reshape(draw: Draw, a: np.ndarray) -> Call:
    left, dims = a.size, []
    while left > 1 and len(dims) < 3:
        dims.append(draw(st.sampled_from([d for d in range(1, left + 1) if left % d == 0])))
        left //= dims[-1]
    return _same(f"xp.reshape(x, {(*dims, left)})")


def permute(draw: Draw, a: np.ndarray) -> Call:
    axes = tuple(draw(st.permutations(range(a.ndim))))
    return _same(f"xp.permute_dims(x, {axes})")


def flip(draw: Draw, a: np.ndarray) -> Call:
    axis = draw(st.none() | st.integers(-a.ndim, a.ndim - 1)) if a.ndim else None
    return _same(f"xp.flip(x, axis={axis})")


def roll(draw: Draw, a: np.ndarray) -> Call:
    axis = _axis(draw, a) if a.ndim and draw(st.booleans()) else None
    return _same(f"xp.roll(x, {draw(st.integers(-4, 9))}, axis={axis})")


def join(draw: Draw, a: np.ndarray) -> Call:
    if draw(st.booleans()) or not a.ndim:
        axis = draw(st.integers(-a.ndim - 1, a.ndim))
        return _same(f"xp.stack([x, x], axis={axis})")
    return _same(f"xp.concat([x, xp.flip(x), x], axis={_axis(draw, a)})")


def take(draw: Draw, a: np.ndarray) -> Call:
    axis = _axis(draw, a)
    n = a.shape[axis]
    some = st.lists(st.integers(-n, n - 1), max_size=5) if n else st.just([])
    return _same(f"xp.take(x, np.array({draw(some)}, dtype=int), axis={axis})")


def _index(draw: Draw, n: int) -> str:
    kinds = ["slice", "slice", "list", "mask", "int"]
    match draw(st.sampled_from(kinds if n else kinds[:2])):
        case "slice":
            ends = st.none() | st.integers(-n - 2, n + 2)
            step = draw(st.sampled_from([None, 1, 2, 3, -1, -2]))
            return ":".join("" if e is None else str(e) for e in (draw(ends), draw(ends), step))
        case "list":
            return str(draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=4)))
        case "mask":
            return str(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        case _:
            return str(draw(st.integers(-n, n - 1)))


def pick(draw: Draw, a: np.ndarray) -> Call:
    parts = [_index(draw, n) for n in a.shape[: draw(st.integers(0, a.ndim))]]
    arrays = [k for k, part in enumerate(parts) if part.startswith("[")]
    for k in arrays[1:]:  # several are matched with each other, which has a case of its own
        parts[k] = ":"
    if draw(st.integers(0, 3)) == 3:
        parts.insert(draw(st.integers(0, len(parts))), "None")
    return _same(f"x[{', '.join(parts) or '...'}]")


def points(draw: Draw, a: np.ndarray) -> Call:
    count = draw(st.integers(1, 4)) if a.size else 0
    one = [st.lists(st.integers(-n, n - 1), min_size=count, max_size=count) for n in a.shape if n]
    parts = [str(draw(s)) for s in one[: draw(st.integers(1, a.ndim))]] if a.size else [":"]
    return _same(f"x[{', '.join(parts)}]")


def masked(draw: Draw, a: np.ndarray) -> Call:
    bits = np.frombuffer(draw(st.binary(min_size=a.size, max_size=a.size)), np.uint8) % 2 == 1
    mask = bits.reshape(a.shape)
    return f"x[{mask.tolist()}]", lambda x: x[mask], lambda x: x[mask]


def repeat(draw: Draw, a: np.ndarray) -> Call:
    if draw(st.booleans()):
        return _same(f"xp.tile(x, {tuple(draw(st.lists(st.integers(0, 3), max_size=3)))})")
    axis = _axis(draw, a) if a.ndim and draw(st.booleans()) else None
    return _same(f"xp.repeat(x, {draw(st.integers(0, 3))}, axis={axis})")


def triangle(draw: Draw, a: np.ndarray) -> Call:
    name = draw(st.sampled_from(["tril", "triu"]))
    return _same(f"xp.{name}(x, k={draw(st.integers(-3, 3))})")


def widen(draw: Draw, a: np.ndarray) -> Call:
    if draw(st.booleans()):
        return _same(f"xp.expand_dims(x, axis={draw(st.integers(-a.ndim - 1, a.ndim))})")
    return _same(f"xp.broadcast_to(x, {(draw(st.integers(0, 3)), *a.shape)})")


def order(draw: Draw, a: np.ndarray) -> Call:
    name = draw(st.sampled_from(["sort", "argsort"]))
    return _same(f"xp.{name}(x, axis={_axis(draw, a)}, stable=True)")


def extreme(draw: Draw, a: np.ndarray) -> Call:
    name, axis = draw(st.sampled_from(["argmax", "argmin"])), draw(st.booleans())
    return _same(f"xp.{name}(x, axis={_axis(draw, a) if axis and a.ndim else None})")


def distinct(draw: Draw, a: np.ndarray) -> Call:
    part = draw(st.sampled_from(["values", "counts", "indices", "inverse_indices"]))
    if part == "values":  # which NumPy gives in any order, since 2.3
        return _same("xp.sort(xp.unique_values(x))")
    return _same(f"xp.unique_all(x).{part}")


def found(draw: Draw, a: np.ndarray) -> Call:
    if draw(st.booleans()):
        return _same("xp.count_nonzero(x)")
    return _same(f"xp.nonzero(x)[{_axis(draw, a)}]")


def chosen(draw: Draw, a: np.ndarray) -> Call:
    return _same("xp.where(xp.flip(x) == x, x, xp.flip(x))")


def running(draw: Draw, a: np.ndarray) -> Call:
    name = "getattr(xp, 'cumulative_sum', np.cumsum)"  # in NumPy since 2.1
    return _same(f"{name}(xp.isfinite(x), axis={_axis(draw, a)})")


def reduced(draw: Draw, a: np.ndarray) -> Call:
    axis = _axis(draw, a) if draw(st.booleans()) else None
    keep = draw(st.booleans())
    name = draw(st.sampled_from(["any", "all", "max", "min"]))
    n = a.size if axis is None else a.shape[axis]
    if name in ("max", "min") and (n == 0 or a.dtype.kind in "cb"):
        name = "any"
    return _same(f"xp.{name}(x, axis={axis}, keepdims={keep})")


def along(draw: Draw, a: np.ndarray) -> Call:
    axis = _axis(draw, a)
    size = math.prod(a.shape[:axis] + a.shape[axis:][1:])
    n = a.shape[axis]
    if not n or not size:
        return _same("xp.flip(x)")
    count = draw(st.integers(1, 3))
    whole = draw(st.binary(min_size=size * count, max_size=size * count))
    shape = list(a.shape)
    shape[axis] = count
    places = (np.frombuffer(whole, np.uint8).astype(int) % n).reshape(shape)
    text = f"take_along_axis(x, {places.tolist()}, axis={axis})"
    return (
        text,
        lambda x: ln.take_along_axis(x, ln.asarray(places), axis=axis),
        lambda x: np.take_along_axis(x, places, axis=axis),
    )


def changed(draw: Draw, a: np.ndarray) -> Call:
    """Assignment to elements, of one of the array's own values."""
    parts = [_index(draw, n) for n in a.shape[: draw(st.integers(0, a.ndim))]]
    for k in [k for k, part in enumerate(parts) if part.startswith("[")][1:]:
        parts[k] = ":"
    where = ", ".join(parts) or "..."
    name = {}
    exec(f"def put(x, value):\n    x[{where}] = value\n    return x", name)
    value = a.flat[0] if a.size else a.dtype.type(1)
    put = name["put"]
    return f"x[{where}] = {value}", lambda x: put(x.copy(), value), lambda x: put(x.copy(), value)


def _with(draw: Draw, a: np.ndarray, shape: tuple[int, ...], text: str) -> Call:
    """A call with a second array `y`, in a format of its own, of the same dtype or another."""
    dtype = str(a.dtype) if draw(st.booleans()) else None
    format = draw(formats(len(shape), WRITTEN, dtype))
    y = draw(tensors(draw(recipes(format, SMALL)), shape))
    b = y.to_numpy()
    ours = eval(f"lambda x: {text}", {"xp": ln, "y": y})
    theirs = eval(f"lambda x: {text}", {"xp": np, "y": b})
    return f"{text} with y = {y!r} of {format}\n{b!r}", ours, theirs


def beside(draw: Draw, a: np.ndarray) -> Call:
    axis = _axis(draw, a)
    shape = list(a.shape)
    shape[axis] = draw(st.integers(0, 3))
    text = draw(st.sampled_from(["[x, y]", "[y, x, y]"]))
    return _with(draw, a, tuple(shape), f"xp.concat({text}, axis={axis})")


def _broadcast(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(draw(st.sampled_from([n, 1])) for n in shape[draw(st.integers(0, len(shape))) :])


def either(draw: Draw, a: np.ndarray) -> Call:
    text = draw(st.sampled_from(["x == x", "y == y", "xp.isfinite(x)", "xp.isfinite(y)"]))
    return _with(draw, a, _broadcast(draw, a.shape), f"xp.where({text}, x, y)")


def compared(draw: Draw, a: np.ndarray) -> Call:
    op = draw(st.sampled_from(["==", "!="] if a.dtype.kind == "c" else ["<", ">=", "==", "!="]))
    return _with(draw, a, _broadcast(draw, a.shape), f"xp.isfinite(x) {op} xp.isfinite(y)")


def member(draw: Draw, a: np.ndarray) -> Call:
    return _with(draw, a, (draw(st.integers(0, 4)),), "xp.isin(x, y)")


def statistic(draw: Draw, a: np.ndarray) -> Call:
    axis = _axis(draw, a) if a.ndim and draw(st.booleans()) else None
    name = draw(st.sampled_from(["sum", "prod", "count_nonzero"]))
    return _same(f"xp.{name}(xp.isfinite(x), axis={axis})")


def product(draw: Draw, a: np.ndarray) -> Call:
    text = "xp.astype(xp.isfinite(x), xp.int32) @ xp.astype(xp.isfinite(y), xp.int64)"
    return _with(draw, a, (a.shape[-1], draw(st.integers(0, 3))), text)


def outer(draw: Draw, a: np.ndarray) -> Call:
    return _with(draw, a, (2, 3), "xp.kron(xp.isfinite(x), xp.isfinite(y))")


def pad(draw: Draw, a: np.ndarray) -> Call:
    widths = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in a.shape]
    return _same(f"xp.pad(x, {widths})")


def difference(draw: Draw, a: np.ndarray) -> Call:
    text = f"axis={_axis(draw, a)}, n={draw(st.integers(0, 2))}"
    return _same(f"xp.diff(xp.astype(xp.isfinite(x), xp.int8), {text})")


ANY = (reshape, permute, flip, roll, join, pick, masked, repeat, widen, distinct, chosen, changed)
ANY += (either, compared, member, statistic)
SOME = (take, points, order, extreme, running, reduced, along, beside, product, pad, difference)
SOME += (found,)
UNORDERED = (order, extreme, distinct, member)  # not of complex numbers


def calls(a: np.ndarray) -> list[Callable[[Draw, np.ndarray], Call]]:
    """The functions that can be called of an array."""
    can = [*ANY, *(SOME if a.ndim else ()), *((triangle, outer) if a.ndim > 1 else ())]
    if a.dtype.kind == "c":
        can = [f for f in can if f not in UNORDERED]
    return [f for f in can if f is not extreme or a.size]


@given(data=st.data())
def test_chains(data: st.DataObject) -> None:
    """With few values and with many, of which other code takes care."""
    with ln.config(many=data.draw(st.sampled_from([0, None]))):
        check_chain(data.draw)


def check_chain(draw: Draw) -> None:
    """Drawn calls, one of what the other gives."""
    ndim = draw(st.integers(0, 4))
    format = draw(formats(ndim, READ))
    shape = square(tuple(draw(st.integers(0, 5)) for _ in range(ndim)), format)
    x = draw(tensors(draw(recipes(format, draw(st.sampled_from([SMALL, WILD])))), shape))
    a = x.to_numpy()
    note(f"{x!r} of {format}\n{a!r}")
    lazily = draw(st.booleans())
    for _ in range(draw(st.integers(1, 3))):
        function = draw(st.sampled_from(calls(a)))
        text, ours, theirs = function(draw, a)
        note(f"{text}{' of a lazy array' if lazily else ''}")
        expected = np.asarray(theirs(a))
        if expected.size > MOST:
            return
        if function is changed and isinstance(x, ln.Lazy):
            x = ln.compute(x)
        before = x
        x = ours(ln.lazy(x) if lazily and function is not changed else x)
        assert isinstance(x, ln.Tensor | ln.Lazy if lazily else ln.Tensor)
        assert x.shape == expected.shape
        assert x.dtype == expected.dtype
        np.testing.assert_array_equal(ln.compute(x).to_numpy(), expected)
        np.testing.assert_array_equal(ln.compute(before).to_numpy(), a)
        a = expected
