"""Loops that add entries to a workspace and list what they touch, as passes look for them."""

from __future__ import annotations

from linnet import imp
from linnet.codelets.bit_sets import has_bit, set_bit
from linnet.imp.consecutive import Known
from linnet.imp.fold import fold
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Scatter:
    """`for p: lets; if j is new: …, w[j] = first; w[j] = w[j] op value`, of w and its list."""

    loop: imp.For
    lets: tuple[imp.Let, ...]
    place: imp.Var  # j
    idx: imp.Buffer  # where it is looked up
    flags: imp.Buffer
    listed: imp.Buffer
    count: imp.Var  # of those
    first: imp.Const
    store: imp.Store
    total: imp.Binary  # what it stores

    @property
    def workspace(self) -> imp.Buffer:
        """What entries are added to."""
        return self.store.buffer


def scatter_of(loop: imp.For) -> Scatter | None:
    """The loop as one that marks what it touches, and adds to it."""
    match loop.body.stmts:
        case (
            *lets,
            imp.If(
                unmarked,
                imp.Block(
                    (
                        imp.Store(flags) as mark,
                        imp.Store(listed, number, _),
                        imp.Assign(count, _),
                        imp.Store(_, first_at, imp.Const() as first),
                    )
                ),
                imp.Block(()),
            ),
            imp.Store(w, imp.Var() as j, imp.Binary(_, imp.Load(old, same), _) as total) as store,
        ) if first_at == same == j and number == count and old == w and flags.dtype == imp.INT:
            if mark != set_bit(flags, j) or unmarked != fold(~has_bit(flags, j)):
                return None
            found = tuple([s for s in lets if isinstance(s, imp.Let)])
            idx = _looked_up(found, j, loop.var)
            if idx is not None and len(found) == len(lets):
                return Scatter(loop, found, j, idx, flags, listed, count, first, store, total)
    return None


def _looked_up(lets: tuple[imp.Let, ...], place: imp.Var, entry: imp.Var) -> imp.Buffer | None:
    """The array in which the coordinate of an entry is."""
    for let in lets:
        value = _uncast(let.value)
        if let.var == place and isinstance(value, imp.Load) and value.index == entry:
            return value.buffer
    return None


def ascends(found: Scatter, known: Known) -> bool:
    """Whether a loop walks one fiber, whose coordinates ascend."""
    match _uncast(found.loop.start), _uncast(found.loop.stop):
        case imp.Load(ptr, at), imp.Load(same, after):
            return ptr == same and after == at + 1 and (ptr.name, found.idx.name) in known.ascend
    return False


def _uncast(e: imp.Expr) -> imp.Expr:
    return _uncast(e.x) if isinstance(e, imp.Cast) else e
