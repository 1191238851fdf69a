"""`@ln.kernel`: a function in the loop language, compiled for the formats that it is called with.

The compiler itself is imported when the first kernel is called (`runtime.specialize`): a program
that only defines kernels does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any

from linnet.errors import (
    ArgumentError,
    LinnetError,
    Location,
)
from linnet.formats.away import awaited
from linnet.formats.construct import asarray
from linnet.formats.contents import Contents, Signature, let_go
from linnet.formats.located import bordered
from linnet.formats.tensor import Tensor
from linnet.guards import COMPILING
from linnet.options import current
from linnet.runtime.kept import Outline, text_of
from linnet.runtime.watch import WATCHED, note
from linnet.shortage import COMPILING as ROOM
from linnet.shortage import RAISED, imported, make_room, of_memory, retold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnet import loops
    from linnet.formats.policies import Policy
    from linnet.lower.program import Lowered
    from linnet.runtime.call import Entry
    from linnet.runtime.scheduled import ScheduledKernel
    from linnet.runtime.visits import Visits


Held = Sequence[Contents | None]
"""What the arguments of a call hold; None for an output that begins anew."""


class Kernel:
    """A loop program that can be called. Machine code is made per combination of formats."""

    _program: loops.Program | None
    _read: Callable[[], loops.Program]  # what makes it, where it is not there yet

    def __init__(self, program: loops.Program, policy: Policy | None = None) -> None:
        if not isinstance(program, imported("linnet.loops").Program):
            raise ArgumentError(
                f"a kernel is made of a program, not of {type(program).__name__}",
                at=Location.of_caller(),
                hint="write a function, and put @ln.kernel before it",
            )
        look = imported("linnet.normalize.beginnings")
        written, kept = look.written_params(program), look.kept_params(program)
        self._begin(program.name, program.params, written, kept)
        self._program = program
        self.policy = policy  # of all workspaces that are inserted, if the user says

    @classmethod
    def outlined(cls, outline: Outline, read: Callable[[], loops.Program]) -> Kernel:
        """One whose program is made when somebody asks for it: what is compiled is called."""
        made = cls.__new__(cls)
        made._begin(outline.name, outline.params, outline.outputs, outline.kept)
        made._program, made._read, made._text, made.policy = None, read, outline.text, None
        return made

    def _begin(
        self, name: str, params: tuple[str, ...], outputs: frozenset[str], kept: frozenset[str]
    ) -> None:
        """What calls go by, whether the program is there or not."""
        self.__name__ = self.__qualname__ = name
        self.params = params
        self.outputs = outputs  # parameters that are written
        self.kept = kept  # those of them that begin with what they held
        self.origin: str | None = None  # what it was read from, if another process may look it up
        self._fresh = tuple([p in outputs and p not in kept for p in params])
        self._types = [Tensor] * len(params)
        self._entries: dict[tuple[object, ...], Entry] = {}
        self._text: str | None = None

    @property
    def program(self) -> loops.Program:
        """The program as it was written."""
        if self._program is None:
            self._program = self._read()  # equal ones, if two threads ask at once
        return self._program

    @property
    def text(self) -> str:
        """What tells the program from others, as another process would write it."""
        if self._text is None:
            self._text = text_of(self.program)
        return self._text

    # -- calling ---------------------------------------------------------------------------------

    def __call__(self, *args: object, **named: object) -> Any:
        """Run on tensors; outputs are updated in place, and returned: one, a tuple, or none."""
        given = self._in_order(args, named) if named else args
        plain = [*map(type, given)] == self._types
        tensors: Sequence[Tensor] = given if plain else self.tensors(given)  # type: ignore[assignment]
        if len(self.outputs) > 1:
            self._check_outputs(tensors)
        held: list[Contents | None] = []
        try:
            # what is read is held from before it is looked at: other threads may write to it
            signatures = self._held(tensors, held, _getframe())
            entry = self.entry(signatures, held)
            if not entry.run(tensors, held):
                entry = self._otherwise(entry, signatures, tensors, held)
            if WATCHED:
                note(entry, tensors)
        except LinnetError as error:
            error.told_to(Location.of_caller())
            raise
        except RAISED as error:
            retold(error)
        finally:
            try:
                let_go(held, _getframe())
            except BaseException:  # an interrupt; after another one nobody waits any more
                let_go(held, _getframe())
                raise
        returned = entry.returned
        if len(returned) == 1:
            return tensors[returned[0]]
        return tuple([tensors[p] for p in returned]) or None

    def _held(
        self, tensors: Sequence[Tensor], held: list[Contents | None], call: FrameType
    ) -> tuple[Signature, ...]:
        """Pin what the arguments hold; what the code depends on of each."""
        while True:
            signatures: list[Signature] = []
            for k, tensor in enumerate(tensors):
                if self._fresh[k]:
                    held.append(None)
                    signatures.append(tensor._output)
                    continue
                contents = tensor._contents
                if contents is None:
                    break
                held.append(contents)  # as `hold`, in every call
                contents.pins[call] = None
                if contents.lent:
                    break
                signatures.append(contents._signature or contents.signature)
            else:
                return tuple(signatures)
            missing = len(signatures)
            let_go(held, call)  # who waits keeps nothing from others
            held.clear()
            if awaited(tensors[missing]) is None:
                raise _refusals().no_contents(self, missing)

    def _otherwise(
        self, entry: Entry, signatures: tuple[Signature, ...], tensors: Sequence[Tensor], held: Held
    ) -> Entry:
        """Run where an entry has done nothing: compiled here, or with coordinates of 64 bits."""
        if entry.recalled:
            key = (id(current().code), False, signatures)
            self._entries.pop(key, None)
            entry = self.entry(signatures, held, recalls=False)
            if entry.run(tensors, held):
                return entry
        entry = self.entry(signatures, held, wide=True)
        entry.run(tensors, held)
        return entry

    def tensors(self, args: Sequence[object]) -> list[Tensor]:
        """The arguments as tensors."""
        if len(args) != len(self.params):
            raise _refusals().wrong_count(self, len(args))
        return [a if type(a) is Tensor else self._tensor(k, a) for k, a in enumerate(args)]

    def signatures(self, tensors: Sequence[Tensor]) -> tuple[Signature, ...]:
        """What the code depends on: the formats of what is read, and those asked for of outputs."""
        pairs = zip(self._fresh, tensors, strict=True)
        return tuple([t._output if fresh else t.contents().signature for fresh, t in pairs])

    def entry(
        self,
        signatures: tuple[Signature, ...],
        held: Held,
        wide: bool = False,
        recalls: bool = True,
    ) -> Entry:
        """The machine code for arguments of these formats; compiled if there is none yet.

        `recalls` says whether it may be what another process has compiled.
        """
        # options that agree in what code is are one object, which is never freed
        key: tuple[object, ...] = (id(current().code), wide, signatures)
        entry = self._entries.get(key)
        if entry is None:
            if recalls and not wide:
                entry = self._recalled(key, signatures)
            entry = entry or self._compiled(key, signatures, held, wide)
        if entry.choices:  # what operands hold may want workspaces of another kind
            kinds = entry.wanted(held)
            if kinds != entry.kinds:
                key = (*key, kinds)
                entry = self._entries.get(key) or self._compiled(key, signatures, held, wide)
        return entry

    def _recalled(self, key: tuple[object, ...], signatures: tuple[Signature, ...]) -> Entry | None:
        """What another process has compiled, which is known from now on."""
        found: Entry | None = _recalling().recalled(self, signatures)
        return None if found is None else self._entries.setdefault(key, found)

    def _compiled(
        self, key: tuple[object, ...], signatures: tuple[Signature, ...], held: Held, wide: bool
    ) -> Entry:
        """Compile once, whoever else asks meanwhile; tell what it costs when the lock is free."""
        with COMPILING:
            known = self._entries.get(key)
            if known is not None:
                return known
            wide = wide or any(s.wide for s in signatures)
            entry = self._specialized(signatures, held, wide)
            self._entries[key] = entry
        if len(key) == 3:  # for no kind of workspace in particular
            _recalling().keep(self, signatures, entry)
        try:
            entry.warn()
        except Warning:  # the user has made it an error, and shall see it again
            self._entries.pop(key, None)
            raise
        return entry

    def _specialized(self, signatures: tuple[Signature, ...], held: Held, wide: bool) -> Entry:
        """What the compiler makes; its own mistakes are told as such."""
        try:
            make_room(ROOM)
            entry: Entry = _compiler().specialize(self, signatures, wide, held)
        except RecursionError:
            raise _printer().too_deep(self.program) from None
        except (LinnetError, MemoryError, Warning):
            raise
        except Exception as error:
            if (ours := of_memory(error)) is not None:
                raise ours from error
            whose = imported("linnet.runtime.failures")  # most processes never ask
            theirs: BaseException | None = whose.of_handler(error)
            if theirs is not None:
                raise theirs from None
            formats = ", ".join(f"{s.format!r}" for s in signatures)
            raise whose.mistake(self.__name__, self.program.at, formats, error) from error
        return entry

    # -- looking ---------------------------------------------------------------------------------

    @bordered
    def code(self, *args: object) -> str:
        """The C code that is run for these arguments."""
        text: str = _compiler().code(self, *self._looked_at(args))
        return text

    @bordered
    def loops(self, *args: object) -> str:
        """The program as the compiler completed it, for these arguments."""
        try:
            text: str = _compiler().completed(self, *self._looked_at(args))
        except RecursionError:
            raise _printer().too_deep(self.program) from None
        return text

    @bordered
    def lowered(self, *args: object) -> Lowered:
        """The imperative code for these arguments."""
        try:
            lowered: Lowered = _compiler().lowered(self, *self._looked_at(args))
        except RecursionError:
            raise _printer().too_deep(self.program) from None
        return lowered

    def _looked_at(self, args: Sequence[object]) -> tuple[tuple[Signature, ...], Held]:
        """What the code for these arguments depends on: their formats, and a little their sizes."""
        tensors = self.tensors(args)
        pairs = zip(self._fresh, tensors, strict=True)
        return self.signatures(tensors), [None if f else t.contents() for f, t in pairs]

    def schedule(self) -> ScheduledKernel:
        """The kernel, to be given commands: `spmv.schedule().split("i", "i0", "i1", 32)`."""
        made: ScheduledKernel = imported("linnet.runtime.scheduled").ScheduledKernel.of(self)
        return made

    @bordered
    def reference(self, *args: object) -> dict[str, NDArray[Any]]:
        """What the program means for these arguments: every output, computed one element at a time.

        Slow and simple; it shares nothing with the compiler. The tensors are left as they are.
        """
        results: dict[str, NDArray[Any]] = _compiler().reference(self, self.tensors(args))
        return results

    @bordered
    def visits(self, *args: object) -> Visits:
        """How much work a call with these arguments is; they are left as they are.

        The code that would run is interpreted, and every turn of each of its loops is counted, by
        what the loop walks; in searches and sorts, too. A million turns take a few seconds.
        """
        tensors, held = self.tensors(args), list[Contents | None]()
        try:
            signatures = self._held(tensors, held, _getframe())
            found: Visits = imported("linnet.runtime.visits").visits(
                self, signatures, tensors, held
            )
            return found
        finally:
            let_go(held, _getframe())

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}({', '.join(self.params)})>"

    # -- copies and pickles ----------------------------------------------------------------------

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Kernel:
        return self

    def __reduce__(self) -> str | tuple[object, ...]:
        """By name where that can be imported, as functions are; else the program goes itself."""
        reduced: str | tuple[object, ...] = imported("linnet.runtime.sending").reduced(self)
        return reduced

    # -- arguments -------------------------------------------------------------------------------

    def _tensor(self, k: int, value: object) -> Tensor:
        """An argument that is not a tensor yet."""
        if isinstance(value, Tensor):
            return value
        name = self.params[k]
        if name in self.outputs:
            raise _refusals().not_a_tensor(self, name, value)
        try:
            return asarray(value)
        except LinnetError as error:
            error.message = f"`{name}` of `{self.__name__}`: {error.message}"
            raise

    def _in_order(self, args: Sequence[object], named: Mapping[str, object]) -> list[object]:
        """Arguments some of which are given by name."""
        params = self.params
        for name in named:
            if name not in params[len(args) :]:
                twice = name in params
                raise ArgumentError(
                    f"`{self.__name__}` was given `{name}` twice"
                    if twice
                    else f"`{self.__name__}` has no parameter `{name}`",
                    at=Location.of_caller(),
                    hint=f"its parameters are {', '.join(params)}",
                )
        if len(args) + len(named) != len(params):
            raise _refusals().wrong_count(self, len(args) + len(named))
        return [*args, *(named[name] for name in params[len(args) :])]

    def _check_outputs(self, tensors: Sequence[Tensor]) -> None:
        """Two outputs cannot be one tensor: which of them would it hold?"""
        seen: dict[int, str] = {}
        for name, tensor in zip(self.params, tensors, strict=True):
            if name in self.outputs and seen.setdefault(id(tensor), name) != name:
                raise _refusals().one_tensor(self, seen[id(tensor)], name)


def _printer() -> Any:
    return imported("linnet.loops.printer")


def _refusals() -> Any:
    return imported("linnet.runtime.refusals")


def _compiler() -> Any:
    return imported("linnet.runtime.specialize")


def _recalling() -> Any:
    return imported("linnet.runtime.recalled")
