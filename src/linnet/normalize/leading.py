"""Which operand may lead a loop: what must hold where a loop goes through what a tensor stores.

A tensor may lead only where nothing is to be done at coordinates that it does not store, and only
if its entries follow one another as the loops have it. Who asks says how a refusal is told: a
command of a schedule in its own words, a program at the loop.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn, Protocol

from linnet import loops
from linnet.errors import FormatError, KernelSyntaxError, LinnetError
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.loops.bases import coordinates, positions_in
from linnet.loops.nodes import base_of
from linnet.loops.printer import show, show_range
from linnet.loops.rewrite import accesses, children, rewrite_stmt, walk
from linnet.normalize.agreed import Equal, equal_modes, is_whole
from linnet.normalize.facts import facts_of
from linnet.normalize.shape_checks import Check
from linnet.normalize.simplify import simplify
from linnet.records import dataclass

Formats = dict[str, Format]


class Refuse(Protocol):
    """How a refusal is told: the problem, and what to try."""

    def __call__(self, problem: str, *, hint: str) -> NoReturn:
        """Tell it."""
        ...


def check_format(
    refuse: Refuse, tensor: str, format: Format, access: loops.Access, modes: tuple[int, ...]
) -> None:
    """Refuse positions that do not follow one another as the loops have it."""
    first = format.order.index(modes[0])
    if format.order[first : first + len(modes)] != modes:
        order = ", ".join(show(access.indices[m]) for m in format.order)
        hint = "order the loops so, or store the tensor otherwise"
        refuse(f"`{tensor}` is stored in the order {order}", hint=hint)
    stored = 0
    for k, level in enumerate(format.levels[:-1]):
        stored += level.width
        if stored <= first:
            continue
        if type(level).positions is Level.positions:
            refuse(
                f"level {k} of `{tensor}`, {type(level).__name__}, has no positions to go through",
                hint="store it as a SparseList or a SparseCOO, or go through coordinates",
            )
        if stored == first + len(modes):
            return
        if stored > first + len(modes):
            hint = "collapse the loops over all of these"
            refuse(f"level {k} of `{tensor}` stores several dimensions together", hint=hint)


def check_within(refuse: Refuse, positions: loops.Positions, equal: Equal) -> None:
    """Refuse coordinates within a range that others may lie between."""
    several = None if positions.within is None else base_of(positions.within)
    if isinstance(several, loops.Extent | None):
        return
    for depth, mode in enumerate(positions.modes[1 : coordinates(several)], 1):
        size = loops.Dimension(positions.tensor, mode)
        if not is_whole(several.along(depth), size, equal):
            refuse(
                f"`{show_range(several.along(depth))}` is not a whole dimension of"
                f" `{positions.tensor}`, so that positions would not follow one another",
                hint="go through the positions of the inner loop alone",
            )


def left_without(
    program: loops.Program, formats: Formats, access: loops.Access, body: loops.Stmt
) -> str | None:
    """What is to be done where the operand stores nothing, if there is something."""
    format = formats[str(access.tensor)]
    assert format.fill_value is not None
    fill = loops.Literal(format.fill_value, format.dtype, structural=True)
    dtypes = {name: f.dtype for name, f in formats.items() if f.dtype is not None}
    rest = rewrite_stmt(body, on_expr=lambda e: fill if e == access else None)
    left = simplify(rest, facts_of(program, dtypes))
    if left == loops.NOTHING:
        return None
    what = show(left).splitlines()[0]
    return f"`{what}` is to be done where `{access.tensor}` stores nothing"


def above(format: Format, modes: Sequence[int]) -> tuple[int, ...]:
    """The modes that are stored outside some."""
    return format.order[: format.order.index(modes[0])]


# -- loops that users write ------------------------------------------------------------------------


def check_stored(program: loops.Program, formats: Formats, checks: Sequence[Check] = ()) -> None:
    """Refuse loops over what a tensor stores where it cannot lead.

    Needs: dimensions and dtypes known, loops in the order of storage (`normalize.stored`);
    `checks` say which dimensions are one size.
    """
    nodes = list(walk(program.body))
    if not program.led and any(isinstance(n, loops.Place) for n in nodes):
        _check_places(program.body, {})
    if program.led or not any(isinstance(n, loops.Positions) for n in nodes):
        return
    equal = equal_modes(checks, formats)
    for node in walk(program.body):
        if isinstance(node, _STATEMENTS):
            _check_counted(node, {name for name, _ in program.temporaries})
        if isinstance(node, loops.Loop) and node.extent is not None and _begins(node.extent):
            _Loop(program, formats, node, equal).check()


def _begins(extent: loops.Range) -> bool:
    """Whether a loop is the outermost one through positions, or coordinates from them on."""
    inside = isinstance(extent, loops.Along) and extent.depth > 0
    return not inside and positions_in(extent) is not None


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop over what a tensor stores, the outermost of those that go along together."""

    program: loops.Program
    formats: Formats
    loop: loops.Loop
    equal: Equal

    def check(self) -> None:
        """Refuse it where the tensor cannot lead."""
        assert self.loop.extent is not None
        positions = positions_in(self.loop.extent)
        assert positions is not None
        tensor, format = positions.tensor, self.formats[positions.tensor]
        if tensor in _written(self.program.body):
            self.refuse(
                f"`{tensor}` is written, and has no positions before it is complete",
                hint=f"go through coordinates, or through a tensor that {self.program.name} reads",
            )
        indices, body = self._indices(positions)
        known = {m: loops.Index(index) for m, index in zip(positions.modes, indices, strict=True)}
        known |= dict(positions.given)  # type: ignore[arg-type]
        access = self._leader(tensor, known, body)
        stored_above = above(format, positions.modes)
        if {m for m, _ in positions.given} != set(stored_above):
            order = ", ".join(show(access.indices[m]) for m in format.order)
            self.refuse_format(
                f"`{tensor}` is stored in the order {order}",
                hint="go through it from the outermost level on, or store it in another order",
            )
        check_format(self.refuse_format, tensor, format, access, positions.modes)
        check_within(self.refuse, positions, self.equal)
        self._check_parts(tensor, format, positions.modes)
        if isinstance(base_of(self.loop.extent), loops.Coordinates):
            return  # it does not lead
        whole = replace(self.program, body=rewrite_stmt(self.program.body, _untiled))
        if (left := left_without(whole, self.formats, access, body)) is not None:
            hint = "go through coordinates, `for i in ...:`, and test what is read there"
            self.refuse(left, hint=hint)

    def _indices(self, positions: loops.Positions) -> tuple[list[str], loops.Stmt]:
        """The indices of the loops, and what is inside them."""
        indices, stmt = [], self.loop
        for _ in positions.modes[1:]:
            indices.append(stmt.index)
            assert isinstance(stmt.body, loops.Loop)
            stmt = stmt.body
        return [*indices, stmt.index], stmt.body

    def _leader(self, tensor: str, known: dict[int, loops.Index], body: loops.Stmt) -> loops.Access:
        """The only access to the tensor in the loop, at the indices that go along."""
        reads = [a for a, is_target in accesses(body) if not is_target and a.tensor == tensor]
        here = [a for a in reads if all(a.indices[m] == i for m, i in known.items())]
        if not here or any(here[0].protocols):
            places = ", ".join(show(known[m]) if m in known else ":" for m in range(len(known)))
            self.refuse(
                f"`{tensor}[{places}]` is not read in the loop that goes through `{tensor}`",
                hint=f"read it plainly, or go through coordinates: `for {self.loop.index} in ...:`",
            )
        if any(a != here[0] for a in reads):
            self.refuse(
                f"`{tensor}` is read at several places, and one of them cannot lead",
                hint="go through coordinates, `for i in ...:`",
            )
        return here[0]

    def _check_parts(self, tensor: str, format: Format, modes: tuple[int, ...]) -> None:
        """Refuse to count positions at which there may be nothing: a program could tell."""
        loop = self.loop
        if not any(isinstance(n, loops.Part) for n in walk(loop.extent)):  # type: ignore[arg-type]
            return
        for k, level in enumerate(format.levels[:-1]):
            if level.vacant and not {*modes}.isdisjoint(format.modes_of(k)):
                self.refuse_format(
                    f"level {k} of `{tensor}`, {type(level).__name__}, has positions without entry",
                    hint="go through parts of the coordinates, or store it as a SparseList",
                )

    def refuse(self, problem: str, *, hint: str | None = None) -> NoReturn:
        """The program cannot be run as it is written."""
        raise self._said(KernelSyntaxError, problem, hint)

    def refuse_format(self, problem: str, *, hint: str | None = None) -> NoReturn:
        """It cannot be run with a tensor that is stored like this."""
        raise self._said(FormatError, problem, hint)

    def _said(self, kind: type[LinnetError], problem: str, hint: str | None) -> LinnetError:
        assert self.loop.extent is not None
        why = f"the loop goes through `{show_range(base_of(self.loop.extent))}`"
        return kind(problem, at=self.loop.at, why=why, hint=hint)


