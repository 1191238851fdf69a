"""`@ln.kernel`: a function in the loop language, compiled for the formats that it is called with."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet import backend, loops
from linnet.algebra.dtypes import Number
from linnet.backend import c as c_backend
from linnet.compiler import Normalized, generate, normalize
from linnet.errors import ArgumentError, Location
from linnet.formats.assemble import unpack
from linnet.formats.construct import asarray
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.loops.interpret import DenseTensor
from linnet.loops.interpret import run as run_reference
from linnet.loops.printer import show
from linnet.loops.rewrite import accesses, walk
from linnet.lower.context import Site
from linnet.lower.program import Lowered
from linnet.normalize.concordance import warn
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.dtypes import infer_dtypes
from linnet.normalize.scopes import name_scopes
from linnet.options import current
from linnet.runtime.call import Entry, Result, fast_check, size_of
from linnet.testing import dense

NARROW = 2**31


class Kernel:
    """A loop program that can be called. Machine code is made per combination of formats."""

    def __init__(self, program: loops.Program) -> None:
        self.program = program
        self.__name__ = program.name
        self._outputs = frozenset(_written(program))
        self._keeps = frozenset(p for p in self._outputs if _kept(program, p))
        self._entries: dict[tuple[object, ...], Entry] = {}
        self._lock = threading.Lock()

    # -- calling ---------------------------------------------------------------------------------

    def __call__(self, *args: object) -> Tensor | tuple[Tensor, ...] | None:
        """Run on tensors; outputs are updated in place, and returned if the program says so."""
        tensors = [a if type(a) is Tensor else self._tensor(k, a) for k, a in enumerate(args)]
        entry = self._entry(tensors)
        entry.run(tensors)
        found = tuple([tensors[p] for p in entry.returned])
        return found[0] if len(found) == 1 else found or None

    def _entry(self, tensors: Sequence[Tensor]) -> Entry:
        if len(tensors) != len(self.program.params):
            raise self._wrong_count(len(tensors))
        wide = False
        key: list[object] = [current()]
        for name, tensor in zip(self.program.params, tensors, strict=True):
            if name in self._outputs and name not in self._keeps:
                key.append(tensor.output_format)
            else:
                contents = tensor.contents()
                key.append(contents.signature)
                wide = wide or any(n >= NARROW for n in contents.shape)
        key.append(wide)
        entry = self._entries.get(tuple(key))
        return entry if entry is not None else self._specialize(tuple(key), tensors, wide)

    def _specialize(self, key: tuple[object, ...], tensors: Sequence[Tensor], wide: bool) -> Entry:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._build(tensors, wide)
                self._entries[key] = entry
        return entry

    def _formats(self, tensors: Sequence[Tensor]) -> dict[str, Format]:
        return {
            name: t.output_format if name in self._outputs - self._keeps else t.contents().format
            for name, t in zip(self.program.params, tensors, strict=True)
        }

    def _arrays(
        self, normalized: Normalized, tensors: Sequence[Tensor], wide: bool
    ) -> dict[str, tuple[str, ...]]:
        """The dtypes of all arrays: those of operands are given, those of results chosen here."""
        found = {}
        for name, tensor in zip(self.program.params, tensors, strict=True):
            if name not in self._outputs or name in self._keeps:
                signature = tensor.contents().signature
                found[name] = tuple(d for level in signature.dtypes for d in level)
            else:
                found[name] = array_dtypes(normalized.formats[name], wide)
        for name, _ in normalized.program.temporaries:
            found[name] = array_dtypes(normalized.formats[name], wide=True)
        return found

    def _build(self, tensors: Sequence[Tensor], wide: bool) -> Entry:
        options = current()
        normalized = normalize(self.program, self._formats(tensors))
        warn(normalized.warnings)
        arrays = self._arrays(normalized, tensors, wide)
        key = _key(normalized, arrays)
        compiled = backend.load(key, options)
        if compiled is None:
            lowered = generate(normalized, arrays)
            meta = {"sites": [_pack_site(s) for s in lowered.sites]}
            compiled = backend.build(lowered.kernel, key, options, meta)
        sites = tuple(_unpack_site(s) for s in compiled.meta["sites"])  # type: ignore[attr-defined]
        return self._make_entry(normalized, arrays, compiled.call, sites)

    def _make_entry(
        self, normalized: Normalized, arrays: dict[str, tuple[str, ...]], call: object, sites: tuple[Site, ...]
    ) -> Entry:
        program, formats = normalized.program, normalized.formats
        positions = {name: k for k, name in enumerate(program.params)}
        operands = [p for p in program.params if p not in self._outputs]
        declares = {n.tensor: n for n in walk(program.body) if isinstance(n, loops.Declare)}
        results = []
        written = [p for p in program.params if p in self._outputs]
        temporaries = [n for n, f in program.temporaries if f.ndim]
        for name in (*written, *temporaries):
            dims = None
            if name in declares and name not in self._keeps:
                stated = declares[name].dims
                assert stated is not None
                dims = tuple(size_of(d, positions) for d in stated)
            if name in temporaries:
                dims = tuple(lambda shapes: 0 for _ in range(formats[name].ndim))
            results.append(
                Result(
                    positions.get(name),
                    name,
                    normalized.results.get(name, formats[name]),
                    arrays[name],
                    dims,
                    name in self._keeps,
                )
            )
        places = {name: k for k, name in enumerate((*operands, *written, *temporaries))}
        fast = [fast_check(c, positions) for c in normalized.checks]
        return Entry(
            self.__name__,
            program.params,
            call,  # type: ignore[arg-type]
            tuple(positions[p] for p in operands),
            tuple(results),
            tuple(places[n] for n in (*program.params, *temporaries)),
            tuple(f for f in fast if f is not None),
            tuple(c for c, f in zip(normalized.checks, fast, strict=True) if f is None),
            sites,
            tuple(positions[r] for r in self.program.results),
        )

    # -- looking ---------------------------------------------------------------------------------

    def lowered(self, *args: object) -> Lowered:
        """The imperative code for these arguments."""
        tensors = [a if type(a) is Tensor else self._tensor(k, a) for k, a in enumerate(args)]
        normalized = normalize(self.program, self._formats(tensors))
        return generate(normalized, self._arrays(normalized, tensors, wide=False))

    def code(self, *args: object) -> str:
        """The C code that is run for these arguments."""
        return c_backend.render(self.lowered(*args).kernel)

    def loops(self, *args: object) -> str:
        """The program as the compiler completed it, for these arguments."""
        tensors = [a if type(a) is Tensor else self._tensor(k, a) for k, a in enumerate(args)]
        return show(normalize(self.program, self._formats(tensors)).program)

    def reference(self, *args: object) -> dict[str, NDArray[Any]]:
        """What the program means for these arguments: every output, computed one element at a time.

        Slow and simple; it shares nothing with the compiler. The tensors are left as they are.
        """
        tensors = [a if type(a) is Tensor else self._tensor(k, a) for k, a in enumerate(args)]
        formats = self._formats(tensors) | dict(self.program.temporaries)
        program = name_scopes(self.program)
        program, checks = infer_dimensions(program, {n: f.ndim for n, f in formats.items()})
        formats = infer_dtypes(program, formats)
        arrays = {}
        for name, tensor in zip(program.params, tensors, strict=True):
            format = formats[name]
            if name in self._outputs - self._keeps:
                values = np.zeros((0,) * format.ndim, format.dtype)
                arrays[name] = DenseTensor(values, _fill(format), format)
            else:
                arrays[name] = DenseTensor(dense(tensor), _fill(format), format, stored(tensor))
        for name, _ in program.temporaries:
            format = formats[name]
            empty = np.zeros((0,) * format.ndim, format.dtype)
            arrays[name] = DenseTensor(empty, _fill(format), format)
        shapes = {name: arrays[name].values.shape for name in program.params}
        for check in checks:
            if not check.holds(shapes):
                raise check.explain(shapes)
        results = run_reference(program, arrays)
        return {name: results[name].values for name in program.params if name in self._outputs}

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}({', '.join(self.program.params)})>"

    def _tensor(self, k: int, value: object) -> Tensor:
        """An argument that is not a tensor yet."""
        if isinstance(value, Tensor):
            return value
        name = self.program.params[k] if k < len(self.program.params) else str(k)
        if name in self._outputs:
            raise ArgumentError(
                f"`{name}` is written by `{self.__name__}`, so it must be a tensor of Linnet",
                why=f"it is a {type(value).__name__}, whose memory is not ours to write to",
                hint="pass ln.empty_tensor(format)",
            )
        return asarray(value)

    def _wrong_count(self, count: int) -> ArgumentError:
        params = self.program.params
        return ArgumentError(
            f"`{self.__name__}` takes {len(params)} tensors ({', '.join(params)}), not {count}",
            at=Location.of_caller(),
        )


def array_dtypes(format: Format, wide: bool) -> tuple[str, ...]:
    """The dtypes of the arrays of a result."""
    coordinate = "int64" if wide else "int32"
    roles = {"position": "int64", "coordinate": coordinate, "flag": "bool", "table": "int64"}
    dtype = format.dtype
    assert dtype is not None
    return tuple(roles.get(a.role, dtype) for level in format.levels for a in level.arrays)


def _written(program: loops.Program) -> set[str]:
    """Parameters that are declared or updated."""
    found = {n.tensor for n in walk(program.body) if isinstance(n, loops.Declare)}
    found |= {str(a.tensor) for a, is_target in accesses(program.body) if is_target}
    return found & set(program.params)


def _kept(program: loops.Program, name: str) -> bool:
    """Whether a written parameter's old contents matter: it is used before it is declared."""
    for node in walk(program.body):
        if isinstance(node, loops.Declare) and node.tensor == name:
            return False
        if isinstance(node, loops.Access) and node.tensor == name:
            return True
    return True


def stored(tensor: Tensor) -> NDArray[np.bool_]:
    """Which elements of a tensor are stored."""
    mask = np.zeros(tensor.contents().shape, dtype=bool)
    mask[tuple(unpack(tensor)[0])] = True
    return mask


def _fill(format: Format) -> Number:
    assert format.fill_value is not None
    return format.fill_value


def _key(normalized: Normalized, arrays: dict[str, tuple[str, ...]]) -> str:
    """What the code depends on, as one hash."""
    parts = [show(normalized.program)]
    for name in (*normalized.program.params, *(n for n, _ in normalized.program.temporaries)):
        format = normalized.formats[name]
        parts.append(f"{name}: {format.describe()} {format.fill_value!r} {arrays[name]}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _pack_site(site: Site) -> list[object]:
    at = site.at
    return [site.message, None if at is None else [at.file, at.line, at.column, at.end_column, at.text]]


def _unpack_site(packed: list[object]) -> Site:
    message, at = packed
    return Site(str(message), None if at is None else Location(*at))  # type: ignore[misc]
