"""Assignments: new names, declarations, updates, temporaries."""

from __future__ import annotations

import ast

from linnet import loops
from linnet.algebra.function import Function
from linnet.errors import FormatError
from linnet.formats.format import Format
from linnet.formats.named import Family, as_format
from linnet.frontend import words
from linnet.frontend.expressions import PERMISSIVE, access, expression, literal
from linnet.frontend.misuses import is_scalar, not_a_tensor
from linnet.frontend.scope import Scope
from linnet.loops.printer import show
from linnet.loops.rewrite import block, walk


def lets(node: ast.stmt, scope: Scope) -> list[tuple[str, loops.Expr]] | None:
    """The names that a statement gives to values for the rest of its block, or None."""
    match node:
        case ast.Assign([ast.Name() as name], value) if not _makes_temporary(value, scope):
            given = [(name, value)]
        case ast.Assign([ast.Tuple(targets) | ast.List(targets)], value):
            given = _unpacked(node, targets, value, scope)
        case _:
            return None
    # all values are computed before the names mean something
    values = [expression(value, scope) for _, value in given]
    names = [scope.bind("let", name.id, name) for name, _ in given]
    return list(zip(names, values, strict=True))


def swap(node: ast.stmt, scope: Scope) -> loops.Swap | None:
    """`a, b = b, a` of two tensors, or None."""
    match node:
        case ast.Assign(
            [ast.Tuple([ast.Name() as a, ast.Name() as b])],
            ast.Tuple([ast.Name(second), ast.Name(first)]),
        ) if (a.id, b.id) == (first, second):
            one, other = scope.tensor(a), scope.tensor(b)
            if one is not None and other is not None and one != other:
                return loops.Swap(one, other, scope.source.location(node))
    return None


def _unpacked(
    node: ast.stmt, targets: list[ast.expr], value: ast.expr, scope: Scope
) -> list[tuple[ast.Name, ast.expr]]:
    names = [t for t in targets if isinstance(t, ast.Name)]
    if len(names) < len(targets):
        raise scope.error(node, "only new names can be unpacked to", hint="write two lines")
    match value:
        case ast.Tuple(values) | ast.List(values) if len(values) == len(names):
            return list(zip(names, values, strict=True))
        case _:
            message = "each of these names needs a value of its own"
            raise scope.error(node, message, hint="`a, b = x[i], y[i]`")


def _makes_temporary(value: ast.expr, scope: Scope) -> bool:
    match value:
        case ast.Call(func, _, _) if scope.is_static(func):
            made = scope.static(func)
            return made is words.temp or is_scalar(made)
        case _:
            return False


def assign(node: ast.Assign, target: ast.expr, value: ast.expr, scope: Scope) -> loops.Stmt:
    """A declaration, an assignment to a tensor, or a new temporary."""
    match target:
        case ast.Name(name):
            assert isinstance(value, ast.Call)  # other values are lets
            return _temporary(node, name, value, scope)
        case ast.Subscript(ast.Name() as name, index) if is_dots(index):
            tensor = scope.tensor(name)
            if tensor is not None:
                at = scope.source.location(node)
                return loops.Declare(tensor, expression(value, scope), None, at)
    return update(node, target, None, value, scope)


def update(
    node: ast.stmt, target: ast.expr, op: Function | None, value: ast.expr, scope: Scope
) -> loops.Stmt:
    """`target = value`, `target += value`, `target = f(target, value)`."""
    where, at = _target(node, target, scope), scope.source.location(node)
    what = expression(value, scope)
    steps = _steps(where, what) if op is None else None
    own = scope.is_temporary(str(where.tensor)) and not where.indices  # it may be read here
    if not steps or (own and len(steps) > 1) or any(_reads(rest, where) for _, rest in steps):
        return loops.Assign(where, op, what, at)
    *first, (op, what) = steps
    begun = [loops.Assign(where, f, e, at, partial=True) for f, e in first]
    return block([*begun, loops.Assign(where, op, what, at)])


