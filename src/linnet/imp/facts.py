"""What is known at some point of a program: values of variables, and conditions found to hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from linnet import imp
from linnet.imp.fold import fold, negation, same
from linnet.imp.rewrite import rebuild, walk
from linnet.records import dataclass

_CONDITIONS = ("<", "<=", ">", ">=", "==", "!=", "and", "or")
_WHOLE = (imp.Var, imp.Const, imp.Binary, imp.Unary, imp.Cast)  # what is the same if asked again
_ATOMS: tuple[type, ...] = (imp.Const, imp.Address)


@dataclass(slots=True)
class Facts:
    """What variables are known to equal at some point: constants, or other variables.

    An equality with a variable holds for the version of that variable for which it was noted. Of
    the integers in `natural` it is known that they are not negative; `settled` are conditions that
    were found true or false, with the versions of their variables.
    """

    known: dict[str, tuple[imp.Const | imp.Var, int]]
    versions: dict[str, int]
    natural: set[str] = field(default_factory=set)
    settled: dict[imp.Expr, tuple[bool, tuple[int, ...]]] = field(default_factory=dict)

    def copy(self) -> Facts:
        """The same facts, for one of several ways that control may take."""
        return Facts(dict(self.known), self.versions, set(self.natural), dict(self.settled))

    def note(self, var: imp.Var, value: imp.Expr) -> None:
        """From here on the variable has this value."""
        self.forget((var.name,))
        if isinstance(value, imp.Const):
            self.known[var.name] = value, 0
        elif isinstance(value, imp.Var):
            self.known[var.name] = value, self.versions.get(value.name, 0)
        if _widened(value) in self.natural:
            self.natural.add(var.name)

    def forget(self, names: Iterable[str]) -> None:
        """These variables change, or go out of scope."""
        for name in names:
            self.known.pop(name, None)
            self.natural.discard(name)
            self.versions[name] = self.versions.get(name, 0) + 1

    def value(self, e: imp.Expr) -> imp.Expr:
        """The expression, as simple as the facts make it."""
        if type(e) in _ATOMS:
            return e
        if isinstance(e, imp.Var):
            found = self.known.get(e.name)
            if found is None:
                return e
            value, version = found
            current = isinstance(value, imp.Const) or self.versions.get(value.name, 0) == version
            return value if current else e
        folded = fold(rebuild(e, self.value))  # type: ignore[arg-type]
        match folded:
            case imp.Binary("<" | ">=" as op, x, imp.Const(0)) if _widened(x) in self.natural:
                return imp.Const(op == ">=", imp.BOOL)
            case imp.Binary(op) if op in _CONDITIONS and self.settled:
                return self._as_settled(folded)
        return folded

    def _as_settled(self, cond: imp.Expr) -> imp.Expr:
        asked, straight = _asked(cond)
        truth, versions = self.settled.get(asked, (False, None))
        if versions is None or versions != self._versions(asked):
            return cond
        return imp.Const(truth == straight, imp.BOOL)

    def _versions(self, cond: imp.Expr) -> tuple[int, ...] | None:
        """Those of the variables of a condition; None if it depends on anything else."""
        found: list[int] = []
        for node in walk(cond):
            if not isinstance(node, _WHOLE) or node.dtype[0] not in "biu":
                return None
            if isinstance(node, imp.Var):
                found.append(self.versions.get(node.name, 0))
        return tuple(found)

    def assume(self, cond: imp.Expr, truth: bool) -> None:
        """A condition was found to be true, or false."""
        match cond:
            case imp.Binary(op) if op in _CONDITIONS:
                asked, straight = _asked(cond)
                if (versions := self._versions(asked)) is not None:
                    self.settled[asked] = truth == straight, versions
        match cond:
            case imp.Var():
                self.known[cond.name] = imp.Const(truth, imp.BOOL), 0
            case imp.Unary("not", x):
                self.assume(x, not truth)
            case imp.Binary("and" | "or" as op, a, b) if truth == (op == "and"):
                self.assume(a, truth)
                self.assume(b, truth)
            case imp.Binary("==" | "!=" as op, imp.Var() as x, imp.Const() as value) if (
                truth == (op == "==") and x.dtype[0] in "iu"
            ):
                self.known[x.name] = value, 0
            case imp.Binary("<" | ">=" as op, x, imp.Const(0)) if truth == (op == ">="):
                if name := _widened(x):
                    self.natural.add(name)

    def meet(self, ways: list[Facts]) -> None:
        """Keep what holds on each of the ways that lead here."""
        first, *rest = ways or [Facts({}, self.versions)]
        self.known = {
            name: fact
            for name, fact in first.known.items()
            if all(_agree(fact, other.known.get(name)) for other in rest)
        }
        self.natural = first.natural.intersection(*(other.natural for other in rest))
        self.settled = {
            cond: fact
            for cond, fact in first.settled.items()
            if all(other.settled.get(cond) == fact for other in rest)
        }


def _asked(cond: imp.Expr) -> tuple[imp.Expr, bool]:
    """A condition in one of its two forms, and whether it is that one and not its opposite."""
    if isinstance(cond, imp.Binary) and cond.op in (">=", ">", "!="):
        opposite = negation(cond)
        return (opposite, False) if isinstance(opposite, imp.Binary) else (cond, True)
    return cond, True


def _widened(e: imp.Expr) -> str:
    """The integer variable that this is, perhaps in more bits; "" if it is not one."""
    if isinstance(e, imp.Cast) and e.dtype == imp.INT:
        e = e.x
    return e.name if isinstance(e, imp.Var) and e.dtype.startswith("int") else ""


def _agree(a: tuple[imp.Const | imp.Var, int], b: tuple[imp.Const | imp.Var, int] | None) -> bool:
    return a is b or (b is not None and a[1] == b[1] and same(a[0], b[0]))
