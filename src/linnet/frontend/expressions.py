"""Python expressions as expressions of the loop language."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numpy as np

from linnet import loops
from linnet.algebra.dtypes import DTYPES, Number, canonical
from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup
from linnet.frontend import words
from linnet.frontend.integers import exceeds_64_bits
from linnet.frontend.misuses import (
    function_hint,
    not_a_function,
    not_a_tensor,
    unknown_function,
    wrong_arity,
)
from linnet.frontend.refusals import refusal, refused_index
from linnet.frontend.scope import Scope

E = TypeVar("E", bound=loops.Expr)
_TOGETHER = 16

PERMISSIVE = "permissive"  # the protocol of `A[~i]`: nothing is there beyond the bounds

_OPERATORS: dict[type[ast.AST], object] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.remainder,
    ast.Pow: np.power,
    ast.BitOr: np.bitwise_or,
    ast.BitAnd: np.bitwise_and,
    ast.BitXor: np.bitwise_xor,
    ast.LShift: np.left_shift,
    ast.RShift: np.right_shift,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
    ast.Not: np.logical_not,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Invert: np.invert,
}


def expression(node: ast.expr, scope: Scope) -> loops.Expr:
    """A value: anything but an assignment, a declaration or an index."""
    match node:
        case ast.Name():
            return _name(node, scope)
        case ast.Constant():
            return _constant(node, scope)
        case ast.Subscript():
            return _subscript(node, scope)
        case ast.BinOp(left, op, right):
            return _complex_literal(node) or _binary(node, op, (left, right), scope)
        case ast.UnaryOp(op, operand):
            found = _unary(operator(op, node, scope), expression(operand, scope), op)
            return _checked(found, node, scope) if isinstance(found, loops.Literal) else found
        case ast.Compare():
            return _comparison(node, scope)
        case ast.BoolOp(op, values):
            return _fold(operator(op, node, scope), [expression(v, scope) for v in values])
        case ast.IfExp(test, body, orelse):
            return _apply(_known(np.where), (test, body, orelse), scope)
        case ast.Call():
            return _call(node, scope)
        case ast.Attribute():
            return _attribute(node, scope)
        case _:
            message, hint = refusal(node)
            raise scope.error(node, message, hint=hint)


def operator(op: ast.AST, node: ast.AST, scope: Scope) -> Function:
    """The function of a Python operator."""
    if type(op) not in _OPERATORS:
        message, hint = refusal(op)
        raise scope.error(node, message, hint=hint)
    return _known(_OPERATORS[type(op)])


def access(node: ast.Subscript, tensor: str, scope: Scope) -> loops.Access:
    """`tensor[i, j]`, read or assigned to."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    indices = [_index(part, scope) for part in parts]
    protocols = tuple(p for _, p in indices) if any(p for _, p in indices) else ()
    scope.use(tensor, len(indices), node)
    at = scope.source.location(node)
    return loops.Access(tensor, tuple(i for i, _ in indices), protocols, at)


def literal(value: object) -> loops.Literal | None:
    """A Python or NumPy number as a literal; None for anything else."""
    if isinstance(value, np.generic):
        if str(value.dtype) not in DTYPES:
            return None
        number: Number = value.item()
        return loops.Literal(number, canonical(value.dtype))
    match value:
        case bool():
            return loops.Literal(value)
        case int():
            return loops.Literal(int(value))  # an IntEnum is a number, too
        case float():
            return loops.Literal(float(value))
        case complex():
            return loops.Literal(complex(value))
        case _:
            return None


# -- names and constants ---------------------------------------------------------------------------


def _name(node: ast.Name, scope: Scope) -> loops.Expr:
    known = scope.find(node.id)
    if known is None and scope.is_static(node):
        return _static_value(node, scope)
    if known is None:
        raise scope.undefined(node.id, node)
    match known.kind:
        case "index":
            return loops.Index(known.name)
        case "let":
            return loops.Name(known.name)
        case _:
            scope.use(known.name, 0, node)
            return loops.Access(known.name, (), (), scope.source.location(node))


def _constant(node: ast.Constant, scope: Scope) -> loops.Expr:
    found = literal(node.value)
    if found is None:
        what = "a string" if isinstance(node.value, str | bytes) else repr(node.value)
        what = "`...`" if node.value is ... else what
        raise scope.error(node, f"{what} is not a value", hint="a kernel computes with numbers")
    return _checked(found, node, scope)


