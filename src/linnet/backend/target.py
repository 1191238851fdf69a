"""`Target`: the processor and the system that machine code is for, in LLVM's words.

What a back end asks of them is answered here. To make one takes nothing of LLVM, which is asked for
the one we are on by `machine.host`.
"""

from __future__ import annotations

import sys

from linnet.records import dataclass

_PAGE = 4096  # bytes: the least that any system has
_AVX512 = {"+avx512f", "+avx512bw", "+avx512vl"}
_SYSTEMS = {
    "darwin": "arm64-apple-macosx",
    "win32": "x86_64-pc-windows-msvc-elf",
    "linux": "x86_64-unknown-linux-gnu",
}


@dataclass(frozen=True, slots=True)
class Target:
    """A processor, what it can do ("+avx2,-avx512f"), its system, and how its code is loaded.

    `own`: by our loader (`loader`), which wants small code; LLVM's takes code that reaches anything
    anywhere.
    """

    triple: str
    cpu: str = ""
    features: str = ""
    page: int = _PAGE
    own: bool = False

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
        """What vectors can do in part, at no cost: "" nothing, "load", or "all"."""
        there = frozenset(self.features.split(","))
        return "all" if there >= _AVX512 else "load" if "+avx2" in there else ""

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
