"""The whole compiler on one screen: from a loop program and the formats of tensors to a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from linnet import imp, loops
from linnet.algebra.codelets import resolve
from linnet.algebra.elementary import is_vectorized
from linnet.backend.reductions import gathers
from linnet.formats.format import Format
from linnet.formats.policies import Policy
from linnet.formats.row_lengths import UNEVEN, Rows
from linnet.imp.ahead import compute_ahead
from linnet.imp.along_rows import along_rows, vectors_along_rows
from linnet.imp.append_anyway import append_anyway
from linnet.imp.append_at_once import append_at_once
from linnet.imp.ask_ahead import ask_ahead
from linnet.imp.check import check as check_code
from linnet.imp.consecutive import Known
from linnet.imp.count_anyway import count_anyway
from linnet.imp.either import either
from linnet.imp.end_fibers import end_fibers
from linnet.imp.fewer_tests import fewer_tests
from linnet.imp.foresee import foresee
from linnet.imp.full_strips import full_strips
from linnet.imp.fuse_ranges import fuse_ranges
from linnet.imp.growing import check_growth
from linnet.imp.hand_over import hand_over
from linnet.imp.hoist import hoist
from linnet.imp.hold_rows import hold_rows
from linnet.imp.in_fours import in_fours
from linnet.imp.jam import jam
from linnet.imp.keep_room import keep_room
from linnet.imp.leave_at_once import leave_at_once
from linnet.imp.list_flags import list_flags
from linnet.imp.own_arrays import own_arrays
from linnet.imp.own_sums import own_sums
from linnet.imp.prescribed import check_vectors, obeys, prescribed
from linnet.imp.raise_flags import raise_flags
from linnet.imp.reserve_ahead import reserve_ahead
from linnet.imp.rewrite import walk
from linnet.imp.rows_ahead import rows_ahead
from linnet.imp.scatter_ahead import scatter_ahead
from linnet.imp.several_places import several_places
from linnet.imp.simplify import simplify as simplify_code
from linnet.imp.single_rows import single_rows
from linnet.imp.skip_ahead import skip_ahead
from linnet.imp.strips import strips
from linnet.imp.sums_ahead import sums_ahead
from linnet.imp.two_sums import two_sums
from linnet.imp.uneven_rows import uneven_rows
from linnet.imp.walk_together import walk_together
from linnet.imp.whole_parts import whole_parts
from linnet.imp.whole_tiles import whole_tiles
from linnet.loops.check import check as check_loops
from linnet.loops.check import check_dimensions, check_modes, check_unique
from linnet.loops.rewrite import walk as loops_walk
from linnet.lower.program import Lowered, lower
from linnet.lower.storage import Bound
from linnet.normalize.choice import Choice, Unpacking
from linnet.normalize.concordance import Warned, concordize
from linnet.normalize.declarations import begin_results
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.dtypes import infer_dtypes
from linnet.normalize.leading import check_stored
from linnet.normalize.lifecycles import insert_lifecycles, updated_params
from linnet.normalize.reaches import reach_checks
from linnet.normalize.rooms import choose_rooms
from linnet.normalize.row_sums import row_sums
from linnet.normalize.scalars import specialize_scalars
from linnet.normalize.scopes import name_scopes
from linnet.normalize.shape_checks import Check
from linnet.normalize.stored import order_positions
from linnet.normalize.swaps import check_swaps
from linnet.normalize.symmetry import split_symmetric
from linnet.normalize.unpack import unpack_vectors
from linnet.normalize.workspaces import Decide, by_place, insert_workspaces
from linnet.options import current
from linnet.records import dataclass
from linnet.scheduling.apply import apply_schedule
from linnet.scheduling.races import check_races
from linnet.scheduling.walked import check_walked
from linnet.stages import recorded, stage
from linnet.target import Target

Formats = dict[str, Format]
Arrays = dict[str, tuple[str, ...]]
"""The dtypes of each tensor's arrays, outermost level first."""


@dataclass(frozen=True, slots=True)
class Normalized:
    """A program in which nothing is left unsaid, and what must hold when it is called.

    `formats` are those in which tensors are written, `results` those in which they are handed out.
    `declares` have the sizes of tensors as the user says them, without searches.
    """

    program: loops.Program
    formats: Formats
    results: Formats
    checks: tuple[Check, ...]
    warnings: tuple[Warned, ...]
    declares: dict[str, loops.Declare]
    # workspaces and rows, and the kind of each
    choices: tuple[tuple[Choice | Unpacking | Rows, str], ...] = ()


