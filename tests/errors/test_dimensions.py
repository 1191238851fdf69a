"""Kernels whose dimensions disagree or cannot be found: place and message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from linnet import loops
from linnet.errors import DTypeError, InternalError, LifecycleError, LinnetError, ShapeError
from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.named import stack
from linnet.frontend import words as ln
from linnet.frontend.parse import parse
from linnet.normalize.dimensions import infer_dimensions

VECTOR = stack(Dense(Element(0.0)))
MATRIX = stack(Dense(Dense(Element(0.0))))


def ranks(program: loops.Program, ndims: str) -> dict[str, int]:
    """`ndims` says how many dimensions the parameters have: "C2 A2 x1"."""
    found = {word[:-1]: int(word[-1]) for word in ndims.split()}
    return found | {name: format.ndim for name, format in program.temporaries}


def points_at(error: LinnetError, place: str) -> bool:
    at = error.at
    return at is not None and at.file == __file__ and at.text[at.column : at.end_column] == place


def refused(
    kernel: Callable[..., object], ndims: str, place: str, kind: type[LinnetError] = ShapeError
) -> LinnetError:
    """The error when the kernel is compiled, which must point at `place`."""
    program = parse(kernel)
    with pytest.raises(kind) as caught:
        infer_dimensions(program, ranks(program, ndims))
    assert points_at(caught.value, place), caught.value
    return caught.value


def mismatch(kernel: Callable[..., object], place: str, **shapes: tuple[int, ...]) -> ShapeError:
    """The error when the kernel is called with arguments of these shapes."""
    program = parse(kernel)
    ndims = " ".join(f"{name}{len(shape)}" for name, shape in shapes.items())
    _, checks = infer_dimensions(program, ranks(program, ndims))
    (error,) = [c.explain(shapes) for c in checks if not c.holds(shapes)]
    assert points_at(error, place), error
    return error


# -- shapes that do not fit ------------------------------------------------------------------------


def test_an_index_of_two_sizes():
    def kernel(C, A, B):
        C[...] = 0
        for i, j, k in ...:
            C[i, j] += A[i, k] * B[k, j]

    error = mismatch(kernel, "B[k, j]", C=(0, 0), A=(3, 4), B=(5, 6))
    assert str(error).splitlines() == [
        "`k` is 4 in A[i, k] (mode 1 of A) but 5 in B[k, j] (mode 0 of B)",
        f'  File "{__file__}", line {error.at.line if error.at else 0}',
        "    C[i, j] += A[i, k] * B[k, j]",
        "                         ^^^^^^^",
        "why:  an index has one size wherever it is used",
    ]


def test_an_output_that_is_too_small():
    def kernel(y, x):
        for i in ...:
            y[i] += x[i]

    error = mismatch(kernel, "y[i]", y=(3,), x=(4,))
    assert error.message == "`i` is 4 in x[i] (mode 0 of x) but 3 in y[i] (mode 0 of y)"


def test_a_matrix_that_must_be_square():
    def kernel(s, A):
        s[...] = 0
        for i, j, k in ...:
            s[()] += A[i, j] * A[j, k]

    error = mismatch(kernel, "A[j, k]", s=(), A=(3, 4))
    assert error.message == "`j` is 4 in A[i, j] (mode 1 of A) but 3 in A[j, k] (mode 0 of A)"


def test_two_indices_that_meet_in_a_temporary():
    def kernel(y, A, x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i, j in ...:
            w[j] += A[i, j]
        y[...] = 0
        for k in ...:
            y[k] = w[k] * x[k]

    error = mismatch(kernel, "x[k]", y=(0,), A=(3, 4), x=(5,))
    assert error.message == "`j` is 4 in A[i, j] (mode 1 of A) but `k` is 5 in x[k] (mode 0 of x)"
    assert error.why == "`j` and `k` run over the same dimension"


def test_a_size_that_is_given():
    def kernel(y, x):
        ln.declare(y, 0, (4,))
        for i in ...:
            y[i] = x[i]

    error = mismatch(kernel, "x[i]", y=(0,), x=(5,))
    assert error.message == "`i` is 5 in x[i] (mode 0 of x) but mode 0 of y is 4"
    assert error.why == "both are the size of the same dimension"


def test_a_range_that_is_too_long():
    def kernel(y, A):
        y[...] = 0
        for i in range(2, 5):
            y[i] = A[i, 0]

    error = mismatch(kernel, "A[i, 0]", y=(0,), A=(4, 2))
    assert error.message == "`i` runs to 5 in A[i, 0] but mode 0 of A is 4"
    assert error.hint == "end the range at 4; `for i in ...` runs over a whole dimension"


def test_a_computed_range_that_begins_too_early():
    def kernel(y, x):
        for i in range(x.shape[0] - 3, 2):
            y[i] += 1

    error = mismatch(kernel, "y[i]", y=(9,), x=(1,))
    assert error.message == "`i` starts at -2 in y[i]"
    assert error.why == "indices start at 0"


def test_a_negative_size():
    def kernel(y, x):
        ln.declare(y, 0, (x.shape[0] - 2,))
        y[0] = 1

    error = mismatch(kernel, "ln.declare(y, 0, (x.shape[0] - 2,))", y=(0,), x=(1,))
    assert error.message == "mode 0 of y is declared with size -1"


# -- what no arguments can fit ---------------------------------------------------------------------


def test_a_range_beyond_a_range():
    def kernel(y, z):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in range(4):
            w[i] = 1
        for i in range(5):
            z[i] += w[i]

    error = refused(kernel, "y1 z1", "w[i]")
    assert error.message == "`i` runs to 5 in w[i] but mode 0 of w is 4"


def test_a_negative_start():
    def kernel(y):
        for i in range(-1, 3):
            y[i] += 1

    error = refused(kernel, "y1", "y[i]")
    assert error.message == "`i` starts at -1 in y[i]"
    assert error.hint == "begin the range at 0 and write the offset in the index, as in A[i + 1]"


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_the_wrong_number_of_indices(rank: int):
    def kernel(y, A):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j]

    error = refused(kernel, f"y1 A{rank}", "A[i, j]")
    words = {0: "0 dimensions", 1: "1 dimension", 3: "3 dimensions"}[rank]
    assert error.message == f"A[i, j] has 2 indices but A has {words}"
    hints = {0: "A is a scalar: write A[()]", 1: "give A 1 index", 3: "give A 3 indices"}
    assert error.hint == hints[rank]


def test_the_wrong_number_of_indices_of_what_is_written():
    def kernel(y, x):
        for i in ...:
            y[i] += x[i]

    error = refused(kernel, "y2 x1", "y[i]")
    assert error.message == "y[i] has 1 index but y has 2 dimensions"


def test_the_wrong_number_of_sizes():
    def kernel(y):
        ln.declare(y, 0, (2, 3))

    error = refused(kernel, "y1", "ln.declare(y, 0, (2, 3))")
    assert error.message == "the declaration has 2 sizes but y has 1 dimension"


def test_a_dimension_that_does_not_exist():
    def kernel(y, A):
        y[...] = 0
        for i in range(A.shape[2]):
            y[i] = 1

    error = refused(kernel, "y1 A2", "for i in range(A.shape[2])")
    assert error.message == "A.shape[2] does not exist: A has 2 dimensions"


def test_a_range_that_does_not_end_at_an_integer():
    def kernel(y, x):
        y[...] = 0
        for i in range(x.shape[0] / 2):
            y[i] = x[2 * i]

    error = refused(kernel, "y1 x1", "for i in range(x.shape[0] / 2)", DTypeError)
    assert error.message == "x.shape[0] / 2 is not an integer"
    assert error.hint == "the ends of a range, and sizes, are integers: divide with //"


# -- what cannot be found --------------------------------------------------------------------------


def test_an_index_without_a_dimension():
    def kernel(y, x):
        for i in ...:
            y[0] += x[i + 1]

    error = refused(kernel, "y1 x1", "for i in ...")
    assert str(error).splitlines() == [
        "cannot tell how far `i` runs",
        f'  File "{__file__}", line {error.at.line if error.at else 0}',
        "    for i in ...:",
        "    ^^^^^^^^^^^^",
        "why:  no tensor whose size is known has `i` alone as an index",
        "try:  say it with a range: for i in range(n)",
    ]


def test_an_index_that_only_runs_over_what_is_permissive():
    def kernel(y, x):
        for i in ...:
            y[0] += x[~i]

    error = refused(kernel, "y1 x1", "for i in ...")
    assert error.message == "cannot tell how far `i` runs"


def test_a_temporary_without_a_size():
    def kernel(y, x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            w[x[i]] += 1
        for i in ...:
            y[i] += w[x[i]]

    error = refused(kernel, "y1 x1", "w[...] = 0")
    assert error.message == "cannot tell the size of mode 0 of w"
    assert (
        error.why == "no index whose extent is known stands alone in that mode where w is written"
    )
    assert error.hint == "write to w in a loop with a range: for i in range(n)"


def test_a_loop_that_only_fills_a_temporary():
    def kernel(y):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            w[i] += 1
        y[0] += w[0]

    error = refused(kernel, "y1", "w[...] = 0")
    assert error.message == "cannot tell the size of mode 0 of w"


def test_a_triangle_in_a_temporary():
    def kernel(y, A):
        w = ln.temp(MATRIX)
        w[...] = 0
        for i in ...:
            for j in range(i):
                w[i, j] = A[i, j]
        y[0] += w[0, 0]

    error = refused(kernel, "y1 A2", "w[...] = 0")
    assert error.message == "cannot tell the size of mode 1 of w"


def test_an_old_dimension_after_a_new_declaration():
    def kernel(x):
        w = ln.temp(MATRIX)
        w[...] = 0
        for i, j in ...:
            w[j, i] = x[i, j]
        x[...] = 0
        for k, l in ...:
            x[k, l] = w[k, l]

    error = refused(kernel, "x2", "for k, l in ...")
    assert error.message == "cannot tell how far `k` runs"
    assert error.why == "it is mode 1 of x before x was declared anew"
    assert error.hint == "name it before that, n = x.shape[1], and use range(n)"


def test_a_size_outside_the_loop_that_computes_it():
    def kernel(y, z, x):
        for k in ...:
            y[...] = 0
            for i in range(k):
                y[i] = x[k]
        for i in ...:
            z[()] += y[i]

    error = refused(kernel, "y1 z0 x1", "y[i]")
    assert error.message == "cannot tell before the kernel runs which size y[i] has"


def test_a_computed_size_beside_a_dimension():
    def kernel(y, z, n):
        y[...] = 0
        for i in range(n[()]):
            y[i] = 1
        for i in ...:
            z[i] += y[i]

    error = refused(kernel, "y1 z1 n0", "z[i]")
    assert error.message == (
        "cannot tell before the kernel runs whether y[i] and z[i] have one size"
    )
    assert error.why == "one of them has the size of a range that is computed in the kernel"
    assert error.hint == "give `i` that range here, too"


# -- life cycles that leave no dimension -----------------------------------------------------------


def test_a_temporary_outside_its_block():
    def kernel(y, x):
        w = ln.temp(VECTOR)
        for i in ...:
            w[...] = 0
            w[i] = x[i]
        for i in ...:
            y[i] += w[i]

    error = refused(kernel, "y1 x1", "w[i]", LifecycleError)
    assert error.message == "w is used outside the block that declares it"


def test_a_temporary_that_is_never_declared():
    read = loops.Assign(loops.Access("y", ()), None, loops.Access("w", ()))
    program = loops.Program("f", ("y",), (), read, ())
    with pytest.raises(LifecycleError, match="w is used before it is declared"):
        infer_dimensions(program, {"y": 0, "w": 0})


# -- programs that no front end writes -------------------------------------------------------------


def test_an_index_without_a_loop():
    write = loops.Assign(loops.Access("y", (loops.Index("i"),)), None, loops.Literal(1))
    program = loops.Program("f", ("y",), (), write, ())
    with pytest.raises(InternalError, match="`i` is not the index of a loop here"):
        infer_dimensions(program, {"y": 1})


def test_a_tensor_without_a_rank():
    write = loops.Assign(loops.Access("y", ()), None, loops.Access("z", ()))
    program = loops.Program("f", ("y",), (), write, ())
    with pytest.raises(InternalError, match="the number of dimensions of z is not known"):
        infer_dimensions(program, {"y": 0})
