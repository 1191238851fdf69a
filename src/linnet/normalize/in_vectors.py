"""What vectors write to a sparse result goes to an array first: every element has a known place.

    for i in range(n):                            for i in range(n):
        for j in range(m):                            C_w[...] = 0
            for k in ln.vector(range(l), …):          for j, k: C_w[k] += A[i, j] * B[j, k]
                C[i, k] += A[i, j] * B[j, k]          if some[()]:
                                                          for k in range(l): C[i, k] = C_w[k]

The array is made inside those loops around the vectors that are indices of the result, whatever
their order is. It is copied one by one: as any other update, in order or through a workspace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.insertion import ARRAY, flag_format, workspace_format
from linnet.loops.parts import come_again
from linnet.loops.rewrite import block, map_stmts, names_in, replaced, walk
from linnet.names import Names
from linnet.normalize.collecting import Collecting
from linnet.normalize.in_order import last_in_vectors, resumes
from linnet.normalize.part_arrays import through_array
from linnet.normalize.updates import begins, counts_parts, parts, paths, reads_between
from linnet.normalize.whole import Whole, is_whole, part_of, with_flag
from linnet.records import dataclass

Formats = dict[str, Format]


def collect_vectors(
    program: loops.Program, formats: Formats
) -> tuple[loops.Program, Formats, tuple[str, ...]]:
    """Let vectors write arrays where they would write sparse results; and what there is to say.

    Needs: dimensions known, names unique.
    """
    written = [str(n.target.tensor) for n in walk(program.body) if isinstance(n, loops.Assign)]
    names, notes = Names({*formats, *names_in(program.body)}), list[str]()
    for tensor in dict.fromkeys(written):
        format = formats.get(tensor)
        if format is None or not last_in_vectors(program.body, tensor, format):
            continue
        arrays = _Arrays(tensor, formats, names)
        body = arrays.apply(program.body)
        made = tuple(arrays.made.items())
        program = replace(program, body=body, temporaries=(*program.temporaries, *made))
        formats, notes = formats | arrays.made, notes + arrays.notes
    return program, formats, tuple(notes)


@dataclass(slots=True)
class _Arrays:
    """The treatment of one tensor: what follows its declarations."""

    tensor: str
    formats: Formats
    names: Names
    made: dict[str, Format] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def apply(self, stmt: loops.Stmt) -> loops.Stmt:
        """Rewrite the blocks that declare the tensor."""
        stmts = stmt.stmts if isinstance(stmt, loops.Block) else ()
        for k, s in enumerate(stmts):
            if isinstance(s, loops.Declare) and s.tensor == self.tensor:
                head, rest = [self.apply(x) for x in stmts[:k]], block(stmts[k + 1 :])
                return block([*head, s, self.declared(s, rest)])
        return map_stmts(stmt, self.apply)

    def declared(self, declare: loops.Declare, rest: loops.Stmt) -> loops.Stmt:
        """What follows a declaration, if its only update is one that may go to an array."""
        if begins(rest, self.tensor) or reads_between(parts(rest), self.tensor):
            return rest
        found, format = paths(rest, self.tensor, ()), self.formats[self.tensor]
        if len(found) != 1 or format.leaf.selective:
            return rest
        ((update, path),) = found
        outer = self.outer(rest, update, path)
        inner = _inside(rest, self.tensor, len(outer))
        indices = [loops.Index(name) for name in outer]
        above = tuple([update.target.indices.index(i) for i in indices])
        order = (*above, *(m for m in format.order if m not in above))
        whole = self.whole(inner, declare, order, len(outer)) if len(order) > len(outer) else None
        if whole is None:
            return rest
        return replaced(rest, inner, self.array(whole, declare, inner, order, outer))

    def outer(
        self, stmt: loops.Stmt, update: loops.Assign, path: tuple[str, ...]
    ) -> tuple[str, ...]:
        """The loops around the vectors that are indices of the result, from the outermost on.

        Of loops through a part together, whose indices may come again, it is all or none.
        """
        around = {n.index: n for n in walk(stmt) if isinstance(n, loops.Loop)}
        count = 0
        for index in path:
            if around[index].how.race or update.target.indices.count(loops.Index(index)) != 1:
                break
            count += 1
        again = come_again(stmt)
        while count > 0 and path[count - 1] in again:
            count -= 1
        return path[:count]

    def whole(
        self, inner: loops.Stmt, declare: loops.Declare, order: tuple[int, ...], count: int
    ) -> Whole | None:
        """What is written as a whole: all of it, or each part."""
        format, modes = self.formats[self.tensor], order[count:]
        assert declare.dims is not None
        dims = [declare.dims[mode] for mode in modes]
        of_part = part_of(inner, self.tensor, modes, self.formats)
        appends = order == format.order and resumes(format, count, format.ndim, opened=False)
        if of_part is not None and appends:
            return Whole(*of_part)
        if is_whole(inner, self.tensor, modes, dims, self.formats):
            return Whole()
        return None if of_part is None else Whole(*of_part)

    def array(
        self,
        whole: Whole,
        declare: loops.Declare,
        inner: loops.Stmt,
        order: tuple[int, ...],
        outer: tuple[str, ...],
    ) -> loops.Stmt:
        """The update of an array, and the copy, which is made if there is one."""
        name, some = self.names.fresh(f"{self.tensor}_w"), self.names.fresh(f"{self.tensor}_some")
        format = self.formats[self.tensor]
        assert format.dtype is not None
        count = len(order) - len(outer) if whole.counter is None else 1
        self.made |= {name: workspace_format(format, count, ARRAY), some: flag_format()}
        self.notes.append(f"{self.tensor} is written in vectors, to {self.made[name]!r} first")
        counter = whole.counter
        if counter is None:
            done = Collecting(self.tensor, name, order, outer).rewrite(declare, inner, self.names)
            return with_flag(done, name, some, format.dtype)
        begin = replace(declare, tensor=name)
        ((update, _),) = paths(counter.body, self.tensor, ())
        done = through_array(counter.body, (update,), whole.over, (begin,), self.names)
        done = with_flag(done, name, some, format.dtype)
        return replaced(inner, counter, replace(counter, body=done))


def _inside(stmt: loops.Stmt, tensor: str, depth: int) -> loops.Stmt:
    """The statement inside so many loops in which a tensor is updated; counters are none."""
    while True:
        match stmt:
            case loops.Loop(_, _, body) if depth > 0:
                depth -= not counts_parts(stmt, tensor)
                stmt = body
            case loops.Let(_, _, body):
                stmt = body
            case loops.Block() | loops.If():
                stmt = next(s for s in _below(stmt) if paths(s, tensor, ()))
            case _:
                return stmt


def _below(stmt: loops.Block | loops.If) -> Iterator[loops.Stmt]:
    yield from stmt.stmts if isinstance(stmt, loops.Block) else (stmt.then, stmt.orelse)
