"""How a loop is compiled, by how often it may run: hints for LLVM, which expects long loops.

A loop over the stored entries of a fiber is mostly short: what pays is to do little around it.
But some fibers are long, and then additions must not wait for each other.
"""

from __future__ import annotations

from linnet import imp
from linnet.backend.llvm_writer import BYTES, TYPES
from linnet.imp.fold import fold
from linnet.imp.rewrite import walk
from linnet.optimize.loops import (
    appends,
    branches,
    collects,
    gathers,
    is_piece,
    is_short,
    reduced,
    scatters,
    streams,
)
from linnet.records import dataclass
from linnet.target import PLAIN, Target

_LONG = 32  # iterations from which on it pays to have several accumulators, or to unroll
_UNROLLED = '!"llvm.loop.unroll.count", i32 2'
# No loop is left of its vectors, however short they are: what they work on stays in registers.
_WHOLE = '!"llvm.loop.vectorize.followup_vectorized", !{!"llvm.loop.unroll.full"}'
_PART = 16  # elements of a part that registers hold
_STRIP = 64  # iterations, of which that is done
# A loop of a few instructions is fetched at once, but not where it crosses the end of a cache line.
_ALIGNED = '!"llvm.loop.align", i32 32'


@dataclass(frozen=True, slots=True)
class Version:
    """A way to compile a loop that runs at least so many times; hints as LLVM writes them.

    `few`: there are some neighbours, for which a processor with masks needs no second loop.
    """

    least: int
    hints: tuple[str, ...]
    few: bool = False


def versions(loop: imp.For, target: Target = PLAIN) -> tuple[Version, ...]:
    """The versions of a loop; the last one is for any number of iterations."""
    vector = target.vector
    if not loop.how.is_plain:
        return (Version(0, _prescribed(loop, vector)),)
    if _is_whole_part(loop):
        return (Version(0, ('!"llvm.loop.unroll.full"',)),)
    if "hints" in target.without:
        return (Version(0, ()),)
    sums = reduced(loop)
    if sums and _is_no_vector(loop):  # LLVM would say so aloud
        return (Version(0, ()),)
    if is_short(loop) and branches(loop):  # as a vector, it would load what it need not
        return (Version(0, _hints(1, width=1)),)
    if collects(loop):  # one by one as well, but no addition waits for another
        return (Version(0, _hints(4, width=1)),)
    if not is_short(loop) and scatters(loop):  # no vectors, but less to do around each update
        return (Version(_LONG, (*_hints(1, width=1), _UNROLLED)), Version(0, _hints(1, width=1)))
    piece = is_piece(loop)
    if not sums and (is_short(loop) or appends(loop) or piece):
        width = None if is_short(loop) else _width(loop, vector)
        return (Version(0, _hints(1, width), few=width is not None),)
    if sums and not is_short(loop) and piece and not gathers(loop):
        # a block, a band or a run: a few elements, or a whole row
        width = vector // BYTES[TYPES[sums[0].dtype]]
        return (
            Version(_LONG, _hints(4, width=width)),
            Version(0, _hints(1, width=width), few=True),
        )
    # one by one: to gather a vector takes as long as to load its elements
    if sums and gathers(loop) and (is_short(loop) or piece):
        return (Version(_LONG, _hints(4, width=1)), Version(0, _hints(1, width=1)))
    if not is_short(loop):
        return (Version(0, (_WHOLE,) if _is_strip(loop) else ()),)
    width = vector // BYTES[TYPES[sums[0].dtype]]
    return (Version(0, _hints(1, width=width), few=True),)


def _prescribed(loop: imp.For, vector: int) -> tuple[str, ...]:
    """What a schedule says of a loop: vectors, perhaps several of them in a row, or copies."""
    how = loop.how
    copies = f'!"llvm.loop.unroll.count", i32 {how.unroll}'
    if not how.race:  # copies of vectors are not what was asked for
        return (*_hints(1, width=1), copies)
    dtypes = {n.dtype for n in walk(loop.body) if isinstance(n, imp.Load | imp.Var)}
    most = max([BYTES[TYPES[dtype]] for dtype in dtypes], default=8)
    # to ask for a width says as much as to ask for vectors, of which LLVM would complain aloud
    vectors = f'!"llvm.loop.vectorize.width", i32 {vector // most}'
    if how.unroll == 1:
        return (vectors,)
    then = f'!"llvm.loop.vectorize.followup_vectorized", !{{{copies}}}'
    return (vectors, '!"llvm.loop.interleave.count", i32 1', then)


def _is_whole_part(loop: imp.For) -> bool:
    """Whether a loop goes through a part of known length, and stores something for each element.

    Written out, it has registers for elements of arrays that are the kernel's own.
    """
    if isinstance(loop.start, imp.Const) or streams(loop):
        return False
    if not any(isinstance(s, imp.Store) for s in loop.body.stmts):
        return False
    match fold(imp.widen(loop.stop) - imp.widen(loop.start)):
        case imp.Const(int(length), _):
            simple = imp.Let | imp.Store | imp.Comment
            return length <= _PART and all(isinstance(s, simple) for s in loop.body.stmts)
    return False


def _is_strip(loop: imp.For) -> bool:
    """Whether a loop runs a few times, however often it is come by: over a part of a row."""
    match fold(imp.widen(loop.stop) - imp.widen(loop.start)):
        case imp.Const(int(length), _):
            return length <= _STRIP and streams(loop)
    return False


def _is_no_vector(loop: imp.For) -> bool:
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


def _width(loop: imp.For, vector: int) -> int | None:
    """How many elements a vector has, if it is certain that LLVM makes vectors of a loop.

    Without a word it takes the longest that there are, and does up to 63 bytes one by one where a
    loop reads neighbours of one array: it keeps them for the next iteration, and then cannot make
    shorter vectors of what is left.
    """
    length = fold(imp.widen(loop.stop) - imp.widen(loop.start))
    if not streams(loop) or isinstance(length, imp.Const):
        return None
    buffers = [n.buffer for n in walk(loop.body) if isinstance(n, imp.Load | imp.Store)]
    return vector // max(BYTES[TYPES[buffer.dtype]] for buffer in buffers)


def _hints(interleave: int, width: int | None = None) -> tuple[str, ...]:
    """Work on so many vectors at a time, each of so many elements; a single one is a small loop."""
    hints = [f'!"llvm.loop.interleave.count", i32 {interleave}']
    if width is not None:
        hints.append(f'!"llvm.loop.vectorize.width", i32 {width}')
    if interleave == 1 and width in (None, 1):
        hints.append(_ALIGNED)
    return tuple(hints)