def _untiled(stmt: loops.Stmt) -> loops.Stmt | None:
    """Loops through the parts of what a tensor stores as one through all of it."""
    match stmt:
        case loops.Loop(t, loops.Extent(loops.Literal(0), loops.Parts(of, size)), loops.Loop()):
            part = loops.Part(of, loops.Index(t), size)
        case _:
            return None
    if not isinstance(base_of(of), loops.Positions):
        return None

    def whole(inner: loops.Stmt) -> loops.Stmt | None:
        match inner:
            case loops.Loop(_, extent) if extent == part:
                return replace(inner, extent=of)
            case loops.Loop(_, loops.Along(within, outer)) if within == part:
                return replace(inner, extent=loops.Along(of, outer))
        return None

    found = rewrite_stmt(stmt.body, whole)
    counts = any(isinstance(n, loops.Index) and n.name == t for n in walk(found))
    return None if counts else found


def _written(body: loops.Stmt) -> set[str]:
    """The tensors that a program updates or begins anew."""
    found = {str(a.tensor) for a, is_target in accesses(body) if is_target}
    return found | {n.tensor for n in walk(body) if isinstance(n, loops.Declare)}


# -- places in what loops go through ---------------------------------------------------------------


def _check_places(stmt: loops.Stmt, around: Mapping[str, loops.Range | None]) -> None:
    """Refuse to ask for a place in a range but in the loops that go through it."""
    for child in children(stmt):
        if isinstance(child, _STATEMENTS):
            inside = {**around, stmt.index: stmt.extent} if isinstance(stmt, loops.Loop) else around
            _check_places(child, inside)
            continue
        for place in walk(child):
            if isinstance(place, loops.Place) and not _goes_along(place, around):
                text, of = show(place), show_range(place.of)
                raise KernelSyntaxError(
                    f"`{text}` is asked outside of the loops through `{of}`",
                    at=getattr(stmt, "at", None),
                    why="it says which of its indices these loops are at",
                    hint="ask it in them, with all of their indices from the outermost to the "
                    "innermost",
                )


