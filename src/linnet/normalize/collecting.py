"""Updates of a tensor are made to a temporary instead, which is copied in order when complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.loops.rewrite import block, rewrite_stmt
from linnet.names import Names
from linnet.normalize.updates import begins, parts, reads_between
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Collecting:
    """A tensor whose dimensions `modes`, inside the loops over `outer`, are those of a temporary.

    `order` are all its dimensions, as they are stored.
    """

    tensor: str
    temporary: str
    order: tuple[int, ...]
    outer: tuple[str, ...]

    @property
    def modes(self) -> tuple[int, ...]:
        """The dimensions that the temporary has."""
        return self.order[len(self.outer) :]

    def rewrite(self, declare: loops.Declare, stmt: loops.Stmt, names: Names) -> loops.Stmt:
        """`w[...] = init; stmt with w for the tensor; for …: tensor[…] = w[…]`."""
        dims = self._dims(declare)
        begin = loops.Declare(self.temporary, declare.init, dims, declare.at)
        reads = begins(stmt, self.tensor) or reads_between(parts(stmt), self.tensor)
        done = rewrite_stmt(stmt, self._write, self._read if reads else None)
        inner = [names.fresh(f"{self.tensor}_{k}") for k in range(len(dims))]
        copy = self._copy(inner, declare)
        for index, dim in zip(reversed(inner), reversed(dims), strict=True):
            copy = loops.Loop(index, loops.Extent(loops.Literal(0), dim), copy, declare.at)
        return block([begin, done, copy])

    def _dims(self, declare: loops.Declare) -> tuple[loops.Expr, ...]:
        """The sizes of the temporary, where the tensor has these."""
        assert declare.dims is not None
        return tuple(declare.dims[m] for m in self.modes)

    def _copy(self, inner: Sequence[str], declare: loops.Declare) -> loops.Stmt:
        """An element of the tensor becomes that of the temporary."""
        where = dict(zip(self.order, (*self.outer, *inner), strict=True))
        indices = tuple(loops.Index(where[m]) for m in range(len(self.order)))
        value = loops.Access(self.temporary, tuple(loops.Index(i) for i in inner))
        return loops.Assign(loops.Access(self.tensor, indices), None, value, declare.at)

    def _access(self, access: loops.Access) -> loops.Access:
        """The same element of the temporary."""
        given = access.protocols
        protocols = tuple(given[m] for m in self.modes) if given else ()
        indices = tuple(access.indices[m] for m in self.modes)
        return loops.Access(self.temporary, indices, protocols, access.at)

    def _write(self, stmt: loops.Stmt) -> loops.Stmt | None:
        match stmt:
            case loops.Declare(self.tensor):
                return replace(stmt, tensor=self.temporary, dims=self._dims(stmt))
            case loops.Assign(target) if target.tensor == self.tensor:
                return replace(stmt, target=self._access(target))
            case _:
                return None

    def _read(self, expr: loops.Expr) -> loops.Expr | None:
        match expr:
            case loops.Access(self.tensor):
                return self._access(expr)
            case _:
                return None
