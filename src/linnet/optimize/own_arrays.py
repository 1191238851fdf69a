"""Temporaries with a few elements, whose number is known, become arrays of the kernel's own.

    grow(t_val, 8)          ->          double t[8];

Nobody has to make room for them, and back ends keep them in registers where all of their elements
are told apart, as in loops that are written out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from linnet import imp
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite, walk

MOST = 64
"""Elements of an array that lies on the stack; longer ones would not fit registers anyway."""


def own_arrays(kernel: imp.Kernel, temporaries: Collection[str]) -> imp.Kernel:
    """Give the kernel the memory of small dense temporaries. Needs: simplified code."""
    plain = [a for a in kernel.arguments if a.name in temporaries and len(a.buffers) == 1]
    mine = {buffer.name for a in plain for buffer in a.buffers}
    sizes: dict[str, int] = {}
    for node in walk(kernel.body) if mine else ():
        match node:
            case imp.Grow(buffer, imp.Const(int(count))) if buffer.name in mine:
                sizes[buffer.name] = max(count, sizes.get(buffer.name, 1))
            case imp.Grow(buffer) | imp.SetLength(buffer) | imp.Address(buffer):
                mine.discard(buffer.name)
            case imp.Swap(a, b):
                mine -= {a.name, b.name}
            case imp.Join(_, lent):
                mine -= {buffer.name for buffer in lent}
    small = {name: size for name, size in sizes.items() if name in mine and size <= MOST}
    return _with_own(kernel, small) if small else kernel


def _with_own(kernel: imp.Kernel, sizes: dict[str, int]) -> imp.Kernel:
    """The kernel with arrays of its own for these buffers, which nobody uses any more."""
    names = fresh_names(kernel)
    given = {b.name: b for a in kernel.arguments for b in a.buffers if b.name in sizes}
    own = {
        name: imp.Buffer(names.fresh(buffer.holds.tensor if buffer.holds else name), buffer.dtype)
        for name, buffer in given.items()
    }

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.Grow(buffer) if buffer.name in own:
                return imp.EMPTY
            case imp.Load(buffer) | imp.Store(buffer) | imp.Fill(buffer) | imp.Prefetch(buffer):
                found = own.get(buffer.name)
                return None if found is None else replace(node, buffer=found)
        return None

    body = rewrite(kernel.body, rule)
    assert isinstance(body, imp.Block)
    scratch = tuple(imp.Scratch(buffer, sizes[name]) for name, buffer in own.items())
    return replace(kernel, body=body, scratch=(*kernel.scratch, *scratch))
