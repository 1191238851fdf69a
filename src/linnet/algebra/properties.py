"""`ln.check_properties`: what is claimed of a function, tried on values; it cannot be proven so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import DTYPES, Number, canonical, concrete
from linnet.algebra.exact import same
from linnet.algebra.function import Case, Function
from linnet.algebra.lookup import lookup
from linnet.algebra.regions import holds, show
from linnet.algebra.table import FUNCTIONS
from linnet.errors import ArgumentError, LinnetError, Location
from linnet.records import dataclass

Array = NDArray[Any]
_MOST = 4000  # combinations of values that are tried for a claim


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Values for which a claim does not hold: both sides of it, and their dtype."""

    claim: str
    dtype: str
    values: tuple[Number, ...]
    found: Number
    expected: Number

    def __str__(self) -> str:
        values = ", ".join(map(repr, self.values))
        sides = f"{self.found!r}, not {self.expected!r}"
        return f"{self.claim} fails for {self.dtype} at ({values}): {sides}"


@dataclass(frozen=True, slots=True)
class Report:
    """What was found out about the claims of a function; true if none has failed."""

    function: str
    claims: tuple[str, ...]
    counterexamples: tuple[Counterexample, ...]

    def __bool__(self) -> bool:
        return not self.counterexamples

    def __str__(self) -> str:
        if self.counterexamples:
            return "\n".join(f"{self.function}: {c}" for c in self.counterexamples)
        if not self.claims:
            return f"{self.function}: nothing is claimed"
        return f"{self.function}: no counterexample to {', '.join(self.claims)}"

    __repr__ = __str__


def check_properties(function: object, dtypes: Iterable[object] | None = None) -> Report:
    """Try what is claimed of a function on many values of each dtype, awkward ones included.

    The first counterexample to each claim is in the report, which prints them; it is true if there
    is none. Results need only agree up to rounding, and NaN and infinities that overflow brings
    about are passed over, as the compiler does: a law is about the numbers that are meant.

    >>> mean = ln.function(lambda x, y: (x + y) / 2, associative=True, name="mean")
    >>> print(ln.check_properties(mean, dtypes=["float64"]))
    mean: associative fails for float64 at (0.0, 0.0, 1.0): 0.5, not 0.25
    """
    found = lookup(function)
    if found is None:
        raise ArgumentError(f"{function!r} is not a function of Linnet", at=Location.of_caller())
    claims: dict[str, None] = {}
    failed: dict[str, Counterexample] = {}
    seen = set[tuple[str, ...]]()
    for dtype in DTYPES if dtypes is None else [canonical(d) for d in dtypes]:
        given = _given(found, dtype)
        if given is None or given in seen:
            continue
        seen.add(given)
        for claim in _claims(found, given):
            claims[claim.name] = None
            if claim.name not in failed and (example := _try(claim)) is not None:
                failed[claim.name] = example
    return Report(found.label, tuple(claims), tuple(failed.values()))


def _given(f: Function, dtype: str) -> tuple[str, ...] | None:
    """The types to which arguments of one type are converted; None if there is no such call."""
    try:
        return tuple([concrete(t) for t in f.types((dtype,) * f.arity)[0]])
    except LinnetError:
        return None


# -- claims ----------------------------------------------------------------------------------------


Side = Callable[..., object]


@dataclass(frozen=True, slots=True)
class _Claim:
    """Two expressions in as many values that are to be equal wherever `meant` does not say no."""

    name: str
    dtypes: tuple[str, ...]
    left: Side
    right: Side
    meant: Callable[..., Array] | None = None


def _claims(f: Function, given: tuple[str, ...]) -> Iterator[_Claim]:
    """Everything that is claimed of a function, for arguments of these types."""
    call, alike = f.numpy, len(set(given)) == 1
    result = concrete(f.types(given)[1])
    if f.commutative and alike:
        yield _Claim("commutative", given, call, lambda *x: call(*reversed(x)))
    if f.idempotent and alike:
        yield _Claim("idempotent", given[:1], lambda x: call(*(x,) * f.arity), _same)
    if f.arity == 2 and given == (result, result):
        yield from _algebraic(f, result)
    yield from _constant_claims(f, given)
    yield from _space_claims(f, given)
    yield from _case_claims(f, given)


