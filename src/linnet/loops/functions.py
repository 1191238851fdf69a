"""The functions that users have written, as far as a program calls them."""

from __future__ import annotations

from linnet.algebra.function import Function
from linnet.loops.nodes import Assign, Call, Program
from linnet.loops.rewrite import walk


def content(program: Program) -> list[str]:
    """What the key of a program must hold besides its text: its functions, call by call."""
    return [_content(f) for f in _called(program) if f.body is not None]


def _content(function: Function) -> str:
    assert function.body is not None
    parts = [function.body.token]
    for case in function.cases:
        assert case.function.body is not None
        parts.append(f"{case.values} {case.order} {case.function.body.token}")
    return " ".join(parts)


def _called(program: Program) -> list[Function]:
    found: list[Function] = []
    for node in walk(program.body):
        if isinstance(node, Call):
            found.append(node.function)
        elif isinstance(node, Assign) and node.op is not None:
            found.append(node.op)
    return found
