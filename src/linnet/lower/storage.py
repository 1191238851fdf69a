"""The tensors of a program as the kernel sees them: argument slots, buffers, names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from linnet import imp, loops
from linnet.codelets.build import Builder
from linnet.formats.fiber import Storage
from linnet.formats.format import Format
from linnet.loops.rewrite import walk
from linnet.normalize import agreed
from linnet.normalize.agreed import Mode
from linnet.normalize.shape_checks import Check
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """A tensor's format, with dtype and fill value known, and the dtype of each of its arrays.

    `updated` tensors belong to the kernel, which may enlarge their buffers.
    """

    format: Format
    dtypes: tuple[str, ...]
    updated: bool = False

    @property
    def dtype(self) -> str:
        """The type of the values."""
        assert self.format.dtype is not None
        return self.format.dtype


def make_storages(
    b: Builder, program: loops.Program, bound: dict[str, Bound], equal: Mapping[Mode, Mode]
) -> tuple[dict[str, Storage], dict[Mode, imp.Expr], tuple[imp.Argument, ...]]:
    """Storages by name, the variables that hold dimensions, and the kernel's arguments.

    Dimensions that are `equal` whenever the kernel is called are one variable, so that the code for
    them can be compared.
    """
    sizes = _size_names(program, equal)
    storages: dict[str, Storage] = {}
    dims: dict[tuple[str, int], imp.Expr] = {}
    arguments = []
    for name, tensor in bound.items():
        if is_register(program, name, tensor.format):
            continue
        modes = range(tensor.format.ndim)
        own = tuple(imp.Var(b.names.fresh(sizes.get((name, m), f"{name}_n{m}"))) for m in modes)
        dims.update({(name, m): var for m, var in zip(modes, own, strict=True)})
        buffers, prefixes = _buffers(b, name, tensor)
        storage = Storage(name, tensor.format, own, _init(tensor.format), buffers, prefixes)
        storages[name] = replace(storage, temporary=name not in program.params)
        flat = tuple(buffer for level in buffers for buffer in level.values())
        arguments.append(imp.Argument(name, own, flat))
    dims = {mode: dims[equal.get(mode, mode)] for mode in dims}
    for name, storage in storages.items():
        shared = tuple(dims[name, m] for m in range(storage.format.ndim))
        storages[name] = replace(storage, dims=shared)
    return storages, dims, tuple(replace(a, entries=_entries(storages[a.name])) for a in arguments)


def is_register(program: loops.Program, name: str, format: Format) -> bool:
    """Whether a tensor is one value that never leaves the kernel."""
    return format.ndim == 0 and name not in program.params


def _entries(storage: Storage) -> tuple[imp.Entries | None, ...]:
    """Where the entries of each level are listed."""
    levels = enumerate(storage.format.levels)
    found = (level.entries(storage, k, imp.FIRST, imp.LAST) for k, level in levels)
    return tuple([None if bounds is None else imp.Entries(*bounds) for bounds in found])


def _init(format: Format) -> imp.Expr:
    assert format.fill_value is not None
    assert format.dtype is not None
    return imp.Const(format.fill_value, format.dtype)


def _size_names(program: loops.Program, equal: Mapping[Mode, Mode]) -> dict[Mode, str]:
    """Dimensions are called after the loops that run over them: `n_i`."""
    names: dict[Mode, str] = {}
    for node in walk(program.body):
        if isinstance(node, loops.Loop) and node.extent is not None:
            size = node.extent.whole.stop
            if isinstance(size, loops.Dimension):
                mode = (size.tensor, size.mode)
                names.setdefault(equal.get(mode, mode), f"n_{node.index}")
    return names


def equal_modes(checks: Iterable[Check], bound: Mapping[str, Bound]) -> dict[Mode, Mode]:
    """For each dimension that is checked, or by its format known, to equal others, the first."""
    return agreed.equal_modes(checks, {name: tensor.format for name, tensor in bound.items()})


def _buffers(
    b: Builder, name: str, tensor: Bound
) -> tuple[tuple[dict[str, imp.Buffer], ...], tuple[str, ...]]:
    """The buffers of each level. Levels are numbered only where their arrays would clash."""
    levels = tensor.format.levels
    several = sum(bool(level.arrays) for level in levels[:-1]) > 1
    dtypes = iter(tensor.dtypes)
    buffers, prefixes = [], []
    for k, level in enumerate(levels):
        prefix = f"{name}{k + 1}" if several and not level.leaf else name
        prefixes.append(prefix)
        buffers.append(
            {
                a.name: imp.Buffer(
                    b.names.fresh(f"{prefix}_{a.name}"),
                    next(dtypes),
                    tensor.updated,
                    imp.Holds(name, k, a.name, a.role, a.fiber, a.ascends, a.unique),
                )
                for a in level.arrays
            }
        )
    return tuple(buffers), tuple(prefixes)
