"""Writes out of order go through a temporary that takes random insertion (design §6).

A sequential level is written in order, each fiber in one go: the loops around an update, down to
the last sequential level, must be exactly its indices in storage order. Where they are not, the
dimensions from the first one that differs on are collected in a temporary inside the loops that
agree, and copied in order when it is complete. Gustavson's algorithm is what comes out for a
product by rows.

Which kind of temporary is a matter of cost (`normalize.choice`) and of the updates: those that may
be combined with each other before they meet what is stored can be sorted and merged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.insertion import (
    ARRAY,
    COORD,
    DENSE,
    MAP,
    OPERAND,
    flag_format,
    workspace_format,
)
from linnet.formats.level import APPEND
from linnet.formats.policies import Policy
from linnet.loops.printer import show
from linnet.loops.rewrite import (
    block,
    leaves,
    map_stmts,
    names_in,
    point_of,
    replaced,
    rewrite_expr,
    walk,
)
from linnet.names import Names
from linnet.normalize.choice import Choice, Chosen, Unpacking
from linnet.normalize.classify import Assembly
from linnet.normalize.collecting import Collecting
from linnet.normalize.counting import count_first
from linnet.normalize.in_order import in_parts, last_in_order
from linnet.normalize.in_vectors import collect_vectors
from linnet.normalize.lifecycles import refused
from linnet.normalize.part_arrays import through_array
from linnet.normalize.refusals import (
    can_merge,
    check_merging,
    left,
    not_declared,
    swapped,
    value_types,
)
from linnet.normalize.regroup import Regrouping, format_of, regrouping
from linnet.normalize.rooms import choice_of
from linnet.normalize.swaps import is_updated_elsewhere
from linnet.normalize.updates import (
    begins,
    common,
    counts_parts,
    goes_on,
    parts,
    paths,
    reads_between,
    renamed,
)
from linnet.normalize.whole import Whole, whole_of, with_flag
from linnet.records import dataclass

Formats = dict[str, Format]
Path = tuple[str, ...]
Decide = Callable[[Choice | Unpacking], Chosen]


@dataclass(frozen=True, slots=True)
class Inserted:
    """A program whose updates its formats can take, its workspaces, and what there is to say.

    `choices` are the workspaces that were chosen by `decide`, with the kind that it gave.
    """

    program: loops.Program
    formats: Formats
    choices: tuple[tuple[Choice | Unpacking, str], ...]
    notes: tuple[str, ...]


def by_place(choice: Choice | Unpacking) -> Chosen:
    """The kind of a workspace, or of rows, of which nothing is known but the place."""
    return Chosen(choice.usual, "by its dimensions alone")


def insert_workspaces(
    program: loops.Program,
    formats: Formats,
    decide: Decide = by_place,
    policy: Policy | None = None,
) -> Inserted:
    """Give every update that its format cannot take in this order a temporary.

    Needs: dimensions known, names unique. Gives: updates that their formats can take. A `policy` is
    that of all workspaces, which are then sparse where their updates can be merged.
    """
    check_merging(program, formats)
    program, formats, said = collect_vectors(program, formats)
    names = Names(set(formats) | names_in(program.body))
    choices: list[tuple[Choice, str]] = []
    notes = list(said)
    hopeless = refused(program.body)  # under their own names
    for tensor in dict.fromkeys(_updated(program.body)):
        last = last_in_order(program.body, tensor, formats[tensor])
        if last == 0 or tensor in hopeless:
            continue
        lasts = tensor in program.params
        insertion = _Insertion(tensor, formats, program.body, names, last, decide, policy, lasts)
        body = insertion.apply(program.body)
        choices += insertion.choices
        notes += [f"{tensor} is {note}" for note in insertion.notes]
        if insertion.made:
            temporaries = program.temporaries + tuple(insertion.made.items())
            program = replace(program, body=body, temporaries=temporaries)
            formats = formats | insertion.made
        formats = formats | insertion.scattered
    return Inserted(program, formats, tuple(choices), tuple(notes))


def _updated(body: loops.Stmt) -> list[str]:
    return [n.target.tensor for n in walk(body) if isinstance(n, loops.Assign)]  # type: ignore[misc]


@dataclass(slots=True)
class _Insertion:
    """The treatment of one tensor: finds each declaration, and rewrites what follows it."""

    tensor: str
    formats: Formats
    body: loops.Stmt  # of the program
    names: Names
    last: int  # dimensions subject to an order of writing
    decide: Decide
    policy: Policy | None
    lasts: bool  # longer than the block that is looked at
    around: dict[str, loops.Extent | None] = field(default_factory=dict)  # loops that agree
    stands: dict[str, loops.Access] = field(default_factory=dict)  # what temporaries stand for
    made: dict[str, Format] = field(default_factory=dict)
    scattered: dict[str, Format] = field(default_factory=dict)  # tensors that are put in place
    choices: list[tuple[Choice, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def format(self) -> Format:
        """How the tensor is stored."""
        return self.formats[self.tensor]

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
                raise not_declared(stmt, self.tensor)
            case _:
                return stmt

    def declared(self, declare: loops.Declare, rest: list[loops.Stmt]) -> list[loops.Stmt]:
        """What follows the declaration: updates, then (after the first read) anything."""
        for k, s in enumerate(rest):
            if begins(s, self.tensor):  # anew, perhaps in an inner block
                inner = not isinstance(s, loops.Declare)
                if inner and goes_on(block(rest[k:]), self.tensor):
                    return self.throughout(declare, rest)
                outer, self.lasts = self.lasts, self.lasts or inner
                again = self.apply(block(rest[k:]))
                self.lasts = outer
                return [*self.declared(declare, rest[:k]), again]
        writes = list(paths(loops.Block(tuple(rest)), self.tensor, ()))
        if writes and all(APPEND in w.target.protocols for w, _ in writes):
            return [declare, *rest]
        agreed = min((self.agreement(w, path) for w, path in writes), default=self.format.ndim)
        agreed = min(agreed, common([path for _, path in writes]))
        agreed = in_parts(agreed, rest, self.tensor, self.format, self.last)
        last = max((k for k, s in enumerate(rest) if any(paths(s, self.tensor, ()))), default=-1)
        if is_updated_elsewhere(block(rest[: last + 1]), self.tensor):
            raise swapped(self.tensor, declare)
        reads = reads_between(rest[: last + 1], self.tensor)
        if self.lasts and leaves(block(rest[: last + 1])):
            return [*self.until_left(declare, block(rest[: last + 1])), *rest[last + 1 :]]
        agreed = 0 if reads else agreed
        self.notes += dict.fromkeys(str(self.assembly(w, path)) for w, path in writes)
        if not writes or agreed >= self.last:
            return [declare, *rest]
        if len(writes) == 1 and last == 0 and not reads:
            counted = count_first(declare, rest[0], *writes[0], self.format, self.names)
            if counted is not None:
                self.made[counted.counts] = counted.counts_format
                self.scattered[self.tensor] = counted.format
                self.notes.append("put in place, once the entries of each fiber are counted")
                return [*counted.stmts, *rest[1:]]
            found = regrouping(rest[0], self.format, self.formats) if agreed == 0 else None
            if found is not None and self.policy is None:
                return [*self.either(declare, rest[0], found), *rest[1:]]
        done = self.collect(declare, block(rest[: last + 1]), agreed, ())
        return [declare, done, *rest[last + 1 :]]

    def either(
        self, declare: loops.Declare, stmt: loops.Stmt, found: Regrouping
    ) -> list[loops.Stmt]:
        """Collect the values of an operand, or the updates, as sizes have it.

        What the rows want is asked for in any case: whatever is chosen, the choices are the same.
        """
        name, operand = self.names.fresh(f"{self.tensor}_w"), str(found.operand.tensor)
        kind, why = self.kind(name, stmt, declare, (), operand)
        format = format_of(found, self.formats)
        rows = replace(self, around={}, made={}, scattered={}, choices=[], notes=[])
        rows.formats = self.formats | {name: format}
        rows.stands = {name: found.operand}
        in_order = rows.declared(declare, [found.in_order(name)])
        self.choices += rows.choices
        if kind != OPERAND:
            return [declare, self.collected(name, kind, why, declare, stmt, ())]
        counted = found.collected(name, format, self.names)
        self.made |= {name: format, counted.counts: counted.counts_format, **rows.made}
        self.scattered[name] = counted.format
        first = f"written in order: {operand} is put in order first, as {name}; {why}"
        self.notes += [first, *rows.notes]
        return [*counted.stmts, *in_order]

    def throughout(self, declare: loops.Declare, rest: list[loops.Stmt]) -> list[loops.Stmt]:
        """One temporary for all updates, whether they go on or begin anew."""
        used = [
            k for k, s in enumerate(rest) if begins(s, self.tensor) or paths(s, self.tensor, ())
        ]
        part = block(rest[: used[-1] + 1])
        if self.lasts and leaves(part):
            return [*self.until_left(declare, part), *rest[used[-1] + 1 :]]
        return [declare, self.temporary(declare, part, ()), *rest[used[-1] + 1 :]]

    def until_left(self, declare: loops.Declare, part: loops.Stmt) -> list[loops.Stmt]:
        """Where `break` leaves the updates, the temporary is copied, too: before it.

        Until then there is nothing to freeze: the tensor is declared when it is copied.
        """
        if any(isinstance(n, loops.Access) for n in walk(declare)):
            raise left(self.tensor, declare)
        begin, *stmts, copy = parts(self.temporary(declare, part, ()))

        def leave(stmt: loops.Stmt) -> loops.Stmt:
            match stmt:
                case loops.Break():
                    return block([declare, renamed(copy, self.names), stmt])
                case loops.Loop(_, extent) if point_of(extent) is None:
                    return stmt
                case _:
                    return map_stmts(stmt, leave)

        return [begin, *map(leave, stmts), declare, copy]

    def assembly(self, write: loops.Assign, path: tuple[str, ...]) -> Assembly:
        """How an update assembles the tensor."""
        return Assembly(path, tuple(show(write.target.indices[m]) for m in self.format.order))

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
            case loops.Loop(_, _, body) if depth > 0 and counts_parts(stmt, self.tensor):
                return replace(stmt, body=self.collect(declare, body, depth, outer))
            case loops.Loop(index, extent, body) if depth > 0:
                self.around[index] = None if extent is None else extent.whole
                return replace(stmt, body=self.collect(declare, body, depth - 1, (*outer, index)))
            case loops.Block(stmts) if depth > 0:
                return block(
                    [
                        self.collect(declare, s, depth, outer)
                        if any(paths(s, self.tensor, ()))
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
        if not any(paths(stmt, self.tensor, ())):
            return stmt
        return self.temporary(declare, stmt, outer)

    def temporary(
        self, declare: loops.Declare, stmt: loops.Stmt, outer: tuple[str, ...]
    ) -> loops.Stmt:
        """What collects the updates, of the kind that they want, and is copied."""
        if any(isinstance(n, loops.Swap) and self.tensor in (n.a, n.b) for n in walk(stmt)):
            raise swapped(self.tensor, declare)
        name = self.names.fresh(f"{self.tensor}_w")
        whole = whole_of(stmt, declare, self.format, self.formats, len(outer))
        if whole is not None and self.policy is None:
            return self.as_array(name, whole, declare, stmt, outer)
        kind, why = self.kind(name, stmt, declare, outer)
        return self.collected(name, kind, why, declare, stmt, outer)

    def as_array(
        self, name: str, whole: Whole, declare: loops.Declare, stmt: loops.Stmt, outer: Path
    ) -> loops.Stmt:
        """The updates, collected in an array of which all is written, or nothing."""
        some, dtype = self.names.fresh(f"{self.tensor}_some"), self.format.dtype
        assert dtype is not None
        why = "all of its elements are updated, or none"
        counter = whole.counter
        if counter is None:
            done = self.collected(name, ARRAY, why, declare, stmt, outer)
        else:
            self.make(name, ARRAY, 1, why, outer)
            part, begin = counter.body, replace(declare, tensor=name)
            ((update, _),) = paths(part, self.tensor, ())
            done = through_array(part, (update,), whole.over, (begin,), self.names)
        self.made[some] = flag_format()
        done = with_flag(done, name, some, dtype)
        return done if counter is None else replaced(stmt, counter, replace(counter, body=done))

    def collected(
        self, name: str, kind: str, why: str, declare: loops.Declare, stmt: loops.Stmt, outer: Path
    ) -> loops.Stmt:
        """The updates, collected in a temporary of this kind, which is copied."""
        collecting = Collecting(self.tensor, name, self.format.order, outer)
        self.make(name, kind, len(collecting.modes), why, outer)
        return collecting.rewrite(declare, stmt, self.names)

    def make(self, name: str, kind: str, ndim: int, why: str, outer: Path) -> None:
        """Make a temporary of a kind, and note why."""
        made = self.made[name] = workspace_format(self.format, ndim, kind, self.policy)
        inside = f" inside {', '.join(outer)}" if outer else ""
        self.notes.append(f"collected{inside} in {made!r}: {why}")

    def kind(
        self,
        name: str,
        stmt: loops.Stmt,
        declare: loops.Declare,
        outer: tuple[str, ...],
        operand: str | None = None,
    ) -> tuple[str, str]:
        """Which kind of workspace the updates want, of those that they can do with; and why."""
        if begins(stmt, self.tensor) or leaves(stmt):
            return MAP, "not all of its updates may be done, or last"
        found = paths(stmt, self.tensor, ())
        reads, types = reads_between(parts(stmt), self.tensor), value_types(self.body, self.formats)
        merged = not reads and can_merge([w for w, _ in found], declare.init, self.format, types)
        asked = self.policy if merged else None
        if asked is not None and asked.capacity is not None:
            return COORD, "as was asked for"
        named = asked is not None
        choice = replace(self.choice(name, stmt, declare, outer), operand=operand, named=named)
        chosen = self.decide(choice)
        self.choices.append((choice, chosen.kind))
        if named:
            return chosen.kind, f"as was asked for; {chosen.why}"
        if not merged and chosen.kind not in (DENSE, OPERAND):
            return MAP, "its updates must meet what is there"
        return chosen.kind, chosen.why

    def choice(
        self, name: str, stmt: loops.Stmt, declare: loops.Declare, outer: tuple[str, ...]
    ) -> Choice:
        """What is known of a workspace inside some loops, and of its first update."""
        around = {index: self.around[index] for index in outer}
        modes = self.format.order[len(outer) :]
        choice = choice_of(self.tensor, self.formats, modes, stmt, declare, around)
        return replace(choice, name=name, value=rewrite_expr(choice.value, self.stood_for))

    def stood_for(self, expr: loops.Expr) -> loops.Expr | None:
        """What the user knows instead of a temporary."""
        return self.stands.get(str(expr.tensor)) if isinstance(expr, loops.Access) else None
