"""How values combine in the language that a translated function is written in.

Codelets compute with 64-bit integers (`python.exact_rules`); the functions of users with the types
of NumPy (`algebra.numpy_rules`). The translator of statements and expressions is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from linnet import imp
from linnet.records import dataclass

Once = Callable[[imp.Expr], imp.Expr]
"""A value that is used several times, held in a variable if it is work to evaluate."""


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The arithmetic of a language. What has no meaning raises TypeError, or is None.

    `literal` is a number that the text names, `join` the type of a variable that is given values of
    two types, `held` the type in which a value is kept, `coerce` a value as another type; `combine`
    and `unary` apply operators, `call` a function that is no text; `text` finds the text of a
    function, and the type that its result is converted to; `passed` is an argument as it is handed
    to such a function; `counter` is the type of a loop's variable; `finish` is the last step of a
    translation.
    """

    literal: Callable[[object], imp.Const | None]
    join: Callable[[str, str], str]
    held: Callable[[str], str]
    coerce: Callable[[imp.Expr, str], imp.Expr]
    combine: Callable[[str, imp.Expr, imp.Expr], imp.Expr]
    unary: Callable[[str, imp.Expr], imp.Expr]
    call: Callable[[object, list[imp.Expr], Once], imp.Expr | None]
    text: Callable[[object], tuple[FunctionType, str | None] | None]
    passed: Callable[[imp.Expr], imp.Expr]
    finish: Callable[[imp.Function], imp.Function]
    counter: str = imp.INT
