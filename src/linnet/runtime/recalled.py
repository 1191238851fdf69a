"""`Recalled`: a kernel for arguments of certain formats as another process has compiled it.

It is known by the program as it was written, before the compiler completes it: to find it takes no
more than its text (`kept.Outline`). Its own errors are never seen: `Kernel` then compiles, and
calls again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from linnet.errors import LinnetError
from linnet.formats.contents import Contents, Signature
from linnet.formats.tensor import Tensor
from linnet.options import current
from linnet.records import NamedTuple
from linnet.runtime import kept
from linnet.runtime.call import Entry
from linnet.runtime.handover import Result
from linnet.runtime.sizes import Shapes

if TYPE_CHECKING:
    from linnet.normalize.shape_checks import Check
    from linnet.runtime.kernel import Kernel


class Plain(NamedTuple):
    """What of an entry is plain data."""

    params: tuple[str, ...]
    operands: tuple[int, ...]
    results: tuple[Result, ...]
    order: tuple[int, ...]
    checks: tuple[tuple[int, int, int, int, None], ...]
    other_checks: tuple[Check, ...]
    returned: tuple[int, ...]
    own: tuple[int, ...]
    fixed: bool
    limits: tuple[tuple[int, int, int], ...]
    key: str
    ndims: tuple[int, ...]


class Recalled(Entry):
    """Machine code, and what to do before and after if nothing is wrong."""

    @classmethod
    def of(cls, plain: Plain, call: Callable[[int], int], name: str = "") -> Recalled:
        """An entry of its plain data and machine code."""
        results = tuple([r._replace(rooms=[0] * len(r.kinds)) for r in plain.results])
        return cls(
            name, plain.params, call, plain.operands, results, plain.order, plain.checks,
            plain.other_checks, sites=(), returned=plain.returned, own=plain.own, wide=False,
            warnings=(), fixed=plain.fixed, limits=plain.limits, key=plain.key, ndims=plain.ndims,
        )  # fmt: skip

    @property
    def recalled(self) -> bool:
        """Yes: what it does not do is to be tried by one that is compiled here."""
        return True

    def run(self, tensors: Sequence[Tensor], held: Sequence[Contents | None]) -> bool:
        """Call the kernel; False if it is not done, for whatever reason."""
        try:
            return Entry.run(self, tensors, held)
        except LinnetError:  # those who compile will tell
            return False

    def check(self, shapes: Shapes) -> None:
        """Refuse arguments whose dimensions do not fit together."""
        assert self.limits is not None
        fit = all(shapes[p][m] == shapes[q][n] for p, m, q, n, _ in self.checks)
        if not fit or any(shapes[p][m] > most for p, m, most in self.limits):
            raise LinnetError("sizes do not fit")
        if self.other_checks:
            named = dict(zip(self.params, shapes, strict=True))
            if not all(check.holds(named) for check in self.other_checks):
                raise LinnetError("sizes do not fit")

    def _failure(self, status: int) -> LinnetError:
        return LinnetError(f"the status is {status}")


def recalled(kernel: Kernel, signatures: Sequence[Signature]) -> Recalled | None:
    """What another process has found for arguments of these formats."""
    options = current()
    if options.check:  # what the compiler does is to be looked at
        return None
    found = kept.load(_key(kernel, signatures), options, Plain)
    if found is None:
        return None
    _keep_program(kernel)  # which may be written elsewhere now
    plain, (call,) = found
    return Recalled.of(plain, call, kernel.__name__)


def keep(kernel: Kernel, signatures: Sequence[Signature], entry: Entry) -> None:
    """Keep an entry for other processes, if there is nothing that each of them has to be told.

    It is the one that is asked first: a kind of workspace others may not want.
    """
    if type(entry) is not Entry or entry.wide or entry.warnings or entry.limits is None:
        return
    if kernel.policy is not None or not entry.key:
        return
    plain = plain_of(entry)
    kept.store(_key(kernel, signatures), current(), plain, (entry.key,))
    _keep_program(kernel)


def plain_of(entry: Entry) -> Plain:
    """What of an entry is plain data."""
    checks = tuple([(p, m, q, n, None) for p, m, q, n, _ in entry.checks])
    results = tuple([r._replace(at=None, rooms=[]) for r in entry.results])
    assert entry.limits is not None
    return Plain(entry.params, entry.operands, results, entry.order, checks, entry.other_checks,
                 entry.returned, entry.own, entry.fixed, entry.limits, entry.key,
                 entry.ndims)  # fmt: skip


def _keep_program(kernel: Kernel) -> None:
    """Keep the program, too, so that another process need not read it (`frontend.origin`)."""
    if kernel.origin is None:
        return
    data = kept.pickled(kernel.program)
    if data is not None:
        name, params = kernel.program.name, kernel.params
        found = kept.Outline(name, params, kernel.outputs, kernel.kept, kernel.text, data)
        kept.store(kernel.origin, current(), found, ())
    kernel.origin = None


def _key(kernel: Kernel, signatures: Sequence[Signature]) -> str:
    """What the entry depends on: the program, functions and levels of users, and formats."""
    begin = "checked kernel" if current().check else "kernel"  # which has code of its own
    return "\n".join([begin, kernel.text, *map(kept.told, signatures)])
