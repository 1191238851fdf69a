"""Random programs over random formats: compiled code does what the program means."""

from __future__ import annotations

from hypothesis import given, note, reject
from hypothesis import strategies as st
from tests.oracle.check import Subject, check, describe
from tests.oracle.data import tensors
from tests.oracle.programs import Case, Style, cases

import linnet as ln
from linnet.errors import DTypeError


def arguments(data, case: Case) -> dict[str, ln.Tensor]:
    sizes = {}
    for d, n in case.least.items():
        sizes[d] = data.draw(st.sampled_from([x for x in (2, 3, 1, 0, 4, 5) if x >= n]), label=d)
    args = {}
    for name in case.program.params:
        if name in case.recipes:
            recipe = case.recipes[name]
            shape = tuple(sizes[d] for d in case.dims[name])
            limit = sizes.get(recipe.limit, 1)
            args[name] = data.draw(tensors(recipe, shape, limit))
        else:
            args[name] = ln.empty_tensor(case.outputs[name])
    return args


LARGE = 800


def lowered(program, args) -> Subject:
    """The program, unless it loses digits and is rightly refused."""
    try:
        return Subject.of(program, args)
    except DTypeError as error:
        rightly = "this update makes it", "does not fit the dtype"
        if not any(words in error.message for words in rightly):
            raise
        reject()


def run(data, style: Style) -> None:
    case = data.draw(cases(style))
    subject = None
    for _ in range(2):
        args = arguments(data, case)
        ways = data.draw(st.sampled_from(((), (), ("llvm",), ("llvm", "c"))))
        note(describe(case.program, args))
        subject = subject or lowered(case.program, args)
        if subject.size > LARGE:
            ways = ()
        check(subject, args, ways)


@given(st.data())
def test_elementwise(data):
    run(
        data,
        Style(
            temporaries=False,
            branches=False,
            computed=False,
            ranges=False,
            kept=False,
            statements=1,
        ),
    )


@given(st.data())
def test_programs(data):
    run(data, Style())
