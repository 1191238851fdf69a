"""What is known of a kernel, in the disk cache with its machine code: plain data, for any process.

Nothing of the compiler is imported to use it. It knows how to succeed and nothing else: whatever is
not as usual is left to those who compile, and can tell.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from linnet import backend
from linnet.errors import CacheError, LinnetError
from linnet.formats.contents import Signature
from linnet.formats.format import Format
from linnet.options import Options
from linnet.records import NamedTuple
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet import loops

T = TypeVar("T")
Calls = tuple[Callable[[int], int], ...]

# What reading an entry that is not as we write it may come to: it is made anew, and replaced. No
# import is among it that could raise anything else: who asks has the levels that an entry names.
UNREADABLE = (
    pickle.UnpicklingError, struct.error, AttributeError, EOFError, ImportError, IndexError,
    KeyError, OSError, TypeError, ValueError, LinnetError,
)  # fmt: skip


class Outline(NamedTuple):
    """A program as those see it who call what another process has compiled of it.

    All of it is beside that, as bytes: it is made of them when somebody asks for it.
    """

    name: str
    params: tuple[str, ...]
    outputs: frozenset[str]  # parameters that are written
    kept: frozenset[str]  # those of them that begin with what they held
    text: str  # what tells it from other programs
    data: bytes  # all of it

    def program(self) -> loops.Program | None:
        """The program; None if it names levels of a user that are elsewhere now."""
        try:
            found: loops.Program = pickle.loads(self.data)
        except UNREADABLE:
            return None
        return found


def load(key: str, options: Options, kind: type[T]) -> tuple[T, Calls] | None:
    """What is kept under a key, and its machine code, ready to be called."""
    try:
        data = backend.stored(key, options)
    except CacheError:  # which those who compile tell
        return None
    if data is None:
        return None
    try:  # nobody else can write there: machine code is loaded from it, too
        thing, codes = pickle.loads(data)
        if not isinstance(thing, kind):
            return None
        return thing, tuple([backend.link(code, symbol, options) for symbol, code in codes])
    except UNREADABLE:
        return None


def store(key: str, options: Options, thing: object, machine_keys: Sequence[str]) -> None:
    """Keep it with the machine code that is kept under other keys, if all of that is."""
    if not options.cache:
        return
    with suppress(CacheError):  # it was there a moment ago
        codes = [backend.machine_code(machine_key, options) for machine_key in machine_keys]
        data = None if None in codes else pickled((thing, codes))
        if data is not None:
            backend.store(key, options, data)


def text_of(program: loops.Program) -> str:
    """What tells a program from others: its text, functions and levels of users in it."""
    show = imported("linnet.loops.printer").show
    content = imported("linnet.loops.functions").content
    lines = [show(program), *content(program)]
    for name, format in program.temporaries:
        lines.append(f"{name}: {format.describe()} {format.fill_value!r} {stamps(format)}")
    return "\n".join(lines)


def told(signature: Signature) -> str:
    """A signature as another process would write it."""
    return f"{signature.format.name} {signature!r} {signature.wide} {stamps(signature.format)}"


def stamps(format: Format) -> list[str]:
    """What tells levels of a user from others of their name."""
    return [level.stamp for level in format.levels if level.stamp]


def pickled(thing: object) -> bytes | None:
    """Something as bytes; None if it has levels of a user that no other process can import."""
    try:
        return pickle.dumps(thing)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
