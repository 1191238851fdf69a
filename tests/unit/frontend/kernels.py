"""Kernels from text, for tests: defined as a notebook defines them, and what `ln` is to them."""

from __future__ import annotations

import itertools
import linecache
import math
import textwrap
from types import FunctionType, SimpleNamespace

import numpy as np

from linnet import loops
from linnet.algebra import table
from linnet.formats import named
from linnet.formats.construct import scalar
from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.sparse_list import SparseList
from linnet.frontend import words
from linnet.frontend.parse import parse

ln = SimpleNamespace(
    **{w.__name__: w for w in (*words.PROTOCOLS, *words.STATEMENTS)},
    extents=words.extents,
    scalar=scalar,
    choose=table.choose,
    coalesce=table.coalesce,
    minimum=table.minimum,
    Dense=Dense,
    SparseList=SparseList,
    Element=Element,
    CSR=named.CSR,
    DENSE=named.DENSE,
)
NAMES = {"ln": ln, "np": np, "math": math}
_cells = itertools.count()


def define(text: str, **names: object) -> FunctionType:
    """The first function that a text defines."""
    text = textwrap.dedent(text).lstrip("\n")
    file = f"<cell {next(_cells)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, object] = dict(NAMES) | names
    exec(compile(text, file, "exec"), scope)
    return next(
        f for f in scope.values() if isinstance(f, FunctionType) and f.__code__.co_filename == file
    )


def kernel(text: str, **names: object) -> loops.Program:
    """The program of the first function that a text defines."""
    return parse(define(text, **names))