def _target(node: ast.stmt, target: ast.expr, scope: Scope) -> loops.Access:
    match target:
        case ast.Subscript(ast.Name() as name) if (tensor := scope.tensor(name)) is not None:
            if is_dots(target.slice):
                hint = f"loop over it: `for i in ...:` and `{name.id}[i] += …`"
                raise scope.error(node, "`[...]` only declares, with `=`", hint=hint)
            where = access(target, tensor, scope)
            if PERMISSIVE in where.protocols:
                hint = f"write under a condition: `if i < {name.id}.shape[0]: {name.id}[i] = …`"
                raise scope.error(
                    target, "`~` is for reading: nothing is written outside", hint=hint
                )
            return where
        case ast.Subscript():
            raise not_a_tensor(target, scope)
        case ast.Name(name) if scope.tensor(target) is not None:
            hint = f"`{name}[()] += …` updates a scalar, `{name}[i] += …` a vector"
            raise scope.error(node, f"`{name}` is a tensor and needs its indices", hint=hint)
        case ast.Name(name) if scope.find(name) is not None:
            hint = "use a scalar: `s = ln.scalar(0.0)`, then `s[()] += …`"
            raise scope.error(node, f"`{name}` is a value and cannot be changed", hint=hint)
        case ast.Name(name):
            raise scope.undefined(name, target)
        case _:
            text = ast.unparse(target)
            hint = "assign to a tensor, `C[i] = …`, or to a new name, `d = …`"
            raise scope.error(target, f"`{text}` cannot be assigned to", hint=hint)


def _reads(e: loops.Expr, target: loops.Access) -> bool:
    """Whether an expression reads what is assigned to: `x = x * x` is no update."""
    return any(_is(node, target) for node in walk(e))


def _is(e: loops.Node, target: loops.Access) -> bool:
    """Whether an access is the target: as written, for NaN differs from itself."""
    if not isinstance(e, loops.Access) or e.tensor != target.tensor:
        return False
    return e == target or show(e) == show(target)


def _steps(target: loops.Access, value: loops.Expr) -> list[tuple[Function, loops.Expr]] | None:
    """The updates that come to `target = value`, one after another; None if there are none.

    `max(y, a, b)` is `max(y, max(a, b))`, but `y + a + b` is not `y + (a + b)`: two bytes, or two
    truth values, would be added as such before they meet what is larger.
    """
    match value:
        case loops.Call(f, (a, b)):
            if _is(a, target):
                return [(f, b)]
            if f.commutative and _is(b, target):
                return [(f, a)]
            if (begun := _steps(target, a)) is not None:
                return _joined(begun, f, b)
            if f.commutative and (begun := _steps(target, b)) is not None:
                return _joined(begun, f, a)
    return None


def _joined(
    begun: list[tuple[Function, loops.Expr]], f: Function, value: loops.Expr
) -> list[tuple[Function, loops.Expr]]:
    """One more update, or the last one with another value."""
    last, rest = begun[-1]
    if last is f and f.associative and f.idempotent:
        return [*begun[:-1], (f, loops.Call(f, (rest, value)))]
    return [*begun, (f, value)]


# -- temporaries -----------------------------------------------------------------------------------


def _temporary(node: ast.Assign, name: str, call: ast.Call, scope: Scope) -> loops.Stmt:
    """`w = ln.temp(format)` or `s = ln.scalar(0.0)`."""
    for arg in (*call.args, *(k.value for k in call.keywords)):
        if not scope.is_static(arg):
            raise scope.error(
                arg,
                "a temporary's format must be known when the kernel is defined",
                hint="build it from names outside the kernel",
            )
    if is_scalar(scope.static(call.func)):
        return _scalar(node, name, call, scope)
    scope.bind_temporary(name, _format(call, scope), node.targets[0])
    return loops.NOTHING


def _format(call: ast.Call, scope: Scope) -> Format | Family:
    """The format of `ln.temp(format)` or `ln.temp(format, order=(1, 0))`."""
    match call:
        case ast.Call(_, [given], []):
            order = None
        case ast.Call(_, [given], [ast.keyword("order", value)]):
            order = scope.static(value)
        case _:
            raise scope.error(call, "ln.temp takes one format", hint="`w = ln.temp(ln.CSR)`")
    found = scope.static(given)
    try:
        if isinstance(found, Family):
            return found
        format = as_format(found)  # type: ignore[arg-type]
        return format if order is None else format.with_order(*order)  # type: ignore[misc]
    except (FormatError, TypeError) as error:
        message = error.message if isinstance(error, FormatError) else str(error)
        raise scope.error(
            call, f"not a format: {message}", hint="such as `ln.temp(ln.Dense(ln.Element(0.0)))`"
        ) from None


def _scalar(node: ast.Assign, name: str, call: ast.Call, scope: Scope) -> loops.Stmt:
    """A zero-dimensional temporary, declared where it is made."""
    made = scope.static(call)
    format = getattr(made, "format", None)
    init = literal(scope.static(call.args[0])) if call.args else None
    if not isinstance(format, Format) or init is None:
        raise scope.error(call, "ln.scalar takes a number", hint="`s = ln.scalar(0.0)`")
    tensor = scope.bind_temporary(name, format, node.targets[0])
    return loops.Declare(tensor, init, None, scope.source.location(node))


def is_dots(node: ast.expr) -> bool:
    """Whether an expression is `...`."""
    return isinstance(node, ast.Constant) and node.value is ...
