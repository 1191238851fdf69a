"""A user's function as a row of the table: types and code follow from its text."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from linnet import imp
from linnet.algebra.body import Body
from linnet.algebra.dtypes import concrete, promote
from linnet.algebra.emit import conversion
from linnet.algebra.function import Emit, Types
from linnet.algebra.numpy_rules import NUMPY
from linnet.errors import KernelSyntaxError
from linnet.imp.rewrite import substitute, walk
from linnet.python.translate import Translation, translation


def translated(body: Body, dtypes: tuple[str, ...]) -> Translation:
    """The function's code for arguments of these types."""
    found = translation(body.pinned(), dtypes, NUMPY)
    if found.dtype is None:
        message = f"`{body.name}` returns no value"
        raise KernelSyntaxError(message, hint="end it with `return …`")
    return found


def types_of(body: Body) -> Types:
    """Arguments keep their types, and the result has the type that the text gives it.

    A Python number takes the type of its company where the text makes it do so.
    """

    @lru_cache(maxsize=256)
    def rule(dtypes: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
        found = translated(body, dtypes).dtype
        assert found is not None
        strong = [d for d in dtypes if not d.startswith("weak_")]
        if not strong:
            return dtypes, body.dtype or found
        result = concrete(found)
        if len(strong) == len(dtypes):
            return dtypes, body.dtype or result
        held = tuple([concrete(d) for d in dtypes])
        met = tuple([promote(d, *strong) if d.startswith("weak_") else d for d in dtypes])
        wanted = next((t for t in (held, met) if _gives(body, t, result)), held)
        return wanted, body.dtype or concrete(translated(body, wanted).dtype or result)

    return rule


def _gives(body: Body, dtypes: tuple[str, ...], result: str) -> bool:
    """Whether the function of arguments of these types has a result of this type."""
    try:
        return concrete(translated(body, dtypes).dtype or "") == result
    except KernelSyntaxError:
        return False


def emit_of(body: Body) -> Emit:
    """A call of the function, or what it returns if that is all it does."""

    def emit(args: tuple[imp.Expr, ...], dtype: str) -> imp.Expr:
        dtypes = tuple([concrete(a.dtype) for a in args])
        module = translated(body, dtypes).module
        function = module[-1]
        assert function.dtype is not None
        inlined = _inlined(function, args) if len(module) == 1 else None
        code = imp.Call(body.token, args, function.dtype) if inlined is None else inlined
        return code if code.dtype == dtype else conversion((code,), dtype)

    return emit


def _inlined(function: imp.Function, args: tuple[imp.Expr, ...]) -> imp.Expr | None:
    """The expression that a function returns, if no argument that is work would be repeated."""
    match function.body.stmts:
        case (imp.Return(value),) if value is not None:
            pass
        case _:
            return None
    if any(isinstance(n, imp.Call) and n.function == function.name for n in walk(value)):
        return None
    uses = Counter(n.name for n in walk(value) if isinstance(n, imp.Var))
    given: dict[str, imp.Expr] = {}
    for param, arg in zip(function.params, args, strict=True):
        if uses[param.name] > 1 and not isinstance(arg, imp.Var | imp.Const):
            return None
        given[param.name] = arg
    return substitute(value, given)