def _same(x: Array) -> object:
    return x


def _algebraic(f: Function, dtype: str) -> Iterator[_Claim]:
    """Associativity and distributivity: of results that are arguments again."""
    call, three = f.numpy, (dtype,) * 3
    if f.associative:
        yield _Claim(
            "associative",
            three,
            lambda x, y, z: call(call(x, y), z),
            lambda x, y, z: call(x, call(y, z)),
        )
    for other in f.distributes_over:
        over = FUNCTIONS[other] if isinstance(other, str) else other
        if _given(over, dtype) == (dtype, dtype) and over.types((dtype, dtype))[1] == dtype:
            yield _distributive(call, over.numpy, over.label, three)


def _distributive(call: Side, plus: Side, name: str, dtypes: tuple[str, ...]) -> _Claim:
    return _Claim(
        f"distributes over {name}",
        dtypes,
        lambda x, y, z: call(x, plus(y, z)),
        lambda x, y, z: plus(call(x, y), call(x, z)),
    )


def _constant_claims(f: Function, given: tuple[str, ...]) -> Iterator[_Claim]:
    """Identities, annihilators, and other values that decide."""
    laws: list[tuple[str, int | None, Number | None, Number | None]] = []
    if f.arity == 2:
        laws += [
            ("identity", None, f.identity(given[0]), None),
            ("left identity", 0, f.left_identity(given[0]), None),
            ("right identity", 1, f.right_identity(given[1]), None),
        ]
    zero, left = f.annihilator(given[0]), f.left_annihilator(given[0])
    laws += [("annihilator", None, zero, zero), ("left annihilator", 0, left, left)]
    laws += [(_decision(v, r), p, v, r) for v, p, r in f.constants]
    for name, position, value, result in laws:
        for k in range(f.arity) if position is None else (position,):
            if value is not None and _fits(value, given[k]):
                yield _fixed(name, f, given, k, value, result)


def _decision(value: Number, result: Number) -> str:
    return f"annihilator {value!r}" if same(value, result) else f"{value!r} decides"


def _fits(value: Number, dtype: str) -> bool:
    try:
        with np.errstate(all="ignore"):
            held = np.asarray(value).astype(dtype)
            return bool(held == value) or bool(held != held and value != value)
    except (TypeError, ValueError, OverflowError):
        return False


def _fixed(
    name: str,
    f: Function,
    given: tuple[str, ...],
    k: int,
    value: Number,
    result: Number | None,
) -> _Claim:
    """A law for one argument that has a value; without a result, the other argument is it."""
    others = (*given[:k], *given[k + 1 :]) or given  # of one argument: any value, which is ignored

    def left(*x: Array) -> object:
        at = np.full(x[0].shape, value, given[k])
        return f.numpy(at) if f.arity == 1 else f.numpy(*x[:k], at, *x[k:])

    def right(*x: Array) -> object:
        return x[0] if result is None else np.full(x[0].shape, result)

    # what is decided is decided where the other values are finite, and not zero: 0 / 0 is NaN
    return _Claim(name, others, left, right, None if result is None else _plain)


def _plain(*values: Array) -> Array:
    inside = np.ones(values[0].shape, bool)
    for v in values:
        inside &= np.isfinite(v) & (v != 0)
    return inside


def _space_claims(f: Function, given: tuple[str, ...]) -> Iterator[_Claim]:
    """Outside the iteration space, the result is that of the fill values."""
    space = f.space
    if space is None or not all(_fits(v, t) for v, t in zip(f.fills, given, strict=True)):
        return

    def outside(*x: Array) -> Array:
        defined = {
            p: ~_equal(v, np.asarray(fill)) for p, v, fill in zip(f.params, x, f.fills, strict=True)
        }
        rows = [
            not holds(space, lambda name, k=k: bool(defined[name][k]))  # type: ignore[misc]
            for k in range(len(x[0]))
        ]
        return np.array(rows, bool)

    def fill(*x: Array) -> object:
        if f.outside is not None:
            return np.full(x[0].shape, f.outside)
        at = [np.full_like(v, value) for v, value in zip(x, f.fills, strict=True)]
        return f.numpy(*at)

    yield _Claim(f"iteration space {show(space)}", given, f.numpy, fill, outside)