def normalize(
    program: loops.Program,
    formats: Formats,
    decide: Decide = by_place,
    policy: Policy | None = None,
) -> Normalized:
    """Say what the user left unsaid. Every line takes a program and returns a new one."""
    given = program, formats
    program, results, checks, reaches = under_schedule(program, formats)
    formats = results
    program, formats = split_symmetric(program, formats, checks)
    program = passed("symmetry", program, check_unique)
    rooms = choose_rooms(program, formats, decide)
    inserted = insert_workspaces(rooms.program, rooms.formats, decide, policy)
    inserted = unpack_vectors(inserted, decide)
    stage("results", "\n".join((*rooms.notes, *inserted.notes)))
    program, formats = passed("workspaces", inserted.program, check_unique), inserted.formats
    declares = _declarations(program)
    # after workspaces: what they copy is in order, and only the rest is made so
    program, warnings = concordize(program, formats, checks)
    if warnings and given[0].schedule:
        check_walked(given[0].schedule, warnings, _without_schedule(*given, decide, policy))
    program = passed("concordance", program, check_unique)
    program = passed("lifecycles", insert_lifecycles(program), check_modes)
    stage("formats", formats)
    rows = row_sums(program, formats, decide)
    checks, choices = (*checks, *reaches), (*rooms.choices, *inserted.choices, *rows)
    return Normalized(program, formats, results, checks, warnings, declares, choices)


def _without_schedule(
    program: loops.Program, formats: Formats, decide: Decide, policy: Policy | None
) -> tuple[Warned, ...]:
    """What is to be warned of in a program without its commands."""
    with recorded():  # whoever looks at the stages sees those of the program as it is
        return normalize(replace(program, schedule=()), formats, decide, policy).warnings


def under_schedule(
    program: loops.Program, formats: Formats, final: bool = True
) -> tuple[loops.Program, Formats, tuple[Check, ...], tuple[Check, ...]]:
    """The program after its schedule, the formats of results, and what must hold in a call.

    The commands come as soon as dimensions, names and dtypes are known. More may follow if these
    are not `final`.
    """
    formats = formats | dict(program.temporaries)
    ndims = {name: format.ndim for name, format in formats.items()}
    program = order_positions(program, formats)
    # dimensions before scopes, so that errors speak of the user's names
    program, checks = infer_dimensions(program, ndims)
    program = passed("dimensions", program, check_dimensions)
    reaches = reach_checks(program, formats)
    program, checks = begin_results(program, checks)
    written = program
    program = passed("scopes", name_scopes(program), check_unique)
    formats = infer_dtypes(program, formats)
    check_swaps(program, formats)
    check_stored(program, formats, checks)
    program, formats = apply_schedule(program, formats, written, checks, final)
    check_races(program)
    return program, formats, checks, reaches


def _declarations(program: loops.Program) -> dict[str, loops.Declare]:
    """The last declaration of each tensor."""
    return {n.tensor: n for n in loops_walk(program.body) if isinstance(n, loops.Declare)}


def passed(
    name: str, program: loops.Program, holds: Callable[[loops.Program], None]
) -> loops.Program:
    """The result of a pass: noted for who looks, and with `check` on proven to be legal."""
    if current().check:
        check_loops(program)
        holds(program)
    return stage(name, program)


def generate(normalized: Normalized, arrays: Arrays, target: Target) -> Lowered:
    """Lower a normalized program to imperative code for a target."""
    formats = normalized.formats
    program = specialize_scalars(normalized.program, formats)
    bound = bind(program, formats, arrays)
    lowered = lower(program, bound, normalized.checks)
    # sums of uneven rows end under a mask
    known = Known.of(lowered.kernel, uneven_of(normalized) if target.masks else frozenset(), target)
    temporaries = {name for name, _ in program.temporaries}
    kernel = raise_flags(own_arrays(simplify_code(lowered.kernel), temporaries))
    kernel = vectors_along_rows(whole_parts(kernel))
    check_vectors(kernel)
    kernel = improve(kernel, known)
    check_growth(kernel, target)
    kernel = replace(prune_codelets(add_codelets(kernel, target)), narrow=is_narrow(bound))
    if current().check:
        check_code(kernel)
    return replace(lowered, kernel=stage("code", kernel))


