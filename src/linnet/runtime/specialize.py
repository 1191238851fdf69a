"""From a kernel and the tensors it is called with to an `Entry`: compiled, or from the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet import backend, imp, loops, target
from linnet.algebra.dtypes import Number
from linnet.backend import c as c_backend
from linnet.compiler import Normalized, generate, normalize
from linnet.errors import InternalError, Location
from linnet.formats.assemble import unpack
from linnet.formats.contents import Contents, Signature
from linnet.formats.format import Format
from linnet.formats.insertion import DENSE
from linnet.formats.tensor import Tensor
from linnet.imp.failing import fails_late
from linnet.loops.cells import DenseTensor
from linnet.loops.functions import content
from linnet.loops.interpret import run as interpret
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.lower.arrays import Arrays, bind
from linnet.lower.context import Site
from linnet.lower.program import Lowered
from linnet.normalize.choice import always_dense
from linnet.normalize.declarations import declare_first
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.dtypes import infer_dtypes
from linnet.normalize.scopes import name_scopes
from linnet.normalize.shape_checks import Check
from linnet.normalize.stored import order_positions
from linnet.normalize.swaps import with_swapped
from linnet.normalize.workspaces import Decide, by_place
from linnet.options import current
from linnet.runtime.call import Entry
from linnet.runtime.deciding import decide
from linnet.runtime.extents import is_known, not_negative, size_of, unknown
from linnet.runtime.handover import Result
from linnet.runtime.indices import check_indices
from linnet.runtime.kernel import Kernel
from linnet.runtime.many_dimensions import check_dimensions
from linnet.runtime.sizes import Size
from linnet.runtime.stand_ins import with_stand_ins
from linnet.testing import dense


def specialize(
    kernel: Kernel,
    signatures: Sequence[Signature],
    wide: bool,
    held: Sequence[Contents | None] = (),
) -> Entry:
    """A kernel for arguments of these formats; `wide` results have coordinates of 64 bits.

    Workspaces are of the kinds that suit the sizes of what is `held`.
    """
    options = current()
    formats = formats_of(kernel, signatures)
    check_dimensions(kernel.program, formats)
    check_indices(kernel.program, formats | dict(kernel.program.temporaries))
    normalized = normalize(kernel.program, formats, decision(kernel, held), kernel.policy)
    check_indices(kernel.program, normalized.results)  # now that all dtypes are known
    arrays = arrays_of(kernel, normalized, signatures, wide)
    key = key_of(normalized, arrays)
    places = _places(kernel.program)
    compiled = backend.load(key, options)
    if compiled is None:
        lowered = generate(normalized, arrays, target.of(options))
        meta = {
            "sites": [_pack_site(s, places) for s in lowered.sites],
            "late": _fails_late(kernel, normalized, lowered.kernel),
        }
        compiled = backend.build(lowered.kernel, key, options, meta)
    sites = tuple(_unpack_site(s, places) for s in compiled.meta["sites"])  # type: ignore[attr-defined]
    entry = make_entry(kernel, normalized, arrays, compiled, sites, wide)._replace(key=key)
    asked = (signature.format for signature in signatures)
    others = [k for k, f in enumerate(asked) if f is not formats[kernel.program.params[k]]]
    return with_stand_ins(entry, tuple(others))


def formats_of(kernel: Kernel, signatures: Sequence[Signature]) -> dict[str, Format]:
    """The formats of the arguments; those of outputs as they are written."""
    given = {n: s.format for n, s in zip(kernel.program.params, signatures, strict=True)}
    return {n: f.written if n in kernel.outputs else f for n, f in given.items()}


def arrays_of(
    kernel: Kernel, normalized: Normalized, signatures: Sequence[Signature], wide: bool
) -> Arrays:
    """The dtypes of all arrays: those of operands are given, those of results chosen here."""
    found: Arrays = {}
    for name, signature in zip(kernel.program.params, signatures, strict=True):
        if name in kernel.outputs:
            found[name] = array_dtypes(normalized.formats[name], wide)
        else:
            found[name] = tuple(d for level in signature.dtypes for d in level)
    unbounded = {
        n.tensor
        for n in walk(normalized.program.body)
        if isinstance(n, loops.Declare)
        and not all(isinstance(d, loops.Dimension) for d in n.dims or ())
    }
    unbounded = with_swapped(normalized.program, unbounded)  # one width for memory of both
    for name, _ in normalized.program.temporaries:
        found[name] = array_dtypes(normalized.formats[name], wide or name in unbounded)
    return found


def array_dtypes(format: Format, wide: bool) -> tuple[str, ...]:
    """The dtypes of the arrays of a result."""
    coordinate = "int64" if wide else "int32"
    roles = {"position": coordinate, "coordinate": coordinate, "flag": "bool", "table": "int64"}
    dtype = format.dtype
    assert dtype is not None
    return tuple(roles.get(a.role, dtype) for level in format.levels for a in level.arrays)


def key_of(normalized: Normalized, arrays: Arrays) -> str:
    """What the code depends on, as one hash."""
    parts = [show(normalized.program), *content(normalized.program)]
    # code has one size for dimensions that are checked to be equal
    parts += [f"{show(c.a)} {c.relation} {show(c.b)}" for c in normalized.checks]
    for name in (*normalized.program.params, *(n for n, _ in normalized.program.temporaries)):
        format = normalized.formats[name]
        parts.append(f"{name}: {format.describe()} {format.fill_value!r} {arrays[name]}")
        parts += [level.stamp for level in format.levels if level.stamp]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def make_entry(
    kernel: Kernel,
    normalized: Normalized,
    arrays: Arrays,
    compiled: backend.Compiled,
    sites: tuple[Site, ...],
    wide: bool,
) -> Entry:
    """What a call has to do around the machine code."""
    program = normalized.program
    positions = {name: k for k, name in enumerate(program.params)}
    operands = [p for p in program.params if p not in kernel.outputs]
    written = [p for p in program.params if p in kernel.outputs]
    temporaries = [n for n, f in program.temporaries if f.ndim]
    declares = normalized.declares
    places = {name: k for k, name in enumerate((*operands, *written, *temporaries))}
    fast = [_fast_check(c, positions) for c in normalized.checks]
    bound = bind(program, normalized.formats, arrays)
    made = {name: bound[name].dtypes for name in (*written, *temporaries)}
    in_place = not compiled.meta["late"]
    return Entry(
        name=program.name,
        params=program.params,
        call=compiled.call,
        operands=tuple(positions[p] for p in operands),
        results=tuple(_results(kernel, normalized, made, in_place)),
        order=tuple(places[n] for n in (*program.params, *temporaries)),
        checks=tuple(f for f in fast if f is not None),
        other_checks=tuple(c for c, f in zip(normalized.checks, fast, strict=True) if f is None),
        sites=sites,
        returned=tuple(positions[r] for r in program.results),
        own=tuple(positions[p] for p in written if _sizes_itself(p, normalized)),
        wide=wide,
        warnings=normalized.warnings,
        fixed=not any(_reads_elements(dim) for d in declares.values() for dim in d.dims or ()),
        choices=tuple(choice for choice, _ in normalized.choices),
        kinds=tuple((choice.name, kind) for choice, kind in normalized.choices),
        limits=_limits(normalized, [positions[p] for p in operands], positions),
        ndims=tuple(normalized.formats[p].ndim for p in program.params),
    )


def _fast_check(check: Check, positions: dict[str, int]) -> tuple[int, int, int, int, Check] | None:
    """A comparison of two dimensions, in a form that takes no time."""
    match check.relation, check.a, check.b:
        case "==", loops.Dimension(a, m), loops.Dimension(b, n):
            return positions[a], m, positions[b], n, check
    return None


def _limits(
    normalized: Normalized, operands: Sequence[int], positions: Mapping[str, int]
) -> tuple[tuple[int, int, int], ...] | None:
    """Up to which sizes of operands workspaces have the kinds that they have; None: never."""
    found = []
    for choice, kind in normalized.choices:
        most, dim = always_dense(choice), getattr(choice, "dims", (None,))[0]
        if kind != DENSE or not most or not isinstance(dim, loops.Dimension):
            return None
        if positions.get(dim.tensor) not in operands:
            return None
        found.append((positions[dim.tensor], dim.mode, most))
    return tuple(found)


def _results(
    kernel: Kernel,
    normalized: Normalized,
    arrays: Arrays,
    in_place: bool,
) -> Iterator[Result]:
    """What the kernel writes, temporaries included; `in_place` where that is possible."""
    program, formats = normalized.program, normalized.formats | normalized.results
    positions = {name: k for k, name in enumerate(program.params)}
    for name, dtypes in arrays.items():
        declare, dims = normalized.declares.get(name), None
        if name not in kernel.kept and declare is not None:
            dims = _sizes(name, declare, kernel, positions)
        kinds = tuple(np.dtype(dtype) for dtype in dtypes)
        yield Result(
            position=positions.get(name),
            name=name,
            format=formats[name],
            dtypes=dtypes,
            kinds=kinds,
            dims=dims,
            keeps=name in kernel.kept,
            in_place=in_place and _has_its_size(formats[name]),
            at=None if declare is None else declare.at,
            rooms=[0] * len(kinds),
        )


def _fails_late(kernel: Kernel, normalized: Normalized, code: imp.Kernel) -> bool:
    """Whether a kernel may fail when it has changed what an argument holds, if that is in place."""
    kept = [a for a in code.arguments if a.name in kernel.kept]
    in_place = [a for a in kept if _has_its_size(normalized.formats[a.name])]
    return fails_late(code, frozenset(b.name for a in in_place for b in a.buffers))


def _has_its_size(format: Format) -> bool:
    """Whether updates change values, and nothing else."""
    return all(level.full or level.leaf for level in format.levels)


def _sizes(
    name: str, declare: loops.Declare, kernel: Kernel, positions: dict[str, int]
) -> tuple[Size, ...]:
    """The dimensions of a result; 0 for those of a temporary that only the kernel computes."""
    read = {p for p in positions if p not in kernel.outputs or p in kernel.kept}
    sizes: list[Size] = []
    for expr in declare.dims or ():
        if is_known(expr, read | {name}):
            size = size_of(expr, positions)
            sizes.append(not_negative(name, size, expr, declare.at))
        elif name in positions:
            raise unknown(name, expr, declare.at)
        else:
            sizes.append(lambda shapes, held: 0)
    return tuple(sizes)


def _reads_elements(size: loops.Expr) -> bool:
    """Whether a size depends on what a tensor holds, and not on its shape alone."""
    return any(isinstance(n, loops.Access) for n in walk(size))


def _sizes_itself(name: str, normalized: Normalized) -> bool:
    """Whether the dimensions that an output has when it is passed are used, or checked."""
    dims = [d for declare in normalized.declares.values() for d in declare.dims or ()]
    checked = [side for check in normalized.checks for side in (check.a, check.b)]
    own = (n for expr in (*dims, *checked) for n in walk(expr))
    return any(isinstance(n, loops.Dimension) and n.tensor == name for n in own)


def _pack_site(site: Site, places: list[Location]) -> list[object]:
    """The place by its number: the same program may stand elsewhere in another file."""
    known = site.at is not None and site.at in places
    return [site.message, places.index(site.at) if known else None]  # type: ignore[arg-type]


def _unpack_site(packed: list[object], places: list[Location]) -> Site:
    message, number = packed
    return Site(str(message), places[number] if isinstance(number, int) else None)


def _places(program: loops.Program) -> list[Location]:
    """The places of all parts of a program, in order."""
    found = (getattr(node, "at", None) for node in walk(program.body))
    return [at for at in found if at is not None]


# -- looking ---------------------------------------------------------------------------------------


def lowered(
    kernel: Kernel, signatures: Sequence[Signature], held: Sequence[Contents | None] = ()
) -> Lowered:
    """The imperative code."""
    return _generated(kernel, signatures, held, wide=False)[2]


def lowered_for(
    kernel: Kernel,
    signatures: Sequence[Signature],
    held: Sequence[Contents | None] = (),
    wide: bool = False,
) -> tuple[Entry, Lowered]:
    """The imperative code, and what a call has to do around it; machine code there is none."""
    normalized, arrays, made = _generated(kernel, signatures, held, wide)
    meta = {"late": _fails_late(kernel, normalized, made.kernel)}
    compiled = backend.Compiled(_is_not_called, meta, 0, cached=False)
    wide = wide or any(s.wide for s in signatures)
    return make_entry(kernel, normalized, arrays, compiled, made.sites, wide), made


def _generated(
    kernel: Kernel, signatures: Sequence[Signature], held: Sequence[Contents | None], wide: bool
) -> tuple[Normalized, Arrays, Lowered]:
    formats = formats_of(kernel, signatures)
    normalized = normalize(kernel.program, formats, decision(kernel, held), kernel.policy)
    wide = wide or any(s.wide for s in signatures)
    arrays = arrays_of(kernel, normalized, signatures, wide)
    return normalized, arrays, generate(normalized, arrays, target.of(current()))


def _is_not_called(block: int) -> int:
    raise InternalError("code that was made to be looked at is called")


def code(
    kernel: Kernel, signatures: Sequence[Signature], held: Sequence[Contents | None] = ()
) -> str:
    """The imperative code as C."""
    return c_backend.render(lowered(kernel, signatures, held).kernel)


def completed(
    kernel: Kernel, signatures: Sequence[Signature], held: Sequence[Contents | None] = ()
) -> str:
    """The normalized program."""
    formats = formats_of(kernel, signatures)
    return show(normalize(kernel.program, formats, decision(kernel, held), kernel.policy).program)


def decision(kernel: Kernel, held: Sequence[Contents | None]) -> Decide:
    """How the kinds of workspaces are chosen: by the sizes of what is held, if it is known."""
    if not held:
        return by_place
    pairs = zip(kernel.program.params, held, strict=True)
    known = {name: contents for name, contents in pairs if contents is not None}
    return lambda choice: decide(choice, known)


def reference(kernel: Kernel, tensors: Sequence[Tensor]) -> dict[str, NDArray[Any]]:
    """The outputs, by the dense reference interpreter."""
    formats = formats_of(kernel, kernel.signatures(tensors)) | dict(kernel.program.temporaries)
    ndims = {name: format.ndim for name, format in formats.items()}
    program, checks = infer_dimensions(order_positions(kernel.program, formats), ndims)
    program = name_scopes(declare_first(program))
    formats = infer_dtypes(program, formats)
    fresh = kernel.outputs - kernel.kept
    arrays = {}
    for name, tensor in zip(program.params, tensors, strict=True):
        if name in fresh:
            arrays[name] = _nothing(formats[name])
        else:
            values, where = dense(tensor), stored(tensor)
            arrays[name] = DenseTensor(values, _fill(formats[name]), formats[name], where)
    arrays |= {name: _nothing(formats[name]) for name, _ in program.temporaries}
    shapes = {name: arrays[name].values.shape for name in program.params}
    for check in checks:
        if not check.holds(shapes):
            raise check.explain(shapes)
    results = interpret(program, arrays)
    return {name: results[name].values for name in program.params if name in kernel.outputs}


def stored(tensor: Tensor) -> NDArray[np.bool_]:
    """Which elements of a tensor are stored."""
    mask = np.zeros(tensor.contents().shape, dtype=bool)
    mask[tuple(unpack(tensor)[0])] = True
    return mask


def _nothing(format: Format) -> DenseTensor:
    return DenseTensor(np.zeros((0,) * format.ndim, format.dtype), _fill(format), format)


def _fill(format: Format) -> Number:
    assert format.fill_value is not None
    return format.fill_value
