"""Names that are used as what they are not: tensors, functions. The errors say what they are."""

from __future__ import annotations

import ast

import numpy as np

from linnet.algebra.function import Function
from linnet.frontend import words
from linnet.frontend.scope import Scope
from linnet.runtime.kernel import Kernel


def not_a_tensor(node: ast.Subscript, scope: Scope) -> Exception:
    """The error for an access to something that is no tensor of the kernel."""
    match node.value:
        case ast.Subscript():
            return scope.error(node, "a tensor is indexed once", hint="write A[i, j], not A[i][j]")
        case ast.Name(name) if (known := scope.find(name)) is not None:
            what = "a loop index" if known.kind == "index" else "a value"
            return scope.error(node, f"`{name}` is {what} and takes no indices")
        case ast.Name(name) if not scope.is_static(node.value):
            return scope.undefined(name, node.value)
        case ast.Name(name):
            scope.static(node.value)  # or it is not defined at all
            hint = "pass it to the kernel as a parameter"
            return scope.error(node, f"`{name}` is not a parameter of the kernel", hint=hint)
        case _:
            text = ast.unparse(node.value)
            hint = "a kernel indexes its parameters and temporaries, by name"
            return scope.error(node, f"`{text}` is not a tensor", hint=hint)


def function_hint(name: str) -> str:
    """What to write instead of an attribute that a kernel does not know."""
    known = isinstance(vars(np).get(name), np.ufunc)
    return f"call the function: `np.{name}(…)`" if known else "a kernel computes with numbers"


def not_a_function(node: ast.Call, scope: Scope) -> Exception:
    """The error for calling something of the kernel's own."""
    text = ast.unparse(node.func)
    if isinstance(node.func, ast.Attribute):
        hint = function_hint(node.func.attr)
        return scope.error(node, f"the method `{text}` cannot be called in a kernel", hint=hint)
    if isinstance(node.func, ast.Name) and scope.find(node.func.id) is None:
        return scope.undefined(node.func.id, node.func)
    return scope.error(node, f"`{text}` is not a function")


def unknown_function(node: ast.Call, callee: object, scope: Scope) -> Exception:
    """The error for a Python function that is none to Linnet."""
    text = ast.unparse(node.func)
    if any(callee is word for word in words.STATEMENTS) or is_scalar(callee):
        return scope.error(
            node,
            f"`{text}` makes no value",
            hint="give it a line of its own" if callee is not words.temp else f"`w = {text}(…)`",
        )
    hint = "define it under @ln.function, or use the functions of math, NumPy and ln"
    if callee is len:
        hint = "write `A.shape[0]`, the size of one dimension"
    elif isinstance(callee, Kernel):
        hint = "give it a line of its own; what it computes, it writes to its arguments"
    elif callee is sum or callee is np.sum:
        hint = "write the sum as a loop: `s[()] += …`"
    return scope.error(node, f"`{text}` is not a function that a kernel can call", hint=hint)


def wrong_arity(node: ast.Call, callee: object, function: Function, scope: Scope) -> Exception:
    """The error for a call with too few arguments, or too many."""
    text, n = ast.unparse(node.func), function.arity
    counted = "1 argument" if n == 1 else f"{n} arguments"
    return scope.error(node, f"`{text}` takes {counted}, not {len(node.args)}")


def is_scalar(callee: object) -> bool:
    """Whether a Python object is `ln.scalar`, which makes a zero-dimensional temporary."""
    module = getattr(callee, "__module__", None) or ""
    return getattr(callee, "__name__", None) == "scalar" and module.partition(".")[0] == "linnet"
