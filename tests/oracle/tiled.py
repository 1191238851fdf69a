"""What a schedule may change, and what it may cost: sums keep their bits; only tiles are added.

Work is every turn of every loop, codelets included, of the code that is shipped. A program in tiles
is compared with itself without them. It may do more only where

* a loop counts tiles, or stands between one that does and the loop through its tiles: as many turns
  as the program says, by its interpreter; so does one around it, or one over the rows of a tile,
  which is one with what is inside where there are no tiles, as of rows that follow one another;
* a tile begins: a row or a run that goes on in the next one is come by twice.

What is counted first is gone through twice, tiles included.

Searches are counted apart, for where a tile begins and ends in each of the fibers in it, and so is
what is filled, which may be whole words for each tile. Where fibers end is written once for each,
in a loop of its own or in one that is counted anyway: that is not counted. What each tile assigns
again, to places that do not tell the tile, is not bounded here, and neither are loops of which all
turns are alike, which are one turn where there are no tiles. A temporary that is needed for nothing
may be cleared all the same.
"""

from __future__ import annotations

import re
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
from linnet.imp.interpret import routine
from linnet.loops.bases import coordinates
from linnet.loops.commands import Coord, Precompute
from linnet.loops.interpret import run
from linnet.loops.rewrite import accesses, block, rewrite_stmt, walk
from linnet.runtime.kernel import Kernel
from linnet.runtime.specialize import formats_of
from linnet.testing import dense

CATCHES_UP = re.compile(r"while \w+_f(_\d+)? <= ")
LARGEST = 100  # of the numbers whose sums and products are those of other numbers
RUNS = (ln.RunList, ln.SparseRunList, ln.SparseInterval, ln.SparseBand, ln.SparseBlockList)

# -- how much is done ------------------------------------------------------------------------------


def check_work(subject: Subject, args: Arguments, shapes: Shapes) -> None:
    """Tiles are all that a schedule adds, if it only makes tiles."""
    program = subject.kernel.program
    if any(isinstance(command, Coord) for command in program.schedule):
        return  # it visits what others do not
    plain, whole = without_tiles(program, args)
    formats = formats_of(subject.kernel, [args[p] for p in program.params])
    tiled = under_schedule(program, formats)[0].body
    if _assigns_again(tiled) or _repeats(tiled):
        return
    # half of a symmetric tensor is searched for where it is not read by its rows
    alike = keeps_loops(program.schedule) and not any(map(_is_mirrored, formats.values()))
    alike = alike and temporaries_of(program, formats) == temporaries_of(plain, formats)
    try:
        reference = Subject.of(plain if alike else whole, args, subject.kinds)
        before = visits(reference, args, shapes)
    except ScheduleError:  # what depends on how long tiles are: vectors of single ones, bounds
        return
    found = visits(subject, args, shapes)
    for name, _ in program.temporaries:
        found[f"fill {name}"] = min(found[f"fill {name}"], before[f"fill {name}"])
    turns, searches = tiles(subject, args, before)
    routines = {routine(f) for code in (subject.code, reference.code) for f in code.codelets}
    for kind_of, added in ((False, turns), (True, searches)):
        of, than = (
            {what: n for what, n in counts.items() if _is_apart(what, routines) == kind_of}
            for counts in (found, before)
        )
        most = sum(than.values()) + added.total()
        assert sum(of.values()) <= most, f"{of} are more than {than} and {dict(added)}"


def without_tiles(program: loops.Program, args: Arguments) -> tuple[loops.Program, loops.Program]:
    """The program without its schedule, and with one that makes a single tile of each range."""
    whole = untiled(program.schedule, _longest(args))
    return replace(program, schedule=()), replace(program, schedule=whole)


def temporaries_of(program: loops.Program, formats: Formats) -> tuple[object, ...]:
    """The temporaries of a program, those for results that are written out of order included."""
    return normalize(program, formats).program.temporaries


def _is_apart(what: str, routines: set[str]) -> bool:
    """Whether something that is counted is no loop of the program."""
    return what in routines or what.startswith("fill ")


def visits(subject: Subject, args: Arguments, shapes: Shapes) -> Counter[str]:
    """How often each loop turns, and how many elements are filled."""
    counts: Counter[str] = Counter()
    subject.interpreted(args, shapes, counts)
    return Counter({what: n for what, n in counts.items() if not CATCHES_UP.match(what)})


def _repeats(body: loops.Stmt) -> bool:
    """Whether all turns of a loop through tiles are alike: without tiles they are one turn.

    Where they write makes no difference: one row is computed for all.
    """
    nodes = [n for n in walk(body) if isinstance(n, loops.Loop)]
    parts = [n for n in nodes if isinstance(n.extent, loops.Part | loops.Along | loops.Bounded)]
    return any(loops.Index(loop.index) not in _matters(loop.body) for loop in parts)


def _matters(node: loops.Node) -> Iterator[loops.Node]:
    """What is computed, and how often, apart from where it is written."""
    yield node
    left_out = node.target if isinstance(node, loops.Assign) else None
    below = (node.of,) if isinstance(node, loops.Along) else loops.rewrite.children(node)
    for child in below:
        if child is not left_out:
            yield from _matters(child)


def _assigns_again(body: loops.Stmt) -> bool:
    """Whether a loop through tiles assigns to places that are the same in the next tile."""
    return any(_goes_on(stmt, loop) for loop in _over_parts(body) for stmt in walk(loop.body))


def _goes_on(stmt: loops.Node, loop: loops.Loop) -> bool:
    """Whether a statement assigns what the turns of a loop have in common."""
    if not isinstance(stmt, loops.Assign) or stmt.op is not None:
        return False
    own = {n.tensor for n in walk(loop.body) if isinstance(n, loops.Declare)}
    named = {n for index in stmt.target.indices for n in walk(index)}
    return stmt.target.tensor not in own and loops.Index(loop.index) not in named