def _goes_along(place: loops.Place, around: Mapping[str, loops.Range | None]) -> bool:
    """Whether loops around have these indices, and go through the range together."""
    if not all(isinstance(i, loops.Index) and i.name in around for i in place.at):
        return False
    extents = [around[i.name] for i in place.at if isinstance(i, loops.Index)]
    if len(extents) == 1:
        return extents == [place.of]
    return extents == [loops.Along(place.of, place.at[:k]) for k in range(len(extents))]


# -- loops that count positions --------------------------------------------------------------------


def _check_counted(stmt: loops.Stmt, temporaries: Collection[str]) -> None:
    """Refuse to count positions where no loop inside goes through them, and does nothing else.

    They are those of a fiber that such a loop opens; where there is none, nothing is done.
    """
    said = [c for c in children(stmt) if not isinstance(c, _STATEMENTS)]
    counted = {positions_in(n.of) for c in said for n in walk(c) if isinstance(n, loops.Parts)}
    for positions in counted:
        if positions is None:
            continue
        if not (isinstance(stmt, loops.Loop) and _goes_through(stmt, positions, temporaries)):
            text = show_range(positions)
            raise KernelSyntaxError(
                f"positions of `{positions.tensor}` are counted where no loop goes through them",
                at=getattr(stmt, "at", None),
                why=f"the parts of `{text}` are counted by a loop around one over these parts",
                hint=f"`for t in range(ln.parts({text}, 32)):` and directly inside it a loop over "
                f"`ln.part({text}, t, 32)`",
            )


def _goes_through(
    stmt: loops.Stmt, positions: loops.Positions, temporaries: Collection[str]
) -> bool:
    """Whether all that a statement does, it does in loops through these positions.

    Besides that, temporaries may begin anew.
    """
    match stmt:
        case loops.Loop(_, extent, body):
            mine = extent is not None and positions_in(extent) == positions
            return mine or _goes_through(body, positions, temporaries)
        case loops.If(_, then, orelse):
            return all(_goes_through(s, positions, temporaries) for s in (then, orelse))
        case loops.Let(_, _, body):
            return _goes_through(body, positions, temporaries)
        case loops.Declare(tensor) | loops.Freeze(tensor):
            return tensor in temporaries
        case loops.Block(stmts):
            return all(_goes_through(s, positions, temporaries) for s in stmts)
        case _:
            return False


_STATEMENTS = (
    loops.Loop, loops.If, loops.Let, loops.Assign, loops.Declare, loops.Freeze,
    loops.Thaw, loops.Swap, loops.Break, loops.Block,
)  # fmt: skip
