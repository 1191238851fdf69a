"""Which things have one size, and what is known of that size? The memory of `dimensions`.

Sizes are numbered; those that are found to be one are joined. A size has sources: expressions that
say what it is, each with the place where it is said, because names mean other things elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from linnet.algebra.function import Function
from linnet.errors import Location, ShapeError
from linnet.loops.nodes import (
    Access,
    Call,
    Dimension,
    Expr,
    Index,
    Literal,
    Name,
)
from linnet.loops.printer import show
from linnet.loops.rewrite import map_args
from linnet.normalize.shape_checks import Check, Use, is_exact
from linnet.records import dataclass

_ASKED = ""  # the tensor of a `Dimension` that stands for a question, whose number is the mode


@dataclass(frozen=True, slots=True)
class Place:
    """What names mean at a statement.

    `stamps` tell apart the bindings of an index or a name, and the contents of a tensor; `sizes`
    are the current ones of the parameters that the program declares.
    """

    stamps: dict[Index | Name | str, int]
    sizes: dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Source:
    """An expression that is a size, who says so, for which loop (its stamp), and where."""

    expr: Expr
    use: Use
    loop: int
    place: Place


@dataclass(frozen=True, slots=True)
class Question:
    """A size that is needed at a place, and what to tell the user if it cannot be found."""

    size: int
    place: Place
    what: str
    why: str
    hint: str
    at: Location | None


def about_loop(index: str, size: int, place: Place, at: Location | None) -> Question:
    """How far does a loop run?"""
    return Question(
        size,
        place,
        f"how far `{index}` runs",
        f"no tensor whose size is known has `{index}` alone as an index",
        f"say it with a range: for {index} in range(n)",
        at,
    )


def about_mode(tensor: str, mode: int, size: int, place: Place, at: Location | None) -> Question:
    """How large is a tensor?"""
    return Question(
        size,
        place,
        f"the size of mode {mode} of {tensor}",
        f"no index whose extent is known stands alone in that mode where {tensor} is written",
        f"write to {tensor} in a loop with a range: for i in range(n)",
        at,
    )


class Sizes:
    """Sizes that are joined as they prove to be one, and the questions asked about them."""

    def __init__(self) -> None:
        self._parent: list[int] = []
        self._sources: list[list[tuple[int, Source]]] = []
        self._loops: dict[int, int] = {}
        self._questions: list[Question] = []
        self._said = 0
        self._busy: set[int] = set()

    def new(self) -> int:
        """A size of which nothing is known."""
        self._parent.append(len(self._parent))
        self._sources.append([])
        return len(self._parent) - 1

    def find(self, size: int) -> int:
        """The one size that stands for all that are joined with this one."""
        while self._parent[size] != size:
            self._parent[size] = size = self._parent[self._parent[size]]
        return size

    def join(self, a: int, b: int) -> None:
        """The two are one."""
        a, b = self.find(a), self.find(b)
        if a != b:
            self._parent[b] = a
            self._sources[a] += self._sources[b]

    def fill(self, size: int, loop: int) -> None:
        """The size is that of a loop, or of what it writes: what is said for it reads best."""
        self._loops.setdefault(size, loop)

    def say(self, size: int, source: Source) -> None:
        """The size is this."""
        if type(source.expr) is Dimension and source.expr.tensor == _ASKED:
            self.join(size, self._questions[source.expr.mode].size)
            return
        self._said += 1
        self._sources[self.find(size)].append((self._said, source))

    def sources(self, size: int) -> list[Source]:
        """All that is said of a size, in program order."""
        found = self._sources[self.find(size)]
        found.sort(key=lambda said: said[0])
        return [source for _, source in found]

    # -- what a size is at a place -----------------------------------------------------------------

    def ask(self, question: Question) -> Dimension:
        """An expression that stands for a size until all is known."""
        self._questions.append(question)
        return Dimension(_ASKED, len(self._questions) - 1)

    def answer(self, expr: Expr) -> Expr | None:
        """The expression for a question; None for any other expression. Needs: all is known."""
        if type(expr) is not Dimension or expr.tensor != _ASKED:
            return None
        question = self._questions[expr.mode]
        found = self.known(question.size, question.place)
        if found is None:
            raise self._unknown(question)
        return found

    def known(self, size: int, here: Place) -> Expr | None:
        """What a size is, said so that it is right at a place; None if that cannot be said."""
        loop, size = self._loops.get(size, 0), self.find(size)
        if size in self._busy:  # it is said in terms of itself
            return None
        self._busy.add(size)
        try:
            for source in sorted(self.sources(size), key=lambda s: s.loop != loop):
                if (found := self._moved(source.expr, source.place, here, size)) is not None:
                    return found
            return None
        finally:
            self._busy.remove(size)

    def moved(self, source: Source, here: Place) -> Expr | None:
        """What a source says, said so that it is right at another place."""
        return self._moved(source.expr, source.place, here, -1)

    def _moved(self, expr: Expr, there: Place, here: Place, size: int) -> Expr | None:
        match expr:
            case Literal():
                return expr
            case Dimension(tensor, mode) if tensor == _ASKED:
                return self.known(self._questions[mode].size, here)
            case Dimension(tensor, mode):
                # after a new declaration, the old dimension is there only if it is also the new one
                now = here.sizes.get(tensor)
                return expr if now is None or self.find(now[mode]) == size else None
            case Index() | Name():
                return expr if there.stamps.get(expr) == here.stamps.get(expr) else None
            case Access(str(tensor)) if there.stamps.get(tensor) != here.stamps.get(tensor):
                return None
            case Access() | Call():
                below = expr.indices if isinstance(expr, Access) else expr.args
                moved = {e: self._moved(e, there, here, -1) for e in below}
                if any(e is None for e in moved.values()):
                    return None
                return map_args(expr, lambda e: moved[e] or e)
            case _:
                return None

    def _unknown(self, question: Question) -> ShapeError:
        why, hint = question.why, question.hint
        for source in self.sources(question.size)[:1]:
            match source.expr:
                case Dimension(tensor, mode) if tensor != _ASKED:
                    why = f"it is mode {mode} of {tensor} before {tensor} was declared anew"
                    hint = f"name it before that, n = {tensor}.shape[{mode}], and use range(n)"
                case _:
                    text = show(source.use.access)
                    why = f"it is mode {source.use.mode} of {text}, whose size is not known here"
        return ShapeError(f"cannot tell {question.what}", at=question.at, why=why, hint=hint)

    # -- what must hold when a kernel is called ----------------------------------------------------

    def constant(self, expr: Expr) -> Expr | None:
        """An expression over dimensions of arguments and literals; None if it needs values."""
        match expr:
            case Literal():
                return expr
            case Dimension(tensor, mode):
                return self.constant_size(self._questions[mode].size) if tensor == _ASKED else expr
            case Call(_, args):
                constants = {a: self.constant(a) for a in args}
                if any(c is None for c in constants.values()):
                    return None
                return map_args(expr, lambda a: constants[a] or a)
            case _:
                return None

    def constant_size(self, size: int) -> Expr | None:
        """What a size is, over dimensions of arguments and literals."""
        size = self.find(size)
        if size in self._busy:
            return None
        self._busy.add(size)
        try:
            found = (self.constant(s.expr) for s in self.sources(size))
            return next((f for f in found if f is not None), None)
        finally:
            self._busy.remove(size)

    def closest(self, bounds: list[Expr], nearest: Function) -> Expr | None:
        """The bound that counts, over dimensions and literals; None if that needs values."""
        found: dict[Expr, None] = {}
        for bound in bounds:
            constant = self.constant(bound)
            if constant is None or (len(bounds) > 1 and not is_exact(constant)):
                return None
            found[constant] = None
        return reduce(lambda a, b: Call(nearest, (a, b)), found) if found else None

    def checks(self) -> Iterator[Check]:
        """That all which is said of one size agrees."""
        for size, parent in enumerate(self._parent):
            if size == parent:
                yield from self._agreement(self.sources(size))

    def _agreement(self, sources: list[Source]) -> Iterator[Check]:
        sources.sort(key=lambda s: not s.use.index)  # an index says more than a declaration
        constants = [(s, c) for s in sources if (c := self.constant(s.expr)) is not None]
        if len(constants) < len(sources):
            self._refuse_what_cannot_be_compared(sources)
            return
        agreed = _Agreed()
        first_of_loop: dict[int, tuple[Source, Expr]] = {}
        # first what meets in one index: that is what a message can say best
        for source, expr in constants:
            first, known = first_of_loop.setdefault(source.loop, (source, expr))
            if agreed.join(known, expr):
                yield Check(known, expr, "==", first.use, source.use)
        for source, expr in constants:
            first, known = constants[0]
            if agreed.join(known, expr):
                yield Check(known, expr, "==", first.use, source.use)

    def _refuse_what_cannot_be_compared(self, sources: list[Source]) -> None:
        """A size that depends on values has one source: nothing could be checked beforehand."""
        first = sources[0]
        for other in sources[1:]:
            if self.moved(other, first.place) == first.expr:
                continue
            one, two = show(first.use.access), show(other.use.access)
            what = f"whether {one} and {two} have one size"
            if one == two:
                what = f"which size {one} has"
            raise ShapeError(
                f"cannot tell before the kernel runs {what}",
                at=other.use.at or first.use.at,
                why="one of them has the size of a range that is computed in the kernel",
                hint=f"give `{other.use.index or first.use.index}` that range here, too",
            )


class _Agreed:
    """Expressions that are known to be equal."""

    def __init__(self) -> None:
        self._of: dict[Expr, list[Expr]] = {}

    def join(self, a: Expr, b: Expr) -> bool:
        """Make two equal; whether they were not known to be."""
        one, two = self._of.setdefault(a, [a]), self._of.setdefault(b, [b])
        if one is two:
            return False
        one += two
        self._of.update(dict.fromkeys(two, one))
        return True
