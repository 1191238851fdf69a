"""How many turns of a loop are made at once: in vectors, of which the last may have a mask.

    for j in a … b:                  in vectors of 8, the rest under a mask      (a few neighbours)
      s += x[j] * y[j]        ->     from 32 turns on four vectors side by side  (a block, or a row)
                                     one by one, but in four sums                (a gather)

It is decided here, once for each loop, and said by its `how`; back ends write what is said.
Compilers expect long loops. A loop over the entries of a fiber is mostly short: what pays is to do
little around it. But some fibers are long, and then additions must not wait for each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from linnet import imp
from linnet.imp.fold import fold
from linnet.imp.how import ALL, Kept, Way
from linnet.imp.rewrite import rewrite_statements, statements, walk
from linnet.optimize.loops import (
    gathers,
    is_part,
    is_piece,
    is_refusal,
    is_short,
    scatters,
    streams,
    walks,
)
from linnet.target import Target

_LONG = 32  # turns from which on it pays to have several accumulators, or to unroll
_PART = 16  # elements of a part that registers hold
_STRIP = 64  # turns of a loop of which vectors leave none
_BYTES = 64  # of a vector that can be masked
_FEW = 2  # sums, each of which has two registers
_LANED = {"f": frozenset("+-*/"), "i": frozenset("+-*&|^"), "u": frozenset("+-*&|^")}


def vectorize(kernel: imp.Kernel, target: Target) -> imp.Kernel:
    """Say of every loop of a kernel, and of its codelets, how a target makes its turns."""

    def rule(node: imp.Node) -> imp.Node | None:
        if not isinstance(node, imp.For):
            return None
        return replace(node, how=replace(node.how, ways=_ways(node, target), kept=(*_kept(node),)))

    def inside(function: imp.Function) -> imp.Function:
        body = rewrite_statements(function.body, rule)
        return function if body is function.body else replace(function, body=body)

    codelets = tuple(map(inside, kernel.codelets))
    return replace(kernel, body=rewrite_statements(kernel.body, rule), codelets=codelets)


def _ways(loop: imp.For, target: Target) -> tuple[Way, ...]:
    """The ways to run a loop; the last one is for any number of turns."""
    if not loop.how.is_plain:
        return (_prescribed(loop, target.vector),)
    if _is_known_part(loop):
        return (Way(copies=ALL, of_vectors=streams(loop)),)
    if "hints" in target.without:
        return (Way(),)
    stmts = loop.body.stmts
    only_sums = all(isinstance(s, imp.Let | imp.Accumulate | imp.Comment) for s in stmts)
    sums = [s.var for s in stmts if isinstance(s, imp.Accumulate)] if only_sums else []
    if sums:
        return _of_sums(loop, sums, target)
    short = is_short(loop)
    if short and any(isinstance(s, imp.If) for s in stmts):
        return (Way(width=1, side=1),)  # as a vector, it would load what it need not
    if _collects(loop):  # one by one as well, but no addition waits for another
        return (Way(width=1, side=4),)
    if not short and not is_part(loop) and _updates(loop):  # no vectors, but less around updates
        return (Way(_LONG, width=1, side=1, copies=2), Way(width=1, side=1))
    if short or is_piece(loop) or any(isinstance(s, imp.Assign) for s in stmts):
        width = 0 if short else _width(loop, target.vector)
        way = Way(width=width, side=1)
        return (_masked(loop, way, target) if width and not _goes_on(loop) else way,)
    return (Way(copies=ALL, of_vectors=True) if _is_strip(loop) else Way(),)


def _of_sums(loop: imp.For, sums: list[imp.Var], target: Target) -> tuple[Way, ...]:
    """The ways to run a loop that does nothing but add up, or multiply, and so on."""
    short, piece, gathered = is_short(loop), is_piece(loop), gathers(loop)
    reduces = not short and not gathered and _reduces(loop)
    if _has_no_vector(loop):  # LLVM would say so aloud
        return (Way(reduces=reduces),)
    if gathered:  # to gather a vector takes as long as to load its elements one by one
        several = (Way(_LONG, width=1, side=4), Way(width=1, side=1))
        return several if short or piece else (Way(),)
    width = target.vector // size_of(sums[0].dtype)
    one = _masked(loop, Way(width=width, side=1), target)
    if short:
        return (one,)
    if piece:  # a block, a band or a run: a few elements, or a whole row
        return (Way(_LONG, width=width, side=4, reduces=reduces), one)
    return (Way(reduces=reduces),)


def _prescribed(loop: imp.For, vector: int) -> Way:
    """What a schedule says of a loop: vectors, perhaps several of them in a row, or copies."""
    how = loop.how
    if not how.race:  # copies of vectors are not what was asked for
        return Way(width=1, side=1, copies=how.unroll)
    dtypes = {n.dtype for n in walk(loop.body) if isinstance(n, imp.Load | imp.Var)}
    # to ask for a width says as much as to ask for vectors, of which LLVM would complain aloud
    width = vector // max(map(size_of, dtypes), default=8)
    if how.unroll == 1:
        return Way(width=width)
    return Way(width=width, side=1, copies=how.unroll, of_vectors=True)


def size_of(dtype: str) -> int:
    """The bytes of an element; of a complex number, those of a part."""
    return int(np.dtype(dtype).itemsize) >> dtype.startswith("complex")


def _length(loop: imp.For) -> int | None:
    """How many turns a loop makes, if that is known."""
    match fold(imp.widen(loop.stop) - imp.widen(loop.start)):
        case imp.Const(int(length), _):
            return length
    return None


def _is_known_part(loop: imp.For) -> bool:
    """Whether a loop goes through a part of known length, and stores something for each element.

    Without a loop there are registers for elements of arrays that are the kernel's own.
    """
    if loop.stop != imp.Const(loop.over.tile, imp.INT) or loop.start != imp.ZERO:
        return False
    simple = all(isinstance(s, imp.Let | imp.Store | imp.Comment) for s in loop.body.stmts)
    stores = any(isinstance(s, imp.Store) for s in loop.body.stmts)
    return simple and stores and (loop.over.tile <= _PART or streams(loop))


def _is_strip(loop: imp.For) -> bool:
    """Whether a loop runs a few times, however often it is come by: over a part of a row.

    No loop is left of its vectors, however short they are: what they work on stays in registers.
    """
    length = _length(loop)
    return length is not None and length <= _STRIP and streams(loop)


def _has_no_vector(loop: imp.For) -> bool:
    """Whether LLVM knows no vector of a reduction: of a complex product, or where it finds a NaN.

    What is added to a NaN is one, so that it sees a constant, and nothing that is reduced.
    """
    for node in walk(loop.body):
        match node:
            case imp.Accumulate(imp.Var(_, dtype), "*", _) if dtype.startswith("complex"):
                return True
            case imp.Const(value, _) if value != value:  # NaN, or a complex number with one
                return True
    return False


def _reduces(loop: imp.For) -> bool:
    """Whether compilers that have to be told may add floats up in another order, each in one."""
    sums = _sums(loop)
    floats = all(s.var.dtype.startswith("float") for s in sums)
    one_op = {s.op for s in sums} in ({"+"}, {"*"})
    return floats and one_op and len({s.var for s in sums}) == len(sums)


def _collects(loop: imp.For) -> bool:
    """Whether a loop writes what it finds all over memory, and nothing else, from 0 on."""
    stmts = [s for s in loop.body.stmts if not isinstance(s, imp.Comment)]
    stores = [s for s in stmts if isinstance(s, imp.Store)]
    plain = all(isinstance(s, imp.Let | imp.Store) for s in stmts) and not streams(loop)
    from_0 = imp.Binary("-", loop.var, loop.start, imp.INT)
    return bool(stores) and plain and all(s.index == from_0 for s in stores)


def _updates(loop: imp.For) -> bool:
    """Whether a loop updates places all over an array, and does little else."""
    few = (imp.Let, imp.Store, imp.Comment)
    simple = all(isinstance(s, few) or is_refusal(s) for s in loop.body.stmts)
    return simple and scatters(loop) and not any(isinstance(n, imp.Call) for n in walk(loop.body))


def _goes_on(loop: imp.For) -> bool:
    """Whether a loop updates elements: a load waits for a store under a mask, whatever it wrote."""
    stored = {s.buffer.name for s in loop.body.stmts if isinstance(s, imp.Store)}
    return any(isinstance(n, imp.Load) and n.buffer.name in stored for n in walk(loop.body))


def _width(loop: imp.For, vector: int) -> int:
    """How many elements a vector has, if it is certain that LLVM makes vectors of a loop; else 0.

    Without a word it takes the longest that there are, and does up to 63 bytes one by one where a
    loop reads neighbours of one array: it keeps them for the next turn, and then cannot make
    shorter vectors of what is left.
    """
    if not streams(loop) or _length(loop) is not None:
        return 0
    buffers = [n.buffer for n in walk(loop.body) if isinstance(n, imp.Load | imp.Store)]
    return vector // max(size_of(buffer.dtype) for buffer in buffers)


# -- masks -----------------------------------------------------------------------------------------


def _masked(loop: imp.For, way: Way, target: Target) -> Way:
    """The way, in vectors with a mask at the end, if a target has some for what the loop does.

    It only adds up floats, or writes neighbours, that come from neighbours. A loop over what whole
    vectors leave would end where no processor foresees it; a mask ends nothing. Where masks cost
    something, there is one for what whole vectors and a half leave.
    """
    lanes = _lanes(loop)
    if not lanes or not target.masks or (target.masks == "load" and not _pays(loop, lanes)):
        return way
    return Way(width=lanes, masked=target.masks)


def _lanes(loop: imp.For) -> int:
    """How many elements a vector with a mask has: no more than a short loop of known length.

    It is 0 if there are none for what the loop does.
    """
    sums = _sums(loop)
    hidden, lets = {loop.var.name, *(s.var.name for s in sums)}, set[str]()
    results = {s.buffer.dtype for s in loop.body.stmts if isinstance(s, imp.Store)}
    results |= {s.var.dtype for s in sums}
    if len(hidden) <= len(sums) or len(results) != 1 or not (sums or streams(loop)):
        return 0
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(var, value) if _is_laned(value, loop, hidden, lets):
                lets.add(var.name)
            case imp.Accumulate(var, "+" | "-", value) if var.dtype.startswith("float"):
                if not _is_laned(value, loop, hidden, lets):
                    return 0
            case imp.Store(_, _, value) if not sums and _is_laned(value, loop, hidden, lets):
                pass
            case imp.Comment():
                pass
            case _:
                return 0
    most, length = _BYTES // size_of(*results), _length(loop)
    return most if length is None or not sums else min(most, 1 << max(1, (length - 1).bit_length()))


def _sums(loop: imp.For) -> list[imp.Accumulate]:
    return [stmt for stmt in loop.body.stmts if isinstance(stmt, imp.Accumulate)]


def _pays(loop: imp.For, lanes: int) -> bool:
    """Whether a mask is better than what compilers do, where it costs something.

    Of many sums the vectors do not fit into registers. A loop of a known length has no end that
    would have to be foreseen, and one vector does if it is as long as the loop.
    """
    sums, length = _sums(loop), _length(loop)
    if length is not None:
        dtype = next((s.var.dtype for s in sums), "int8")
        vectors = len(sums) * lanes * size_of(dtype) / (_BYTES / 2)
        return length in (4, 8) and lanes == length and vectors <= 4 * _FEW
    return 0 < len(sums) <= _FEW


def _is_laned(e: imp.Expr, loop: imp.For, hidden: set[str], lets: set[str]) -> bool:
    """Whether a value is one that vectors compute, and that no lane can fail to compute."""
    kind = e.dtype[0]
    if kind not in "fiu":
        return False
    match e:
        case imp.Var(name, _):
            return name not in hidden
        case imp.Const():
            return True
        case imp.Load(_, index):
            return walks(index, loop.var.name, lets)
        case imp.Binary("<<" | ">>", x, imp.Const(int(by)), dtype) if 0 <= by < 8 * size_of(dtype):
            return _is_laned(x, loop, hidden, lets)
        case imp.Binary(op, a, b, _) if op in _LANED[kind]:
            return _is_laned(a, loop, hidden, lets) and _is_laned(b, loop, hidden, lets)
        case imp.Cast(x, dtype) if x.dtype == dtype or x.dtype[0] == dtype[0] == "f":
            return _is_laned(x, loop, hidden, lets)
        case imp.Unary("-", x, dtype) if dtype[0] == "f":
            return _is_laned(x, loop, hidden, lets)
    return False


# -- sums of loops inside --------------------------------------------------------------------------


def _kept(loop: imp.For) -> Iterator[Kept]:
    """The sums that vectors of loops inside have, and that need not be brought together in each.

    They are added to another one, and nobody reads them before the end.
    """
    parts: dict[imp.Var, set[int]] = {}
    for inner in _chosen(loop.body):
        if isinstance(inner, imp.For) and inner.how.ways[-1].masked:
            for s in _sums(inner):
                parts.setdefault(s.var, set()).add(inner.how.ways[-1].width)
    if not parts:
        return
    reads = Counter(node for node in walk(loop.body) if isinstance(node, imp.Var))
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Accumulate(total, "+", imp.Var() as part) if part in parts:
                if reads[part] == 1 and not reads[total] and not _changes(loop, total):
                    yield from (Kept(part, lanes, total) for lanes in sorted(parts[part]))


def _chosen(block: imp.Block) -> Iterator[imp.Stmt]:
    """The statements of a block, and those of its branches."""
    for stmt in block.stmts:
        yield stmt
        if isinstance(stmt, imp.If):
            yield from _chosen(stmt.then)
            yield from _chosen(stmt.orelse)


def _changes(loop: imp.For, total: imp.Var) -> bool:
    """Whether a loop does anything to a sum but add to it."""
    for stmt in statements(loop.body):
        match stmt:
            case imp.Accumulate(var, "+" | "-", _):
                pass
            case imp.Let(var, _) | imp.Assign(var, _) | imp.Accumulate(var, _, _) if var == total:
                return True
    return False
