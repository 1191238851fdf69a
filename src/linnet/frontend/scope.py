"""What a name means at a place in a kernel, and the errors that show the place.

A name of the kernel is a parameter, a temporary, a loop index or a let; it lives until the end of
its block. Any other name belongs to the Python around the kernel and is looked up once, when the
kernel is defined.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections import ChainMap
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager, suppress

from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup
from linnet.errors import FormatError, KernelSyntaxError, LinnetError, Location
from linnet.formats.format import Format
from linnet.formats.named import Family, as_format
from linnet.names import Names
from linnet.python.source import Source
from linnet.records import dataclass

EQUATION = "<equation>"  # the file of what is written in a string


@dataclass(frozen=True, slots=True)
class Binding:
    """What a name of the kernel stands for: `kind` is parameter, temporary, index or let.

    `name` is its name in the program, where all temporaries are told apart.
    """

    kind: str
    name: str
    at: Location

    @property
    def is_tensor(self) -> bool:
        """Whether it takes indices."""
        return self.kind in ("parameter", "temporary")


class Scope:
    """The names of a kernel while it is read, and the Python names around it."""

    def __init__(
        self,
        source: Source,
        local_names: frozenset[str],
        outer: Mapping[str, object],
        kernel: str = "",
    ) -> None:
        self.source = source
        self.kernel = kernel
        self._outer = outer
        self._local_names = local_names
        self._blocks: list[dict[str, Binding]] = [{}]
        self._names = Names(local_names)
        self._indexed: dict[str, tuple[int, Location]] = {}
        self._formats: dict[str, Format | Family] = {}
        self._made: dict[str, Location] = {}
        self._dimensions: list[tuple[str, int, ast.AST]] = []

    # -- names of the kernel -------------------------------------------------------------------

    @contextmanager
    def block(self) -> Iterator[None]:
        """Names bound inside are forgotten afterwards."""
        self._blocks.append({})
        try:
            yield
        finally:
            self._blocks.pop()

    def find(self, name: str) -> Binding | None:
        """What a name of the kernel stands for here."""
        for names in reversed(self._blocks):
            if name in names:
                return names[name]
        return None

    def bind(self, kind: str, name: str, node: ast.AST) -> str:
        """Give a new name a meaning until the end of the block; refuses one that has a meaning."""
        known = self.find(name)
        if known is not None:
            raise self._rebound(known, name, node)
        self._blocks[-1][name] = Binding(kind, name, self.source.location(node))
        return name

    def bind_temporary(self, name: str, format: Format | Family, node: ast.AST) -> str:
        """Give a name to a new temporary; two blocks may use one name for two temporaries."""
        self.bind("temporary", name, node)
        unique = self._names.fresh(name) if name in self._formats else name
        at = self.source.location(node)
        self._blocks[-1][name] = Binding("temporary", unique, at)
        self._formats[unique], self._made[unique] = format, at
        if isinstance(format, Format):
            self._indexed[unique] = (format.ndim, at)
        return unique

    def fresh(self, name: str) -> str:
        """A name for what a kernel that is called here binds: the same, if nothing else has it."""
        return self._names.fresh(name)

    def adopt(self, name: str, format: Format, node: ast.AST) -> str:
        """A temporary of a kernel that is called here, under a name of its own."""
        unique, at = self.fresh(name), self.source.location(node)
        self._formats[unique], self._made[unique] = format, at
        self._indexed[unique] = (format.ndim, at)
        return unique

    def is_temporary(self, tensor: str) -> bool:
        """Whether a tensor is made in the kernel."""
        return tensor in self._formats

    def temporaries(self, used: Container[str]) -> tuple[tuple[str, Format], ...]:
        """All temporaries, in the order in which they were made.

        One that is not used has no accesses that would tell a member of a family, and is left out.
        """
        kept = (n for n, f in self._formats.items() if n in used or isinstance(f, Format))
        return tuple((name, self._format(name)) for name in kept)

    def _format(self, name: str) -> Format:
        ndim, _ = self._indexed.get(name, (None, None))
        try:
            return as_format(self._formats[name], ndim)
        except FormatError as error:  # a family of formats, and no access
            error.at = self._made[name]
            raise

    def tensor(self, name: ast.Name) -> str | None:
        """The tensor that a name stands for here, or None."""
        known = self.find(name.id)
        return known.name if known is not None and known.is_tensor else None

    def use(self, tensor: str, count: int, node: ast.AST) -> None:
        """Check an access: a tensor has as many indices everywhere."""
        here = self.source.location(node)
        first, there = self._indexed.setdefault(tensor, (count, here))
        if first != count:
            raise KernelSyntaxError(
                f"`{tensor}` has {_indices(count)} here and {_indices(first)} {_place(there)}",
                at=here,
                hint="give a tensor one index per dimension, everywhere; `s[()]` has none",
            )

    def use_dimension(self, tensor: str, mode: int, node: ast.AST) -> None:
        """Note `tensor.shape[mode]`, to be checked when all accesses are known."""
        self._dimensions.append((tensor, mode, node))

    def check_dimensions(self) -> None:
        """Refuse a dimension that a tensor does not have."""
        for tensor, mode, node in self._dimensions:
            count, there = self._indexed.get(tensor, (mode + 1, None))
            if there is not None and mode >= count:
                raise self.error(
                    node,
                    f"`{tensor}` has no dimension {mode}",
                    why=f"it has {_indices(count)} {_place(there)}",
                )

    # -- Python names around the kernel --------------------------------------------------------

    def is_static(self, node: ast.expr) -> bool:
        """Whether no name of the kernel is in an expression."""
        names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        return self._local_names.isdisjoint(names)

    def static(self, node: ast.expr) -> object:
        """The Python object that a static expression has when the kernel is defined."""
        match node:
            case ast.Name(name):
                return self._python(name, node)
            case ast.Attribute(ast.Name(), attribute):
                base = self.static(node.value)
                return self._evaluated(node, lambda: getattr(base, attribute))
        return self._evaluated(node, lambda: self._run(node))

    def names_dots(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a name around the kernel, or of a module, stands for `...`."""
        if not self.is_static(node) or (isinstance(node, ast.Name) and node.id not in self._outer):
            return False
        return self.static(node) is ...

    def function(self, node: ast.expr) -> tuple[object, Function | None]:
        """The Python object that is called, and the function that it is to Linnet, if any."""
        found = self.called(node)
        return found, lookup(found) if callable(found) or isinstance(found, Function) else None

    def called(self, node: ast.expr) -> object:
        """The Python object that is called."""
        if isinstance(node, ast.Name) and node.id not in self._outer:
            raise self.undefined(node.id, node, "define it first")
        return self.static(node)

    def _python(self, name: str, node: ast.AST) -> object:
        if name in self._outer:
            return self._outer[name]
        raise self.undefined(name, node)

    def _run(self, node: ast.expr) -> object:
        code = compile(ast.Expression(node), self.source.file, "eval")
        return eval(code, dict(self._outer))

    def _evaluated(self, node: ast.AST, make: Callable[[], object]) -> object:
        try:
            return make()
        except LinnetError as error:
            error.at = self.source.location(node)
            raise
        except Exception as error:
            raise self.error(
                node,
                f"`{ast.unparse(node)}` cannot be evaluated when the kernel is defined",
                why=f"{type(error).__name__}: {error}",
            ) from error

    # -- errors --------------------------------------------------------------------------------

    def error(
        self, node: ast.AST, message: str, *, why: str | None = None, hint: str | None = None
    ) -> KernelSyntaxError:
        """An error at a node."""
        return KernelSyntaxError(message, at=self.source.location(node), why=why, hint=hint)

    def undefined(
        self, name: str, node: ast.AST, remedy: str = "pass it as a parameter"
    ) -> KernelSyntaxError:
        """The error for a name without meaning."""
        if name in self._local_names:
            return self.error(
                node,
                f"`{name}` has no value here",
                why="a name lives from its assignment or loop to the end of that block",
                hint=f"assign to `{name}` in this block or around it, before this line; to carry a "
                "value out of a block, use `s = ln.scalar(0.0)` and `s[()] = …`",
            )
        import difflib  # what is right need not wait for it

        known = [n for names in self._blocks for n in names]
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean `{close[0]}`?" if close else remedy
        return self.error(node, f"`{name}` is not defined", hint=hint)

    def _rebound(self, known: Binding, name: str, node: ast.AST) -> KernelSyntaxError:
        what = {"let": "a value", "index": "a loop index"}.get(known.kind, f"a {known.kind}")
        hint = {
            "let": "give the new value another name; a sum is kept in `s = ln.scalar(0.0)`, "
            "`s[()] += …`",
            "index": "give it another name",
        }.get(known.kind, f"`{name}[...] = 0` declares it, `{name}[i] = …` assigns to it")
        return self.error(
            node,
            f"`{name}` is already {what}, from line {known.at.line}",
            why="a name keeps its meaning until the end of its block",
            hint=hint,
        )


def outer_names(function: types.FunctionType) -> Mapping[str, object]:
    """The Python names that a function sees: closure, globals, builtins."""
    enclosing: dict[str, object] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # a cell that has no value yet
            enclosing[name] = cell.cell_contents
    return ChainMap(enclosing, function.__globals__, vars(builtins))


def _place(there: Location) -> str:
    return "elsewhere in it" if there.file == EQUATION else f"in line {there.line}"


def _indices(count: int) -> str:
    return {0: "no index", 1: "1 index"}.get(count, f"{count} indices")
