"""Expressions of restricted Python, translated into the imperative IR."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from types import FunctionType

from linnet import imp
from linnet.errors import KernelSyntaxError, LinnetError
from linnet.imp.rewrite import walk
from linnet.names import Names
from linnet.python.arithmetic import concrete, kind
from linnet.python.rules import Rules
from linnet.python.source import Defined
from linnet.records import dataclass

Callee = tuple[str, str | None]  # the name of a function in the IR, and the type it returns

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
_SIGNS: dict[type, str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}


@dataclass(slots=True)
class Frame:
    """A function while it is translated: what names mean here, and the statements so far."""

    source: Defined
    function: FunctionType
    rules: Rules
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

    def because(self, node: ast.AST, error: TypeError) -> KernelSyntaxError:
        """The refusal of something that has no meaning for values of these types."""
        if not isinstance(error, LinnetError):
            return self.refusal(node, str(error))
        at = self.source.location(node)
        return KernelSyntaxError(error.message, at=at, why=error.why, hint=error.hint)

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
        var = imp.Var(self.names.fresh("t"), self.rules.held(value.dtype))
        self.out.append(imp.Let(var, self.rules.coerce(value, var.dtype)))
        self.given.add(var.name)
        return var

    def once(self, x: imp.Expr) -> imp.Expr:
        """`x`, held in a variable if it is work to evaluate; it will be used several times."""
        if self.lazy or isinstance(x, imp.Const | imp.Var):
            return x
        return self.temporary(x)


def translate_expr(frame: Frame, node: ast.expr) -> imp.Expr:
    """The value of an expression; a literal stays weak."""
    try:
        return _expr(frame, node)
    except TypeError as error:
        raise frame.because(node, error) from None


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
            return frame.rules.coerce(translate_expr(frame, node), imp.BOOL)


def translate_index(frame: Frame, node: ast.expr) -> imp.Expr:
    """An integer, in 64 bits."""
    index = translate_expr(frame, node)
    if kind(index.dtype) not in "iu":
        raise frame.refusal(node, f"an integer is needed here, not {concrete(index.dtype)}")
    return frame.rules.coerce(index, imp.INT)


def translate_call(frame: Frame, node: ast.Call) -> imp.Call:
    """A call of another function of the program."""
    found = frame.rules.text(_static(frame, node.func))
    if found is None:
        raise frame.refusal(node, f"`{ast.unparse(node.func)}` cannot be called here")
    args = tuple(_argument(frame, a) for a in _plain_arguments(frame, node))
    try:
        name, dtype = frame.callee(found[0], tuple(a.dtype for a in args))
    except TypeError as error:
        raise frame.because(node, error) from None
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
            return _literal(frame, node, value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            a, b = translate_expr(frame, left), translate_expr(frame, right)
            if isinstance(op, ast.FloorDiv | ast.Mod | ast.Pow):
                a, b = frame.once(a), frame.once(b)
            return frame.rules.combine(OPERATORS[type(op)], a, b)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _comparison(frame, node, [left, *comparators], ops)
        case ast.Subscript(value=value, slice=index):
            return imp.Load(buffer_of(frame, value), _subscript(frame, index))
        case ast.UnaryOp(op=ast.Not()):
            return translate_test(frame, node)
        case ast.UnaryOp(op=op, operand=operand):
            return frame.rules.unary(_SIGNS[type(op)], translate_expr(frame, operand))
        case ast.BoolOp():
            return _logical(frame, node)
        case ast.IfExp():
            return _choice(frame, node)
        case ast.Call():
            return _call(frame, node)
        case ast.Attribute():
            return _part(frame, node) if _is_local(frame, node.value) else _constant(frame, node)
        case _:
            raise _outside(frame, node)


def _outside(frame: Frame, node: ast.AST) -> KernelSyntaxError:
    return frame.refusal(node, f"`{ast.unparse(node)}` is outside of what can be compiled")


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
    return _literal(frame, node, _static(frame, node))


def _literal(frame: Frame, node: ast.expr, value: object) -> imp.Const:
    found = frame.rules.literal(value)
    if found is None:
        raise frame.refusal(node, f"`{ast.unparse(node)}` is not a number")
    return found


def _is_local(frame: Frame, node: ast.expr) -> bool:
    """Whether an expression is about a value of the function, not a name of the Python around."""
    match node:
        case ast.Name(id=name):
            return name in frame.env
        case ast.Attribute(value=value):
            return _is_local(frame, value)
        case _:
            return True


def _part(frame: Frame, node: ast.Attribute) -> imp.Expr:
    """`z.real`, `z.imag`."""
    whole = translate_expr(frame, node.value)
    found = frame.rules.call(node.attr, [whole], frame.once)
    if found is None or node.attr not in ("real", "imag"):
        raise _outside(frame, node)
    return found


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
        right = frame.once(right)
    combine = frame.rules.combine
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
    rules = frame.rules
    dtype = rules.held(rules.join(a.dtype, b.dtype))
    a, b = rules.coerce(a, dtype), rules.coerce(b, dtype)
    if not then and not orelse and _harmless(a) and _harmless(b):
        return imp.Select(cond, a, b)
    if frame.lazy:
        raise frame.refusal(
            node, "this choice cannot be made inside a condition", "use an `if` statement"
        )
    var = imp.Var(frame.names.fresh("t"), dtype)
    then.append(imp.Assign(var, a))
    orelse.append(imp.Assign(var, b))
    frame.out.append(imp.Let(var, zero(rules, dtype)))
    frame.given.add(var.name)
    frame.out.append(imp.If(cond, imp.Block(tuple(then)), imp.Block(tuple(orelse))))
    return var


def zero(rules: Rules, dtype: str) -> imp.Const:
    """Nought, in any type."""
    constant = rules.coerce(imp.Const(0, "weak_int"), dtype)
    assert isinstance(constant, imp.Const)
    return constant


def _harmless(x: imp.Expr) -> bool:
    """Can this be evaluated in vain? Not if it may read past an end, or divide by zero."""
    return not any(
        isinstance(n, imp.Load | imp.Call) or (isinstance(n, imp.Binary) and n.op in ("div", "rem"))
        for n in walk(x)
    )


def _call(frame: Frame, node: ast.Call) -> imp.Expr:
    if isinstance(node.func, ast.Attribute) and _is_local(frame, node.func.value):
        return _method(frame, node, node.func)
    function = _static(frame, node.func)
    text = frame.rules.text(function)
    if text is not None:
        call = translate_call(frame, node)
        if call.dtype == "void":
            raise frame.refusal(node, f"`{ast.unparse(node.func)}` gives no value")
        return call if text[1] is None else frame.rules.coerce(call, text[1])
    args = [translate_expr(frame, a) for a in _plain_arguments(frame, node)]
    found = frame.rules.call(function, args, frame.once)
    if found is None:
        raise _outside(frame, node)
    return found


def _method(frame: Frame, node: ast.Call, method: ast.Attribute) -> imp.Expr:
    """`z.conjugate()`."""
    if method.attr != "conjugate" or node.args or node.keywords:
        raise _outside(frame, node)
    found = frame.rules.call(method.attr, [translate_expr(frame, method.value)], frame.once)
    if found is None:
        raise _outside(frame, node)
    return found


def _plain_arguments(frame: Frame, node: ast.Call) -> list[ast.expr]:
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        raise frame.refusal(node, "arguments are given by position")
    return node.args


def _argument(frame: Frame, node: ast.expr) -> imp.Expr | imp.Address:
    if isinstance(node, ast.Name) and isinstance(frame.env.get(node.id), imp.Buffer):
        return imp.Address(buffer_of(frame, node))
    return frame.rules.passed(translate_expr(frame, node))