def _case_claims(f: Function, given: tuple[str, ...]) -> Iterator[_Claim]:
    """A case gives what the function gives."""
    for case in f.cases:
        if all(_fits(v, given[k]) for k, v in case.values):
            named = ", ".join(f"{f.params[k]}={v!r}" for k, v in case.values)
            yield _Claim(f"case {named}", given, _special(case), _general(f, case))


def _special(case: Case) -> Side:
    def special(*x: Array) -> object:
        args = _with_values(x, case)
        return case.function.numpy(*(args[k] for k in case.order))

    return special


def _general(f: Function, case: Case) -> Side:
    return lambda *x: f.numpy(*_with_values(x, case))


def _with_values(x: tuple[Array, ...], case: Case) -> list[Array]:
    known = dict(case.values)
    return [np.full_like(v, known[k]) if k in known else v for k, v in enumerate(x)]


# -- trying ----------------------------------------------------------------------------------------


def _try(claim: _Claim) -> Counterexample | None:
    """The first values for which a claim fails."""
    columns = _samples(claim.dtypes)
    with np.errstate(all="ignore"):
        left, right = (np.asarray(side(*columns)) for side in (claim.left, claim.right))
        left, right = np.broadcast_arrays(left, right)
        bad = ~_agree(left, right, columns)
        if claim.meant is not None:
            bad &= claim.meant(*columns)
    if not bad.any():
        return None
    k = int(np.argmax(bad))
    values = tuple(c[k].item() for c in columns)
    dtype = ", ".join(dict.fromkeys(claim.dtypes))
    return Counterexample(claim.name, dtype, values, left[k].item(), right[k].item())


def _agree(left: Array, right: Array, columns: list[Array]) -> Array:
    """Equal up to rounding; or a NaN or an infinity that finite arguments do not explain."""
    if left.dtype.kind in "biu" and right.dtype.kind in "biu":
        return np.asarray(left == right)
    wide = np.result_type(left, right, np.complex128 if left.dtype.kind == "c" else np.float64)
    a, b = left.astype(wide), right.astype(wide)
    scale = np.maximum(np.abs(a), np.abs(b))
    for c in columns:
        scale = np.maximum(scale, np.abs(c.astype(wide)))
    kinds = [x.dtype for x in (left, right) if x.dtype.kind in "fc"]
    tolerance = 64 * max((float(np.finfo(d).eps) for d in kinds), default=0)
    lost = ~np.isfinite(a) | ~np.isfinite(b)  # overflow, and what is not a number
    return np.asarray(_equal(left, right) | lost | (np.abs(a - b) <= tolerance * scale))


def _equal(a: Array, b: Array) -> Array:
    return np.asarray((a == b) | ((a != a) & (b != b)))


def _samples(dtypes: tuple[str, ...]) -> list[Array]:
    """Combinations of values of these types, small ones first."""
    size = max(4, int(_MOST ** (1 / len(dtypes))))
    rows = list(islice(product(*(_values(d)[:size] for d in dtypes)), _MOST))
    return [np.array([row[k] for row in rows], d) for k, d in enumerate(dtypes)]


def _values(dtype: str) -> list[Number]:
    match np.dtype(dtype).kind:
        case "b":
            return [False, True]
        case "i":
            return [0, 1, 2, -1, 3, 5, -2, 7, 12, -6, 10, 30]
        case "u":
            return [0, 1, 2, 3, 5, 4, 7, 12, 6, 10, 30, 100]
        case "f":
            ordinary = [0.0, 1.0, 0.5, 2.0, -1.0, 3.0, -0.25, 10.0, -2.5, 1.5, 0.1, 7.0, -4.0]
            return [*ordinary, float("inf"), -float("inf"), float("nan"), 1e-3, 1e3]
        case _:
            return [0j, 1 + 0j, 1j, 1 - 1j, 2 + 0.5j, -1 + 0j, -0.5j, 3 + 2j]
