"""Which results of a program begin with what they held before?

A declaration in a loop or in an `if` holds to the end of that block. What is used without one is
kept: it begins with what the caller passes.
"""

from __future__ import annotations

from linnet.loops.nodes import Block, Declare, If, Let, Loop, Node, Program
from linnet.loops.rewrite import accesses, children, walk


def written_params(program: Program) -> frozenset[str]:
    """Parameters that are declared or updated."""
    found = {n.tensor for n in walk(program.body) if isinstance(n, Declare)}
    found |= {str(a.tensor) for a, is_target in accesses(program.body) if is_target}
    return frozenset(found & set(program.params))


def kept_params(program: Program) -> frozenset[str]:
    """Parameters that are written, and somewhere used where no declaration reaches."""
    found: set[str] = set()
    _collect(program.body, set(), found)
    return frozenset(found) & written_params(program)


def _collect(node: Node, declared: set[str], found: set[str]) -> None:
    """Add what is used and not `declared`, which grows by what this block declares."""
    match node:
        case Block() | Let():
            for child in children(node):
                _collect(child, declared, found)
        case Loop() | If():
            for child in children(node):
                _collect(child, set(declared), found)
        case _:
            found |= {str(a.tensor) for a, _ in accesses(node)} - declared
            if isinstance(node, Declare):
                declared.add(node.tensor)