def _binary(
    node: ast.BinOp, op: ast.operator, args: tuple[ast.expr, ...], scope: Scope
) -> loops.Expr:
    found = _apply(operator(op, node, scope), args, scope)
    return _checked(found, node, scope)


def _checked(value: E, node: ast.AST, scope: Scope) -> E:
    if exceeds_64_bits(value):
        raise scope.error(
            node, "this integer does not fit 64 bits", hint="write it as a float, such as 1e20"
        )
    return value


def _static_value(node: ast.expr, scope: Scope) -> loops.Literal:
    """A number of the Python around the kernel."""
    value = scope.static(node)
    found = literal(value)
    if found is not None:
        return _checked(found, node, scope)
    text = ast.unparse(node)
    if _is_array(value) or isinstance(value, list | tuple | dict | set):
        hint = "pass it to the kernel as a parameter"
        raise scope.error(node, f"`{text}` is not a parameter of the kernel", hint=hint)
    what = "a function" if callable(value) else f"a {type(value).__name__}"
    hint = f"call it: `{text}(…)`" if callable(value) else "a kernel computes with numbers"
    raise scope.error(node, f"`{text}` is {what}, not a value", hint=hint)


def _is_array(value: object) -> bool:
    return hasattr(type(value), "shape") and not isinstance(value, np.generic)


def _attribute(node: ast.Attribute, scope: Scope) -> loops.Expr:
    if scope.is_static(node):
        return _static_value(node, scope)
    text = ast.unparse(node)
    hint = f"write `{text}[0]`, the size of one dimension" if node.attr == "shape" else None
    raise scope.error(node, f"`{text}` is not a value", hint=hint or function_hint(node.attr))


# -- accesses --------------------------------------------------------------------------------------


def _subscript(node: ast.Subscript, scope: Scope) -> loops.Expr:
    match node.value:
        case ast.Name() if (tensor := scope.tensor(node.value)) is not None:
            return access(node, tensor, scope)
        case ast.Attribute(ast.Name() as owner, "shape") if (t := scope.tensor(owner)) is not None:
            return _dimension(node, t, scope)
    if not scope.is_static(node) or _is_array(scope.static(node.value)):
        raise not_a_tensor(node, scope)
    return _static_value(node, scope)


def _dimension(node: ast.Subscript, tensor: str, scope: Scope) -> loops.Dimension:
    match node.slice:
        case ast.Constant(int(mode)) if not isinstance(mode, bool):
            scope.use_dimension(tensor, mode, node)
            return loops.Dimension(tensor, mode)
        case _:
            hint = f"write `{tensor}.shape[0]`, `{tensor}.shape[1]`, …"
            raise scope.error(node, "the dimension must be a number", hint=hint)


def _index(node: ast.expr, scope: Scope) -> tuple[loops.Expr, str]:
    """An index and its protocol."""
    match node:
        case ast.UnaryOp(ast.Invert(), operand):
            return plain_index(operand, scope), PERMISSIVE
        case ast.Call(func, [operand], []) if (word := _protocol(func, scope)) is not None:
            return plain_index(operand, scope), word
        case _:
            return plain_index(node, scope), ""


def _protocol(func: ast.expr, scope: Scope) -> str | None:
    found = scope.static(func) if scope.is_static(func) else None
    return next((w.__name__ for w in words.PROTOCOLS if w is found), None)


def plain_index(node: ast.expr, scope: Scope) -> loops.Expr:
    """An index without a protocol."""
    match node:
        case ast.Slice() | ast.Tuple() | ast.List():
            message, hint = refused_index(node)
            raise scope.error(node, message, hint=hint)
        case ast.Constant(value) if type(value) is not int:
            message, hint = refused_index(node)
            raise scope.error(node, message, hint=hint)
        case ast.Call(func, _, _) if (word := _protocol(func, scope)) is not None:
            raise scope.error(node, f"ln.{word} stands around a whole index, and takes one index")
    found = expression(node, scope)
    match found:
        case loops.Literal(int(value)) if type(value) is int and value < 0:
            raise scope.error(
                node,
                "a negative index does not count from the end",
                hint="count from the start: `A[A.shape[0] - 1]` is the last one",
            )
        case loops.Literal(value) if type(value) is not int:
            raise scope.error(node, f"{value} cannot be an index", hint="an index is an integer")
        case _:
            return found


