"""The reference interpreter against NumPy, and its rules one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp, loops
from linnet.algebra.dtypes import DTYPES
from linnet.algebra.table import FUNCTIONS
from linnet.errors import DTypeError, IndexBoundsError, InternalError
from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.named import CSR, stack
from linnet.formats.sparse_list import SparseList
from linnet.frontend.text import parse_text
from linnet.loops.cells import DenseTensor
from linnet.loops.interpret import run
from linnet.loops.rewrite import rewrite_stmt

rng = np.random.default_rng(0)


def interpret(text: str, **arrays: object) -> dict[str, np.ndarray]:
    """The tensors of a kernel after it has run."""
    tensors = {
        name: a if isinstance(a, DenseTensor) else DenseTensor(np.asarray(a))
        for name, a in arrays.items()
    }
    return {name: t.values for name, t in run(parse_text(text), tensors).items()}


def integers(*shape: int) -> np.ndarray:
    return rng.integers(-5, 5, shape)


# -- programs --------------------------------------------------------------------------------------


def test_matrix_vector_product():
    A, x = integers(3, 4), integers(4)
    found = interpret("""
        ln.declare(y, 0, (A.shape[0],))
        for i in range(A.shape[0]):
            for j in range(x.shape[0]):
                y[i] += A[i, j] * x[j]
    """, y=integers(0), A=A, x=x)  # fmt: skip
    assert (found["y"] == A @ x).all()


def test_gustavson():
    A, B = integers(3, 4), integers(4, 5)
    found = interpret("""
        w = ln.temp(ln.SparseByteMap(ln.Element(0, "int64")))
        ln.declare(C, 0, (A.shape[0], B.shape[1]))
        for i in range(A.shape[0]):
            ln.declare(w, 0, (B.shape[1],))
            for k in range(A.shape[1]):
                for j in range(B.shape[1]):
                    w[j] += A[i, k] * B[k, j]
            ln.freeze(w)
            for j in range(B.shape[1]):
                C[i, j] = w[j]
    """, C=integers(0, 0), A=A, B=B)  # fmt: skip
    assert (found["C"] == A @ B).all()


def test_conditions_lets_and_scalars():
    x = integers(20)
    found = interpret("""
        ln.declare(low, 100, ())
        ln.declare(count, 0, ())
        for i in range(x.shape[0]):
            d = x[i] * 2
            if d < 0 and i % 2 == 0:
                low[()] = min(low[()], d)
            elif d >= 0:
                count[()] += 1
    """, low=np.int64(0), count=np.int64(0), x=x)  # fmt: skip
    even = x[::2] * 2
    assert found["low"] == min(100, *even[even < 0])
    assert found["count"] == (x >= 0).sum()


def test_arguments_are_left_alone():
    y = np.ones(3)
    found = interpret("for i in range(y.shape[0]): y[i] += 1", y=y)
    assert found["y"].tolist() == [2, 2, 2]
    assert y.tolist() == [1, 1, 1]


def test_empty_loops():
    found = interpret("for i in range(3, 1): y[i] = 1", y=np.zeros(3))
    assert found["y"].tolist() == [0, 0, 0]
    assert interpret("ln.declare(y, 0, (3 - 5, 2))", y=np.zeros((1, 1)))["y"].shape == (0, 2)


# -- types -----------------------------------------------------------------------------------------

BINARY = "add multiply subtract divide floor_divide minimum maximum bitwise_and".split()


@given(st.sampled_from(BINARY), st.sampled_from(DTYPES), st.sampled_from(DTYPES), st.data())
def test_functions_on_all_types(name: str, left: str, right: str, data: st.DataObject):
    f = FUNCTIONS[name]
    a = np.array(data.draw(st.integers(0, 1 if left == "bool" else 100)), left)
    b = np.array(data.draw(st.integers(1, 1 if right == "bool" else 100)), right)
    try:
        expected = f.types((left, right))[1]
    except DTypeError:
        return
    found = interpret(f"y[()] = ln.{name}(a[()], b[()])", y=np.array(0, expected), a=a, b=b)["y"]
    with np.errstate(all="ignore"):
        assert found == f.numpy(a, b)


def test_integers_wrap():
    y = interpret("y[()] += x[()]\ny[()] += x[()]", y=np.int8(100), x=np.int8(100))["y"]
    assert y == np.int8(44)
    assert interpret("y[()] = x[()] * x[()]", y=np.uint8(0), x=np.uint8(20))["y"] == 144


def test_division_by_zero():
    assert interpret("y[()] = x[()] // 0", y=np.int64(5), x=np.int64(3))["y"] == 0
    assert interpret("y[()] = x[()] % z[()]", y=np.int64(5), x=np.int64(3), z=np.int64(0))["y"] == 0
    assert interpret("y[()] = x[()] / 0", y=np.float64(5), x=np.float64(3))["y"] == np.inf


def test_python_numbers_take_the_type_of_their_company():
    y = interpret("y[()] = x[()] + 0.1", y=np.float64(0), x=np.float32(0.2))["y"]
    assert y == np.float64(np.float32(0.2) + np.float32(0.1))
    with pytest.raises(DTypeError, match="the value 300 does not fit the dtype int8"):
        interpret("y[()] = x[()] + 300", y=np.int8(0), x=np.int8(0))


def test_an_update_computes_in_the_common_type():
    assert interpret("y[()] += x[()]", y=np.int64(3), x=np.float64(1.7))["y"] == 4
    assert interpret("y[()] *= 0.5", y=np.float32(3))["y"].dtype == np.float32


def test_a_number_as_a_condition():
    assert interpret("if x[()]: y[()] = 1", y=np.int64(0), x=np.float64(np.nan))["y"] == 1
    assert interpret("y[()] = not x[()]", y=np.bool_(0), x=np.float64(0.5))["y"] == np.False_


# -- bounds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["i + 1", "i - 1", "5"])
def test_out_of_bounds(index: str):
    with pytest.raises(IndexBoundsError) as caught:
        interpret(f"for i in range(3): y[i] = x[{index}]", y=np.zeros(3), x=np.zeros(3))
    assert caught.value.at.text.strip().endswith(f"x[{index}]")
    assert "is out of bounds for dimension 0 of x, which has size 3" in caught.value.message


def test_what_is_not_computed_is_not_out_of_bounds():
    text = "for i in range(3): y[i] = {}"
    y, x = np.zeros(3), np.arange(3.0)
    found = interpret(text.format("x[i - 1] if i > 0 else 7"), y=y, x=x)["y"]
    assert found.tolist() == [7, 0, 1]
    found = interpret(text.format("i > 0 and x[i - 1] > 0"), y=y, x=x)["y"]
    assert found.tolist() == [0, 0, 1]
    found = interpret(text.format("i == 0 or x[i - 1] > 0"), y=y, x=x)["y"]
    assert found.tolist() == [1, 0, 1]


def test_permissive_accesses():
    text = "for i in range(3): y[i] = ln.coalesce(x[~(i - 1)] * 2, z[~(i + 1)], 9)"
    found = interpret(text, y=np.zeros(3), x=np.arange(1.0, 3), z=np.arange(1.0, 2))["y"]
    assert found.tolist() == [9, 2, 4]
    with pytest.raises(IndexBoundsError, match="a value outside the bounds of a tensor is used"):
        interpret("y[0] = x[~5]", y=np.zeros(3), x=np.zeros(3))


def test_an_index_is_an_integer():
    with pytest.raises(DTypeError, match="an index is an integer, not float64"):
        interpret("y[0] = x[y[0]]", y=np.zeros(3), x=np.zeros(3))


# -- what is not stored ----------------------------------------------------------------------------


def sparse(values: np.ndarray, fill: float = 0.0) -> DenseTensor:
    return DenseTensor(values, fill, stack(SparseList(Element(fill))), values != fill)


SUM = "for i in range(x.shape[0]): y[()] = y[()] {} x[i] * z[i]"
NAN = np.array([np.nan, 1.0, np.inf])


def test_what_is_not_stored_takes_no_part():
    x = np.array([0.0, 2.0, 0.0])
    assert interpret(SUM.format("+"), y=np.float64(0), x=sparse(x), z=NAN)["y"] == 2
    assert np.isnan(interpret(SUM.format("+"), y=np.float64(0), x=x, z=NAN)["y"])


def test_a_number_that_the_user_wrote_follows_ieee():
    assert np.isnan(interpret("y[()] = 0 * z[0]", y=np.float64(0), z=NAN)["y"])


def test_other_fills():
    x = np.array([1.0, 2.0, 1.0])
    text = "for i in range(3): y[i] = x[i] ** z[i]"
    found = interpret(text, y=np.zeros(3), x=sparse(x, 1.0), z=NAN)
    assert found["y"].tolist() == [1, 2, 1]


def test_lets_keep_what_is_known():
    text = "for i in range(3):\n    d = x[i]\n    y[()] += d * z[i]"
    assert interpret(text, y=np.float64(0), x=sparse(np.array([0.0, 2.0, 0.0])), z=NAN)["y"] == 2


@pytest.mark.parametrize("test", ["z[1] > 0", "z[1] > 0 and x[1] == 0", "True"])
def test_a_choice_is_what_it_chooses(test):
    chosen = {"x[0]": 0.0, "0.0": np.nan, "z[2]": np.nan}
    for value, result in chosen.items():
        text = f"y[()] = ({value} if {test} else 1) * z[0]"
        found = interpret(text, y=np.float64(0), x=sparse(np.zeros(3)), z=NAN)["y"]
        assert np.array_equal(found, result, equal_nan=True), value


@pytest.mark.parametrize("test", ["x[1] == 0", "step < 2", "step < 2 and x[1] == 0"])
def test_a_number_that_is_chosen_by_what_is_known_is_known(test):
    text = f"for step in range(1): y[()] = (0.0 if {test} else 1) * z[0]"
    assert interpret(text, y=np.float64(1), x=sparse(np.zeros(3)), z=NAN)["y"] == 0


def test_a_test_of_indices_is_known():
    text = "for i in range(3): y[i] = (i < 1) * z[0]"
    assert interpret(text, y=np.ones(3), z=NAN)["y"].tolist()[1:] == [0, 0]
    text = "for i in range(3): y[i] = (z[1] > 5 and i < 1) * z[0]"
    assert np.isnan(interpret(text, y=np.ones(3), z=NAN)["y"][0])


def test_temporaries_know_what_was_written():
    text = """
        w = ln.temp({})
        ln.declare(w, 0, (3,))
        w[1] += 2
        ln.freeze(w)
        for i in range(3):
            y[()] += w[i] * z[i]
    """
    level = "ln.SparseList(ln.Element(0.0))"
    assert interpret(text.format(level), y=np.float64(0), z=NAN)["y"] == 2
    level = "ln.Dense(ln.Element(0.0))"
    assert np.isnan(interpret(text.format(level), y=np.float64(0), z=NAN)["y"])


def test_full_levels_below_are_stored_together():
    format = stack(SparseList(Dense(Element(0.0))))
    given = DenseTensor(np.zeros((2, 2)), 0.0, format)
    program = parse_text("ln.declare(w, 0, (2, 2))\nw[1, 0] = 3")
    assert run(program, {"w": given})["w"].stored.tolist() == [[False, False], [True, True]]
    given = DenseTensor(np.zeros((2, 2)), 0.0, CSR)
    assert run(program, {"w": given})["w"].stored.tolist() == [[False, False], [True, False]]


def test_writing_what_is_there_anyway_stores_nothing():
    text = "ln.declare(y, 0, (3,))\nfor i in range(3): y[i] {} x[i]"
    x, y = sparse(np.array([0.0, 2.0, 0.0])), sparse(np.zeros(3))
    for update in ("=", "+="):
        program = parse_text(text.format(update))
        assert run(program, {"y": y, "x": x})["y"].stored.tolist() == [False, True, False]
        full = DenseTensor(x.values)
        assert run(program, {"y": y, "x": full})["y"].stored.tolist() == [True, True, True]


# -- what it does not take -------------------------------------------------------------------------


def test_a_program_without_dimensions():
    with pytest.raises(InternalError, match="the loop over i has no extent"):
        interpret("for i in ...: y[i] = 1", y=np.zeros(3))
    with pytest.raises(InternalError, match="the declaration of y has no dimensions"):
        interpret("y[...] = 1", y=np.zeros(3))


def test_a_program_that_is_code():
    value = loops.Value(imp.Const(1, "int64"))
    program = parse_text("y[()] = 1")
    rule = lambda e: value if isinstance(e, loops.Literal) else None  # noqa: E731
    body = rewrite_stmt(program.body, on_expr=rule)
    with pytest.raises(InternalError, match="already code"):
        run(loops.Program("k", ("y",), (), body, ()), {"y": DenseTensor(np.zeros(()))})


def test_a_test_of_indices_within_a_test_of_indices():
    text = "for i in range(3): y[i] = 1 if (0 if i < 1 else 2) == 0 else 5"
    assert interpret(text, y=np.zeros(3))["y"].tolist() == [1, 5, 5]