def _longest(args: Arguments) -> int:
    """No range of a program has more indices or positions."""
    sizes = {n for t in args.values() for n in t.shape or ()}
    held = max(t.nnz for t in args.values() if t.shape is not None)
    return max(max(sizes, default=1) ** 3, held, 1)


def tiles(
    subject: Subject, args: Arguments, before: Counter[str]
) -> tuple[Counter[str], Counter[str]]:
    """What tiles add to the turns of loops, and to searches, `before` which there were: see above.

    A loop that has not been one of its own `before` is counted if tiles make it one.
    """
    program = subject.kernel.program
    given = [args[p] for p in program.params]
    formats = formats_of(subject.kernel, given)
    tiled, formats, *_ = under_schedule(program, formats)
    formats |= dict(tiled.temporaries)
    own = {what.partition(" ")[0] for what in before}
    apart = _around(tiled.body) | _together(tiled.body)
    between, parts = {*_between(tiled.body), *apart - own}, list(_over_parts(tiled.body))
    times = _times(subject, args, tiled, formats, [*between, *(f"begin {p.index}" for p in parts)])
    turns, searches = Counter({index: times[index] for index in between}), Counter[str]()
    bits = 2 + _longest(args).bit_length()
    for loop in parts:
        extent = loop.extent.of if isinstance(loop.extent, loops.Along) else loop.extent
        begun, several = times[f"begin {loop.index}"], coordinates(extent)
        walked = [a for a, _ in accesses(loop.body) if loops.Index(loop.index) in a.indices]
        cut = sum(_has_runs(formats[str(a.tensor)]) for a in walked)
        turns[f"begin {loop.index}"] = begun * (several - 1 + cut)
        deep = max(several, *map(_modes, walk(loop.extent)))
        searches[f"begin {loop.index}"] = begun * (2 * bits + 1) * deep * (1 + len(walked))
    twice = _is_counted(program, formats_of(subject.kernel, given))
    return (turns + turns if twice else turns), searches


def _is_mirrored(format: ln.Format) -> bool:
    """Whether a format stores one half of a matrix."""
    return any(level.mirrored for level in format.levels)


def _has_runs(format: ln.Format) -> bool:
    """Whether a format stores several indices together, which a tile may cut."""
    return any(isinstance(level, RUNS) for level in format.levels)


def _is_counted(program: loops.Program, formats: Formats) -> bool:
    """Whether some loops are gone through twice: what a result stores is counted first."""
    made = normalize(program, formats).program
    return any(isinstance(n, loops.Declare) and n.counts is not None for n in walk(made.body))


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


def _around(body: loops.Stmt) -> set[str]:
    """The loops inside which others count tiles."""
    nodes, counted = [n for n in walk(body) if isinstance(n, loops.Loop)], set[str]()
    for part in _over_parts(body):
        counted |= _counters(part)
    return {n.index for n in nodes if counted & {m.index for m in walk(n.body) if m in nodes}}


def _together(body: loops.Stmt) -> set[str]:
    """The loops that go through tiles together with others inside."""
    extents = {n.index: n.extent for n in walk(body) if isinstance(n, loops.Loop)}
    along = {index: e for index, e in extents.items() if isinstance(e, loops.Along)}
    return {index for index, e in along.items() if e.depth + 1 < coordinates(e.of)}


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
    """Sums whose order is kept have the same bits, unless they are products: of turns all alike.

    Passes that take sums in another order, as `Accumulate` lets them, are left out: they do so
    without a schedule, too.
    """
    program = subject.kernel.program
    formats = formats_of(subject.kernel, [args[p] for p in program.params])
    if not keeps_sums(program.schedule) or _repeats(under_schedule(program, formats)[0].body):
        return
    rough = {name: roughened(tensor) for name, tensor in args.items()}
    with mock.patch.object(compiler, "improve", lambda kernel, *_: kernel):
        tiled = Subject.of(program, args, subject.kinds)
        reference = Subject.of(replace(program, schedule=()), args, subject.kinds)
    found = tiled.interpreted(rough, shapes)
    for name, expected in reference.interpreted(rough, shapes).items():
        a, b = dense(found[name]), dense(expected)
        same = (a == b) | ((a != a) & (b != b))
        assert same.all(), f"{name} has other bits than without tiles:\n{a}\n{b}"


def adds_up_factors(program: loops.Program, args: Arguments) -> bool:
    """Whether sums are multiplied, instead of their terms, with numbers of which that is not true.

    Of an infinite factor, its products with 0 and with 1 are no sum, and one with 1 is. What is
    next to the largest integer goes on with the least one.
    """
    early = {c.workspace for c in program.schedule if isinstance(c, Precompute)}
    if not early:
        return False
    formats = formats_of(Kernel(program), [args[p] for p in program.params])
    body = under_schedule(program, formats)[0].body
    writes = [n for n in walk(body) if isinstance(n, loops.Assign)]
    summed = {w.target.tensor for w in writes if w.target.tensor in early and w.op is not None}
    values = [w.value for w in writes if not isinstance(w.value, loops.Access)]
    read = {n.tensor for v in values for n in walk(v) if isinstance(n, loops.Access)}
    if not summed & read:
        return False
    numbers = [n.value for n in walk(program.body) if isinstance(n, loops.Literal)]
    numbers += [f.fill_value for f in formats.values() if f.fill_value is not None]
    held = [dense(args[name]) for name in args if args[name].shape is not None]
    return not all(abs(n) <= LARGEST for n in numbers) or not all(
        (np.abs(values) <= LARGEST).all() for values in held
    )


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
