"""From LLVM IR text to machine code, in process, through llvmlite.

llvmlite is imported on first use: it takes longer to import than a kernel takes to load, and a
process that finds all its kernels in the disk cache never needs it.
"""

from __future__ import annotations

import threading
from functools import cache
from types import ModuleType

from linnet.errors import BuildError, InternalError
from linnet.records import dataclass

_lock = threading.RLock()  # LLVM's objects are used by one thread at a time
_LEVEL = 2  # of optimization, as LLVM counts them


@dataclass(frozen=True, slots=True)
class _Target:
    """The code generator for this processor, and what it calls it."""

    binding: ModuleType
    machine: object
    triple: str
    layout: str


@cache
def _target(level: int) -> _Target:
    """The machine we are on, as LLVM knows it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        reloc="pic",
        codemodel="small",
    )
    return _Target(llvm, machine, triple, str(machine.target_data))


def masks() -> str:
    """What vectors of this machine can do in part, at no cost: "" nothing, "load", or "all"."""
    with _lock:
        features: dict[str, bool] = _target(_LEVEL).binding.get_host_cpu_features()
    if all(features.get(name, False) for name in ("avx512f", "avx512bw", "avx512vl")):
        return "all"
    return "load" if features.get("avx2", False) else ""


def compile(text: str, optimize: bool = True) -> bytes:
    """Compile a module for this machine; return the object file."""
    with _lock:
        level = _LEVEL if optimize else 0
        target = _target(level)
        module = _optimized(text, target, level)
        result: bytes = target.machine.emit_object(module)  # type: ignore[attr-defined]
        return result


def assembly(text: str) -> str:
    """The same as text, for reading."""
    with _lock:
        target = _target(_LEVEL)
        module = _optimized(text, target)
        result: str = target.machine.emit_assembly(module)  # type: ignore[attr-defined]
        return result


def optimized(text: str) -> str:
    """The module as it is when LLVM has optimized it, for reading."""
    with _lock:
        return str(_optimized(text, _target(_LEVEL)))


def _optimized(text: str, target: _Target, level: int = _LEVEL) -> object:
    llvm = target.binding
    try:
        module = llvm.parse_assembly(text, context=llvm.create_context())
    except RuntimeError as error:
        raise BuildError(
            "LLVM refuses the generated code", source=text, output=str(error)
        ) from None
    module.triple, module.data_layout = target.triple, target.layout
    tuning = llvm.create_pipeline_tuning_options(level)
    tuning.loop_vectorization = tuning.loop_interleaving = True
    tuning.slp_vectorization = False  # it makes gathers of loads that are better left alone
    tuning.loop_unrolling = False  # it takes a third of the time, and the loops are short
    builder = llvm.create_pass_builder(target.machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return module


def load(code: bytes, symbol: str) -> tuple[int, object]:
    """Link an object file with LLVM's own loader; the address, and what must be kept alive."""
    with _lock:
        target = _target(_LEVEL)
        llvm = target.binding
        empty = llvm.parse_assembly("", context=llvm.create_context())
        empty.triple, empty.data_layout = target.triple, target.layout
        engine = llvm.create_mcjit_compiler(empty, _fresh_machine(target))
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address: int = engine.get_function_address(symbol)
    if not address:
        raise InternalError(f"the compiled code has no function {symbol}")
    return address, engine


def _fresh_machine(target: _Target) -> object:
    """An engine owns its machine, so each needs its own."""
    llvm = target.binding
    kind = llvm.Target.from_triple(target.triple)
    machine: object = kind.create_target_machine(reloc="pic", codemodel="small")
    return machine
