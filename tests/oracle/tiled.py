"""What a schedule may change, and what it may cost: sums keep their bits; only tiles are added.

Work is every turn of every loop, codelets included, of the code that is shipped. A program in tiles
is compared with itself without them. It may do more only where

* a loop counts tiles, or stands between one that does and the loop through its tiles: as many turns
  as the program says, by its interpreter;
* a tile begins: where it begins and ends is searched for in each fiber, and a fiber that goes on in
  the next tile is come by twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from unittest import mock

import numpy as np
from tests.oracle.check import Shapes, Subject
from tests.oracle.meaning import Arguments, Formats, cells
from tests.oracle.schedules import keeps_loops, keeps_sums, untiled

import linnet as ln
from linnet import compiler, loops
from linnet.algebra import table
from linnet.algebra.dtypes import kind
from linnet.compiler import normalize, under_schedule
from linnet.errors import ScheduleError
from linnet.formats.named import SCALAR
from linnet.loops.bases import coordinates
from linnet.loops.commands import Coord
from linnet.loops.interpret import run
from linnet.loops.rewrite import accesses, block, rewrite_stmt, walk
from linnet.runtime.specialize import formats_of
from linnet.testing import dense

# -- how much is done ------------------------------------------------------------------------------


def check_work(subject: Subject, args: Arguments, shapes: Shapes) -> None:
    """Tiles are all that a schedule adds."""
    program = subject.kernel.program
    if any(isinstance(command, Coord) for command in program.schedule):
        return  # it visits what others do not
    plain, whole = without_tiles(program, args)
    formats = formats_of(subject.kernel, [args[p] for p in program.params])
    alike = keeps_loops(program.schedule)
    alike = alike and temporaries_of(program, formats) == temporaries_of(plain, formats)
    try:
        reference = Subject.of(plain if alike else whole, args, subject.kinds)
    except ScheduleError:  # what depends on how long tiles are, such as vectors of single ones
        return
    found, before = visits(subject, args, shapes), visits(reference, args, shapes)
    added = tiles(subject, args)
    most = before.total() + added.total()
    assert found.total() <= most, f"{dict(found)} are more than {dict(before)} and {dict(added)}"


def without_tiles(program: loops.Program, args: Arguments) -> tuple[loops.Program, loops.Program]:
    """The program without its schedule, and with one that makes a single tile of each range."""
    whole = untiled(program.schedule, _longest(args))
    return replace(program, schedule=()), replace(program, schedule=whole)


def temporaries_of(program: loops.Program, formats: Formats) -> tuple[object, ...]:
    """The temporaries of a program, those for results that are written out of order included."""
    return normalize(program, formats).program.temporaries


def visits(subject: Subject, args: Arguments, shapes: Shapes) -> Counter[str]:
    """How often each loop turns, and how many elements are filled."""
    counts: Counter[str] = Counter()
    subject.interpreted(args, shapes, counts)
    return counts


def _longest(args: Arguments) -> int:
    """No range of a program has more indices or positions."""
    sizes = {n for t in args.values() for n in t.shape or ()}
    held = max(t.nnz for t in args.values() if t.shape is not None)
    return max(max(sizes, default=1) ** 3, held, 1)


def tiles(subject: Subject, args: Arguments) -> Counter[str]:
    """What tiles add to the work of a program: see above."""
    program = subject.kernel.program
    formats = formats_of(subject.kernel, [args[p] for p in program.params])
    tiled, formats, *_ = under_schedule(program, formats)
    formats |= dict(tiled.temporaries)
    between, parts = set(_between(tiled.body)), list(_over_parts(tiled.body))
    times = _times(subject, args, tiled, formats, [*between, *(f"begin {p.index}" for p in parts)])
    added = Counter({index: times[index] for index in between})
    bits = 2 + _longest(args).bit_length()
    for loop in parts:
        walked = [a for a, _ in accesses(loop.body) if loops.Index(loop.index) in a.indices]
        deep = max(coordinates(loop.extent), *map(_modes, walk(loop.extent)))
        each = (2 * bits + 1) * deep * (1 + len(walked))
        added[f"begin {loop.index}"] = times[f"begin {loop.index}"] * each
    return added


def _modes(node: loops.Node) -> int:
    """How many levels are searched for what is stored within a range."""
    return len(node.modes) if isinstance(node, loops.Positions) else 1


def _over_parts(body: loops.Stmt) -> Iterator[loops.Loop]:
    """The loops through tiles; of those that go through them together, the outermost."""
    for node in walk(body):
        if isinstance(node, loops.Loop) and _counters(node):
            yield node


def _counters(loop: loops.Loop) -> set[str]:
    """The indices that say through which part of a range a loop goes."""
    extent, found = loop.extent, set()
    while isinstance(extent, loops.Part | loops.Along | loops.Bounded):
        if isinstance(extent, loops.Part):
            found |= {n.name for n in walk(extent.number) if isinstance(n, loops.Index)}
        deeper = isinstance(extent, loops.Along) and extent.depth
        extent = None if deeper else extent.of
    for within in () if extent is None else _within(extent):
        found |= {n.name for n in walk(within) if isinstance(n, loops.Index)}
    return found


def _within(extent: loops.Range) -> list[loops.Range]:
    """The ranges of which positions are looked for, gone through or counted."""
    positions = [n for n in walk(extent) if isinstance(n, loops.Positions)]
    return [p.within for p in positions if p.within is not None]


def _between(stmt: loops.Stmt, open: frozenset[str] = frozenset()) -> Iterator[str]:
    """The loops that count tiles, and those that stand inside but are not in a tile yet."""
    if isinstance(stmt, loops.Loop):
        counted = {name for n in _over_parts(stmt.body) for name in _counters(n)}
        if loops.Index(stmt.index) in walk(stmt.body):  # else all its turns are made at once
            open -= _counters(stmt)
        if stmt.index in counted:
            open |= {stmt.index}
        if open:
            yield stmt.index
    for child in loops.rewrite.children(stmt):
        if isinstance(child, loops.Stmt):
            yield from _between(child, open)


def _times(
    subject: Subject,
    args: Arguments,
    program: loops.Program,
    formats: Formats,
    wanted: list[str],
) -> Mapping[str, int]:
    """How often loops turn, and begin, as the interpreter runs a program."""
    names = {what: f"times {k}" for k, what in enumerate(wanted)}

    def once(what: str) -> loops.Stmt:
        return loops.Assign(loops.Access(names[what], ()), table.add, loops.Literal(1))

    def count(stmt: loops.Stmt) -> loops.Stmt | None:
        if not isinstance(stmt, loops.Loop):
            return None
        if stmt.index in names:
            stmt = replace(stmt, body=block([once(stmt.index), stmt.body]))
        begin = f"begin {stmt.index}"
        return block([once(begin), stmt]) if begin in names else stmt

    zero = loops.Literal(0)
    begin = [loops.Declare(name, zero, ()) for name in names.values()]
    integer = SCALAR.with_dtype("int64").with_fill(0)
    temporaries = (*program.temporaries, *((name, integer) for name in names.values()))
    body = block([*begin, rewrite_stmt(program.body, count)])
    counting = replace(program, body=body, temporaries=temporaries)
    found = run(counting, cells(subject.kernel, args, formats | dict(counting.temporaries)))
    return {what: int(found[name].values[()]) for what, name in names.items()}


# -- what is computed ------------------------------------------------------------------------------


def check_sums(subject: Subject, args: Arguments, shapes: Shapes) -> None:
    """Sums whose order is kept have the same bits.

    Passes that take sums in another order, as `Accumulate` lets them, are left out: they do so
    without a schedule, too.
    """
    program = subject.kernel.program
    if not keeps_sums(program.schedule):
        return
    rough = {name: roughened(tensor) for name, tensor in args.items()}
    with mock.patch.object(compiler, "improve", lambda kernel, known: kernel):
        tiled = Subject.of(program, args, subject.kinds)
        reference = Subject.of(replace(program, schedule=()), args, subject.kinds)
    found = tiled.interpreted(rough, shapes)
    for name, expected in reference.interpreted(rough, shapes).items():
        a, b = dense(found[name]), dense(expected)
        same = (a == b) | ((a != a) & (b != b))
        assert same.all(), f"{name} has other bits than without tiles:\n{a}\n{b}"


def roughened(tensor: ln.Tensor) -> ln.Tensor:
    """The same tensor with other numbers, of which sums depend on their order."""
    dtype = tensor.format.dtype
    if tensor.shape is None or dtype is None or kind(dtype) not in "fc":
        return tensor
    leaf = tensor.format.leaf.arrays[0].name
    arrays = {n: _rough(a) if n.startswith(leaf) else a for n, a in tensor.buffers.items()}
    return ln.from_buffers(tensor.format, tensor.shape, arrays)


def _rough(values: np.ndarray) -> np.ndarray:
    """Numbers that are equal where they were, large ones and small ones of many digits."""
    with np.errstate(all="ignore"):
        found = values * np.pi * 100 ** np.clip(values.real, -2, 2)
    return np.where(np.isfinite(values), found, values).astype(values.dtype)
