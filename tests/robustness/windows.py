"""Machine code for Windows, run on Linux by way of thunks: arguments are passed otherwise there.

`install` has all kernels of a process compiled for Windows. What they call is found by the address
of a function that is called as on Windows, and calls that of the C library; and they are called by
a function that is called as here.
"""

from __future__ import annotations

from dataclasses import replace

from linnet.backend import machine, symbols

_TYPES = {"malloc": "ptr i64", "realloc": "ptr ptr i64", "free": "void ptr"}
_TYPES |= {"memset": "ptr ptr i32 i64", "memcpy": "ptr ptr ptr i64", "memmove": "ptr ptr ptr i64"}
_TWO = ("atan2", "fmod", "hypot", "nextafter", "pow")  # arguments; others of math.h have one
# It gets the size of a frame in rax, touches its pages, and leaves all registers alone.
_CHKSTK = 'define void @f() naked {\n  call void asm sideeffect "retq", ""()\n  unreachable\n}'
_kept: list[object] = []
_known: dict[str, int] = {}


def install() -> None:
    """From now on, until the process ends."""
    here, found, load = machine.host(own=False), symbols.address_of, machine.load
    there = replace(here, triple="x86_64-pc-windows-msvc-elf")
    machine.host = lambda own: there

    def thunk(name: str) -> int:
        if name not in _known:
            text = _CHKSTK if name == "__chkstk" else _callee(name, found(name))
            _known[name] = _loaded(text)
        return _known[name]

    def _loaded(text: str) -> int:
        machine.host, symbols.address_of = (lambda own: here), found
        try:
            address, owner = load(machine.compile(text, target=here), "f")
        finally:
            machine.host, symbols.address_of = (lambda own: there), thunk
        _kept.append(owner)
        return address

    def entered(code: bytes, symbol: str, address_of: object = None) -> tuple[int, object]:
        address, owner = load(code, symbol, address_of)
        if symbol.startswith("codelet."):  # which kernels call, as on Windows
            return address, owner
        call = f"call win64cc i64 inttoptr (i64 {address} to ptr)(ptr %args)"
        return _loaded(f"define i64 @f(ptr %args) {{\n  %r = {call}\n  ret i64 %r\n}}"), owner

    symbols.address_of, machine.load = thunk, entered


def _callee(name: str, address: int) -> str:
    """What is called as on Windows, and calls a function of this system."""
    if not address:
        raise LookupError(name)
    usual = "float" if name.endswith("f") and name != "erf" else "double"
    plain = f"{usual} {usual}" + f" {usual}" * (name.removesuffix("f") in _TWO)
    result, *given = _TYPES.get(name, plain).split()
    params = ", ".join(f"{ty} %{k}" for k, ty in enumerate(given))
    call = f"call {result} inttoptr (i64 {address} to ptr)({params})"
    body = f"  {call}\n  ret void" if result == "void" else f"  %r = {call}\n  ret {result} %r"
    return f"define win64cc {result} @f({params}) {{\n{body}\n}}"
