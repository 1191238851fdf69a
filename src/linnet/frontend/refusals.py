"""Python that is not in the loop language: what it is called, and what to write instead."""

from __future__ import annotations

import ast

_FOR = "loop with `for i in ...:` or `for i in range(a, b):`"
_BEFORE = "compute it before the kernel, in plain Python"
_INDICES = "write one index per dimension, such as A[i, j]"

_REFUSED: dict[str, tuple[str, str]] = {
    # statements
    "While": ("a while loop", _FOR),
    "AsyncFor": ("an async loop", _FOR),
    "Continue": ("continue", "put what follows under `if`"),
    "With": ("a with statement", "open it around the call of the kernel"),
    "AsyncWith": ("a with statement", "open it around the call of the kernel"),
    "Try": ("a try statement", "put it around the call of the kernel"),
    "TryStar": ("a try statement", "put it around the call of the kernel"),
    "Raise": ("raise", "check arguments before the call of the kernel"),
    "Assert": ("assert", "check arguments before the call of the kernel"),
    "Delete": ("del", "leave it out: a temporary lives until the end of its block"),
    "Import": ("an import", "import it at the top of the file"),
    "ImportFrom": ("an import", "import it at the top of the file"),
    "Global": ("a global statement", "pass what changes as a parameter"),
    "Nonlocal": ("a nonlocal statement", "pass what changes as a parameter"),
    "FunctionDef": ("a function", "define it outside, under @ln.function, and call it here"),
    "AsyncFunctionDef": ("a function", "define it outside, under @ln.function, and call it here"),
    "ClassDef": ("a class", "define it outside the kernel"),
    "Match": ("a match statement", "use if, elif and else"),
    "AnnAssign": ("an annotated assignment", "leave the annotation out: `d = …`"),
    "TypeAlias": ("a type alias", "define it outside the kernel"),
    # expressions
    "NamedExpr": ("an assignment inside an expression", "give it a line of its own: `d = …`"),
    "Lambda": ("a lambda", "define it outside, under @ln.function, and call it here"),
    "Dict": ("a dict", _BEFORE),
    "Set": ("a set", _BEFORE),
    "List": ("a list", "pass it as a tensor"),
    "Tuple": ("a tuple", "compute one value at a time"),
    "ListComp": ("a comprehension", "write the loop: `for i in ...:`"),
    "SetComp": ("a comprehension", "write the loop: `for i in ...:`"),
    "DictComp": ("a comprehension", "write the loop: `for i in ...:`"),
    "GeneratorExp": ("a generator", "write the loop: `for i in ...:`"),
    "Await": ("await", "call the kernel from async code; it cannot be async itself"),
    "Yield": ("yield", "store each value in a tensor: `y[i] = …`"),
    "YieldFrom": ("yield", "store each value in a tensor: `y[i] = …`"),
    "JoinedStr": ("a string", "a kernel computes with numbers"),
    "TemplateStr": ("a string", "a kernel computes with numbers"),
    "Starred": ("unpacking with *", "write the items one by one"),
    "Slice": ("a slice", "loop over an index instead: `for i in range(a, b):` and A[i]"),
    # operators
    "MatMult": ("the operator @", "write the sum: `C[i, j] += A[i, k] * B[k, j]`"),
    "Is": ("the operator `is`", "use =="),
    "IsNot": ("the operator `is not`", "use !="),
    "In": ("the operator `in`", "compare with == and `or`"),
    "NotIn": ("the operator `not in`", "compare with != and `and`"),
}


def refusal(node: ast.AST) -> tuple[str, str | None]:
    """The message and the hint for a node that the loop language does not have."""
    kind = type(node).__name__
    what, hint = _REFUSED.get(kind, (f"this syntax ({kind})", None))
    return f"{what} cannot be used in a kernel", hint


def refused_loop(iterable: ast.expr) -> tuple[str, str]:
    """The message and the hint for a loop over something else than `...` or a range."""
    match iterable:
        case ast.Call(ast.Name("zip" | "enumerate") | ast.Attribute()):
            hint = "loop over the index, `for i in ...:`, and read what you need at i"
        case ast.Name(name):
            hint = f"loop over the index, `for i in ...:`, and read `{name}[i]`"
        case _:
            hint = _FOR
    return "a kernel loops over `...` or range(a, b)", hint


def refused_index(node: ast.expr) -> tuple[str, str]:
    """The message and the hint for an index that is not a value."""
    match node:
        case ast.Constant(value) if value is ...:
            return "`...` as an index only declares: `A[...] = 0`", _INDICES
        case ast.Constant(value) if value is None:
            return "None cannot be an index", _INDICES
        case ast.Constant(value) if isinstance(value, str | bytes):
            return "a string cannot be an index", _INDICES
        case ast.Constant(value) if isinstance(value, float | complex | bool):
            return f"{value} cannot be an index", "an index is an integer"
        case _:
            message, hint = refusal(node)
            return message, hint or _INDICES
