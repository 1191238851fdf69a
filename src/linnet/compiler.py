"""The whole compiler on one screen: from a loop program and the formats of tensors to a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from linnet import imp, loops
from linnet.algebra.codelets import with_codelets
from linnet.formats.format import Format
from linnet.formats.policies import Policy
from linnet.imp.check import check as check_code
from linnet.imp.prescribed import check_vectors
from linnet.imp.simplify import simplify as simplify_code
from linnet.loops.check import check as check_loops
from linnet.loops.check import check_dimensions, check_modes, check_unique
from linnet.loops.rewrite import walk as loops_walk
from linnet.lower.arrays import Arrays, bind, is_narrow
from linnet.lower.program import Lowered, lower
from linnet.normalize.choice import Choice, Unpacking
from linnet.normalize.concordance import Warned, concordize
from linnet.normalize.declarations import begin_results
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.dtypes import infer_dtypes
from linnet.normalize.leading import check_stored
from linnet.normalize.leaving import leave_together
from linnet.normalize.lifecycles import insert_lifecycles
from linnet.normalize.reaches import reach_checks
from linnet.normalize.rooms import choose_rooms
from linnet.normalize.scalars import specialize_scalars
from linnet.normalize.scopes import name_scopes
from linnet.normalize.shape_checks import Check
from linnet.normalize.stored import order_positions
from linnet.normalize.swaps import check_swaps
from linnet.normalize.symmetry import split_symmetric
from linnet.normalize.unpack import unpack_vectors
from linnet.normalize.workspaces import Decide, by_place, insert_workspaces
from linnet.optimize.growing import check_growth
from linnet.optimize.hoist import raise_flags
from linnet.optimize.own_arrays import own_arrays
from linnet.optimize.parts import whole_parts
from linnet.optimize.table import improve
from linnet.optimize.vectorize import vectorize
from linnet.options import current
from linnet.records import dataclass
from linnet.scheduling.apply import apply_schedule
from linnet.scheduling.races import check_races
from linnet.scheduling.walked import check_walked
from linnet.stages import recorded, stage
from linnet.target import Target

Formats = dict[str, Format]


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
    choices: tuple[tuple[Choice | Unpacking, str], ...] = ()  # workspaces, and the kind of each


def normalize(
    program: loops.Program,
    formats: Formats,
    decide: Decide = by_place,
    policy: Policy | None = None,
) -> Normalized:
    """Say what the user left unsaid. Every line takes a program and returns a new one."""
    given = program, formats
    program, results, checks, reaches = under_schedule(program, formats)
    program, results = leave_together(program, results)
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
    checks, choices = (*checks, *reaches), (*rooms.choices, *inserted.choices)
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
    check_races(program)
    program, formats = apply_schedule(program, formats, written, checks, final)
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
    """Lower a normalized program to imperative code for a target. Every line returns new code."""
    program = specialize_scalars(normalized.program, normalized.formats)
    bound = bind(program, normalized.formats, arrays)
    lowered = lower(program, bound, normalized.checks)
    code = simplify_code(lowered.kernel)
    code = own_arrays(code, {name for name, _ in program.temporaries})
    code = raise_flags(code) if "raise_flags" not in current().without else code
    code = whole_parts(code)
    check_vectors(code)
    code = improve(code, target, partial(checked, target))
    check_growth(code, target)
    code = replace(with_codelets(code, target), narrow=is_narrow(bound))
    code = stage("vectorize", vectorize(code, target))
    checked(target, code)
    return replace(lowered, kernel=stage("code", code))


def checked(target: Target, code: imp.Kernel) -> None:
    """With `check` on, prove code to be legal; it need not carry all codelets yet."""
    if current().check:
        check_code(with_codelets(code, target))
