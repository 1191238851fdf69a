"""When is a tensor read and when is it updated? Inserts `Freeze` and `Thaw` (FINCH §5.5).

A tensor changes between the two modes between the statements of the block that declares it; a
parameter that is never declared, of the outermost block. Loops and the branches of an `if` open
blocks; a `Let` does not: what follows it in the user's text is still the same block. A loop that
does not walk the tensor, such as one over time steps, may read it in one statement and update it in
another: it is handed down, to be frozen and thawed there, and is read when the loop begins and when
it ends. A scalar of the kernel's own is a variable, and needs no modes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import TypeAlias, assert_never

from linnet.errors import LifecycleError, Location
from linnet.loops.nodes import (
    Assign,
    Block,
    Break,
    Declare,
    Expr,
    Freeze,
    If,
    Index,
    Let,
    Loop,
    Program,
    Range,
    Stmt,
    Swap,
    Thaw,
)
from linnet.loops.rewrite import accesses, block, is_left, leaves, walk
from linnet.normalize.modes import (
    not_a_result,
    outside_its_block,
    read_and_written,
    undeclared,
    written_when_left,
)
from linnet.records import dataclass

READ, UPDATE, DECLARE = "read", "update", "declare"
NOTHING_HANDED: Mapping[str, Location | None] = MappingProxyType({})

Uses: TypeAlias = dict[tuple[str, str], Location | None]
"""What a statement does to tensors that it does not declare itself: the first place where it reads,
updates or declares (in an inner block) each of them, in program order."""


def insert_lifecycles(program: Program) -> Program:
    """Say where tensors are frozen and thawed, and which parameters are results.

    Gives: every tensor is read only after `Freeze` (or as it came) and updated only after `Declare`
    or `Thaw`; `results` names what the kernel returns.

        y[...] = 0                     y[...] = 0
        for i in ...: y[i] = x[i]      for i in ...: y[i] = x[i]
        for i in ...: x[i] += y[i]     freeze(y); thaw(x)
                                       for i in ...: x[i] += y[i]
                                       freeze(x)
    """
    modes = dict.fromkeys(program.params, READ)
    blocks = _Blocks(modes, carried_scalars(program))
    body = blocks.block(program.body, dict.fromkeys(program.params))
    return replace(program, body=body, results=_results(program))


def carried_scalars(program: Program) -> frozenset[str]:
    """The temporaries without dimensions that are read and updated in one loop or statement."""
    scalars = {name for name, format in program.temporaries if format.ndim == 0}
    if not scalars:
        return frozenset()
    return frozenset(scalars & {tensor for tensor, _ in _read_while_updated(program.body)})


def refused(body: Stmt) -> frozenset[str]:
    """The tensors that need two modes at once in some statement: they will be refused."""
    found = _read_while_updated(body)
    return frozenset({tensor for tensor, is_handed_down in found if not is_handed_down})


def _read_while_updated(body: Stmt) -> Iterator[tuple[str, bool]]:
    """What a loop, an `if` or an update reads and updates, and whether its blocks may do both."""
    blocks = _Blocks({}, frozenset())
    for node in walk(body):
        if isinstance(node, Loop | If | Assign):
            uses = blocks.uses(node)
            both = {t for t, kind in uses if kind == READ and (t, UPDATE) in uses}
            handed = handed_down(node, uses) if both and not isinstance(node, Assign) else ()
            yield from ((tensor, tensor in handed) for tensor in both)


def handed_down(stmt: Loop | If, uses: Uses | None = None) -> frozenset[str]:
    """The tensors that only the blocks of a loop or an `if` use, some read and others update.

    What a loop walks has one mode in it.
    """
    if uses is None:
        uses = _Blocks({}, frozenset()).uses(stmt)
    found = Counter(tensor for tensor, _ in uses)
    several = {tensor for tensor, count in found.items() if count > 1}
    if not several:
        return frozenset()
    match stmt:
        case If(cond):
            several -= {tensor for tensor, _ in _reads(cond, None)}
        case Loop(index, extent, body):
            heading = _reads(extent, None) if extent else {}
            walked = set() if is_left(stmt) else _walked(index, body)
            several -= walked | {tensor for tensor, _ in heading}
    return frozenset(several)


def _walked(index: str, body: Stmt) -> set[str]:
    """The tensors that the loop over an index walks."""
    return {
        str(access.tensor)
        for access, _ in accesses(body)
        if any(node == Index(index) for i in access.indices for node in walk(i))
    }


def updated_params(program: Program) -> tuple[str, ...]:
    """The parameters that the program updates or declares, in the order of the parameters."""
    written = {
        node.target.tensor if isinstance(node, Assign) else node.tensor
        for node in walk(program.body)
        if isinstance(node, Assign | Declare)
    }
    return tuple([p for p in program.params if p in written])


@dataclass(slots=True)
class _Blocks:
    """The mode of every tensor that may be used at the statement being visited."""

    modes: dict[str, str]
    carried: frozenset[str]  # scalars that are read while they are updated
    ended: set[str] = field(default_factory=set)  # temporaries whose block has ended
    outside: list[frozenset[str]] = field(default_factory=list)  # what open blocks began with
    known: dict[int, Uses] = field(default_factory=dict)  # of loops and ifs, by identity

    def block(self, stmt: Stmt, owned: dict[str, Location | None]) -> Stmt:
        """One block. `owned` are the tensors that it may freeze and thaw, and where it got them."""
        outside = frozenset(self.modes)
        self.outside.append(outside)
        stmts, last = self.statements(stmt, owned), []
        self.outside.pop()
        for tensor, at in owned.items():
            if self.modes[tensor] == UPDATE:
                last.append(Freeze(tensor, at))
                self.modes[tensor] = READ
            if tensor not in outside:
                del self.modes[tensor]
                self.ended.add(tensor)
        return _then(block(stmts), last)

    def statements(self, stmt: Stmt, owned: dict[str, Location | None]) -> list[Stmt]:
        """The statements of a block, each after the freezes and thaws that it needs."""
        match stmt:
            case Block(stmts):
                return [new for s in stmts for new in self.statements(s, owned)]
            case Freeze() | Thaw():
                return self._explicit(stmt, owned)
            case Let(name, value, body, at):
                before = self._prepare(stmt, _reads(value, at))
                return [*before, Let(name, value, block(self.statements(body, owned)), at)]
        uses = self.uses(stmt)
        handed = self._handed(stmt, uses, owned)
        before = self._prepare(stmt, uses, handed)
        match stmt:
            case Assign() | Swap() | Break():
                return [*before, stmt]
            case Loop(_, _, body):
                return [*before, replace(stmt, body=self.block(body, dict(handed)))]
            case If(cond, then, orelse, at):
                then, orelse = self.block(then, dict(handed)), self.block(orelse, dict(handed))
                return [*before, If(cond, then, orelse, at)]
            case Declare(tensor):
                self.modes[tensor] = UPDATE
                owned[tensor] = stmt.at
                return [*before, stmt]
            case _:
                assert_never(stmt)

    def _explicit(self, stmt: Freeze | Thaw, owned: dict[str, Location | None]) -> list[Stmt]:
        """A freeze or thaw that the program has already; one that changes nothing is dropped."""
        tensor, mode = stmt.tensor, READ if isinstance(stmt, Freeze) else UPDATE
        if tensor not in owned:
            known = tensor in self.modes or tensor in self.ended
            raise outside_its_block(tensor, stmt.at) if known else undeclared(tensor, stmt.at)
        if self.modes[tensor] == mode:
            return []
        self.modes[tensor] = mode
        return [stmt]

    def _handed(
        self, stmt: Stmt, uses: Uses, owned: dict[str, Location | None]
    ) -> dict[str, Location | None]:
        """The tensors that are read when a statement begins, and may change their mode inside it.

        So are, where a loop may be left, those that last longer than its iterations.
        """
        found: set[str] = set()
        if isinstance(stmt, Loop | If):
            found = (self.modes.keys() & handed_down(stmt, uses)) - self.carried
        if leaves(stmt):
            found |= (owned.keys() & self.outside[-1]) - self.carried
            walked = _walked(stmt.index, stmt.body) if isinstance(stmt, Loop) else set[str]()
            for tensor in found & walked:
                if (tensor, UPDATE) in uses:
                    raise written_when_left(tensor, uses[tensor, UPDATE])
        return {tensor: stmt.at for tensor in self.modes if tensor in found}  # type: ignore[union-attr]

    def _prepare(
        self, stmt: Stmt, uses: Uses, handed: Mapping[str, Location | None] = NOTHING_HANDED
    ) -> list[Stmt]:
        """The freezes and thaws that a statement needs before it."""
        before: list[Stmt] = []
        for tensor, at in handed.items():
            if self.modes[tensor] == UPDATE:
                before.append(Freeze(tensor, at))
                self.modes[tensor] = READ
        for (tensor, kind), at in uses.items():
            if tensor in handed:
                continue
            self._check(stmt, uses, tensor, kind)
            mode = self.modes.get(tensor)
            # a tensor is declared in read mode: its level may rely on what `freeze` left behind
            if kind == UPDATE and mode == READ:
                before.append(Thaw(tensor, at))
                self.modes[tensor] = UPDATE
            elif kind == READ and tensor in self.carried:
                continue
            elif kind != UPDATE and mode == UPDATE:
                before.append(Freeze(tensor, at))
                self.modes[tensor] = READ
        return before

    def _check(self, stmt: Stmt, uses: Uses, tensor: str, kind: str) -> None:
        """Refuse what has no mode, or would need two at once."""
        if tensor not in self.modes and kind != DECLARE:
            outside = tensor in self.ended or next(k for t, k in uses if t == tensor) == DECLARE
            at = uses[tensor, kind]
            raise outside_its_block(tensor, at) if outside else undeclared(tensor, at)
        if kind == UPDATE or (tensor, UPDATE) not in uses or tensor in self.carried:
            return
        if kind == READ:
            raise _torn(tensor, stmt, uses)
        raise outside_its_block(tensor, uses[tensor, UPDATE])

    def uses(self, stmt: Stmt) -> Uses:
        """What a statement does to the tensors of the blocks around it."""
        match stmt:
            case Assign(target, _, value, at):
                uses = _reads(value, at)
                for index in target.indices:
                    uses.update(_reads(index, at))
                uses[str(target.tensor), UPDATE] = target.at or at
                return uses
            case Declare(tensor, init, dims):
                uses = _reads(init, stmt.at)
                for size in dims or ():
                    uses.update(_reads(size, stmt.at))
                if stmt.counts is not None:
                    uses[stmt.counts, READ] = stmt.at
                if (tensor, READ) in uses:
                    raise _torn(tensor, stmt, uses)
                return {**uses, (tensor, DECLARE): stmt.at}
            case Swap(a, b, at):
                return {(t, kind): at for t in (a, b) for kind in (READ, DECLARE)}
            case Loop() | If():
                if id(stmt) not in self.known:
                    self.known[id(stmt)] = self._uses_below(stmt)
                return self.known[id(stmt)]
            case _:
                return {}

    def _uses_below(self, stmt: Loop | If) -> Uses:
        """What a loop or an `if` reads itself, and what its blocks do."""
        match stmt:
            case If(cond, then, orelse, at):
                uses = _reads(cond, at)
                self._collect(then, set(), uses)
                self._collect(orelse, set(), uses)
            case Loop(_, extent, body, at):
                uses = _reads(extent, at) if extent else {}
                self._collect(body, set(), uses)
        return uses

    def _collect(self, stmt: Stmt, own: set[str], uses: Uses) -> None:
        """Add what a block does to others' tensors; `own` are those it has declared so far."""
        match stmt:
            case Block(stmts):
                for s in stmts:
                    self._collect(s, own, uses)
                return
            case Let(_, value, body, at):
                found, rest = _reads(value, at), body
            case _:
                found, rest = self.uses(stmt), Block()
        for (tensor, kind), at in found.items():
            if tensor not in own:
                uses.setdefault((tensor, kind), at)
        if isinstance(stmt, Declare):
            own.add(stmt.tensor)
        self._collect(rest, own, uses)


