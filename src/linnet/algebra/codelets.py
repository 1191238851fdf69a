"""The functions of numbers that are too long for an expression, in restricted Python.

Those that work on memory, which levels and workspaces call, are in the folder `codelets`.

Integer ones are called with arguments of 64 bits, and wrap around; the code that calls them narrows
the result. Compiled, an integer divided by zero is 0.
"""

from __future__ import annotations

import math
from dataclasses import replace
from types import FunctionType
from typing import TypeVar

from linnet import imp
from linnet.algebra import complex_codelets, complex_inverses
from linnet.algebra.body import Body, body_of
from linnet.algebra.elementary import ELEMENTARY, is_elementary
from linnet.algebra.exponentials import power_of_two
from linnet.codelets.named import instantiate
from linnet.imp.rewrite import Tree, rewrite, walk
from linnet.python.translate import admit
from linnet.target import Target

_HUGE = 2.0**1023
_MINUTE = 2.0**-969


def floor_div(a: int, b: int) -> int:
    """The quotient rounded down."""
    return a // b


def floor_mod(a: int, b: int) -> int:
    """The remainder that has the sign of b."""
    return a % b


def float_floor_div(a: float, b: float) -> float:
    """The quotient rounded down, as far as rounding lets it be exact."""
    r = math.fmod(a, b)
    q = (a - r) / b
    if (r < 0 and b > 0) or (r > 0 and b < 0):
        q = q - 1
    d = math.fmod(q, 1.0)  # q is whole but for rounding
    if d > 0.5:
        q = q - d + 1
    elif d <= -0.5:
        q = q - d - 1
    elif d != 0 and d == d:
        q = q - d
    if q == 0:
        q = math.copysign(q, a / b)
    if b == 0:
        q = a / b
    return q


def float_floor_mod(a: float, b: float) -> float:
    """The remainder that has the sign of b, even if it is zero."""
    r = math.fmod(a, b)
    if r == 0:
        r = math.copysign(r, b)
    elif (r < 0 and b > 0) or (r > 0 and b < 0):
        r = r + b
    return r


def ipow(x: int, n: int, r: int) -> int:
    """`r * x ** n` by repeated squaring, for n >= 0; r is a 1 of the right type."""
    while n > 0:
        if n & 1 == 1:
            r = r * x
        x = x * x
        n = n >> 1
    return r


def gcd(a: int, b: int) -> int:
    """The greatest common divisor of two unsigned numbers (Euclid)."""
    while b != 0:
        r = a % b
        a = b
        b = r
    return a


def lcm(a: int, b: int) -> int:
    """The least common multiple of two unsigned numbers."""
    x = a
    y = b
    while y != 0:
        r = x % y
        x = y
        y = r
    if x != 0:
        x = a // x * b
    return x


def popcount(x: int, n: int) -> int:
    """How many bits of an unsigned number are set; n is a 0 of its type."""
    while x != 0:
        x = x & (x - 1)
        n = n + 1
    return n


def power(x: float, n: float) -> float:
    """`x ** n`; a square, which is asked for most, is a product, and rounded once."""
    if n == 2:
        return x * x
    return math.pow(x, n)


def scale(x: float, n: int) -> float:
    """`x * 2 ** n`, rounded once though the power may be out of range."""
    if n > 1023:
        x = x * _HUGE
        n = min(n - 1023, 2046)
        if n > 1023:
            x = x * _HUGE
            n = n - 1023
    elif n < -1022:
        x = x * _MINUTE  # leaves 53 bits above the smallest, for the last step to round
        n = max(n + 969, -1991)
        if n < -1022:
            x = x * _MINUTE
            n = n + 969
    return x * power_of_two(n)


def exponent(x: float) -> float:
    """The whole number e with `x = m * 2 ** e` and `0.5 <= |m| < 1`; 0 if there is none."""
    e = 0.0
    if x != 0 and math.isfinite(x):
        a = abs(x)
        e = math.floor(math.log2(a)) + 1  # which may be rounded up or down to the next
        h = math.floor(e / 2)  # in two steps, neither of them out of range
        a = a * math.exp2(-h) * math.exp2(h - e)
        if a >= 1:
            e = e + 1
        elif a < 0.5:
            e = e - 1
    return e


def mantissa(x: float, e: float) -> float:
    """`x / 2 ** e`."""
    h = math.floor(e / 2)
    return x * math.exp2(-h) * math.exp2(h - e)


CODELETS: dict[str, FunctionType] = {
    f.__name__: f
    for f in (
        floor_div,
        floor_mod,
        float_floor_div,
        float_floor_mod,
        ipow,
        gcd,
        lcm,
        popcount,
        power,
        scale,
        exponent,
        mantissa,
    )
    if isinstance(f, FunctionType)
} | {
    name: f
    for module in (complex_codelets, complex_inverses)
    for name, f in vars(module).items()
    if isinstance(f, FunctionType) and f.__module__ == module.__name__
}


def is_called(name: str) -> bool:
    """Whether code calls a codelet or a user's function by this name, and not the machine's."""
    return name in CODELETS or body_of(name) is not None


T = TypeVar("T", imp.Expr, imp.Block)


def resolve(code: T, registry: dict[str, imp.Function], target: Target) -> T:
    """`code` with what it calls compiled for the arguments' types, and registered.

    That are the codelets above, and the functions of users.
    """

    def rule(node: Tree) -> Tree | None:
        match node:
            case imp.Call(name, args, dtype) if name in CODELETS:
                function = instantiate(CODELETS[name], tuple(a.dtype for a in args), registry)
                return imp.Call(function.name, args, dtype)
            case imp.Call(name, args, dtype) if is_elementary(node, target):
                function = instantiate(ELEMENTARY[name, dtype], (dtype,), registry)
                return imp.Call(function.name, args, dtype)
            case imp.Call(name, args, dtype) if (body := body_of(name)) is not None:
                function = _compiled(body, tuple(a.dtype for a in args), registry, target)
                return imp.Call(function.name, args, dtype)
            case _:
                return None

    return rewrite(code, rule)


def _compiled(
    body: Body, dtypes: tuple[str, ...], registry: dict[str, imp.Function], target: Target
) -> imp.Function:
    """A user's function, after all that it calls."""
    from linnet.algebra.user import translated  # which needs the table, which needs this file

    module = translated(body, dtypes).module
    resolved = tuple([replace(f, body=resolve(f.body, registry, target)) for f in module])
    return admit(resolved, registry)


def with_codelets(kernel: imp.Kernel, target: Target) -> imp.Kernel:
    """The kernel with the codelets that it calls, and no others.

    Those that functions of the table are made of are compiled where they are called.
    """
    registry = {f.name: f for f in kernel.codelets}
    body = resolve(kernel.body, registry, target)
    return _pruned(replace(kernel, body=body, codelets=tuple(registry.values())))


def _pruned(kernel: imp.Kernel) -> imp.Kernel:
    """Drop the codelets that are not called, now that the code is simple."""
    called = {n.function for n in walk(kernel.body) if isinstance(n, imp.Call)}
    kept = []
    for function in reversed(kernel.codelets):  # callers come after what they call
        if function.name in called:
            called |= {n.function for n in walk(function.body) if isinstance(n, imp.Call)}
            kept.append(function)
    return replace(kernel, codelets=tuple(reversed(kept)))
