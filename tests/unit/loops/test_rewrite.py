"""Walking and rebuilding programs."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from tests.unit.loops.programs import programs

from linnet import loops
from linnet.algebra.table import add
from linnet.frontend.text import parse_text
from linnet.loops import Access, Assign, Block, Call, Index, Literal, Loop, Name, Program
from linnet.loops.nodes import Node
from linnet.loops.printer import show
from linnet.loops.rewrite import (
    _BELOW,
    accesses,
    block,
    children,
    rewrite_expr,
    rewrite_stmt,
    substitute,
    walk,
)

PROGRAM = parse_text("""
    y[...] = 0
    for i in range(1, x.shape[0]):
        d = x[i - 1]
        if d > 0:
            y[p[i]] += d * A[i, i]
        else:
            ln.declare(z, d, (3,))
""")


def test_what_is_below_every_kind_of_node_is_known():
    assert set(_BELOW) == set(get_args(Node))


@given(programs())
def test_a_rewrite_that_changes_nothing_returns_the_same_object(program: Program):
    assert rewrite_stmt(program.body, lambda s: None, lambda e: None) is program.body
    assert substitute(program.body, {}) is program.body


@given(programs())
def test_every_node_is_visited(program: Program):
    def count(node: loops.Node) -> int:
        return 1 + sum(count(child) for child in children(node))

    assert len(list(walk(program.body))) == count(program.body)


def test_walk_is_in_program_order():
    names = [n.tensor for n in walk(PROGRAM.body) if isinstance(n, Access | loops.Declare)]
    assert names == ["y", "x", "A", "y", "p", "z"]
    assert isinstance(next(walk(PROGRAM.body)), Block)


def test_accesses_tell_targets():
    assert [(a.tensor, target) for a, target in accesses(PROGRAM.body)] == [
        ("x", False),
        ("A", False),
        ("y", True),
        ("p", False),
    ]


def test_one_access_as_target_and_value():
    shared = Access("y", ())
    stmt = Assign(shared, None, shared)
    assert [target for _, target in accesses(stmt)] == [False, True]


def test_rewrite_is_bottom_up():
    def double(e: loops.Expr) -> loops.Expr | None:
        return Literal(2 * e.value) if isinstance(e, Literal) else None

    seen = []

    def see(e: loops.Expr) -> None:
        seen.append(show(e))

    expr = Call(add, (Literal(1), Access("x", (Literal(3),))))
    assert show(rewrite_expr(expr, double)) == "2 + x[6]"
    rewrite_expr(expr, see)  # type: ignore[arg-type]
    assert seen == ["1", "3", "x[3]", "1 + x[3]"]


def test_targets_are_not_expressions():
    stmt = Assign(Access("y", (Index("i"),)), None, Access("y", (Index("i"),)))
    fill = rewrite_stmt(stmt, on_expr=lambda e: Literal(0) if isinstance(e, Access) else None)
    assert show(fill) == "y[i] = 0"


def test_statements_can_be_removed():
    removed = rewrite_stmt(
        PROGRAM.body, on_stmt=lambda s: loops.NOTHING if isinstance(s, loops.If) else None
    )
    assert show(removed).splitlines() == [
        "y[...] = 0",
        "for i in range(1, x.shape[0]):",
        "    d = x[i - 1]",
    ]


def test_substitute():
    changed = substitute(PROGRAM.body, {"i": Name("k"), "d": Literal(7)})
    assert show(changed).splitlines()[2:5] == [
        "    d = x[k - 1]",
        "    if 7 > 0:",
        "        y[p[k]] += 7 * A[k, k]",
    ]
    assert show(changed).splitlines()[-1] == "        ln.declare(z, 7, (3,))"


def test_places_are_kept():
    changed = substitute(PROGRAM.body, {"i": Literal(1), "d": Literal(7)})
    before = [getattr(n, "at", None) for n in walk(PROGRAM.body)]
    after = [getattr(n, "at", None) for n in walk(changed)]
    assert before == after


def test_block():
    a, b = Assign(Access("a", ()), None, Literal(1)), Loop("i", None, loops.NOTHING)
    assert block([]) == loops.NOTHING
    assert block([a]) is a
    assert block([Block((a, b)), loops.NOTHING, a]) == Block((a, b, a))
