"""Expressions of restricted Python, translated into the imperative IR."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType

from linnet import imp
from linnet.errors import KernelSyntaxError
from linnet.imp import arithmetic
from linnet.imp.arithmetic import coerce, combine, concrete, condition, join, kind, literal
from linnet.imp.functions import MATH, TESTS
from linnet.imp.rewrite import walk
from linnet.imp.source import Source
from linnet.names import Names

Callee = tuple[str, str | None]  # the name of a function in the IR, and the type it returns

_CONVERSIONS = {"int": "int64", "float": "float64", "complex": "complex128", "bool": "bool"} | {
    name: name
    for name in """int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64
    complex128""".split()
}
_NAMED_OTHERWISE = {"gamma": "tgamma"}  # functions of Python's `math`, in C
_TO_INTEGER = ("floor", "ceil", "trunc")  # Python's give an integer
OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


@dataclass(slots=True)
class Frame:
    """A function while it is translated: what names mean here, and the statements so far."""

    source: Source
    function: FunctionType
    callee: Callable[[FunctionType, tuple[str, ...]], Callee]
    types: dict[str, str]  # of variables, by their name in the IR
    names: Names = field(default_factory=Names)
    env: dict[str, imp.Var | imp.Buffer] = field(default_factory=dict)
    out: list[imp.Stmt] = field(default_factory=list)
    given: set[str] = field(default_factory=set)  # variables that surely have a value here
    lazy: bool = False  # inside what is not always evaluated, so nothing can be emitted before it

    def refusal(self, node: ast.AST, message: str, hint: str | None = None) -> KernelSyntaxError:
        """Says what in the user's text is outside the language."""
        return KernelSyntaxError(message, at=self.source.location(node), hint=hint)

    @contextmanager
    def collect(self, lazy: bool = False) -> Iterator[list[imp.Stmt]]:
        """Collect the statements emitted inside into a list of their own."""
        saved = self.out, self.lazy
        self.out, self.lazy = [], lazy
        try:
            yield self.out
        finally:
            self.out, self.lazy = saved

    def temporary(self, value: imp.Expr) -> imp.Var:
        """A new variable that holds `value`."""
        var = imp.Var(self.names.fresh("t"), concrete(value.dtype))
        self.out.append(imp.Let(var, coerce(value, var.dtype)))
        self.given.add(var.name)
        return var


def translate_expr(frame: Frame, node: ast.expr) -> imp.Expr:
    """The value of an expression; a literal stays weak."""
    try:
        return _expr(frame, node)
    except TypeError as error:
        raise frame.refusal(node, str(error)) from None


def translate_test(frame: Frame, node: ast.expr) -> imp.Expr:
    """The truth of an expression."""
    match node:
        case ast.BoolOp(op=op, values=[first, *rest]):
            word = "and" if isinstance(op, ast.And) else "or"
            result = translate_test(frame, first)
            with frame.collect(lazy=True):
                for value in rest:
                    result = imp.binary(word, result, translate_test(frame, value))
            return result
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return imp.Unary("not", translate_test(frame, operand), imp.BOOL)
        case _:
            return condition(translate_expr(frame, node))


def translate_index(frame: Frame, node: ast.expr) -> imp.Expr:
    """An integer, in 64 bits."""
    index = translate_expr(frame, node)
    if kind(index.dtype) not in "iu":
        raise frame.refusal(node, f"an integer is needed here, not {concrete(index.dtype)}")
    return coerce(index, imp.INT)


def translate_call(frame: Frame, node: ast.Call) -> imp.Call:
    """A call of another function of the program."""
    function = _static(frame, node.func)
    if not isinstance(function, FunctionType):
        raise frame.refusal(node, f"`{ast.unparse(node.func)}` cannot be called here")
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        raise frame.refusal(node, "arguments are given by position")
    args = tuple(_argument(frame, a) for a in node.args)
    try:
        name, dtype = frame.callee(function, tuple(a.dtype for a in args))
    except TypeError as error:
        raise frame.refusal(node, str(error)) from None
    return imp.Call(name, args, dtype or "void")


def buffer_of(frame: Frame, node: ast.expr) -> imp.Buffer:
    """The buffer that an expression names."""
    found = frame.env.get(node.id) if isinstance(node, ast.Name) else None
    if not isinstance(found, imp.Buffer):
        raise frame.refusal(
            node, f"`{ast.unparse(node)}` is no array", "only a parameter can be indexed"
        )
    return found


