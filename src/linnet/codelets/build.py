"""`Builder`: collects the statements of a kernel while it is being lowered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from linnet import imp
from linnet.codelets.named import Codelet, instantiate
from linnet.errors import FormatError
from linnet.imp.rewrite import statements
from linnet.names import Names

_SETS = (imp.Let, imp.Assign, imp.Accumulate, imp.For)
MOST = 10_000  # statements: a kernel with more has run away, and would take minutes to compile


class TooManyCases(FormatError):
    """The code has run away; who knows the program says why."""


class Builder:
    """A growing block of code, fresh names, and the codelets that the code calls."""

    def __init__(self, names: Names | None = None) -> None:
        self.names = names or Names()
        self.codelets: dict[str, imp.Function] = {}
        self._stmts: list[imp.Stmt] = []
        self._count = 0

    def emit(self, *stmts: imp.Stmt) -> None:
        """Append statements."""
        self._stmts.extend(stmts)
        self._count += len(stmts)
        if self._count > MOST:
            raise TooManyCases("this kernel has too many cases to compile")

    def let(self, hint: str, value: imp.Expr | int, dtype: str = imp.INT) -> imp.Var:
        """Introduce a variable with a fresh name like `hint`."""
        value = imp.wrap(value)
        if dtype == imp.INT:
            value = imp.widen(value)
        var = imp.Var(self.names.fresh(hint), value.dtype)
        self.emit(imp.Let(var, value))
        return var

    def var(self, hint: str, dtype: str = imp.INT) -> imp.Var:
        """A fresh variable that is not introduced yet."""
        return imp.Var(self.names.fresh(hint), dtype)

    def given(self, var: imp.Var) -> imp.Expr | None:
        """What a variable was given last, as far as the block that is being written tells."""
        for stmt in reversed(self._stmts):
            if isinstance(stmt, imp.Let | imp.Assign) and stmt.var == var:
                return stmt.value
            if any(isinstance(s, _SETS) and s.var == var for s in statements(imp.Block((stmt,)))):
                return None
        return None

    @contextmanager
    def collect(self) -> Iterator[list[imp.Stmt]]:
        """Collect what is emitted inside into a list of its own."""
        outer, self._stmts = self._stmts, []
        try:
            yield self._stmts
        finally:
            self._stmts = outer

    def call(
        self, codelet: Codelet, *args: imp.Expr | imp.Buffer | int, dtypes: tuple[str, ...] = ()
    ) -> imp.Call:
        """A call of a codelet, compiled for the types of these arguments (or for `dtypes`)."""
        given = tuple(
            imp.Address(a) if isinstance(a, imp.Buffer) else imp.widen(imp.wrap(a)) for a in args
        )
        function = instantiate(codelet, dtypes or tuple(a.dtype for a in given), self.codelets)
        return imp.Call(function.name, given, function.dtype or "void")
