"""What does a program say of the tensors that it updates? Simplification relies on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import field
from itertools import count

from linnet import loops
from linnet.algebra.dtypes import Number, as_python
from linnet.algebra.function import Function
from linnet.formats.level import APPEND, ONCE
from linnet.loops.parts import counted
from linnet.loops.rewrite import point_of, substitute, walk
from linnet.loops.told import Ranges, ranges_in, told_by
from linnet.loops.types import with_lets
from linnet.normalize.unread import forgotten
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a tensor that is updated.

    `init` is the value it is declared with (None: unknown), `ops` the functions that update it, and
    `once` says that `=` meets no element that was written since the declaration. One that is `held`
    is a value that is searched for, and is left alone where nothing is stored.
    """

    dtype: str
    init: Number | None
    ops: frozenset[Function | None]
    once: bool
    held: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of all tensors, and the types of names.

    `simplified` are calls, by their identities, and what they come to: bodies are simplified again
    and again, each time with little changed. Of what is `forgotten`, nothing is read once its
    block has ended.
    """

    tensors: dict[str, Fact]
    types: dict[str, str]
    forgotten: frozenset[str] = frozenset()
    simplified: dict[int, tuple[loops.Call, loops.Expr]] = field(
        default_factory=dict, compare=False
    )
    flags: dict[tuple[str, int], str] = field(default_factory=dict, compare=False)

    def flag(self, name: str, k: int) -> str:
        """A name that says where the value of another is stored, and that nothing else has."""
        if (name, k) not in self.flags:
            taken = {*self.types, *self.flags.values()}
            names = (f"{name}_found{'_' * n}" for n in count())
            self.flags[name, k] = next(n for n in names if n not in taken)
        return self.flags[name, k]

    def name(self, name: str, dtype: str) -> None:
        """Remember the type of a named value."""
        if self.types.get(name) != dtype:
            self.types[name] = dtype
            self.simplified.clear()


def facts_of(program: loops.Program, types: dict[str, str]) -> Facts:
    """Read off the program what simplification may rely on. Needs: dimensions and life cycles."""
    found: dict[str, Fact] = {}
    types = with_lets(types, program.body)
    inits: dict[str, set[str]] = {}
    for node in walk(program.body):
        if isinstance(node, loops.Declare):
            value = node.init.value if isinstance(node.init, loops.Literal) else None
            inits.setdefault(node.tensor, set()).add(repr(value))
    writes = list(_writes(program.body, {}, ()))
    thawed = {n.tensor for n in walk(program.body) if isinstance(n, loops.Thaw)}
    thawed |= {t for n in walk(program.body) if isinstance(n, loops.Swap) for t in (n.a, n.b)}
    names, later = {w.target.tensor for w, _ in writes}, set[str]()
    _look_for_later(program.body, frozenset(), later)
    ranges, nodes = ranges_in(program.body), walk(program.body)
    counters = {n.index for n in nodes if isinstance(n, loops.Loop) and counted(n) is not None}
    for name in names:
        assert isinstance(name, str)
        mine = [(w, inner) for w, inner in writes if w.target.tensor == name]
        declared = inits.get(name, set())
        known = len(declared) == 1 and name not in thawed
        plain = [(w, inner) for w, inner in mine if w.op is None]
        first = name not in later and all(
            _injective(w.target, inner, counters, ranges) for w, inner in plain
        )
        once = known and (first or all(_promised(w.target) for w, _ in mine))
        init = _init_value(program.body, name, types[name]) if known else None
        found[name] = Fact(types[name], init, frozenset(w.op for w, _ in mine), once)
    return Facts(found, types, forgotten(program))


def _promised(target: loops.Access) -> bool:
    """Whether who wrote the program promises that no element is written twice."""
    return ONCE in target.protocols or APPEND in target.protocols


def _init_value(body: loops.Stmt, name: str, dtype: str) -> Number | None:
    for node in walk(body):
        if isinstance(node, loops.Declare) and node.tensor == name:
            if isinstance(node.init, loops.Literal):
                return as_python(node.init.value, dtype)
            return None
    return None


def _writes(
    stmt: loops.Stmt, scope: dict[str, tuple[str, ...]], path: tuple[str, ...]
) -> Iterable[tuple[loops.Assign, tuple[str, ...]]]:
    """Assignments, each with the loops between its target's declaration and itself."""
    match stmt:
        case loops.Assign(target):
            yield stmt, path[len(scope.get(str(target.tensor), ())) :]
        case loops.Loop(index, extent, body):
            alias = point_of(extent)
            if isinstance(alias, loops.Index):  # another name for an index that is bound
                yield from _writes(substitute(body, {index: alias}), scope, path)
            else:
                yield from _writes(body, scope, path if alias is not None else (*path, index))
        case loops.Let(_, _, body):
            yield from _writes(body, scope, path)
        case loops.If(_, then, orelse):
            yield from _writes(then, scope, path)
            yield from _writes(orelse, scope, path)
        case loops.Block(stmts):
            scope = dict(scope)
            for s in stmts:
                if isinstance(s, loops.Declare):
                    scope[s.tensor] = path
                yield from _writes(s, scope, path)
        case _:
            return


def _look_for_later(stmt: loops.Stmt, seen: frozenset[str], later: set[str]) -> frozenset[str]:
    """Find tensors of which `=` may meet what was `seen` written since they were declared.

    What one iteration of a loop writes, the next one sees, unless all writes are to the same place:
    of that, the indices say whether it meets an element twice. Gives what is seen afterwards.
    """
    match stmt:
        case loops.Assign(target, op):
            if op is None and target.tensor in seen:
                later.add(str(target.tensor))
            return seen | {str(target.tensor)}
        case loops.Declare(tensor):
            return seen - {tensor}
        case loops.Block(stmts):
            for s in stmts:
                seen = _look_for_later(s, seen, later)
            return seen
        case loops.If(_, then, orelse):
            return _look_for_later(then, seen, later) | _look_for_later(orelse, seen, later)
        case loops.Let(_, _, body):
            return _look_for_later(body, seen, later)
        case loops.Loop(_, _, body):
            places = {(str(w.target.tensor), w.target.indices) for w, _ in _writes(body, {}, ())}
            counts = Counter(name for name, _ in places)
            again = {name for name, count in counts.items() if count > 1}
            return seen | _look_for_later(body, seen | again, later)
        case _:
            return seen


def _injective(
    target: loops.Access, path: tuple[str, ...], counters: set[str], ranges: Ranges
) -> bool:
    """Whether different iterations of the loops write different elements.

    What counts parts is told by an index within one.
    """
    return {*path} - counters <= told_by(target.indices, ranges, path)
