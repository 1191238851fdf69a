"""Writes out of order go through a temporary that takes random insertion (design §6).

A sequential level is written in order, each fiber in one go: the loops around an update, down to the
last sequential level, must be exactly its indices in storage order. Where they are not, the dimensions
from the first one that differs on are collected in a temporary inside the loops that agree,
and copied in order when it is complete. Gustavson's algorithm is what comes out for a product by rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from linnet import loops
from linnet.errors import FormatError
from linnet.formats.format import Format
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_hash import SparseHash
from linnet.loops.rewrite import block, rewrite_stmt, walk
from linnet.names import Names

Formats = dict[str, Format]


def insert_workspaces(
    program: loops.Program, formats: Formats
) -> tuple[loops.Program, Formats]:
    """Give every update that its format cannot take in this order a temporary.

    Needs: dimensions known, names unique. Gives: updates that their formats can take.
    """
    names = Names(set(formats) | _names(program.body))
    for tensor in dict.fromkeys(_updated(program.body)):
        if _last_sequential(formats[tensor]) == 0:
            continue
        insertion = _Insertion(tensor, formats[tensor], names)
        body = insertion.apply(program.body)
        if insertion.made:
            temporaries = program.temporaries + tuple(insertion.made.items())
            program = replace(program, body=body, temporaries=temporaries)
            formats = formats | insertion.made
    return program, formats


def _names(body: loops.Stmt) -> set[str]:
    found = set()
    for node in walk(body):
        match node:
            case loops.Loop(index):
                found.add(index)
            case loops.Let(name):
                found.add(name)
    return found


def _updated(body: loops.Stmt) -> list[str]:
    return [n.target.tensor for n in walk(body) if isinstance(n, loops.Assign)]  # type: ignore[misc]


def _last_sequential(format: Format) -> int:
    """How many dimensions, from the outermost on, are subject to an order of writing."""
    last = stored = 0
    for level in format.levels[:-1]:
        stored += level.width
        if level.sequential:
            last = stored
    return last


@dataclass(slots=True)
class _Insertion:
    """The treatment of one tensor: finds each declaration, and rewrites what follows it."""

    tensor: str
    format: Format
    names: Names
    made: dict[str, Format]

    def __init__(self, tensor: str, format: Format, names: Names) -> None:
        self.tensor, self.format, self.names, self.made = tensor, format, names, {}

    def apply(self, stmt: loops.Stmt) -> loops.Stmt:
        """Rewrite the blocks that declare the tensor."""
        match stmt:
            case loops.Block(stmts):
                for k, s in enumerate(stmts):
                    if isinstance(s, loops.Declare) and s.tensor == self.tensor:
                        head = [self.apply(x) for x in stmts[: k + 1]]
                        return block([*head, *self.declared(s, list(stmts[k + 1 :]))])
                return block([self.apply(s) for s in stmts])
            case loops.Loop() | loops.Let() | loops.If():
                from linnet.loops.rewrite import map_stmts

                return map_stmts(stmt, self.apply)
            case loops.Assign(target) if target.tensor == self.tensor:
                raise _not_declared(stmt, self.tensor)
            case _:
                return stmt

    def declared(self, declare: loops.Declare, rest: list[loops.Stmt]) -> list[loops.Stmt]:
        """What follows the declaration: updates, then (after the first read) anything."""
        writes = list(_paths(loops.Block(tuple(rest)), self.tensor, ()))
        agreed = min((self.agreement(w, path) for w, path in writes), default=self.format.ndim)
        agreed = min(agreed, _common([path for _, path in writes]))
        if not writes or agreed >= _last_sequential(self.format):
            return rest
        last = max(k for k, s in enumerate(rest) if any(_paths(s, self.tensor, ())))
        done = self.collect(declare, block(rest[: last + 1]), agreed, ())
        return [done, *rest[last + 1 :]]

    def agreement(self, write: loops.Assign, path: tuple[str, ...]) -> int:
        """How many loops are, from the outermost on, the indices in storage order."""
        count = 0
        for mode, index in zip(self.format.order, path, strict=False):
            if write.target.indices[mode] != loops.Index(index):
                break
            count += 1
        return count

    def collect(
        self, declare: loops.Declare, stmt: loops.Stmt, depth: int, outer: tuple[str, ...]
    ) -> loops.Stmt:
        """Inside the loops that agree: declare the temporary, collect, and copy in order."""
        match stmt:
            case loops.Loop(index, extent, body, at) if depth > 0:
                return loops.Loop(
                    index, extent, self.collect(declare, body, depth - 1, (*outer, index)), at
                )
            case loops.Block(stmts) if depth > 0:
                return block(
                    [
                        self.collect(declare, s, depth, outer) if any(_paths(s, self.tensor, ())) else s
                        for s in stmts
                    ]
                )
            case loops.Let(name, value, body, at) if depth > 0:
                return loops.Let(name, value, self.collect(declare, body, depth, outer), at)
            case loops.If(cond, then, orelse, at) if depth > 0:
                return loops.If(
                    cond,
                    self.collect(declare, then, depth, outer),
                    self.collect(declare, orelse, depth, outer),
                    at,
                )
        if not any(_paths(stmt, self.tensor, ())):
            return stmt
        return self.temporary(declare, stmt, outer)

    def temporary(
        self, declare: loops.Declare, stmt: loops.Stmt, outer: tuple[str, ...]
    ) -> loops.Stmt:
        """`w[...] = init; stmt with w for the tensor; for …: tensor[…] = w[…]`."""
        modes = self.format.order[len(outer) :]
        name = self.names.fresh(f"{self.tensor}_w")
        self.made[name] = workspace_format(self.format, len(modes))
        assert declare.dims is not None
        dims = tuple(declare.dims[m] for m in modes)

        def redirect(s: loops.Stmt) -> loops.Stmt | None:
            if isinstance(s, loops.Assign) and s.target.tensor == self.tensor:
                indices = tuple(s.target.indices[m] for m in modes)
                return replace(s, target=loops.Access(name, indices, at=s.target.at))
            return None

        inner = [self.names.fresh(f"{self.tensor}_{k}") for k in range(len(modes))]
        where = dict(zip(self.format.order, (*outer, *inner), strict=True))
        target = loops.Access(
            self.tensor, tuple(loops.Index(where[m]) for m in range(self.format.ndim))
        )
        value = loops.Access(name, tuple(loops.Index(i) for i in inner))
        copy: loops.Stmt = loops.Assign(target, None, value, declare.at)
        for index, dim in zip(reversed(inner), reversed(dims), strict=True):
            copy = loops.Loop(index, loops.Extent(loops.Literal(0), dim), copy, declare.at)
        begin = loops.Declare(name, declare.init, dims, declare.at)
        return block([begin, rewrite_stmt(stmt, redirect), copy])


def workspace_format(format: Format, ndim: int) -> Format:
    """A format of random insertion with the values of another: dense memory for one dimension."""
    leaf = format.leaf
    if ndim == 1:
        return Format((SparseByteMap(leaf), leaf), (0,))
    levels = tuple(SparseHash(leaf) for _ in range(ndim))
    return Format((*levels, leaf), tuple(range(ndim)))


def _paths(
    stmt: loops.Stmt, tensor: str, path: tuple[str, ...]
) -> list[tuple[loops.Assign, tuple[str, ...]]]:
    """The updates of a tensor, each with the loops around it."""
    match stmt:
        case loops.Assign(target):
            return [(stmt, path)] if target.tensor == tensor else []
        case loops.Loop(index, _, body):
            return _paths(body, tensor, (*path, index))
        case loops.Let(_, _, body):
            return _paths(body, tensor, path)
        case loops.If(_, then, orelse):
            return _paths(then, tensor, path) + _paths(orelse, tensor, path)
        case loops.Block(stmts):
            return [found for s in stmts for found in _paths(s, tensor, path)]
        case _:
            return []


def _common(paths: list[tuple[str, ...]]) -> int:
    """How many loops all of these paths share."""
    count = 0
    for indices in zip(*paths, strict=False):
        if len(set(indices)) > 1:
            break
        count += 1
    return count


def _not_declared(stmt: loops.Assign, tensor: str) -> FormatError:
    return FormatError(
        f"`{tensor}` is updated without being declared, and its format cannot be updated in place",
        at=stmt.at,
        why="a level that is written in order has no room for insertions",
        hint=f"declare it first with `{tensor}[...] = 0`, or use SparseHash or Dense levels",
    )
