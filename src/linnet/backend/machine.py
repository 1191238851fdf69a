"""From LLVM IR text to machine code, in process, through llvmlite.

llvmlite is imported on first use: it takes longer to import than a kernel takes to load, and a
process that finds all its kernels in the disk cache never needs it.
"""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from linnet.backend import loader
from linnet.errors import BuildError, InstallationError, InternalError
from linnet.guards import COMPILING
from linnet.shortage import COMPILING as ROOM
from linnet.shortage import LOADING, make_room, of_memory
from linnet.target import Target

_LEVEL = 2  # of optimization, as LLVM counts them
_EACH = 64  # bytes that LLVM takes, at most, for each of the text


@cache
def _llvm() -> Any:
    make_room(LOADING)  # LLVM ends the process where it finds none
    try:
        import llvmlite.binding as llvm
    except (ImportError, OSError) as error:
        raise of_memory(error) or InstallationError(
            "llvmlite cannot be imported, which makes machine code",
            why=f"{type(error).__name__}: {error}",
            hint="install it again: pip install --force-reinstall llvmlite; or compile with a C "
            'compiler: ln.config(backend="c")',
        ) from error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def host(own: bool) -> Target:
    """The machine we are on, for code that our own loader loads, or LLVM's."""
    with COMPILING:
        llvm = _llvm()
        triple: str = llvm.get_process_triple()
        if "windows" in triple and not triple.endswith("-elf"):
            triple += "-elf"  # LLVM's loader takes no other files there
        features = llvm.get_host_cpu_features().flatten()
        return Target(triple, llvm.get_host_cpu_name(), features, mmap.PAGESIZE, own)


def _here(target: Target | None) -> Target:
    return host(loader.supported()) if target is None else target


def compile(text: str, optimize: bool = True, target: Target | None = None) -> bytes:
    """Compile a module, for this machine if nothing else is said; return the object file."""
    level = _LEVEL if optimize else 0
    with COMPILING, _optimized(text, _here(target), level) as (module, machine):
        result: bytes = machine.emit_object(module)
        return result


def assembly(text: str, target: Target | None = None) -> str:
    """The same as text, for reading."""
    with COMPILING, _optimized(text, _here(target)) as (module, machine):
        result: str = machine.emit_assembly(module)
        return result


def optimized(text: str) -> str:
    """The module as it is when LLVM has optimized it, for reading."""
    with COMPILING, _optimized(text, _here(None)) as (module, _):
        return str(module)


@contextmanager
def _optimized(text: str, target: Target, level: int = _LEVEL) -> Iterator[tuple[Any, Any]]:
    """A module that LLVM has optimized, and the code generator; both are gone afterwards.

    They are closed in order: a garbage collection would free the context before its modules.
    """
    llvm, machine = _llvm(), _machine(target, level)
    make_room(ROOM + _EACH * len(text))
    with llvm.create_context() as context:
        try:
            module = llvm.parse_assembly(text, context=context)
        except RuntimeError as error:
            raise BuildError(
                "LLVM refuses the generated code", source=text, output=str(error)
            ) from None
        with module:
            module.triple, module.data_layout = target.triple, str(machine.target_data)
            _optimize(module, machine, level)
            yield module, machine


@cache
def _machine(target: Target, level: int) -> Any:
    """The code generator for a target."""
    return _fresh_machine(target, level)


def _fresh_machine(target: Target, level: int = _LEVEL) -> Any:
    return (
        _llvm()
        .Target.from_triple(target.triple)
        .create_target_machine(
            cpu=target.cpu,
            features=target.features,
            opt=level,
            reloc=target.reloc,
            codemodel=target.codemodel,
            jit=not target.own,
        )
    )


def _optimize(module: Any, machine: Any, level: int) -> None:
    llvm = _llvm()
    tuning = llvm.create_pipeline_tuning_options(level)
    tuning.loop_vectorization = tuning.loop_interleaving = True
    tuning.slp_vectorization = False  # it makes gathers of loads that are better left alone
    tuning.loop_unrolling = False  # it takes a third of the time, and the loops are short
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)


# -- loading -------------------------------------------------------------------------------------


class _Loaded:
    """Keeps loaded code alive. What LLVM has of it is given back by the next who loads something.

    Were it part of the garbage itself, Python would free it in any order, in any thread, and while
    others that are garbage may still call the code.
    """

    __slots__ = ("_key",)

    def __init__(self, engine: Any, context: Any) -> None:
        self._key = id(engine)
        _engines[self._key] = engine, context

    def __del__(self, drop: Any = None) -> None:
        (drop or _dropped.append)(self._key)


_engines: dict[int, tuple[Any, Any]] = {}
_dropped: deque[int] = deque()
_Loaded.__del__.__defaults__ = (_dropped.append,)  # modules may be gone when the last one dies


def load(
    code: bytes, symbol: str, address_of: Callable[[str], int] | None = None
) -> tuple[int, object]:
    """Link an object file with LLVM's own loader; the address, and what must be kept alive.

    `address_of` says where things are that it calls; the C library's, if nobody does.
    """
    target = host(loader.supported())
    with COMPILING:
        _give_back()
        llvm = _llvm()
        make_room(ROOM)
        _tell_addresses(code, address_of)
        context = llvm.create_context()
        empty = llvm.parse_assembly("", context=context)
        machine = _fresh_machine(target)  # an engine owns its machine, so each needs its own
        empty.triple, empty.data_layout = target.triple, str(machine.target_data)
        # On ARM all sections lie together, since code there reaches some of them by short ways.
        engine = llvm.create_mcjit_compiler(empty, machine, target.processor == "aarch64")
        owner = _Loaded(engine, context)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address: int = engine.get_function_address(symbol)
    if not address:
        raise InternalError(f"the compiled code has no function {symbol}")
    return address, owner


def _give_back() -> None:
    """Close the engines that nobody has any more, and then their contexts."""
    while _dropped:
        engine, context = _engines.pop(_dropped.popleft())
        engine.close()
        context.close()


def _tell_addresses(code: bytes, address_of: Callable[[str], int] | None) -> None:
    """Tell LLVM where the functions are that code calls; it would call address 0 for any other."""
    from linnet.backend import objects, symbols

    llvm, address_of = _llvm(), address_of or symbols.address_of
    for spelled, name in objects.undefined(code):
        address = address_of(name) or llvm.address_of_symbol(name)
        if not address:
            raise BuildError(
                f"a kernel calls {name}, which is not to be found",
                why="neither the C library of this process nor LLVM has a function of this name",
                hint="please report it with the name of your system; the C back end may do: "
                'config(backend="c")',
            )
        llvm.add_symbol(spelled, address)