def bind(program: loops.Program, formats: Formats, arrays: Arrays) -> dict[str, Bound]:
    """The tensors of a program as its code has them."""
    updated = {*updated_params(program), *(name for name, _ in program.temporaries)}
    bound = {
        name: Bound(formats[name], arrays[name], name in updated)
        for name in (*program.params, *(name for name, _ in program.temporaries))
    }
    return bound | narrow_counts(program, bound) if is_narrow(bound) else bound


def improve(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """Rearrange simplified code as an expert would.

    A schedule goes before that: what it says of how a loop is run holds afterwards, too.
    """
    better, asked = kernel, prescribed(kernel)
    for step in _STEPS:
        changed = step(better, known)
        if not asked or changed is better or obeys(changed, better):
            better = changed
    return kernel if better is kernel else simplify_code(better)


_STEPS: tuple[Callable[[imp.Kernel, Known], imp.Kernel], ...] = (
    lambda kernel, _: hoist(raise_flags(hand_over(kernel))),
    lambda kernel, _: sums_ahead(kernel),
    end_fibers,
    fuse_ranges,
    reserve_ahead,
    append_at_once,
    append_anyway,
    lambda kernel, _: either(count_anyway(list_flags(keep_room(kernel)))),
    lambda kernel, _: along_rows(walk_together(kernel)),
    lambda kernel, _: hold_rows(kernel),
    lambda kernel, _: jam(kernel),
    lambda kernel, _: own_sums(kernel),
    lambda kernel, _: whole_tiles(kernel),
    full_strips,
    lambda kernel, _: strips(kernel),
    lambda kernel, _: leave_at_once(fewer_tests(kernel)),
    lambda kernel, known: compute_ahead(kernel, partial(is_vectorized, target=known.target)),
    lambda kernel, known: ask_ahead(kernel) if known.target.prefetches else kernel,
    lambda kernel, known: rows_ahead(kernel, known) if known.target.prefetches else kernel,
    lambda kernel, known: scatter_ahead(kernel, known) if known.target.prefetches else kernel,
    lambda kernel, _: two_sums(kernel),
    single_rows,
    in_fours,
    lambda kernel, _: skip_ahead(kernel),
    lambda kernel, _: several_places(kernel, gathers),
    lambda kernel, _: foresee(kernel),
    lambda kernel, known: uneven_rows(kernel, known, gathers),
)


def uneven_of(normalized: Normalized) -> frozenset[str]:
    """The tensors whose rows are known to be uneven."""
    rows = [(c.name, kind) for c, kind in normalized.choices if isinstance(c, Rows)]
    return frozenset(name for name, kind in rows if kind == UNEVEN)


def is_narrow(bound: dict[str, Bound]) -> bool:
    """Whether positions in some result have 32 bits."""
    for tensor in bound.values():
        roles = [array.role for level in tensor.format.levels for array in level.arrays]
        if tensor.updated and ("position", "int32") in zip(roles, tensor.dtypes, strict=True):
            return True
    return False


def narrow_counts(program: loops.Program, bound: dict[str, Bound]) -> dict[str, Bound]:
    """The tensors that count entries of fibers, in 32 bits: a fiber has no more than its size."""
    nodes = loops_walk(program.body)
    counts = {n.counts for n in nodes if isinstance(n, loops.Declare) and n.counts is not None}
    return {
        name: replace(bound[name], format=bound[name].format.with_dtype("int32"), dtypes=("int32",))
        for name in counts
    }


def add_codelets(kernel: imp.Kernel, target: Target) -> imp.Kernel:
    """Compile the codelets that functions of the table are made of, where they are called."""
    registry = {f.name: f for f in kernel.codelets}
    body = resolve(kernel.body, registry, target)
    return replace(kernel, body=body, codelets=tuple(registry.values()))


def prune_codelets(kernel: imp.Kernel) -> imp.Kernel:
    """Drop the codelets that are not called, now that the code is simple."""
    called = {n.function for n in walk(kernel.body) if isinstance(n, imp.Call)}
    kept = []
    for function in reversed(kernel.codelets):  # callers come after what they call
        if function.name in called:
            called |= {n.function for n in walk(function.body) if isinstance(n, imp.Call)}
            kept.append(function)
    return replace(kernel, codelets=tuple(reversed(kept)))
