"""`Target`: what code is made for. Passes and back ends ask it, and nobody asks anything else.

It is a processor, its system and the compiler behind a back end, as plain data: to make one takes
nothing of LLVM, which tells the rest of the processor that we are on when it makes machine code
(`backend.machine.host`).
"""

from __future__ import annotations

import os
import sys
from functools import cache

import numpy as np

from linnet.options import Options, processor
from linnet.records import dataclass

_PAGE = 4096  # bytes: the least that any system has
HELD = 256  # bytes: half of the registers of 32 bytes that there are, the least that vectors have
_AVX512 = frozenset({"+avx512f", "+avx512bw", "+avx512vl"})
_FUSED = frozenset({"+fma", "+neon"})
IN_VECTORIZE = ("hints", "lanes")
"""What is said of how loops are run, and can be left out: hints to LLVM, lanes with a mask."""
IN_SCHEDULES = ("default_schedule", "row_inside", "sums_of_rows")
"""What the default schedule does, as a whole and by its questions, and can leave out."""
_SYSTEMS = {
    "darwin": "arm64-apple-macosx",
    "win32": "x86_64-pc-windows-msvc-elf",
    "linux": "x86_64-unknown-linux-gnu",
}
# What NumPy calls what we ask for; from 2.4 on it knows levels of a processor.
_AS_NUMPY_HAS_THEM = {
    "+avx2": ("AVX2", "X86_V3"),
    "+fma": ("FMA3", "X86_V3"),
    "+avx512f": ("AVX512F", "X86_V4"),
    "+avx512bw": ("AVX512_SKX", "X86_V4"),
    "+avx512vl": ("AVX512_SKX", "X86_V4"),
    "+neon": ("NEON_VFPV4",),
}


@dataclass(frozen=True, slots=True)
class Target:
    """A processor, what it can do ("+avx2,-avx512f"), its system, who compiles, and who loads.

    `language` is what is written for it: llvm or c. `own`: the code is loaded by our loader
    (`backend.loader`), which wants small code; LLVM's takes code that reaches anything anywhere.
    """

    triple: str
    cpu: str = ""
    features: str = ""
    page: int = _PAGE
    own: bool = False
    language: str = "llvm"
    # whether it loads into the caches what is asked for ahead
    prefetches: bool = True
    # cache lines that a core waits for at once, beyond its first cache: 32 to 48 on those of today
    misses: int = 32
    # bytes of all caches that a core has to itself, and of its part of those that are shared
    cache: int = 8 << 20
    # whether memory can be enlarged while a loop runs
    grows: bool = True
    # bytes of a vector that pays: longer ones leave more for the loop after them
    vector: int = 32
    # what is left out for it, of `IN_VECTORIZE`
    without: frozenset[str] = frozenset()

    @property
    def system(self) -> str:
        """One of linux, darwin, windows; or "" for another one."""
        names = {"linux": "linux", "darwin": "darwin", "macos": "darwin", "windows": "windows"}
        return next((names[name] for name in names if name in self.triple), "")

    @property
    def processor(self) -> str:
        """One of x86_64, aarch64; or another one as LLVM calls it."""
        name = self.triple.partition("-")[0]
        return {"arm64": "aarch64", "amd64": "x86_64"}.get(name, name)

    @property
    def masks(self) -> str:
        """What vectors can do in part, at no cost: "" nothing, "load", or "all".

        C has no word for it.
        """
        there = frozenset(self.features.split(","))
        if self.language == "c" or self.without:  # lanes rest on hints
            return ""
        return "all" if there >= _AVX512 else "load" if "+avx2" in there else ""

    @property
    def fused(self) -> bool:
        """Whether it multiplies and adds at once, on which our elementary functions rest."""
        return bool(_FUSED & frozenset(self.features.split(",")))

    @property
    def reloc(self) -> str:
        """The relocation model."""
        return "pic" if self.own else "static" if self.processor == "x86_64" else "default"

    @property
    def codemodel(self) -> str:
        """How far code reaches: kernels and the C library may lie gigabytes apart."""
        return "small" if self.own else "jitdefault"


def plain(masks: str = "", system: str = sys.platform) -> Target:
    """A processor of a system, with nothing to it but what its vectors can do in part."""
    features = {"all": ",".join(sorted(_AVX512)), "load": "+avx2", "": ""}[masks]
    return Target(_SYSTEMS.get(system, _SYSTEMS["linux"]), features=features)


PLAIN = plain()


def of(options: Options) -> Target:
    """The processor that we are on, as far as NumPy has found out, and who compiles for it."""
    return _here(options.target, frozenset(options.without).intersection(IN_VECTORIZE))


@cache
def _here(language: str, without: frozenset[str]) -> Target:
    features = ",".join(_features(known_features()))
    return Target(_triple(), features=features, language=language, without=without)


def known_features() -> dict[str, bool]:
    """Whether there is a feature, by NumPy's name; those of other processors are not there."""
    known = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    return dict(getattr(known, "__cpu_features__", {}))


def _features(known: dict[str, bool]) -> list[str]:
    """Those that are asked for, as LLVM writes them. What NumPy does not list, all have by now."""
    fused = [name for name in _FUSED for n in _AS_NUMPY_HAS_THEM[name] if n in known]
    found = [
        name for name, theirs in _AS_NUMPY_HAS_THEM.items() if any(known.get(n) for n in theirs)
    ]
    return sorted(found if fused else {*found, *_FUSED})


def _triple() -> str:
    """The system, as LLVM writes it."""
    machine = processor()[0] if sys.platform == "win32" else os.uname().machine
    usual = _SYSTEMS.get(sys.platform, _SYSTEMS["linux"])
    return f"{machine or usual.partition('-')[0]}-{usual.partition('-')[2]}"
