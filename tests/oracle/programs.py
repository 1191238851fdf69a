"""Random loop programs, and arguments for them. Every program made here has a meaning."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from tests.oracle.data import BEYOND, INDEX, SMALL, WILD, magnitude, recipes, square, tensors
from tests.oracle.formats import CORE, INSERTING, READ, fills, formats
from tests.oracle.indices import OFFSET
from tests.oracle.scopes import ANY, Case, Known, Scope, Style, Wish
from tests.oracle.steps import Steps

import linnet as ln
from linnet import loops
from linnet.loops.rewrite import block, walk

KEPT = "K"  # the output that is updated without being declared


class Author(Steps):
    """Writes a program: its operands first, then its statements, and outputs as they come up."""

    def program(self) -> Case:
        """The whole."""
        dims = ("a", "b", "c")[: self.choose((2, 1, 3))]
        self.least = {d: self.choose((0, 0, 0, 1, 2)) for d in dims}
        for k in range(self.choose(tuple(range(1, self.style.operands + 1)))):
            self.operand("ABCDE"[k])
        if self.style.gathers or (self.style.computed and self.one_in(4)):
            self.index_operand()
        if self.style.affine:
            self.offset_operand()
        if self.style.kept and self.one_in(4):
            self.kept_output()
        self.left = self.choose(tuple(range(1, self.style.statements + 1)))
        body = self.top()
        params = tuple(self.shuffled([*self.outputs, *sorted(self.operands())]))
        written = {n.target.tensor for n in walk(body) if isinstance(n, loops.Assign)}
        results = tuple(n for n in self.outputs if n in written)
        program = loops.Program("f", params, tuple(self.temporaries.items()), body, results)
        outputs = {n: self.output_format(n) for n in self.outputs if n != KEPT}
        modes = {p: self.tensors[p].dims for p in params}
        return Case(program, self.recipes, outputs, modes, self.least, self.style.sizes)

    # -- arguments -------------------------------------------------------------------------------

    def operand(self, name: str) -> None:
        """A tensor to be read."""
        ndim = self.choose([n for n in (1, 2, 2, 1, 2, 3, 3, 1, 0, 4, 5) if n <= self.style.ndim])
        dims = tuple(self.choose(list(self.least)) for _ in range(ndim))
        format = self.draw(formats(ndim, self.kinds(self.style.levels or READ)))
        dims = square(dims, format)
        how = WILD if self.style.choices or self.one_in(3) else SMALL
        self.recipes[name] = self.draw(recipes(format, how))
        self.known(Known(name, dims, format, magnitude(format, how)))

    def index_operand(self) -> None:
        """A tensor of coordinates of some dimension."""
        dim = self.choose(list(self.least))
        self.least[dim] = max(1, self.least[dim])
        dims = tuple(self.choose(list(self.least)) for _ in range(self.choose((1, 1, 2))))
        dtype = self.choose(("int64", "int32", "uint8"))
        format = self.draw(formats(len(dims), CORE, dtype)).with_fill(0)
        how = BEYOND if self.style.careless else INDEX
        self.recipes["I"] = self.draw(recipes(format, how, dim))
        self.known(Known("I", dims, format, self.style.longest))

    def offset_operand(self) -> None:
        """A small number that is read."""
        dtype = self.choose(("int64", "int32", "int8"))
        format = self.draw(formats(0, CORE, dtype)).with_fill(0)
        self.recipes[OFFSET] = self.draw(recipes(format, SMALL))
        self.known(Known(OFFSET, (), format, magnitude(format, SMALL)))

    def known(self, tensor: Known) -> None:
        self.tensors[tensor.name] = tensor
        for mode, dim in enumerate(tensor.dims):
            self.anchors.setdefault(dim, loops.Dimension(tensor.name, mode))

    def kept_output(self) -> None:
        """An argument that is updated without being declared."""
        count = self.choose((1, 2, 0)) if self.anchors else 0
        dims = tuple(self.choose(list(self.anchors)) for _ in range(count))
        format = self.draw(formats(count, INSERTING))
        self.recipes[KEPT] = self.draw(recipes(format, SMALL))
        self.tensors[KEPT] = Known(KEPT, dims, format, magnitude(format, SMALL))
        self.outputs.append(KEPT)

    def output_format(self, name: str) -> ln.Format:
        """What the caller asks for: the fill value is the declaration's, whatever this one says."""
        format = self.tensors[name].format
        if isinstance(format.leaf, ln.Pattern) or not self.one_in(4):
            return format
        assert format.dtype is not None
        return format.with_fill(self.draw(fills(format.dtype)))

    # -- the outermost block ---------------------------------------------------------------------

    def top(self) -> loops.Stmt:
        """Statements, some of which may read what others have written; declarations come first."""
        kept = frozenset({KEPT} & set(self.outputs))
        scope = Scope(reads=frozenset(self.operands()), writes=kept, outermost=True)
        stmts = [self.stepping(scope) if self.style.steps else self.block(scope)]
        if not self.outputs or not self.written(stmts):
            stmts.append(self.assign(scope, ANY))
        done = [n for n in self.outputs if n not in kept]
        if done and self.one_in(4):
            self.left += 1
            reading = replace(scope, reads=scope.reads | set(done), writes=frozenset())
            stmts.append(self.statement(reading, Wish(read=self.choose(done))))
        heads = [self.declaration(n, stmts, scope) for n in self.outputs if n not in kept]
        return block([*heads, *stmts])

    def written(self, stmts: list[loops.Stmt]) -> bool:
        """Whether anything leaves the program."""
        targets = {n.target.tensor for s in stmts for n in walk(s) if isinstance(n, loops.Assign)}
        return not targets.isdisjoint(self.outputs)


@st.composite
def cases(draw: st.DrawFn, style: Style) -> Case:
    """A program and the formats of its arguments."""
    return Author(draw, style).program()


@st.composite
def arguments(draw: st.DrawFn, case: Case) -> dict[str, ln.Tensor]:
    """Tensors for the program: small, now and then empty."""
    longest = 3 if max(map(len, case.dims.values())) > 3 else max(case.sizes)
    sizes = {
        dim: draw(st.sampled_from([n for n in case.sizes if least <= n <= longest]))
        for dim, least in case.least.items()
    }
    args = {}
    for name in case.program.params:
        if name in case.outputs:
            args[name] = ln.empty_tensor(case.outputs[name])
        else:
            recipe = case.recipes[name]
            shape = tuple(sizes[d] for d in case.dims[name])
            args[name] = draw(tensors(recipe, shape, sizes.get(recipe.limit, 1)))
    return args
