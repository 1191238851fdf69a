"""`Writer`: LLVM IR text as it is being written, one function at a time, in one module."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from linnet import imp
from linnet.records import NamedTuple, dataclass
from linnet.target import PLAIN, Target

Value: TypeAlias = tuple[str, ...]

TYPES = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "i8",
    "uint16": "i16",
    "uint32": "i32",
    "uint64": "i64",
    "float32": "float",
    "float64": "double",
    "complex64": "float",  # each of two parts
    "complex128": "double",
}
BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}
PARTS = {"complex64": "float32", "complex128": "float64"}
# What a reduction may do and other code may not: sum in another order, fuse into multiply-add.
REDUCTION = "reassoc nsz contract "
# Called for few arguments by codelets that compute the rest: LLVM must not call them for all. Of a
# remainder it says that it is no NaN, though the divisor may be one.
_AS_IT_IS = frozenset({"sin", "cos", "fmod"})


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where a buffer is: a fixed address, or a slot that holds it; and what its accesses carry."""

    address: str
    in_slot: bool = False
    load: str = ""
    store: str = ""


class Shared(NamedTuple):
    """A codelet that a module calls and does not have: its name, and what it is made for."""

    symbol: str
    fixed: dict[int, imp.Const]  # arguments by their numbers, which are not passed


@dataclass(slots=True)
class Module:
    """What the functions of one module share: declarations, metadata, what they are for."""

    declarations: dict[str, str] = field(default_factory=dict)
    metadata: list[str] = field(default_factory=list)
    codelets: dict[str, imp.Function] = field(default_factory=dict)
    shared: dict[str, Shared] = field(default_factory=dict)
    target: Target = PLAIN

    def passed(self, name: str) -> tuple[str, list[int]]:
        """The name of a codelet in this module, and the numbers of the arguments that it takes."""
        symbol, fixed = self.shared.get(name) or (f"codelet.{name}", {})
        count = len(self.codelets[name].params)
        return symbol, [k for k in range(count) if k not in fixed]

    def node(self, text: str) -> str:
        """A numbered metadata node."""
        self.metadata.append(text)
        return f"!{len(self.metadata) - 1}"


@dataclass(slots=True)
class Writer:
    """One function being written: its lines, and what its names stand for."""

    module: Module
    lines: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    slots: dict[str, Value] = field(default_factory=dict)
    buffers: dict[str, Pointer] = field(default_factory=dict)
    # lanes that outlive the loop they are of, by variable and number
    kept: dict[tuple[str, int], str] = field(default_factory=dict)
    count: int = 0
    group: str = ""  # the loop whose accesses of memory do not depend on each other, if one is open
    block: str = "entry"
    open: bool = True  # whether the current block still lacks a terminator

    def grouped(self, note: str) -> str:
        """What an access of memory carries here."""
        return f"{note}, !llvm.access.group {self.group}" if self.group else note

    def emit(self, text: str) -> str:
        """Append an instruction that gives a value; return the value's name."""
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction that gives none."""
        self.lines.append("  " + text)

    def label(self, hint: str) -> str:
        """A fresh block name."""
        self.count += 1
        return f"{hint}{self.count}"

    def start(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block, self.open = label, True

    def jump(self, label: str, note: str = "") -> None:
        """End the block, unless it has ended already."""
        if self.open:
            self.lines.append(f"  br label %{label}{note}")
            self.open = False

    def branch(self, cond: str, yes: str, no: str, note: str = "") -> None:
        """End the block with a choice."""
        self.lines.append(f"  br i1 {cond}, label %{yes}, label %{no}{note}")
        self.open = False

    def intrinsic(self, name: str, ty: str, *args: str, flags: str = "") -> str:
        """Call an overloaded intrinsic whose arguments and result have one type."""
        mark = {"float": "f32", "double": "f64"}.get(ty, ty)
        symbol = f"@llvm.{name}.{mark}"
        params = ", ".join([ty] * len(args))
        self.module.declarations.setdefault(symbol, f"declare {ty} {symbol}({params})")
        return self.emit(f"call {flags}{ty} {symbol}({', '.join(f'{ty} {a}' for a in args)})")

    def libm(self, name: str, ty: str, *args: str) -> str:
        """Call a function of math.h."""
        symbol = f"@{name}{'f' if ty == 'float' else ''}"
        params = ", ".join([ty] * len(args))
        self.module.declarations.setdefault(symbol, f"declare {ty} {symbol}({params}) #2")
        note = " nobuiltin" if name in _AS_IT_IS else ""
        return self.emit(f"call {ty} {symbol}({', '.join(f'{ty} {a}' for a in args)}){note}")
