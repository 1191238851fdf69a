"""Loops over what a tensor stores, as users write them: in the order in which it is stored.

    for i, j in ln.stored(A):          for j in ln.along(ln.stored(A[:, :], order=(1, 0))):
        y[i] += A[i, j] * x[j]             for i in ln.along(ln.stored(…), j):
                                               y[i] += A[i, j] * x[j]

Indices are bound by mode, so that one program serves all formats: here A is stored by columns.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.errors import FormatError, KernelSyntaxError, Location
from linnet.formats.format import Format
from linnet.loops.bases import coordinates, positions_in
from linnet.loops.printer import show_range
from linnet.loops.rewrite import map_exprs, map_positions, map_range, map_stmts, rewrite_expr, walk
from linnet.records import dataclass

Formats = dict[str, Format]


def order_positions(program: loops.Program, formats: Formats) -> loops.Program:
    """Put the loops over several coordinates into the order in which these are stored.

    Needs: the number of dimensions of every tensor that is gone through. Gives: positions name
    their modes, from the outermost level to the innermost; the loops over several coordinates stand
    directly inside one another, in that order.
    """
    if not any(isinstance(n, loops.Positions | loops.Along) for n in walk(program.body)):
        return program
    return replace(program, body=_Order(formats, program.at).stmt(program.body))


@dataclass(slots=True)
class _Order:
    """The formats of tensors, and the place of the statement that is being visited."""

    formats: Formats
    at: Location | None

    def stmt(self, stmt: loops.Stmt) -> loops.Stmt:
        """A statement with its loops in order."""
        self.at = getattr(stmt, "at", None) or self.at
        if isinstance(stmt, loops.Loop) and isinstance(stmt.extent, loops.Along):
            return self._together(stmt, stmt.extent)
        if isinstance(stmt, loops.Loop) and stmt.extent is not None:
            extent = map_positions(stmt.extent, self._named)
            positions = positions_in(extent)
            if positions is not None and len(positions.modes) != 1:
                raise self._miscounted(positions, 1)
            stmt = replace(stmt, extent=extent)
        return map_stmts(map_exprs(stmt, self._expr), self.stmt)

    def _expr(self, expr: loops.Expr) -> loops.Expr:
        return rewrite_expr(expr, self._counted)

    def _counted(self, expr: loops.Expr) -> loops.Expr | None:
        if isinstance(expr, loops.Parts):
            return replace(expr, of=map_positions(expr.of, self._named))
        if isinstance(expr, loops.Place):
            of = map_positions(expr.of, self._named)
            before, after = positions_in(expr.of), positions_in(of)
            if before is None or after is None:
                return replace(expr, of=of)
            if len(after.modes) != len(expr.at):
                raise self._miscounted(after, len(expr.at))
            written = before.modes or tuple(range(len(after.modes)))
            return loops.Place(of, tuple([expr.at[written.index(m)] for m in after.modes]))
        return None

    def _together(self, loop: loops.Loop, along: loops.Along) -> loops.Stmt:
        """The loops over several coordinates, of which this is the outermost."""
        found = [loop]
        outer: tuple[loops.Expr, ...] = (loops.Index(loop.index),)
        inner = loop.body
        while isinstance(inner, loops.Loop) and inner.extent == loops.Along(along.of, outer):
            found.append(inner)
            outer, inner = (*outer, loops.Index(inner.index)), inner.body
        of = map_range(map_positions(along.of, self._named), self._expr)
        several, before = positions_in(of), positions_in(along.of)
        count = coordinates(of)
        if several is None or before is None:
            order = tuple(range(count))
        else:
            written = before.modes or tuple(range(count))
            order = tuple(map(written.index, several.modes))
        if along.outer or len(found) < count:
            raise self._apart(along)
        if len(found) > count or count == 1:
            assert several is not None
            raise self._miscounted(several, len(found))
        stmt = self.stmt(inner)
        indices = [loops.Index(found[k].index) for k in order]
        for depth, k in reversed(list(enumerate(order))):
            extent = loops.Along(of, tuple(indices[:depth]))
            stmt = replace(found[k], extent=extent, body=stmt)
        return stmt

    def _named(self, positions: loops.Positions) -> loops.Positions:
        """Positions whose modes are named, in the order in which they are stored."""
        format = self.formats[positions.tensor]
        for mode in (*positions.modes, *(m for m, _ in positions.given)):
            if mode >= format.ndim:
                raise self._no_mode(positions, format)
        modes = positions.modes or tuple(range(format.ndim))
        if not modes:
            raise self._no_mode(positions, format)
        stored = tuple(sorted(modes, key=format.order.index))
        if positions.within is not None:
            self._check_within(positions, positions.within, modes, stored)
        return replace(positions, modes=stored)

    def _check_within(
        self,
        positions: loops.Positions,
        within: loops.Range,
        written: tuple[int, ...],
        stored: tuple[int, ...],
    ) -> None:
        """Refuse coordinates within a range that has others, or has them in another order."""
        text, count = show_range(within), coordinates(within)
        if not 0 < count <= len(stored):
            raise KernelSyntaxError(
                f"`{show_range(positions)}` has {len(stored)} coordinates, `{text}` has {count}",
                at=self.at,
                hint="a range has the first of the coordinates, `ln.product(…)` has several",
            )
        if written[:count] != stored[:count]:
            raise FormatError(
                f"`{positions.tensor}` does not store the pairs of `{text}` in their order",
                at=self.at,
                hint="store it in the order in which the range has its indices",
            )

    def _no_mode(self, positions: loops.Positions, format: Format) -> KernelSyntaxError:
        count = format.ndim
        return KernelSyntaxError(
            f"`{show_range(positions)}` goes through more than `{positions.tensor}` has",
            at=self.at,
            why=f"`{positions.tensor}` has {count} dimension{'s' * (count != 1)}",
            hint="write an index or `:` for each dimension" if count else "read it without a loop",
        )

    def _miscounted(self, positions: loops.Positions, count: int) -> KernelSyntaxError:
        several = len(positions.modes)
        names = ", ".join("ijklmnpqrst"[:several])
        return KernelSyntaxError(
            f"`{positions.tensor}` is gone through by {count} ind{'ices' if count > 1 else 'ex'}",
            at=self.at,
            why=f"it has {several} coordinate{'s' * (several > 1)} there, one for each dimension",
            hint=f"`for {names} in ln.stored({positions.tensor}):`",
        )

    def _apart(self, along: loops.Along) -> KernelSyntaxError:
        return KernelSyntaxError(
            f"`{show_range(along)}` is not one of several loops that go along together",
            at=self.at,
            why="they stand directly inside one another, and each says the indices of those around",
            hint=f"`for i, j in {show_range(along.of)}:` is short for all of them",
        )