def _then(stmt: Stmt, last: list[Freeze]) -> Stmt:
    """A block with more statements at its end: in the body of a let that it ends with."""
    match stmt:
        case Let(name, value, body, at) if last:
            return Let(name, value, _then(body, last), at)
        case Block((*first, Let() as let)) if last:
            return block([*first, _then(let, last)])
        case _:
            return block([stmt, *last])


def _reads(expr: Expr | Range, at: Location | None) -> Uses:
    """The tensors that an expression reads."""
    uses: Uses = {}
    for access, _ in accesses(expr):
        uses.setdefault((str(access.tensor), READ), access.at or at)
    return uses


def _torn(tensor: str, stmt: Stmt, uses: Uses) -> LifecycleError:
    """The refusal of a statement that reads a tensor, and does something else to it."""
    last = [at for (name, _), at in uses.items() if name == tensor][-1]
    return read_and_written(tensor, stmt, uses[tensor, READ], last)


# -- results ---------------------------------------------------------------------------------------


def _results(program: Program) -> tuple[str, ...]:
    """What the kernel returns: what it says, or else every parameter that it writes."""
    written = updated_params(program)
    if not written:
        raise LifecycleError(
            f"{program.name} writes to none of its arguments",
            at=program.at,
            why="a kernel returns its results in arguments",
            hint="give it an output, and write to that: y[...] = 0, then y[i] = …",
        )
    for name in program.results:
        if name not in written:
            raise not_a_result(program, name)
    return program.results or written
