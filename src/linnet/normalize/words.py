"""Symmetric operands in tiles: their lists are walked, and each entry is read for both its places.

    for i, j: S(i, j)     ->     for r, s, c:       # strips of rows, tiles in them, words in those
                                     i = r * rows + c % rows
                                     j = s * columns + c // rows
                                     S(i, j); S(j, i)
                                 for k: S(k, k)     # a last list

No order of rows or columns is left, and nothing is added up for one of them. What S does where
nothing is stored would be done for words that stand for no place: it must be nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import product

from linnet import loops
from linnet.algebra.function import Function
from linnet.algebra.table import add, bitwise_and, left_shift, multiply, right_shift
from linnet.formats.format import Format
from linnet.formats.level import ONCE, WITHIN, WORD
from linnet.loops.rewrite import accesses, map_stmts, rewrite_stmt, substitute, walk
from linnet.names import Names
from linnet.normalize.facts import Facts, facts_of
from linnet.normalize.simplify import simplify
from linnet.records import dataclass

Formats = Mapping[str, Format]
Modes = Collection[tuple[str, int]]
Places = tuple[tuple[loops.Expr, ...], ...]

_MANY = 4  # operands, each of which doubles what there is to look at


@dataclass(frozen=True, slots=True)
class Tiles:
    """How a symmetric matrix is cut: tensors that are, and the bits of rows and of columns.

    Of the results that are assigned `once`, no element is written a second time.
    """

    tensors: tuple[str, ...]
    rows: int
    columns: int
    once: frozenset[str]

    @property
    def across(self) -> loops.Expr:
        """How many tiles lie beside each other."""
        return self._parts(self.columns)

    @property
    def strips(self) -> loops.Expr:
        """How many lie below each other."""
        return self._parts(self.rows)

    @property
    def side(self) -> loops.Dimension:
        """The number of rows."""
        return loops.Dimension(self.tensors[0], 0)

    def _parts(self, bits: int) -> loops.Expr:
        return _call(right_shift, _call(add, self.side, (1 << bits) - 1), bits)


def grid_of(format: Format) -> tuple[int, int] | None:
    """The tiles of a matrix that is stored in them."""
    return format.levels[0].grid if format.ndim == 2 else None


def both_places(i: str, j: str) -> Places:
    """The indices of an element, and of the one across the diagonal."""
    here, there = loops.Index(i), loops.Index(j)
    return (here, there), (there, here)


def tiles_of(
    loop: loops.Loop, whole: list[str], program: loops.Program, formats: Formats
) -> Tiles | None:
    """The tiles to walk, if something is to be done only where they store something."""
    assert isinstance(loop.body, loops.Loop)
    grids = {name: grid for name in whole if (grid := grid_of(formats[name])) is not None}
    if not grids:
        return None
    body, places = loop.body.body, both_places(loop.index, loop.body.index)
    facts = facts_of(program, {name: str(format.dtype) for name, format in formats.items()})
    once = _assigned_once(body, program.body, facts)
    unknown = {n: replace(f, init=None, once=False) for n, f in facts.tensors.items()}
    facts = replace(facts, tensors=unknown | {n: facts.tensors[n] for n in once})
    for grid in dict.fromkeys(grids.values()):
        alike = tuple(name for name in grids if grids[name] == grid)
        if _is_idle(body, alike, places, formats, facts):
            rows, columns = (size.bit_length() - 1 for size in grid)
            return Tiles(alike, rows, columns, once)
    return None


def _assigned_once(body: loops.Stmt, everything: loops.Stmt, facts: Facts) -> frozenset[str]:
    """The results whose elements are assigned: each of them here and once, or not at all."""
    here, anywhere = (
        Counter(str(n.target.tensor) for n in walk(x) if isinstance(n, loops.Assign))
        for x in (body, everything)
    )
    alone = [name for name in here if here[name] == anywhere[name]]
    return frozenset(n for n in alone if facts.tensors[n].once and facts.tensors[n].ops == {None})


def _is_idle(
    body: loops.Stmt, tensors: tuple[str, ...], places: Places, formats: Formats, facts: Facts
) -> bool:
    """Whether nothing is done where none of the tensors stores anything.

    Of what is read beside a single one, it may not matter whether it is stored. If there are
    several, they are walked together, and must say so themselves.
    """
    read = dict.fromkeys(a for a, is_target in accesses(body) if not is_target)
    mine = [a for a in read if a.tensor in tensors and a.indices in places]
    others = [a for a in read if a not in mine and not any(a.protocols)]
    sparse = [a for a in others if not _stores_all(formats[str(a.tensor)])]
    if len(tensors) > 1 or len(sparse) > _MANY:
        others = sparse = []
    for stored in product((True, False), repeat=len(sparse)):
        values: dict[loops.Expr, loops.Expr] = {a: loops.Name(str(a.tensor)) for a in others}
        nothing = [a for a, there in zip(sparse, stored, strict=True) if not there]
        values |= {a: _fill(formats[str(a.tensor)]) for a in (*mine, *nothing)}
        if simplify(rewrite_stmt(body, on_expr=values.get), facts) != loops.NOTHING:
            return False
    return True


def _stores_all(format: Format) -> bool:
    return not format.leaf.specialized and all(level.full for level in format.levels[:-1])


def _fill(format: Format) -> loops.Literal:
    assert format.fill_value is not None
    return loops.Literal(format.fill_value, format.dtype, structural=True)


def by_words(
    loop: loops.Loop, tiles: Tiles, formats: Formats, inside: Modes, names: Names
) -> loops.Stmt:
    """The pair of loops as a walk along the lists. Nothing leaves the dimensions `inside`."""
    assert isinstance(loop.body, loops.Loop)
    i, j, body, at = loop.index, loop.body.index, loop.body.body, loop.at
    r, s, c = (names.fresh(f"{tiles.tensors[0]}_{part}") for part in ("strip", "tile", "word"))
    strip, tile, word = loops.Index(r), loops.Index(s), loops.Index(c)
    here, there = loops.Name(i), loops.Name(j)
    number = _call(add, _call(multiply, strip, tiles.across), tile)
    stored = _stored(body, (i, j), tiles, formats, (number, word))
    mirror = renamed(substitute(stored, {i: there, j: here}), names)
    both: loops.Stmt = loops.Block((substitute(stored, {i: here, j: there}), mirror))
    both = _promised(both, tiles.once)
    rest = _call(bitwise_and, word, (1 << tiles.rows) - 1)
    row = _call(add, _call(left_shift, strip, tiles.rows), rest)
    first = _call(left_shift, tile, tiles.columns)
    column = _call(add, first, _call(right_shift, word, tiles.rows))
    both = _without_tests(both, {here, there}, formats, inside)
    both = loops.Let(i, row, loops.Let(j, column, both, at), at)
    words = loops.Literal(1 << (tiles.rows + tiles.columns))
    for index, stop in ((c, words), (s, tiles.across), (r, tiles.strips)):
        both = loops.Loop(index, loops.Extent(loops.Literal(0), stop), both, at)
    return loops.Block((both, _diagonal(loop, tiles, formats, names)))


def _diagonal(loop: loops.Loop, tiles: Tiles, formats: Formats, names: Names) -> loops.Stmt:
    """The last of the lists."""
    assert isinstance(loop.body, loops.Loop)
    k = names.fresh(loop.index)
    last = _call(multiply, tiles.strips, tiles.across)
    pair = (loop.index, loop.body.index)
    stored = _stored(loop.body.body, pair, tiles, formats, (last, loops.Index(k)))
    body = substitute(stored, dict.fromkeys(pair, loops.Index(k)))
    return replace(loop, index=k, body=_promised(renamed(body, names), tiles.once))


def _stored(
    body: loops.Stmt,
    pair: tuple[str, str],
    tiles: Tiles,
    formats: Formats,
    place: tuple[loops.Expr, loops.Expr],
) -> loops.Stmt:
    """The accesses at [i, j] and [j, i] as accesses to a word in a list."""
    places = both_places(*pair)

    def rule(e: loops.Expr) -> loops.Expr | None:
        if not isinstance(e, loops.Access) or e.tensor not in tiles.tensors or any(e.protocols):
            return None
        if e.indices not in places:
            return None
        indices = tuple(place[formats[str(e.tensor)].order.index(mode)] for mode in (0, 1))
        return replace(e, indices=indices, protocols=(WORD, WORD))

    return rewrite_stmt(body, on_expr=rule)


def _promised(body: loops.Stmt, once: frozenset[str]) -> loops.Stmt:
    """Say of assignments, of which there are more now, that they still write no element twice."""

    def promise(s: loops.Stmt) -> loops.Stmt | None:
        if not isinstance(s, loops.Assign) or s.target.tensor not in once:
            return None
        protocols = (ONCE,) * len(s.target.indices)
        return replace(s, target=replace(s.target, protocols=protocols))

    return rewrite_stmt(body, promise)


def _without_tests(
    body: loops.Stmt, known: set[loops.Name], formats: Formats, inside: Modes
) -> loops.Stmt:
    """Rows and columns of stored entries lie in dimensions as long as the matrix: none is tested.

    That is said where it can be looked up, and no search will be made that asks for its protocol.
    """

    def protocol(access: loops.Access, mode: int, given: str) -> str:
        tensor = str(access.tensor)
        sure = access.indices[mode] in known and (tensor, mode) in inside
        return WITHIN if sure and not given and _is_full(formats[tensor], mode) else given

    def access(e: loops.Expr) -> loops.Expr | None:
        if not isinstance(e, loops.Access) or not e.indices:
            return None
        given = e.protocols or ("",) * len(e.indices)
        protocols = tuple(protocol(e, mode, p) for mode, p in enumerate(given))
        return replace(e, protocols=protocols) if any(protocols) else None

    def target(s: loops.Stmt) -> loops.Stmt | None:
        if not isinstance(s, loops.Assign):
            return None
        changed = access(s.target)
        return replace(s, target=changed) if isinstance(changed, loops.Access) else None

    return rewrite_stmt(body, target, access)


def lasting(body: loops.Stmt, sizes: Modes) -> set[tuple[str, int]]:
    """Those dimensions that stay, and those of tensors that begin with such, and only once."""
    declared = Counter(n.tensor for n in walk(body) if isinstance(n, loops.Declare))
    kept = {mode for mode in sizes if mode[0] not in declared}
    begun = set[tuple[str, int]]()
    for s in body.stmts if isinstance(body, loops.Block) else ():
        if not isinstance(s, loops.Declare):
            break
        for mode, size in enumerate(s.dims or ()):
            same = isinstance(size, loops.Dimension) and (size.tensor, size.mode) in kept
            if same and declared[s.tensor] == 1:
                begun.add((s.tensor, mode))
    return kept | begun


def _is_full(format: Format, mode: int) -> bool:
    """Whether the level that stores a dimension has a place for each of its indices."""
    return any(x.full and mode in format.modes_of(k) for k, x in enumerate(format.levels[:-1]))


def _call(function: Function, a: loops.Expr, b: loops.Expr | int) -> loops.Expr:
    return loops.Call(function, (a, loops.Literal(b) if isinstance(b, int) else b))


def renamed(stmt: loops.Stmt, names: Names) -> loops.Stmt:
    """A copy of a statement whose loops and names are its own."""
    match stmt:
        case loops.Loop(index, _, body):
            new = names.fresh(index)
            inner = renamed(substitute(body, {index: loops.Index(new)}), names)
            return replace(stmt, index=new, body=inner)
        case loops.Let(name, value, body, at):
            new = names.fresh(name)
            inner = renamed(substitute(body, {name: loops.Name(new)}), names)
            return loops.Let(new, value, inner, at)
        case _:
            return map_stmts(stmt, lambda s: renamed(s, names))
