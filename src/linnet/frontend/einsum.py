"""`ln.einsum`: index notation in a string, read, planned, compiled and run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.algebra.lookup import by_update, lookup
from linnet.arrays.check import check
from linnet.arrays.check import operands as accesses_of
from linnet.arrays.concretize import Plan, concretize
from linnet.arrays.nodes import Notation
from linnet.errors import ArgumentError, KernelSyntaxError, Location
from linnet.formats.construct import asarray
from linnet.formats.format import Format
from linnet.formats.named import FormatLike, as_format, recognize
from linnet.formats.tensor import Tensor
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel

_EQUATION = re.compile(r"\s*(\w+)\s*(\[[^\]]*\])?\s*([^\s\w=]*|\s\w+)=(?!=)\s*(.+)", re.DOTALL)
_SUBSCRIPTS = re.compile(r"[A-Za-z]*(,[A-Za-z]*)*(->[A-Za-z]*)?")


def einsum(
    equation: str,
    *tensors: object,
    format: FormatLike | None = None,
    fill_value: Number | None = None,
    schedule: str = "auto",
    **operands: object,
) -> Tensor:
    """Compute what an equation in index notation says; the result is a new tensor.

    The update may be `=`, `+=`, `*=`, `min=`, `max=`, `|=`, `&=` or any function by name. An index
    that the left side does not have is reduced over. NumPy's subscripts are accepted too. The
    format of the result is chosen if it is not given: sparse where the operands make it so.

    >>> C = ln.einsum("C[i,j] += A[i,k] * B[k,j]", A=A, B=B)
    >>> d = ln.einsum("d[j] min= d0[i] + G[i,j]", d0=d0, G=G)
    >>> C = ln.einsum("ij,jk->ik", A, B)
    """
    if schedule != "auto":
        raise ArgumentError(f"there is no schedule {schedule!r}", hint='"auto" is the only one yet')
    if tensors:
        equation, operands = from_subscripts(equation, tensors, operands)
    functions = {name: f for name, f in operands.items() if lookup(f) is not None}
    given = {
        n: v if type(v) is Tensor else asarray(v) for n, v in operands.items() if n not in functions
    }
    notation = read(equation, tuple(given), tuple(sorted(functions.items())))
    check(notation, {name: t.contents().shape for name, t in given.items()})
    wanted = None if format is None else as_format(format, len(notation.target.indices))
    names = {str(a.tensor) for a in accesses_of(notation)}
    used = {name: t for name, t in given.items() if name in names}
    plan, kernel = planned(
        notation,
        tuple((name, t.contents().format) for name, t in used.items()),
        tuple((name, t.nnz) for name, t in used.items()) if len(used) > 1 else (),
        wanted,
        fill_value,
    )
    stored = {n: t.to(plan.reorder[n]) if n in plan.reorder else t for n, t in used.items()}
    result = Tensor(recognize(plan.format), None)
    kernel(result, *(stored[name] for name in plan.program.params[1:]))
    return result


@lru_cache(maxsize=1024)
def planned(
    notation: Notation,
    formats: tuple[tuple[str, Format], ...],
    stored: tuple[tuple[str, int], ...],
    format: Format | None,
    fill: Number | None,
) -> tuple[Plan, Kernel]:
    """The plan of an equation over operands of these formats, and the kernel that runs it."""
    counts = dict(stored) or {name: 0 for name, _ in formats}
    plan = concretize(notation, dict(formats), counts, format, fill)
    return plan, kernel_of(plan.program)


@lru_cache(maxsize=1024)
def kernel_of(program: loops.Program) -> Kernel:
    """One kernel for all plans that come to the same program."""
    return Kernel(program)


@lru_cache(maxsize=1024)
def read(
    equation: str, tensors: tuple[str, ...], functions: tuple[tuple[str, object], ...]
) -> Notation:
    """The equation in a string."""
    found = _EQUATION.fullmatch(equation)
    if found is None:
        raise _unreadable(equation, "it is not of the form `C[i, j] += …`")
    name, subscripts, sign, value = found.groups()
    op = _update(sign.strip(), dict(functions), equation)
    indices = _indices(value, tensors, equation) | _indices(
        f"_{subscripts or '[()]'}", (), equation
    )
    target = f"{name}{subscripts or '[()]'}"
    loop = f"for {', '.join(sorted(indices))} in ...:\n    " if indices else ""
    program = parse_text(f"{loop}{target} = {value}", dict(functions))
    stmt = program.body
    while isinstance(stmt, loops.Loop | loops.Block):
        stmt = stmt.body if isinstance(stmt, loops.Loop) else stmt.stmts[0]
    if not isinstance(stmt, loops.Assign) or (stmt.op is not None):
        raise _unreadable(equation, f"`{name}` is what is computed, and cannot be read")
    unknown = [p for p in program.params if p not in tensors and p != name]
    if unknown:
        raise _unreadable(equation, f"`{unknown[0]}` is not given", f"pass {unknown[0]}=…")
    return Notation(stmt.target, op, stmt.value)


def _update(sign: str, functions: Mapping[str, object], equation: str) -> Function | None:
    if not sign:
        return None
    op = by_update.get(f"{sign}=") or lookup(functions.get(sign)) or lookup(sign)
    if op is None:
        raise _unreadable(equation, f"there is no update `{sign}=`")
    return op


def _indices(text: str, tensors: tuple[str, ...], equation: str) -> set[str]:
    """The names inside brackets that are not operands."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise _unreadable(equation, f"this is not an expression: {error.msg}") from None
    inside = [n.slice for n in ast.walk(tree) if isinstance(n, ast.Subscript)]
    names = {n.id for s in inside for n in ast.walk(s) if isinstance(n, ast.Name)}
    return names - set(tensors)


def from_subscripts(
    subscripts: str, tensors: tuple[object, ...], operands: Mapping[str, object]
) -> tuple[str, dict[str, object]]:
    """NumPy's form, `"ij,jk->ik"`, as an equation over operands with names."""
    text = subscripts.replace(" ", "")
    if operands or _SUBSCRIPTS.fullmatch(text) is None:
        raise _unreadable(subscripts, "operands without names go with subscripts like 'ij,jk->ik'")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(tensors):
        raise _unreadable(
            subscripts, f"it names {len(terms)} operands, and {len(tensors)} are given"
        )
    if not arrow:
        letters = left.replace(",", "")
        right = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    names = [f"t{k}" for k in range(len(terms))]
    value = " * ".join(f"{n}[{','.join(t) or '()'}]" for n, t in zip(names, terms, strict=True))
    sign = "+=" if set(left) - set(right) - {","} else "="
    return f"out[{','.join(right) or '()'}] {sign} {value}", dict(zip(names, tensors, strict=True))


def _unreadable(text: str, why: str, hint: str | None = None) -> KernelSyntaxError:
    return KernelSyntaxError(
        f"cannot read the equation {text!r}", at=Location.of_caller(), why=why, hint=hint
    )
