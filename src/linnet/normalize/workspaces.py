"""Writes out of order go through a temporary that takes random insertion (design §6).

A sequential level is written in order, each fiber in one go: the loops around an update, down to
the last sequential level, must be exactly its indices in storage order. Where they are not, the
dimensions from the first one that differs on are collected in a temporary inside the loops that
agree, and copied in order when it is complete. Gustavson's algorithm is what comes out for a
product by rows.

Where every element is written at most once, as in a transpose, no temporary is needed: the loops
are run twice, first to count the entries of each fiber, then to put each entry where it belongs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from linnet import imp, loops
from linnet.algebra.dtypes import Number
from linnet.algebra.exact import converter
from linnet.algebra.function import Function
from linnet.algebra.table import add
from linnet.errors import FormatError
from linnet.formats.format import Format
from linnet.formats.insertion import counts_format, workspace_format
from linnet.loops.rewrite import block, map_stmts, rewrite_stmt, substitute, walk
from linnet.names import Names
from linnet.normalize.simplify import identical

Formats = dict[str, Format]


def insert_workspaces(program: loops.Program, formats: Formats) -> tuple[loops.Program, Formats]:
    """Give every update that its format cannot take in this order a temporary.

    Needs: dimensions known, names unique. Gives: updates that their formats can take.
    """
    names = Names(set(formats) | _names(program.body))
    for tensor in dict.fromkeys(_updated(program.body)):
        last = last_in_order(program.body, tensor, formats[tensor])
        if last == 0:
            continue
        insertion = _Insertion(tensor, formats[tensor], names, last)
        body = insertion.apply(program.body)
        if insertion.made:
            temporaries = program.temporaries + tuple(insertion.made.items())
            program = replace(program, body=body, temporaries=temporaries)
            formats = formats | insertion.made
        if insertion.scattered is not None:
            formats = formats | {tensor: insertion.scattered}
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


def last_in_order(body: loops.Stmt, tensor: str, format: Format) -> int:
    """How many dimensions are subject to an order of writing, in this program.

    What a selective leaf stores cannot be taken back: all of it, where a later write might.
    """
    if format.leaf.selective and not all(_only_adds(w) for w, _ in _paths(body, tensor, ())):
        return format.ndim
    return _last_sequential(format)


def _only_adds(write: loops.Assign) -> bool:
    """Whether an update of a boolean leaves it true where it is."""
    if write.op is None:
        return isinstance(write.value, loops.Literal) and bool(write.value.value)
    return write.op.name in ("logical_or", "bitwise_or", "maximum", "add")


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
    last: int  # dimensions subject to an order of writing
    made: dict[str, Format] = field(default_factory=dict)
    scattered: Format | None = None

    def apply(self, stmt: loops.Stmt) -> loops.Stmt:
        """Rewrite the blocks that declare the tensor."""
        match stmt:
            case loops.Block(stmts):
                for k, s in enumerate(stmts):
                    if isinstance(s, loops.Declare) and s.tensor == self.tensor:
                        head = [self.apply(x) for x in stmts[:k]]
                        return block([*head, *self.declared(s, list(stmts[k + 1 :]))])
                return block([self.apply(s) for s in stmts])
            case loops.Loop() | loops.Let() | loops.If():
                return map_stmts(stmt, self.apply)
            case loops.Assign(target) if target.tensor == self.tensor:
                raise _not_declared(stmt, self.tensor)
            case _:
                return stmt

    def scatter(
        self, declare: loops.Declare, stmt: loops.Stmt, write: loops.Assign, path: tuple[str, ...]
    ) -> list[loops.Stmt] | None:
        """Count the entries of every fiber, then write them; None where that is not possible.

        Needs: one update, which writes every element at most once, into one sequential level below
        levels whose subfibers are all there.
        """
        indices = [write.target.indices[m] for m in self.format.order]
        plain = [i.name for i in indices if isinstance(i, loops.Index)]
        level = scattered_level(self.format)
        alone = sum(isinstance(n, loops.Assign | loops.Declare) for n in walk(stmt)) == 1
        if level is None or not alone or sorted(plain) != sorted(path) or len(plain) < len(indices):
            return None
        assert declare.dims is not None
        assert self.format.fill_value is not None
        self.scattered = replace_level(self.format, level)
        name = self.names.fresh(f"{self.tensor}_count")
        modes = self.format.order[:level]
        self.made[name] = counts_format(self.format, level)
        begin = loops.Declare(
            name, loops.Literal(0), tuple(declare.dims[m] for m in modes), declare.at
        )
        counts = loops.Access(
            name, tuple(write.target.indices[m] for m in modes), at=write.target.at
        )
        assert self.format.dtype is not None
        counted = written(self.format.fill_value, self.format.dtype)
        one = loops.Call(counted, (write.value,))

        def count(s: loops.Stmt) -> loops.Stmt | None:
            return loops.Assign(counts, add, one, s.at) if isinstance(s, loops.Assign) else None

        first, second = rewrite_stmt(stmt, count), rename_loops(stmt, self.names)
        return [begin, first, loops.Freeze(name), replace(declare, counts=name), second]

    def declared(self, declare: loops.Declare, rest: list[loops.Stmt]) -> list[loops.Stmt]:
        """What follows the declaration: updates, then (after the first read) anything."""
        writes = list(_paths(loops.Block(tuple(rest)), self.tensor, ()))
        agreed = min((self.agreement(w, path) for w, path in writes), default=self.format.ndim)
        agreed = min(agreed, _common([path for _, path in writes]))
        if not writes or agreed >= self.last:
            return [declare, *rest]
        last = max(k for k, s in enumerate(rest) if any(_paths(s, self.tensor, ())))
        if len(writes) == 1 and last == 0:
            counted = self.scatter(declare, rest[0], *writes[0])
            if counted is not None:
                return [*counted, *rest[1:]]
        done = self.collect(declare, block(rest[: last + 1]), agreed, ())
        return [declare, done, *rest[last + 1 :]]

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
                        self.collect(declare, s, depth, outer)
                        if any(_paths(s, self.tensor, ()))
                        else s
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


def scattered_level(format: Format) -> int | None:
    """The number of the level above the leaf, if it can be scattered to and all above is full."""
    last = len(format.levels) - 2
    above = format.levels[:last]
    if not above or not all(level.full for level in above):
        return None
    return None if format.levels[last].scattered is None else last


def replace_level(format: Format, k: int) -> Format:
    """The format with its k-th level scattered."""
    level = format.levels[k].scattered
    assert level is not None
    return Format((*format.levels[:k], level, *format.levels[k + 1 :]), format.order)


def written(init: Number, dtype: str) -> Function:
    """A function that is 1 for what is written and 0 for the value that is there anyway."""
    kept = converter(dtype)
    return Function(
        "written",
        1,
        lambda dtypes: (dtypes, "int64"),
        lambda args, dtype: imp.ONE,
        lambda value: int(not identical(kept(value).item(), init)),  # type: ignore[attr-defined]
    )


def rename_loops(stmt: loops.Stmt, names: Names) -> loops.Stmt:
    """A copy of a statement whose loops and names are its own."""
    match stmt:
        case loops.Loop(index, extent, body, at):
            new = names.fresh(index)
            inner = rename_loops(substitute(body, {index: loops.Index(new)}), names)
            return loops.Loop(new, extent, inner, at)
        case loops.Let(name, value, body, at):
            new = names.fresh(name)
            inner = rename_loops(substitute(body, {name: loops.Name(new)}), names)
            return loops.Let(new, value, inner, at)
        case _:
            return map_stmts(stmt, lambda s: rename_loops(s, names))


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
