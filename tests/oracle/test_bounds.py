"""Indices that may leave their dimensions: an error, never a crash, never a number."""

from __future__ import annotations

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st
from tests.oracle.check import BACKENDS, Shapes, Subject, check, describe, lowered
from tests.oracle.meaning import Arguments, Expected, meaning
from tests.oracle.programs import arguments, cases
from tests.oracle.scopes import Case, Style

from linnet.errors import FormatError, IndexBoundsError, LinnetError

CARELESS = Style(operands=2, ndim=2, statements=2, terms=1, room=3, careless=True)


@given(data=st.data())
def test_bounds(data: st.DataObject) -> None:
    """An index that leaves its dimension may be refused anywhere, and must be where it is used."""
    case = data.draw(cases(CARELESS))
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
