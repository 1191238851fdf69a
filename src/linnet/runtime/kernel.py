"""`@ln.kernel`: a function in the loop language, compiled for the formats that it is called with.

The compiler itself is imported when the first kernel is called (`runtime.specialize`): a program
that only defines kernels does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from linnet import loops
from linnet.errors import ArgumentError, Location
from linnet.formats.buffers import GUARD, Guard
from linnet.formats.construct import asarray
from linnet.formats.contents import Contents, Signature
from linnet.formats.tensor import Tensor
from linnet.loops.rewrite import accesses, walk
from linnet.options import current

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnet.lower.program import Lowered
    from linnet.runtime.call import Entry


_COMPILING = Guard()  # one kernel is compiled at a time


class Kernel:
    """A loop program that can be called. Machine code is made per combination of formats."""

    def __init__(self, program: loops.Program) -> None:
        self.program = program
        self.__name__ = program.name
        self.outputs = frozenset(_written(program))
        self.kept = frozenset(p for p in self.outputs if _is_kept(program, p))
        self._fresh = tuple(p in self.outputs and p not in self.kept for p in program.params)
        self._entries: dict[tuple[object, ...], Entry] = {}

    # -- calling ---------------------------------------------------------------------------------

    def __call__(self, *args: object) -> Tensor | tuple[Tensor, ...] | None:
        """Run on tensors; outputs are updated in place, and returned if the program says so."""
        tensors = self.tensors(args)
        if len(self.outputs) > 1:
            self._check_outputs(tensors)
        held: list[Contents | None] = []
        try:
            # what is read is held from before it is looked at: other threads may write to it
            with GUARD.lock:
                for fresh, tensor in zip(self._fresh, tensors, strict=True):
                    held.append(None if fresh else tensor.contents().pin())
            signatures = tuple(
                [t._output if c is None else c.signature for t, c in zip(tensors, held, strict=True)]
            )
            entry = self._entry(signatures)
            if not entry.run(tensors, held):
                self._entry(signatures, wide=True).run(tensors, held)
        finally:
            with GUARD.lock:
                for contents in held:
                    if contents is not None:
                        contents.unpin()
        found = entry.returned
        if len(found) == 1:
            return tensors[found[0]]
        return tuple([tensors[p] for p in found]) or None

    def tensors(self, args: Sequence[object]) -> list[Tensor]:
        """The arguments as tensors."""
        if len(args) != len(self.program.params):
            raise self._wrong_count(len(args))
        return [a if type(a) is Tensor else self._tensor(k, a) for k, a in enumerate(args)]

    def signatures(self, tensors: Sequence[Tensor]) -> tuple[Signature, ...]:
        """What the code depends on: the formats of what is read, and those asked for of outputs."""
        pairs = zip(self._fresh, tensors, strict=True)
        return tuple([t._output if fresh else t.contents().signature for fresh, t in pairs])

    def _entry(self, signatures: tuple[Signature, ...], wide: bool = False) -> Entry:
        """The machine code for arguments of these formats; compiled if there is none yet."""
        # equal options are one object, which is never freed
        key = (id(current()), wide, signatures)
        entry = self._entries.get(key)
        if entry is None:
            wide = wide or any(s.wide for s in signatures)
            with _COMPILING.lock:
                entry = self._entries.get(key)
                if entry is None:
                    entry = _compiler().specialize(self, signatures, wide)
                    self._entries[key] = entry
        return entry

    # -- looking ---------------------------------------------------------------------------------

    def code(self, *args: object) -> str:
        """The C code that is run for these arguments."""
        text: str = _compiler().code(self, self.signatures(self.tensors(args)))
        return text

    def loops(self, *args: object) -> str:
        """The program as the compiler completed it, for these arguments."""
        text: str = _compiler().completed(self, self.signatures(self.tensors(args)))
        return text

    def lowered(self, *args: object) -> Lowered:
        """The imperative code for these arguments."""
        lowered: Lowered = _compiler().lowered(self, self.signatures(self.tensors(args)))
        return lowered

    def reference(self, *args: object) -> dict[str, NDArray[Any]]:
        """What the program means for these arguments: every output, computed one element at a time.

        Slow and simple; it shares nothing with the compiler. The tensors are left as they are.
        """
        results: dict[str, NDArray[Any]] = _compiler().reference(self, self.tensors(args))
        return results

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}({', '.join(self.program.params)})>"

    def _tensor(self, k: int, value: object) -> Tensor:
        """An argument that is not a tensor yet."""
        if isinstance(value, Tensor):
            return value
        name = self.program.params[k]
        if name in self.outputs:
            raise ArgumentError(
                f"`{name}` is written by `{self.__name__}`, so it must be a tensor of Linnet",
                why=f"it is a {type(value).__name__}, whose memory is not ours to write to",
                hint="pass ln.empty_tensor(format)",
            )
        return asarray(value)

    def _check_outputs(self, tensors: Sequence[Tensor]) -> None:
        """Two outputs cannot be one tensor: which of them would it hold?"""
        seen: dict[int, str] = {}
        for name, tensor in zip(self.program.params, tensors, strict=True):
            if name in self.outputs and seen.setdefault(id(tensor), name) != name:
                raise ArgumentError(
                    f"`{seen[id(tensor)]}` and `{name}` are one tensor, and `{self.__name__}` "
                    "writes both",
                    at=Location.of_caller(),
                    hint="pass two tensors, such as two of ln.empty_tensor(format)",
                )

    def _wrong_count(self, count: int) -> ArgumentError:
        params = self.program.params
        return ArgumentError(
            f"`{self.__name__}` takes {len(params)} tensors ({', '.join(params)}), not {count}",
            at=Location.of_caller(),
        )


def _compiler() -> Any:
    return import_module("linnet.runtime.specialize")


def _written(program: loops.Program) -> set[str]:
    """Parameters that are declared or updated."""
    found = {n.tensor for n in walk(program.body) if isinstance(n, loops.Declare)}
    found |= {str(a.tensor) for a, is_target in accesses(program.body) if is_target}
    return found & set(program.params)


def _is_kept(program: loops.Program, name: str) -> bool:
    """Whether a written parameter's old contents matter: it is used before it is declared."""
    for node in walk(program.body):
        if isinstance(node, loops.Declare) and node.tensor == name:
            return False
        if isinstance(node, loops.Access) and node.tensor == name:
            return True
    return True
