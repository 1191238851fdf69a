"""What the generator draws: a feature that never comes up is not tested, whatever passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.oracle.data import Recipe
from tests.oracle.formats import POLICIES
from tests.oracle.functions import USER, WHOLE, clipped
from tests.oracle.programs import KEPT, arguments, cases
from tests.oracle.scopes import Case
from tests.oracle.test_programs import STYLES

import linnet as ln
from linnet import loops
from linnet.algebra.table import multiply
from linnet.formats.format import Format
from linnet.loops.rewrite import accesses, is_left, walk
from linnet.normalize.lifecycles import carried_scalars, handed_down

LEVELS = (
    *(ln.Dense, ln.SparseList, ln.SparseCOO, ln.SparseByteMap, ln.SparseHash, ln.SparseBand),
    *(ln.SparseBlockList, ln.RunList, ln.SparseRunList, ln.SparseTiles),
    *(ln.SparsePinpoint, ln.SparseInterval),
)
READ_ONLY = (ln.SparseSymmetric, ln.SparseSymmetricTiles)


@pytest.mark.parametrize("examples", [60, pytest.param(250, marks=pytest.mark.slow)])
def test_everything_is_drawn(examples: int) -> None:
    """With few examples of each style, all that is common; with many, every policy as well."""
    seen: Counter[str] = Counter()
    for style in STYLES.values():

        @settings(
            max_examples=examples,
            database=None,
            derandomize=True,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(data=st.data())
        def draw(data: st.DataObject) -> None:
            case = data.draw(cases(style))  # noqa: B023 (it runs before the next style)
            shapes = [t.shape or () for t in data.draw(arguments(case)).values()]
            seen.update({*features(case), *(("an empty dimension",) if (0,) in shapes else ())})

        draw()
    missing = [name for name in wanted(policies=examples > 60) if seen[name] == 0]
    assert not missing, f"never drawn: {missing}"


def wanted(policies: bool) -> Iterator[str]:
    """What has to come up; also which `policies` workspaces have."""
    yield from (f"reads {level.__name__}" for level in (*LEVELS, *READ_ONLY))
    yield from (f"writes {level.__name__}" for level in LEVELS)
    yield from (f"calls {f.label}" for f in (*USER, *WHOLE, clipped))
    yield from (f"keeps in {p!r}" for p in POLICIES if policies)
    yield "writes SparseWorkspace"
    yield from (f"{n} dimensions" for n in range(6))
    yield from (f"{width} indices" for width in ("int32", "int64"))
    yield from ("SparseScalar", "ShortCircuit", "a pattern", "a carried scalar", "an update of K")
    yield from ("a gather", "a scatter", "a stride", "beyond the bounds", "an empty dimension")
    yield from ("a loop inside out", "walk", "gallop", "follow", "permissive")
    yield "an index of another dimension"
    yield from ("a break", "a loop that is left", "a swap", "a tensor that goes on", "begun again")


def features(case: Case) -> Iterator[str]:
    """What a program has."""
    program, operands = case.program, {n: r.format for n, r in case.recipes.items()}
    formats = operands | case.outputs | dict(program.temporaries)
    written = {a.tensor for a, is_target in accesses(program.body) if is_target}
    for name, format in formats.items():
        verb = "writes" if name in written else "reads"
        yield f"{format.ndim} dimensions"
        yield from (f"{verb} {type(level).__name__}" for level in format.levels[:-1])
        yield from _leaf(format)
    for recipe in case.recipes.values():
        yield from _widths(recipe)
    if carried_scalars(program):
        yield "a carried scalar"
    if KEPT in written:
        yield "an update of K"
    for node in walk(program.body):
        yield from _expression(node)
        yield from _step(node, formats)
    yield from _orders(program.body, formats, ())


def _leaf(format: Format) -> Iterator[str]:
    yield "a pattern" if isinstance(format.leaf, ln.Pattern) else type(format.leaf).__name__
    for level in format.levels:
        if isinstance(level, ln.SparseWorkspace):
            yield f"keeps in {level.policy!r}"


def _widths(recipe: Recipe) -> Iterator[str]:
    yield from ("int64 indices" if wide else "int32 indices" for wide in recipe.wide)


def _expression(node: loops.Node) -> Iterator[str]:
    match node:
        case loops.Call(function) if function in (*USER, *WHOLE, clipped):
            yield f"calls {function.label}"
        case loops.Assign(target):
            if any(isinstance(n, loops.Access) for i in target.indices for n in walk(i)):
                yield "a scatter"
        case loops.Access(_, indices, protocols):
            yield from (p for p in protocols if p)
            for index in indices:
                if isinstance(index, loops.Access):
                    yield "a gather"
                if any(isinstance(n, loops.Call) and n.function is multiply for n in walk(index)):
                    yield "a stride"
            yield from ("beyond the bounds",) if "permissive" in protocols else ()


def _step(node: loops.Node, formats: dict[str, Format]) -> Iterator[str]:
    match node:
        case loops.Break():
            yield "a break"
        case loops.Swap():
            yield "a swap"
        case loops.Loop("step", _, body):
            declared = {n.tensor for n in walk(body) if isinstance(n, loops.Declare)}
            yield from ("begun again",) if declared else ()
            handed = [formats[name] for name in handed_down(node)]
            yield from ("a tensor that goes on",) if any(f.ndim for f in handed) else ()
        case loops.Loop() if is_left(node):
            yield "a loop that is left"


def _in_order(indices: tuple[loops.Expr, ...], format: Format) -> list[loops.Expr]:
    return [indices[m] for m in format.order]


def _orders(stmt: loops.Node, formats: dict[str, Format], path: tuple[str, ...]) -> Iterator[str]:
    """Loops that go against the order of storage, or beyond the dimension of an index."""
    match stmt:
        case loops.Loop(index, _, body):
            yield from _orders(body, formats, (*path, index))
        case loops.If(cond, then, orelse):
            match cond:
                case loops.Call(_, (loops.Index(), loops.Dimension())):
                    yield "an index of another dimension"
            for inner in (then, orelse):
                yield from _orders(inner, formats, path)
        case loops.Let(_, _, body):
            yield from _orders(body, formats, path)
        case loops.Block(stmts):
            for inner in stmts:
                yield from _orders(inner, formats, path)
        case loops.Assign(target):
            names = [
                i.name
                for i in _in_order(target.indices, formats[str(target.tensor)])
                if isinstance(i, loops.Index) and i.name in path
            ]
            if names != sorted(names, key=path.index):
                yield "a loop inside out"
