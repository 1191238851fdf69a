"""The functions of the language: one row each, with its types, its code, its meaning, its laws.

A law is given where it holds of the numbers that are meant: rounding, overflow and NaN aside. Names
are those of the array API where it has one. `algebra.lookup` finds a function by operator or name.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from linnet.algebra import complex as parts
from linnet.algebra import division, emit, exact, types
from linnet.algebra.dtypes import DTYPES, Number, as_python, concrete, highest, kind, lowest
from linnet.algebra.exact import quiet
from linnet.algebra.function import Constant, Function
from linnet.algebra.regions import parse
from linnet.errors import DTypeError

# -- constants of laws ---------------------------------------------------------------------------


def _always(value: Number, kinds: str = "biufc") -> Constant:
    """The same number in every type of these kinds."""

    def constant(dtype: str) -> Number | None:
        return emit.constant(value, dtype).value if kind(dtype) in kinds else None

    return constant


def _ones(dtype: str) -> Number | None:
    """All bits set."""
    return {"b": True, "i": -1, "u": highest(dtype)}.get(kind(dtype))


def _least(dtype: str) -> Number | None:
    return None if kind(dtype) == "c" else lowest(dtype)


def _greatest(dtype: str) -> Number | None:
    return None if kind(dtype) == "c" else highest(dtype)


def _unless_nan(limit: Constant) -> Constant:
    """Of a function that ignores NaN, that is what changes nothing: the limit would hide one."""
    return lambda dtype: _NAN if kind(dtype) == "f" else limit(dtype)


_INF = float("inf")
_NAN = float("nan")
_zero = _always(0)
_one = _always(1)
# On booleans addition is `or`, so that there is an annihilator.
_true = _always(True, "b")


# A table is read in rows:
# fmt: off

# -- arithmetic ----------------------------------------------------------------------------------

add = Function(
    "add", 2, types.alike("add", "biufc"), emit.infix("+"), quiet(np.add), "+",
    commutative=True, associative=True, identity=_zero, annihilator=_true, repeat="times",
    distributes_over=("minimum", "maximum", "fmin", "fmax", "logaddexp", "logaddexp2"),
    constants=((_INF, None, _INF), (-_INF, None, -_INF)),)
subtract = Function(
    "subtract", 2, types.alike("subtract", "iufc"), emit.infix("-"), quiet(np.subtract), "-",
    right_identity=_zero, repeat="times",
    constants=((_INF, 0, _INF), (-_INF, 0, -_INF), (_INF, 1, -_INF), (-_INF, 1, _INF)),)
multiply = Function(
    "multiply", 2, types.alike("multiply", "biufc"), emit.infix("*"), quiet(np.multiply), "*",
    commutative=True, associative=True, identity=_one, annihilator=_zero, repeat="power",
    distributes_over=("add", "subtract"))
divide = Function(
    "divide", 2, types.floating("divide", "fc"), emit.infix("/"), quiet(np.true_divide), "/",
    right_identity=_one, left_annihilator=_zero, repeat="power")
floor_divide = Function(
    "floor_divide", 2, types.alike("floor_divide", "Biuf"), division.floor_div,
    quiet(np.floor_divide), "//", right_identity=_always(1, "biu"), left_annihilator=_zero)
remainder = Function(
    "remainder", 2, types.alike("remainder", "Biuf"), division.floor_mod, quiet(np.remainder), "%",
    left_annihilator=_zero)
fmod = Function(
    "fmod", 2, types.alike("fmod", "Biuf"), division.remainder, quiet(np.fmod),
    left_annihilator=_zero)
power = Function(
    "pow", 2, types.alike("pow", "Biufc"),
    emit.by_kind(emit.power, parts.power, division.integer_power), exact.power, "**",
    right_identity=_one, left_annihilator=_one,
    constants=((0, 1, 1), (1, 0, 1)),)
float_power = Function(
    "float_power", 2, types.double, emit.by_kind(emit.power, parts.power),
    quiet(np.float_power), right_identity=_one, left_annihilator=_one,
    constants=((0, 1, 1), (1, 0, 1)),)
negative = Function(
    "negative", 1, types.alike("negative", "iufc"), emit.negative, quiet(np.negative), "-")
positive = Function(
    "positive", 1, types.alike("positive", "iufc"), emit.same, quiet(np.positive), "+")
absolute = Function("abs", 1, types.part, emit.absolute, quiet(np.absolute))
fabs = Function("fabs", 1, types.floating("fabs"), emit.absolute, quiet(np.fabs))
sign = Function(
    "sign", 1, types.alike("sign", "iufc"),
    emit.by_kind(emit.sign, parts.by_codelet("sign")), exact.sign)
square = Function("square", 1, types.alike("square", "Biufc"), emit.square, quiet(np.square))
reciprocal = Function(
    "reciprocal", 1, types.alike("reciprocal", "Biufc"),
    emit.by_kind(division.reciprocal, parts.by_codelet("reciprocal")), exact.reciprocal)
gcd = Function(
    "gcd", 2, types.alike("gcd", "iu"), division.magnitudes("gcd"), quiet(np.gcd),
    commutative=True, associative=True, identity=_always(0, "u"), annihilator=_one, repeat="once")
lcm = Function(
    "lcm", 2, types.alike("lcm", "iu"), division.magnitudes("lcm"), quiet(np.lcm),
    commutative=True, identity=_always(1, "u"), annihilator=_zero)

# -- the smaller and the larger ------------------------------------------------------------------

minimum = Function(
    "minimum", 2, types.alike("minimum", "biuf"), emit.infix("min"), quiet(np.minimum),
    commutative=True, associative=True, idempotent=True, identity=_greatest, annihilator=_least,
    repeat="once", distributes_over=("minimum", "maximum"))
maximum = Function(
    "maximum", 2, types.alike("maximum", "biuf"), emit.infix("max"), quiet(np.maximum),
    commutative=True, associative=True, idempotent=True, identity=_least, annihilator=_greatest,
    repeat="once", distributes_over=("minimum", "maximum"))
fmin = Function(
    "fmin", 2, types.alike("fmin", "biuf"), emit.ignoring_nan("fmin", "min"), quiet(np.fmin),
    commutative=True, associative=True, idempotent=True, identity=_unless_nan(_greatest),
    annihilator=_least, repeat="once")
fmax = Function(
    "fmax", 2, types.alike("fmax", "biuf"), emit.ignoring_nan("fmax", "max"), quiet(np.fmax),
    commutative=True, associative=True, idempotent=True, identity=_unless_nan(_least),
    annihilator=_greatest, repeat="once")
clip = Function("clip", 3, types.alike("clip", "biuf"), emit.clip, exact.clip)

# -- truth values and bits -----------------------------------------------------------------------

logical_and = Function(
    "logical_and", 2, types.logical, emit.logical("and"), quiet(np.logical_and), "and",
    commutative=True, associative=True, idempotent=True, identity=_true,
    annihilator=_always(False), repeat="once",
    distributes_over=("logical_and", "logical_or", "logical_xor"))
logical_or = Function(
    "logical_or", 2, types.logical, emit.logical("or"), quiet(np.logical_or), "or",
    commutative=True, associative=True, idempotent=True, identity=_always(False, "b"),
    annihilator=_always(True), repeat="once", distributes_over=("logical_and", "logical_or"))
logical_xor = Function(
    "logical_xor", 2, types.logical, emit.logical("!="), quiet(np.logical_xor),
    commutative=True, associative=True, identity=_always(False, "b"),
    params=("x", "y"), space=parse("(x | y) & ~(x & y)"), fills=(False, False))
logical_not = Function(
    "logical_not", 1, types.logical, emit.logical_not, quiet(np.logical_not), "not")
bitwise_and = Function(
    "bitwise_and", 2, types.alike("bitwise_and", "biu"), emit.infix("&"), quiet(np.bitwise_and),
    "&", commutative=True, associative=True, idempotent=True, identity=_ones,
    annihilator=_always(0, "biu"), repeat="once",
    distributes_over=("bitwise_and", "bitwise_or", "bitwise_xor"))
bitwise_or = Function(
    "bitwise_or", 2, types.alike("bitwise_or", "biu"), emit.infix("|"), quiet(np.bitwise_or),
    "|", commutative=True, associative=True, idempotent=True, identity=_always(0, "biu"),
    annihilator=_ones, repeat="once", distributes_over=("bitwise_and", "bitwise_or"))
bitwise_xor = Function(
    "bitwise_xor", 2, types.alike("bitwise_xor", "biu"), emit.infix("^"), quiet(np.bitwise_xor),
    "^", commutative=True, associative=True, identity=_always(0, "biu"))
bitwise_invert = Function(
    "bitwise_invert", 1, types.alike("bitwise_invert", "biu"), emit.invert, quiet(np.invert), "~")
left_shift = Function(
    "bitwise_left_shift", 2, types.alike("bitwise_left_shift", "Biu"), emit.infix("<<"),
    quiet(np.left_shift), "<<",
    right_identity=_always(0, "biu"), left_annihilator=_always(0, "biu"))
right_shift = Function(
    "bitwise_right_shift", 2, types.alike("bitwise_right_shift", "Biu"), emit.infix(">>"),
    quiet(np.right_shift), ">>",
    right_identity=_always(0, "biu"), left_annihilator=_always(0, "biu"))

# -- comparisons ---------------------------------------------------------------------------------

equal = Function(
    "equal", 2, types.comparison("equal", "biufc"), emit.comparison("=="), quiet(np.equal), "==",
    commutative=True)
not_equal = Function(
    "not_equal", 2, types.comparison("not_equal", "biufc"), emit.comparison("!="),
    quiet(np.not_equal), "!=", commutative=True)
less = Function(
    "less", 2, types.comparison("less", "biuf"), emit.comparison("<"), quiet(np.less), "<",
    constants=((_INF, 0, False), (-_INF, 1, False)),)
less_equal = Function(
    "less_equal", 2, types.comparison("less_equal", "biuf"), emit.comparison("<="),
    quiet(np.less_equal), "<=",
    constants=((-_INF, 0, True), (_INF, 1, True)),)
greater = Function(
    "greater", 2, types.comparison("greater", "biuf"), emit.comparison(">"), quiet(np.greater),
    ">",
    constants=((-_INF, 0, False), (_INF, 1, False)),)
greater_equal = Function(
    "greater_equal", 2, types.comparison("greater_equal", "biuf"), emit.comparison(">="),
    quiet(np.greater_equal), ">=",
    constants=((_INF, 0, True), (-_INF, 1, True)),)
isnan = Function(
    "isnan", 1, types.predicate("isnan", "biufc"), emit.test("isnan"), quiet(np.isnan))
isinf = Function(
    "isinf", 1, types.predicate("isinf", "biufc"), emit.test("isinf"), quiet(np.isinf))
isfinite = Function(
    "isfinite", 1, types.predicate("isfinite", "biufc"), emit.test("isfinite"), quiet(np.isfinite))
signbit = Function(
    "signbit", 1, types.predicate("signbit", "biuf"), emit.signbit, quiet(np.signbit))

# -- roots, exponentials, angles -----------------------------------------------------------------


def _elementary(name: str, numpy: exact.Meaning, of_parts: parts.OfParts | None = None) -> Function:
    """A function of a float, and perhaps of a complex number."""
    code = emit.called(name)
    if of_parts is None:
        return Function(name, 1, types.floating(name), code, quiet(numpy))
    code = emit.by_kind(code, parts.of_parts(of_parts))
    return Function(name, 1, types.floating(name, "fc"), code, quiet(numpy))


def _branching(name: str, numpy: exact.Meaning) -> Function:
    """A function of a float, or of a complex number by way of a codelet."""
    code = emit.by_kind(emit.called(name), parts.by_codelet(name))
    return Function(name, 1, types.floating(name, "fc"), code, quiet(numpy))


sqrt = _branching("sqrt", np.sqrt)
cbrt = _elementary("cbrt", np.cbrt)
exp = _branching("exp", np.exp)
exp2 = _branching("exp2", np.exp2)
expm1 = _branching("expm1", np.expm1)
log = _branching("log", np.log)
log2 = _branching("log2", np.log2)
log10 = _branching("log10", np.log10)
log1p = _branching("log1p", np.log1p)
sin = _branching("sin", np.sin)
cos = _branching("cos", np.cos)
tan = _branching("tan", np.tan)
asin = _branching("asin", np.arcsin)
acos = _branching("acos", np.arccos)
atan = _branching("atan", np.arctan)
sinh = _branching("sinh", np.sinh)
cosh = _branching("cosh", np.cosh)
tanh = _branching("tanh", np.tanh)
asinh = _branching("asinh", np.arcsinh)
acosh = _branching("acosh", np.arccosh)
atanh = _branching("atanh", np.arctanh)
rint = _elementary("rint", np.rint, parts.rint)
atan2 = Function("atan2", 2, types.floating("atan2"), emit.called("atan2"), quiet(np.arctan2))
hypot = Function(
    "hypot", 2, types.floating("hypot"), emit.called("hypot"), quiet(np.hypot),
    commutative=True, associative=True, constants=((_INF, None, _INF), (-_INF, None, _INF)),)
logaddexp = Function(
    "logaddexp", 2, types.floating("logaddexp"), emit.logaddexp, quiet(np.logaddexp),
    commutative=True, associative=True, identity=_always(float("-inf"), "f"),
    constants=((_INF, None, _INF),),)
logaddexp2 = Function(
    "logaddexp2", 2, types.floating("logaddexp2"), emit.logaddexp2, quiet(np.logaddexp2),
    commutative=True, associative=True, identity=_always(float("-inf"), "f"),
    constants=((_INF, None, _INF),),)
deg2rad = Function(
    "deg2rad", 1, types.floating("deg2rad"), emit.scaled(math.pi / 180), quiet(np.deg2rad))
rad2deg = Function(
    "rad2deg", 1, types.floating("rad2deg"), emit.scaled(180 / math.pi), quiet(np.rad2deg))
erf = _elementary("erf", exact.of_math("erf"))
erfc = _elementary("erfc", exact.of_math("erfc"))
gamma = Function(
    "gamma", 1, types.floating("gamma"), emit.called("tgamma"), quiet(exact.of_math("tgamma")))
lgamma = _elementary("lgamma", exact.of_math("lgamma"))

# -- parts of numbers ----------------------------------------------------------------------------

floor = Function("floor", 1, types.alike("floor", "biuf"), emit.on_floats("floor"), exact.floor)
ceil = Function("ceil", 1, types.alike("ceil", "biuf"), emit.on_floats("ceil"), exact.ceil)
trunc = Function("trunc", 1, types.alike("trunc", "biuf"), emit.on_floats("trunc"), exact.trunc)
rounded = Function(
    "round", 1, types.alike("round", "biufc"),
    emit.by_kind(emit.on_floats("rint"), parts.of_parts(parts.rint)), exact.rounded)
copysign = Function(
    "copysign", 2, types.floating("copysign"), emit.called("copysign"), quiet(np.copysign),
    idempotent=True, repeat="once")
nextafter = Function(
    "nextafter", 2, types.floating("nextafter"), emit.called("nextafter"), quiet(np.nextafter),
    idempotent=True)
fraction = Function(
    "fraction", 1, types.floating("fraction"), emit.fraction, quiet(lambda x: np.modf(x)[0]))
whole = Function("whole", 1, types.floating("whole"), emit.called("trunc"), np.trunc)
mantissa = Function(
    "mantissa", 1, types.floating("mantissa"), emit.mantissa, quiet(lambda x: np.frexp(x)[0]))
exponent = Function(
    "exponent", 1, types.exponent("exponent"), emit.exponent, quiet(lambda x: np.frexp(x)[1]))
spacing = Function(
    "spacing", 1, types.floating("spacing"), emit.spacing, quiet(np.spacing))
bitwise_count = Function(
    "bitwise_count", 1, types.counting("bitwise_count", "iu"), division.bit_count,
    quiet(np.bitwise_count))
ldexp = Function(
    "ldexp", 2, types.scaling("ldexp"), emit.ldexp, quiet(np.ldexp),
    right_identity=_zero, left_annihilator=_zero)
heaviside = Function(
    "heaviside", 2, types.floating("heaviside"), emit.heaviside, quiet(np.heaviside))
real = Function("real", 1, types.part, emit.real, exact.part("real"))
imag = Function("imag", 1, types.part, emit.imag, exact.part("imag"))
conj = Function("conj", 1, types.alike("conj", "Biufc"), emit.conj, np.conjugate)

# -- choices -------------------------------------------------------------------------------------

where = Function("where", 3, types.choice, emit.where, exact.where)
pair = Function(  # both are there: the product of patterns
    "pair", 2, types.alike("pair", "biufc"), emit.pair, exact.pair,
    commutative=True, annihilator=_zero)
first = Function(
    "first", 2, types.taken(0), emit.same, exact.first,
    associative=True, idempotent=True, repeat="once")
last = Function(
    "last", 2, types.taken(1), emit.second, exact.last,
    associative=True, idempotent=True, repeat="once")
coalesce = Function(  # an access that may be missing is resolved before there is code
    "coalesce", 2, types.alike("coalesce", "biufc"), emit.same, exact.first,
    associative=True, idempotent=True, repeat="once")

# fmt: on


@lru_cache(maxsize=256, typed=True)
def choose(z: Number) -> Function:
    """The function that gives the first of its arguments that is not z."""

    def identity(dtype: str) -> Number | None:
        try:
            return as_python(z, concrete(dtype))
        except DTypeError:
            return None

    return Function(
        f"choose({z!r})",
        2,
        types.alike("choose", "biufc"),
        emit.choose(z),
        exact.choose(z),
        associative=True,
        idempotent=True,
        identity=identity,
        decisive=True,
        repeat="once",
    )


def _conversion(dtype: str) -> Function:
    name = f"astype_{dtype}"
    return Function(name, 1, types.conversion(dtype), emit.conversion, exact.converter(dtype))


astype = {dtype: _conversion(dtype) for dtype in DTYPES}

PAIRS: dict[str, tuple[Function, Function]] = {
    "divmod": (floor_divide, remainder),
    "frexp": (mantissa, exponent),
    "modf": (fraction, whole),
}
"""Functions of NumPy with two results, each of which is a row."""

_rows = [row for row in tuple(globals().values()) if isinstance(row, Function)]
FUNCTIONS: dict[str, Function] = {row.name: row for row in (*_rows, *astype.values())}