# -- operators and calls ---------------------------------------------------------------------------


@cache
def _known(operation: object) -> Function:
    function = lookup(operation)
    assert function is not None, operation
    return function


def _apply(function: Function, args: tuple[ast.expr, ...], scope: Scope) -> loops.Expr:
    return loops.Call(function, tuple([expression(a, scope) for a in args]))


def _fold(function: Function, args: Sequence[loops.Expr]) -> loops.Expr:
    """`f(f(a, b), c)`; of many, of what parts amount to: passes go as deep as a program is."""
    if len(args) > _TOGETHER:
        parts = [args[k : k + _TOGETHER] for k in range(0, len(args), _TOGETHER)]
        return _fold(function, [_fold(function, part) for part in parts])
    result = args[0]
    for arg in args[1:]:
        result = loops.Call(function, (result, arg))
    return result


def _unary(function: Function, operand: loops.Expr, op: ast.unaryop) -> loops.Expr:
    """A sign belongs to its number."""
    match operand, op:
        case loops.Literal(value, None, False), ast.USub() if type(value) is not bool:
            return loops.Literal(-value)
        case loops.Literal(value, None, False), ast.UAdd() if type(value) is not bool:
            return operand
        case _:
            return loops.Call(function, (operand,))


def _complex_literal(node: ast.BinOp) -> loops.Literal | None:
    """`1 + 2j` is one number."""
    match node:
        case ast.BinOp(ast.Constant(int() | float() as real), op, ast.Constant(complex(imag=imag))):
            if isinstance(op, ast.Add):
                return loops.Literal(complex(real, imag))
            if isinstance(op, ast.Sub):
                return loops.Literal(complex(real, -imag))
    return None


def _comparison(node: ast.Compare, scope: Scope) -> loops.Expr:
    """`a < b < c` is `a < b and b < c`."""
    functions = [operator(op, node, scope) for op in node.ops]
    values = [expression(v, scope) for v in (node.left, *node.comparators)]
    tests = [loops.Call(f, ab) for f, ab in zip(functions, pairwise(values), strict=True)]
    return _fold(_known(np.logical_and), tests)


def _call(node: ast.Call, scope: Scope) -> loops.Expr:
    if not scope.is_static(node.func):
        raise not_a_function(node, scope)
    callee, function = scope.function(node.func)
    for extra in (*node.keywords, *(a for a in node.args if isinstance(a, ast.Starred))):
        text = ast.unparse(node.func)
        raise scope.error(extra, f"`{text}` takes plain arguments here", hint="write them in order")
    if callee is words.parts or callee is words.place:
        from linnet.frontend.ranges import parts_of, place_of

        return (parts_of if callee is words.parts else place_of)(node, scope)
    number = _number_call(node, callee, scope)
    if number is not None:
        return number
    if function is None:
        raise unknown_function(node, callee, scope)
    args = [expression(a, scope) for a in node.args]
    if len(args) > 2 and (callee is min or callee is max or function.name == "coalesce"):
        return _fold(function, args)
    if function.arity >= 0 and len(args) != function.arity:
        raise wrong_arity(node, callee, function, scope)
    return loops.Call(function, tuple(args))


def _number_call(node: ast.Call, callee: object, scope: Scope) -> loops.Literal | None:
    """`np.float32(0.5)`, `float("inf")`: a number written as a call."""
    if callee is words.fill and len(node.args) == 1:
        value = expression(node.args[0], scope)
        if isinstance(value, loops.Literal):
            return loops.Literal(value.value, value.dtype, structural=True)
    if not isinstance(callee, type) or not issubclass(callee, int | float | complex | np.generic):
        return None
    if not all(_is_number_text(a) for a in node.args):
        return None
    found = literal(scope.static(node))
    return found and _checked(found, node, scope)


def _is_number_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant() | ast.Name("inf" | "nan"):
            return True
        case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
            return _is_number_text(operand)
        case ast.Call(ast.Name("complex"), parts, []):
            return all(_is_number_text(p) for p in parts)
        case _:
            return False
