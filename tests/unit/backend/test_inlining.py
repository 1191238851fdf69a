"""Which codelets LLVM is told to inline, and which not to."""

from collections import Counter

from linnet import imp
from linnet.backend.inlining import ALWAYS, NEVER, PERHAPS, RARELY, inlining
from linnet.backend.survey import Survey, survey
from linnet.codelets.named import instantiate

INDICES, FLAGS, INT = "int32*", "bool*", "int64"


def told(name: str, *types: str, places: int = 1) -> dict[str, str]:
    registry: dict[str, imp.Function] = {}
    function = instantiate(name, types, registry)
    rare = {name for name, f in registry.items() if f.rare}
    kernel = Survey(places=Counter({function.name: places}))
    return inlining(kernel, {name: survey(f) for name, f in registry.items()}, rare)


def test_what_is_short_is_always_inlined():
    assert told("search", INDICES, INT, INT, INT) == {"search_i32": ALWAYS}


def test_a_loop_is_inlined_at_a_few_places():
    search = ("search", INDICES, INT, INT, INT)
    assert told(*search, places=4)["search_i32"] == ALWAYS
    assert told(*search, places=5)["search_i32"] == NEVER


def test_what_has_no_loop_is_inlined_at_any_number_of_places():
    found = told("sort", INDICES, INT, INT, places=100)
    assert found["pivot_i32"] == found["median_i64"] == ALWAYS


def test_a_loop_inside_of_a_loop_is_called_and_so_is_what_calls_it():
    found = told("order", FLAGS, INT, INDICES, INT, INDICES, INT)
    assert found["ascends_i32"] == found["follow_i32"] == ALWAYS
    for name in ("sort_by_bits_i32_i32", "sweep_b_i32", "order_b_i32_i32"):
        assert found[name] == NEVER


def test_what_is_hardly_ever_called_is_not_optimized():
    assert told("sort", INDICES, INT, INT)["heapsort_i32"] == RARELY
    assert told("sort_pairs", INDICES, INDICES, INT, INT)["heapsort_pairs_i32_i32"] == RARELY


def test_of_what_is_long_but_has_plain_loops_llvm_decides():
    found = told("group_by_position", INDICES, INT, INDICES, INT, INDICES)
    assert found == {"group_by_position_i32_i32_i32": PERHAPS}
