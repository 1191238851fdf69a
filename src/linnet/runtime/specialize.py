"""From a kernel and the tensors it is called with to an `Entry`: compiled, or from the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet import backend, loops
from linnet.algebra.dtypes import Number
from linnet.backend import c as c_backend
from linnet.compiler import Normalized, generate, normalize
from linnet.errors import Location
from linnet.formats.assemble import unpack
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.loops.interpret import DenseTensor
from linnet.loops.interpret import run as interpret
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.lower.context import Site
from linnet.lower.program import Lowered
from linnet.normalize.concordance import warn
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.dtypes import infer_dtypes
from linnet.normalize.scopes import name_scopes
from linnet.options import current
from linnet.runtime.call import Entry, Result, fast_check, size_of
from linnet.runtime.kernel import Kernel
from linnet.testing import dense

Arrays = dict[str, tuple[str, ...]]


def specialize(kernel: Kernel, tensors: Sequence[Tensor], wide: bool) -> Entry:
    """A kernel for arguments of these formats."""
    options = current()
    normalized = normalize(kernel.program, formats_of(kernel, tensors))
    warn(normalized.warnings)
    arrays = arrays_of(kernel, normalized, tensors, wide)
    key = key_of(normalized, arrays)
    compiled = backend.load(key, options)
    if compiled is None:
        lowered = generate(normalized, arrays)
        meta = {"sites": [_pack_site(s) for s in lowered.sites]}
        compiled = backend.build(lowered.kernel, key, options, meta)
    sites = tuple(_unpack_site(s) for s in compiled.meta["sites"])  # type: ignore[attr-defined]
    return make_entry(kernel, normalized, arrays, compiled, sites)


def formats_of(kernel: Kernel, tensors: Sequence[Tensor]) -> dict[str, Format]:
    """The formats of the arguments; those of outputs as they were asked for."""
    fresh = kernel.outputs - kernel.kept
    return {
        name: t.output_format if name in fresh else t.contents().format
        for name, t in zip(kernel.program.params, tensors, strict=True)
    }


def arrays_of(
    kernel: Kernel, normalized: Normalized, tensors: Sequence[Tensor], wide: bool
) -> Arrays:
    """The dtypes of all arrays: those of operands are given, those of results chosen here."""
    found: Arrays = {}
    fresh = kernel.outputs - kernel.kept
    for name, tensor in zip(kernel.program.params, tensors, strict=True):
        if name in fresh:
            found[name] = array_dtypes(normalized.formats[name], wide)
        else:
            signature = tensor.contents().signature
            found[name] = tuple(d for level in signature.dtypes for d in level)
    for name, _ in normalized.program.temporaries:
        found[name] = array_dtypes(normalized.formats[name], wide=True)
    return found


def array_dtypes(format: Format, wide: bool) -> tuple[str, ...]:
    """The dtypes of the arrays of a result."""
    coordinate = "int64" if wide else "int32"
    roles = {"position": "int64", "coordinate": coordinate, "flag": "bool", "table": "int64"}
    dtype = format.dtype
    assert dtype is not None
    return tuple(roles.get(a.role, dtype) for level in format.levels for a in level.arrays)


def key_of(normalized: Normalized, arrays: Arrays) -> str:
    """What the code depends on, as one hash."""
    parts = [show(normalized.program)]
    for name in (*normalized.program.params, *(n for n, _ in normalized.program.temporaries)):
        format = normalized.formats[name]
        parts.append(f"{name}: {format.describe()} {format.fill_value!r} {arrays[name]}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def make_entry(
    kernel: Kernel,
    normalized: Normalized,
    arrays: Arrays,
    compiled: backend.Compiled,
    sites: tuple[Site, ...],
) -> Entry:
    """What a call has to do around the machine code."""
    program = normalized.program
    positions = {name: k for k, name in enumerate(program.params)}
    operands = [p for p in program.params if p not in kernel.outputs]
    written = [p for p in program.params if p in kernel.outputs]
    temporaries = [n for n, f in program.temporaries if f.ndim]
    places = {name: k for k, name in enumerate((*operands, *written, *temporaries))}
    fast = [fast_check(c, positions) for c in normalized.checks]
    return Entry(
        name=program.name,
        params=program.params,
        call=compiled.call,
        operands=tuple(positions[p] for p in operands),
        results=tuple(_results(kernel, normalized, arrays, written, temporaries)),
        order=tuple(places[n] for n in (*program.params, *temporaries)),
        checks=tuple(f for f in fast if f is not None),
        other_checks=tuple(c for c, f in zip(normalized.checks, fast, strict=True) if f is None),
        sites=sites,
        returned=tuple(positions[r] for r in kernel.program.results),
    )


def _results(
    kernel: Kernel,
    normalized: Normalized,
    arrays: Arrays,
    written: list[str],
    temporaries: list[str],
) -> list[Result]:
    program, formats = normalized.program, normalized.formats | normalized.results
    positions = {name: k for k, name in enumerate(program.params)}
    declares = {n.tensor: n for n in walk(program.body) if isinstance(n, loops.Declare)}
    results = []
    for name in written:
        dims = None
        if name in declares and name not in kernel.kept:
            stated = declares[name].dims
            assert stated is not None
            dims = tuple(size_of(d, positions) for d in stated)
        own = any(
            isinstance(d, loops.Dimension) and d.tensor == name
            for other in declares.values()
            for d in other.dims or ()
        )
        keeps = name in kernel.kept
        results.append(Result(positions[name], name, formats[name], arrays[name], dims, keeps, own))
    for name in temporaries:
        dims = tuple(_zero for _ in range(formats[name].ndim))
        results.append(Result(None, name, formats[name], arrays[name], dims))
    return results


def _zero(shapes: Sequence[Sequence[int]]) -> int:
    return 0  # a kernel computes the dimensions of its temporaries itself


def _pack_site(site: Site) -> list[object]:
    at = site.at
    place = None if at is None else [at.file, at.line, at.column, at.end_column, at.text]
    return [site.message, place]


def _unpack_site(packed: list[object]) -> Site:
    message, at = packed
    return Site(str(message), None if at is None else Location(*at))  # type: ignore[misc]


# -- looking ---------------------------------------------------------------------------------------


def lowered(kernel: Kernel, tensors: Sequence[Tensor]) -> Lowered:
    """The imperative code."""
    normalized = normalize(kernel.program, formats_of(kernel, tensors))
    return generate(normalized, arrays_of(kernel, normalized, tensors, wide=False))


def code(kernel: Kernel, tensors: Sequence[Tensor]) -> str:
    """The imperative code as C."""
    return c_backend.render(lowered(kernel, tensors).kernel)


def completed(kernel: Kernel, tensors: Sequence[Tensor]) -> str:
    """The normalized program."""
    return show(normalize(kernel.program, formats_of(kernel, tensors)).program)


def reference(kernel: Kernel, tensors: Sequence[Tensor]) -> dict[str, NDArray[Any]]:
    """The outputs, by the dense reference interpreter."""
    formats = formats_of(kernel, tensors) | dict(kernel.program.temporaries)
    ndims = {name: format.ndim for name, format in formats.items()}
    program, checks = infer_dimensions(kernel.program, ndims)
    program = name_scopes(program)
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
