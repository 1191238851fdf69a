"""Indices that may leave their dimensions: an error, never a crash, never a number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st
from tests.oracle.check import BACKENDS, Shapes, Subject, check, describe, lowered
from tests.oracle.functions import unless
from tests.oracle.meaning import Arguments, Expected, meaning
from tests.oracle.programs import arguments, cases
from tests.oracle.scopes import Case, Style

import linnet as ln
from linnet.errors import FormatError, IndexBoundsError, LinnetError
from linnet.frontend.text import parse_text

CARELESS = Style(operands=2, ndim=2, statements=2, terms=1, room=3, careless=True)
DECIDED = replace(CARELESS, operands=3, statements=1, terms=2, decided=True)


@pytest.mark.parametrize("style", [CARELESS, DECIDED], ids=["careless", "decided"])
@given(data=st.data())
def test_bounds(data: st.DataObject, style: Style) -> None:
    """An index that leaves its dimension may be refused anywhere, and must be where it is used."""
    case = data.draw(cases(style))
    args = data.draw(arguments(case))
    note(describe(case.program, args))
    subject = lowered(case.program, args)
    if subject is None:
        return
    backends = data.draw(st.sampled_from(((), BACKENDS[:1], BACKENDS)))
    strict, lenient = outcome(subject, args, True), outcome(subject, args, False)
    event(f"strict: {strict is not None}, lenient: {lenient is not None}")
    shapes = output_shapes(case, args)
    if strict is not None:
        check(subject, args, backends, strict)
    elif lenient is None or IndexBoundsError in refusals(subject, args, shapes):
        refused(subject, args, shapes, backends)
    else:
        check(subject, args, backends, lenient)


def test_what_comes_after_the_first_is_not_used() -> None:
    """No update by `first` changes anything: who looks at the matrix may refuse, and need not."""
    text = """def f(y, m):
    y[...] = 0
    for i in range(m.shape[0]):
        y[()] = ln.first(y[()], m[i, i + i])
    return y"""
    sparse = ln.SparseBand(ln.SparseList(ln.Element(0)))
    args = {"y": ln.empty_tensor(ln.SparseScalar(0)), "m": ln.asarray(np.eye(2, dtype=int))}
    args["m"] = args["m"].to(sparse)
    subject = lowered(parse_text(text, {}), args)
    assert subject is not None
    assert outcome(subject, args, True) is None
    lenient = outcome(subject, args, False)
    assert lenient is not None
    assert lenient["y"].values == 0


@pytest.mark.parametrize(
    "value",
    [
        "unless(x[i + 4], ln.coalesce(y[~(i + 4)], 2.0))",
        "unless(x[i + 4], ln.coalesce(y[~(i + 4)], 2.0) + 1.0)",
        "x[i + 4] if ln.coalesce(y[~(i + 4)], 0.0) else y[i]",
        "c[i + 4] * ln.coalesce(c[~(i + 4)], 0)",
    ],
)
def test_a_number_that_stands_for_what_is_missing_decides(value: str) -> None:
    """It is known before anything runs, so that what it does not let count is not used."""
    loop = f"for i in ...:\n        Y[i] = {value} + 0 * y[i]"
    text = f"def f(Y, x, y, c):\n    Y[...] = 0.0\n    {loop}\n    return Y"
    args = {
        "Y": ln.empty_tensor(ln.Dense(ln.Element(0.0))),
        "x": ln.asarray(np.arange(1.0, 5)),
        "y": ln.asarray(np.arange(1.0, 5)),
        "c": ln.asarray(np.arange(1, 5)),
    }
    subject = Subject.of(parse_text(text, {"unless": unless}), args)
    lenient = outcome(subject, args, False)
    assert lenient is not None
    if IndexBoundsError not in refusals(subject, args, dict.fromkeys(args, (4,))):
        check(subject, args, BACKENDS[:1], lenient)


def outcome(subject: Subject, args: Arguments, strict: bool) -> dict[str, Expected] | None:
    """What the program means; None if it is an error."""
    try:
        return meaning(subject.kernel, args, strict)
    except IndexBoundsError:
        return None


def refusals(subject: Subject, args: Arguments, shapes: Shapes) -> set[type[LinnetError]]:
    """What the code notices, and what is checked before it runs: perhaps first that a result has no
    room for a second element."""
    found: set[type[LinnetError]] = set()
    for run in (
        lambda: subject.interpreted(args, shapes),
        lambda: subject.compiled(args, BACKENDS[0]),
    ):
        try:
            run()
        except (IndexBoundsError, FormatError) as error:
            found.add(type(error))
    return found


def output_shapes(case: Case, args: Arguments) -> Shapes:
    """The shapes of all arguments; operands tell the sizes of dimensions."""
    held = {n: t.shape for n, t in args.items() if t.shape is not None}
    sizes = {
        d: n for name, shape in held.items() for d, n in zip(case.dims[name], shape, strict=True)
    }
    return {name: tuple(sizes[d] for d in case.dims[name]) for name in args}


def refused(subject: Subject, args: Arguments, shapes: Shapes, backends: tuple[str, ...]) -> None:
    """Code in all forms refuses the arguments."""
    assert refusals(subject, args, shapes), "an index out of bounds is used"
    for backend in backends:
        with pytest.raises((IndexBoundsError, FormatError)):
            subject.compiled(args, backend)
