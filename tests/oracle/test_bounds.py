"""Indices that may leave their dimensions: an error, never a crash, never a number."""

from __future__ import annotations

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st
from tests.oracle.check import BACKENDS, Shapes, Subject, check, describe, lowered
from tests.oracle.meaning import Arguments, meaning
from tests.oracle.programs import arguments, cases
from tests.oracle.scopes import Case, Style

from linnet.errors import IndexBoundsError

CARELESS = Style(operands=2, ndim=2, statements=2, terms=1, room=3, careless=True)


@given(data=st.data())
def test_bounds(data: st.DataObject) -> None:
    case = data.draw(cases(CARELESS))
    args = data.draw(arguments(case))
    note(describe(case.program, args))
    subject = lowered(case.program, args)
    if subject is None:
        return
    backends = data.draw(st.sampled_from(((), BACKENDS[:1], BACKENDS)))
    try:
        meaning(subject.kernel, args)
    except IndexBoundsError:
        refused(subject, args, output_shapes(case, args), backends)
    else:
        check(subject, args, backends)


def output_shapes(case: Case, args: Arguments) -> Shapes:
    """The shapes of all arguments; operands tell the sizes of dimensions."""
    held = {n: t.shape for n, t in args.items() if t.shape is not None}
    sizes = {
        d: n for name, shape in held.items() for d, n in zip(case.dims[name], shape, strict=True)
    }
    return {name: tuple(sizes[d] for d in case.dims[name]) for name in args}


def refused(subject: Subject, args: Arguments, shapes: Shapes, backends: tuple[str, ...]) -> None:
    """What the reference refuses the code refuses."""
    with pytest.raises(IndexBoundsError):
        subject.interpreted(args, shapes)
    for backend in backends:
        with pytest.raises(IndexBoundsError):
            subject.compiled(args, backend)
    event("refused")
