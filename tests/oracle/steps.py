"""Random loops over steps: what one statement reads another updates, until `break`."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from tests.oracle.formats import COMMON, INSERTING, WRITTEN, formats, workspaces
from tests.oracle.scopes import ANY, Known, Running, Scope, Wish
from tests.oracle.statements import Statements, fill_size, merging
from tests.oracle.values import Typed, limited

from linnet import loops
from linnet.algebra import table
from linnet.algebra.dtypes import DTYPES, kind
from linnet.formats.format import Format
from linnet.loops.rewrite import block

STEP = loops.Index("step")
CEILING = 64.0  # of floats that go on from step to step
WHOLE = tuple(d for d in (*COMMON, *DTYPES) if kind(d) in "biu")  # they wrap, and stay exact


class Steps(Statements):
    """Writes loops over steps. A tensor that goes on keeps its bound, however often it is updated.

    Every statement of the loop either reads or writes it, and none indexes it by the step.
    """

    def stepping(self, scope: Scope) -> loops.Stmt:
        """Begin with some tensors, go on with them in a loop, and read what they are then."""
        twins = self.twins()
        names = [self.going_on() for _ in range(self.choose((1, 2) if not twins else (0, 1)))]
        names += twins
        before = [self.update(scope, n, names) for n in names if self.one_in(2)]
        count = self.choose((2, 3, 1, 0))
        rounds: loops.Expr = loops.Literal(count)
        if self.anchors and self.one_in(4):
            count, rounds = self.style.longest, self.anchors[self.choose(list(self.anchors))]
        inside = replace(
            scope.inside(),
            lets=(*scope.lets, Typed(STEP, "int64", self.style.longest)),
            rounds=count,
        )
        body = self.body(inside, names, twins)
        loop = loops.Loop(STEP.name, loops.Extent(loops.Literal(0), rounds), body)
        after = [self.use(scope, n, names) for n in names if n in self.temporaries]
        stmts = [*before, loop, *after]
        heads = [self.declaration(n, stmts, scope) for n in names if n in self.temporaries]
        heads = [replace(h, init=heads[-1].init) if h.tensor in twins else h for h in heads]
        self.left = 0
        return block([*heads, *stmts])

    # -- what goes on ----------------------------------------------------------------------------

    def going_on(self) -> str:
        """A tensor that lasts for all steps: a temporary or an output."""
        ndim = self.choose((1, 0, 2, 1)) if self.anchors else 0
        dims = tuple(self.choose(list(self.anchors)) for _ in range(ndim))
        dtype = None if self.one_in(4) else self.choose(WHOLE)
        format, op = self.draw(formats(ndim, WRITTEN, dtype)), None
        if self.one_in(4):
            name = f"Y{len(self.outputs)}"
            self.outputs.append(name)
        else:
            if dims and self.one_in(6):
                format = self.draw(workspaces(ndim))
                op = self.choose(merging(format))
            name = f"w{len(self.temporaries)}"
            self.temporaries[name] = format
        self.tensors[name] = Known(name, dims, format, lasting(format), op, steady=True)
        return name

    def twins(self) -> list[str]:
        """Two temporaries of one format, which may change places; or none."""
        if not self.anchors or not self.one_in(2):
            return []
        dims = tuple(self.choose(list(self.anchors)) for _ in range(self.choose((1, 2, 1))))
        kinds, dtype = self.choose((INSERTING, INSERTING, WRITTEN)), self.choose(WHOLE)
        format = self.draw(formats(len(dims), kinds, dtype))
        names = [f"w{len(self.temporaries) + k}" for k in range(2)]
        for name in names:
            self.temporaries[name] = format
            self.tensors[name] = Known(name, dims, format, lasting(format), steady=True)
        return names

    # -- what is done in a step ------------------------------------------------------------------

    def body(self, scope: Scope, names: list[str], twins: list[str]) -> loops.Stmt:
        """Some statements, in any order."""
        stmts = [self.update(scope, self.choose(names), names)]
        if twins:
            stmts.append(loops.Swap(*self.shuffled(twins)))
        for _ in range(self.choose((1, 2, 3))):
            stmts.append(self.step(scope, names))
        return block(self.shuffled(stmts))

    def step(self, scope: Scope, names: list[str]) -> loops.Stmt:
        """One thing that is done in every step, or only in some."""
        name, reading = self.choose(names), self.reading_all(scope, names)
        options = ("update", "leave", "use", "update", "declare", "if", "search", "any")
        match self.choose(options):
            case "update":
                return self.update(scope, name, names)
            case "use":
                return self.use(scope, name, names)
            case "declare":
                return self.anew(name)
            case "leave" if not self.one_in(3):
                return loops.If(self.decision(reading), loops.Break(), loops.NOTHING)
            case "leave" | "if" as what:
                cond = self.decision(replace(reading, reads=reading.reads - {name}))
                last = [loops.Break()] if what == "leave" else []
                then = block([self.update(scope, name, names), *last])
                return loops.If(cond, then, loops.NOTHING)
            case "search" if self.anchors:
                return self.search(scope, name, names)
            case _:
                self.room, self.left = self.style.room, 1
                return self.statement(reading, ANY)

    def update(self, scope: Scope, name: str, names: list[str]) -> loops.Stmt:
        """Write to one, and perhaps read others."""
        self.room, self.left = self.style.room, 0
        return self.statement(self.writing(scope, name, names), Wish(write=name))

    def use(self, scope: Scope, name: str, names: list[str]) -> loops.Stmt:
        """Read one for another result."""
        self.room, self.left = self.style.room, 0
        return self.statement(self.reading_all(scope, names), Wish(read=name))

    def search(self, scope: Scope, name: str, names: list[str]) -> loops.Stmt:
        """A loop over a dimension that may be left."""
        scope = self.writing(scope, name, names)
        self.room, self.left = self.style.room, 0

        def body(running: tuple[Running, ...]) -> loops.Stmt:
            inside = scope.inside(*running)
            leave = loops.If(self.condition(inside).expr, loops.Break(), loops.NOTHING)
            return block(self.shuffled([leave, self.statement(inside, Wish(write=name))]))

        return self.loop(scope, [self.choose(list(self.anchors))], body)

    def anew(self, name: str) -> loops.Stmt:
        """`w[...] = 0`, which a format that is swapped may need."""
        tensor = self.tensors[name]
        fill = tensor.format.fill_value
        assert fill is not None
        dims = tuple(self.anchors[d] for d in tensor.dims) or None
        return loops.Declare(name, loops.Literal(fill), dims)

    def decision(self, scope: Scope) -> loops.Expr:
        """A condition on the step, on scalars, or on elements."""
        if self.one_in(3):
            return loops.Call(table.equal, (STEP, loops.Literal(self.choose((0, 1, 2)))))
        return self.condition(scope).expr

    def reading_all(self, scope: Scope, names: list[str]) -> Scope:
        """Where all that goes on is read."""
        return replace(scope, reads=scope.reads | set(names), writes=scope.writes - set(names))

    def writing(self, scope: Scope, name: str, names: list[str]) -> Scope:
        """Where one is written, and the others are read."""
        reads = (scope.reads | set(names)) - {name}
        return replace(scope, reads=reads, writes=(scope.writes - set(names)) | {name})


def lasting(format: Format) -> float:
    """The bound of values that are updated again and again."""
    assert format.dtype is not None
    whole = kind(format.dtype) in "biu"
    bound = limited(inf, format.dtype) if whole else max(CEILING, fill_size(format))
    assert bound is not None
    return bound