def _expr(frame: Frame, node: ast.expr) -> imp.Expr:
    match node:
        case ast.Name(id=name):
            return _name(frame, node, name)
        case ast.Constant(value=bool() | int() | float() | complex() as value):
            return literal(value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            a, b = translate_expr(frame, left), translate_expr(frame, right)
            if isinstance(op, ast.FloorDiv | ast.Mod | ast.Pow):
                a, b = _once(frame, a), _once(frame, b)
            return combine(OPERATORS[type(op)], a, b)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _comparison(frame, node, [left, *comparators], ops)
        case ast.Subscript(value=value, slice=index):
            return imp.Load(buffer_of(frame, value), _subscript(frame, index))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return arithmetic.negate(translate_expr(frame, operand))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return translate_expr(frame, operand)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return arithmetic.invert(translate_expr(frame, operand))
        case ast.UnaryOp():
            return translate_test(frame, node)
        case ast.BoolOp():
            return _logical(frame, node)
        case ast.IfExp():
            return _choice(frame, node)
        case ast.Call():
            return _call(frame, node)
        case ast.Attribute():
            return _constant(frame, node)
        case _:
            raise frame.refusal(node, f"`{ast.unparse(node)}` is outside of what can be compiled")


def _name(frame: Frame, node: ast.expr, name: str) -> imp.Expr:
    match frame.env.get(name):
        case imp.Var(name=inner):
            if inner not in frame.given:
                raise frame.refusal(
                    node,
                    f"`{name}` may be read before it is given a value",
                    f"begin with `{name} = 0`, say, outside of loops and conditions",
                )
            return imp.Var(inner, frame.types[inner])
        case imp.Buffer():
            raise frame.refusal(node, f"`{name}` is an array; index it or pass it on")
        case _:
            return _constant(frame, node)


def _constant(frame: Frame, node: ast.expr) -> imp.Expr:
    value = _static(frame, node)
    if not isinstance(value, bool | int | float | complex):
        raise frame.refusal(node, f"`{ast.unparse(node)}` is not a number")
    return literal(value)


def _static(frame: Frame, node: ast.expr) -> object:
    """What a name from outside the function stands for."""
    match node:
        case ast.Name(id=name):
            code, cells = frame.function.__code__, frame.function.__closure__ or ()
            scope = frame.function.__globals__
            if name in code.co_freevars:
                return cells[code.co_freevars.index(name)].cell_contents
            if name in scope and name not in frame.env:
                return scope[name]
            if hasattr(builtins, name) and name not in frame.env:
                return getattr(builtins, name)
            if name in code.co_varnames:
                raise frame.refusal(node, f"`{name}` may be read before it is given a value")
            raise frame.refusal(node, f"the name `{name}` is not known here")
        case ast.Attribute(value=value, attr=attr):
            owner = _static(frame, value)
            if hasattr(owner, attr):
                return getattr(owner, attr)
    raise frame.refusal(node, f"`{ast.unparse(node)}` is not known here")


def _subscript(frame: Frame, node: ast.expr) -> imp.Expr:
    index = translate_index(frame, node)
    if isinstance(index, imp.Const) and int(index.value.real) < 0:
        raise frame.refusal(node, "an index counts from the start, and is not negative")
    return index


def _comparison(
    frame: Frame, node: ast.Compare, nodes: list[ast.expr], ops: list[ast.cmpop]
) -> imp.Expr:
    """`a < b`, or a chain `a < b < c`, in which later parts are evaluated only if need be."""
    if any(type(op) not in OPERATORS for op in ops):
        raise frame.refusal(node, "`is` and `in` are outside of what can be compiled")
    left, right = translate_expr(frame, nodes[0]), translate_expr(frame, nodes[1])
    if len(ops) > 1:
        right = _once(frame, right)
    result = combine(OPERATORS[type(ops[0])], left, right)
    with frame.collect(lazy=True):
        for op, operand in zip(ops[1:], nodes[2:], strict=True):
            left, right = right, translate_expr(frame, operand)
            result = imp.binary("and", result, combine(OPERATORS[type(op)], left, right))
    return result


def _logical(frame: Frame, node: ast.BoolOp) -> imp.Expr:
    with frame.collect(lazy=True):  # looked at for their types only
        types = {translate_expr(frame, value).dtype for value in node.values}
    if types != {imp.BOOL}:
        raise frame.refusal(node, "`and` and `or` are for truth values here", "write a conditional")
    return translate_test(frame, node)


def _choice(frame: Frame, node: ast.IfExp) -> imp.Expr:
    """`a if c else b`: a select where both can be evaluated, else a statement before this one."""
    cond = translate_test(frame, node.test)
    with frame.collect(frame.lazy) as then:
        a = translate_expr(frame, node.body)
    with frame.collect(frame.lazy) as orelse:
        b = translate_expr(frame, node.orelse)
    dtype = concrete(join(a.dtype, b.dtype))
    a, b = coerce(a, dtype), coerce(b, dtype)
    if not then and not orelse and _harmless(a) and _harmless(b):
        return imp.Select(cond, a, b)
    if frame.lazy:
        raise frame.refusal(
            node, "this choice cannot be made inside a condition", "use an `if` statement"
        )
    var = imp.Var(frame.names.fresh("t"), dtype)
    then.append(imp.Assign(var, a))
    orelse.append(imp.Assign(var, b))
    frame.out.append(imp.Let(var, zero(dtype)))
    frame.out.append(imp.If(cond, imp.Block(tuple(then)), imp.Block(tuple(orelse))))
    return var


def zero(dtype: str) -> imp.Const:
    """Nought, in any type."""
    constant = coerce(literal(0), dtype)
    assert isinstance(constant, imp.Const)
    return constant


def _harmless(x: imp.Expr) -> bool:
    """Can this be evaluated in vain? Not if it may read past an end, or divide by zero."""
    return not any(
        isinstance(n, imp.Load | imp.Call) or (isinstance(n, imp.Binary) and n.op in ("div", "rem"))
        for n in walk(x)
    )


def _once(frame: Frame, x: imp.Expr) -> imp.Expr:
    """`x`, held in a variable if it is work to evaluate; it will be used several times."""
    if frame.lazy or isinstance(x, imp.Const | imp.Var):
        return x
    return frame.temporary(x)


def _call(frame: Frame, node: ast.Call) -> imp.Expr:
    function = _static(frame, node.func)
    name, count = getattr(function, "__name__", ""), len(node.args)
    if isinstance(function, FunctionType):
        call = translate_call(frame, node)
        if call.dtype == "void":
            raise frame.refusal(node, f"`{name}` gives no value")
        return call
    args = [translate_expr(frame, a) for a in node.args]
    if function in (min, max) and count >= 2 and not node.keywords:
        result, *rest = args
        for arg in rest:
            result = combine(name, result, arg)
        return result
    if function is abs and count == 1:
        return arithmetic.absolute(_once(frame, args[0]))
    if isinstance(function, type) and name in _CONVERSIONS and count == 1:
        return _convert(args[0], _CONVERSIONS[name])
    if getattr(function, "__module__", "") == "math":
        name = _NAMED_OTHERWISE.get(name, name)
        if (name in MATH and MATH[name].arity == count) or (name in TESTS and count == 1):
            return _math(name, args)
    raise frame.refusal(node, f"`{ast.unparse(node)}` is outside of what can be compiled")


def _convert(x: imp.Expr, dtype: str) -> imp.Expr:
    if isinstance(x, imp.Const):
        return coerce(x, dtype)
    return x if x.dtype == dtype else imp.Cast(x, dtype)


def _math(name: str, args: list[imp.Expr]) -> imp.Expr:
    dtype = "weak_float"
    for arg in args:
        dtype = join(dtype, arg.dtype)
    if kind(dtype) == "c":
        raise TypeError(f"math.{name} is for real numbers")
    dtype = concrete(dtype)
    args = [coerce(arg, dtype) for arg in args]
    call = imp.Call(name, tuple(args), imp.BOOL if name in TESTS else dtype)
    return imp.Cast(call, imp.INT) if name in _TO_INTEGER else call


def _argument(frame: Frame, node: ast.expr) -> imp.Expr | imp.Address:
    if isinstance(node, ast.Name) and isinstance(frame.env.get(node.id), imp.Buffer):
        return imp.Address(buffer_of(frame, node))
    value = translate_expr(frame, node)
    if (
        kind(value.dtype) in "iu" and value.dtype != "uint64"
    ):  # one specialization, not one per width
        return coerce(value, imp.INT)
    return coerce(value, concrete(value.dtype))
