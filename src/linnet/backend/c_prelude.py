"""What a C file begins with: headers, type names, and small functions — only those it uses."""

from __future__ import annotations

from dataclasses import field

from linnet import imp
from linnet.errors import InternalError
from linnet.records import dataclass

TYPES = {
    "bool": "bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
}
SHORT = {**TYPES, "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128"}
COMPLEX = {"real": "creal", "imag": "cimag", "conj": "conj", "abs": "cabs"}
TESTS = frozenset({"isnan", "isinf", "isfinite", "signbit"})
BITS = {"bits": "i64", "from_bits": "double"}  # to which type
STATUS = {
    imp.OUT_OF_MEMORY: "OUT_OF_MEMORY",
    imp.OUT_OF_BOUNDS: "OUT_OF_BOUNDS",
    imp.OVERFLOW: "OVERFLOW",
    imp.NO_PLACE: "NO_PLACE",
    imp.UNSORTED: "UNSORTED",
    imp.ASTRAY: "ASTRAY",
    imp.UNBOUND: "UNBOUND",
}

_FUNCTIONS = {
    "min": "static inline {T} {name}({T} a, {T} b) {{ return a < b{nan} ? a : b; }}",
    "max": "static inline {T} {name}({T} a, {T} b) {{ return a > b{nan} ? a : b; }}",
    "div": "static inline {T} {name}({T} a, {T} b) {{ return b == 0 ? 0 : {minus}a / b; }}",
    "rem": "static inline {T} {name}({T} a, {T} b) {{ return b == 0{or_minus} ? 0 : a % b; }}",
    "shl": "static inline {T} {name}({T} a, {T} b) {{ return (u64)b < {bits} ? a << b : 0; }}",
    "shr": "static inline {T} {name}({T} a, {T} b) {{ return (u64)b < {bits} ? a >> b : {sign}; }}",
    "abs": "static inline {T} {name}({T} a) {{ return a < 0 ? -a : a; }}",
    "imag": "static inline {T} {name}({T} a) {{ return 0; }}",
}
_TO = """static inline {T} {name}(double x) {{
  if (x != x) return 0;
  return x <= {low} ? {MIN} : x >= {high} ? {MAX} : ({T})x;
}}"""
_LOWEST_BIT = """static inline {T} {name}({T} a) {{
#ifdef __GNUC__
  return __builtin_ctzll(a);
#else
  {T} n = 0;
  while (!(a >> n & 1)) n++;
  return n;
#endif
}}"""
_COUNT_BITS = """static inline {T} {name}({T} a) {{
#ifdef __GNUC__
  return __builtin_popcountll(a);
#else
  {T} n = 0;
  for (; a; a &= a - 1) n++;
  return n;
#endif
}}"""
WORDS = {  # of integers of 64 bits
    "count_bits": _COUNT_BITS,
    "lowest_bit": _LOWEST_BIT,
}
_BITS = """static inline {R} {name}({T} x) {{
  {R} y;
  memcpy(&y, &x, sizeof y);
  return y;
}}"""
_QUOTIENT = """static inline {T} {name}({T} a, {T} b) {{
  {R} ar = creal{f}(a), ai = cimag{f}(a), br = creal{f}(b), bi = cimag{f}(b);
  bool wide = fabs{f}(br) >= fabs{f}(bi);
  {R} large = wide ? br : bi, small = wide ? bi : br, p = wide ? ar : ai, q = wide ? ai : ar;
  if (large == 0 && small == 0) return CMPLX{F}(ar / 0, ai / 0);
  {R} ratio = small / large, d = large + small * ratio, crossed = p * ratio;
  return CMPLX{F}((p + q * ratio) / d, (wide ? q - crossed : crossed - q) / d);
}}"""
# The headers of MinGW have no CMPLX.
_PAIRS = """#ifndef CMPLX
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#define CMPLXF(x, y) __builtin_complex((float)(x), (float)(y))
#endif"""
_TEST = "static inline bool {name}({T} x) {{ return {body}; }}"
_GROW = """#ifdef __linux__
int madvise(void *, size_t, int);
long sysconf(int);
// A new block begins at a cache line. One of 4 MB or more is made of huge pages, which take less
// time to get; they are asked for before it is written. From 32 MB on, realloc copies nothing.
static void *resized(void *old, i64 had, i64 bytes) {
  bool small = bytes < 1 << 22;
  if (old && (small || had >= 1 << 25)) return realloc(old, bytes);
  char *new = aligned_alloc(64, (bytes + 63ull) & -64);
  if (!new || small) return new;
  i64 offset = (i64)new % sysconf(30);  // the size of a page
  madvise(new - offset, bytes + offset, 14);
  if (old) memcpy(new, old, had);
  free(old);
  return new;
}
#else
#define resized(old, had, bytes) realloc(old, bytes)
#endif
// A growable buffer has three slots, always up to date: address, capacity, length. If it has count
// elements after some of all steps of a loop, it gets room for as many as that lets expect, and for
// a few more: a quarter more than it had at least, and twice as many at most.
static __attribute__((noinline, cold))
int enlarge(i64 *slot, i64 count, i64 size, double done, double whole) {
  i64 most = INT64_MAX / size, wish = slot[1] + slot[1] / 4;
  if (count > most) return 1;
  double expected = count * (whole / done) * 1.03125;
  if (expected > wish) wish = expected < 2.0 * slot[1] ? (i64)expected : 2 * slot[1];
  if (wish < count) wish = count;
  wish = wish < 16 ? 16 : wish > most ? most : wish;
  void *old = (void *)slot[0], *memory = resized(old, slot[1] * size, wish * size);
  if (!memory) memory = resized(old, slot[1] * size, (wish = count) * size);
  if (!memory) return 1;
  slot[0] = (i64)memory;
  slot[1] = wish;
  return 0;
}
#define grow_for(buffer, slot, count, done, whole) \\
  ((count) > (slot)[1] && \\
   (enlarge(slot, count, sizeof *(buffer), done, whole) || ((buffer) = (void *)(slot)[0], 0)))
#define grow(buffer, slot, count) grow_for(buffer, slot, count, 1, 2)"""

_SWAP = """// Two growable buffers exchange their memory.
static inline void exchange_slots(i64 *a, i64 *b) {
  for (int k = 0; k < 2; k++) {
    i64 mine = a[k];
    a[k] = b[k];
    b[k] = mine;
  }
}
#define swap_buffers(a, slot_a, b, slot_b) \\
  (exchange_slots(slot_a, slot_b), (a) = (void *)(slot_a)[0], (b) = (void *)(slot_b)[0])"""
_PREFETCH = """// Ask for a place that will be read, if there is such a place.
#ifdef __GNUC__
#define prefetch(buffer, at) \\
  __builtin_prefetch((void *)((i64)(buffer) + (at) * (i64)sizeof *(buffer)))
#else
#define prefetch(buffer, at) ((void)0)
#endif"""
_TASKS = """// A task runs on a thread with a stack of 1 MB, or at once if there is none to be had.
typedef struct { pthread_t thread; bool running; } Task;
static void spawn_task(Task *task, void *(*run)(void *)) {
  pthread_attr_t wish;
  pthread_attr_init(&wish);
  pthread_attr_setstacksize(&wish, 1 << 20);
  task->running = !pthread_create(&task->thread, &wish, run, task);
  pthread_attr_destroy(&wish);
  if (!task->running) run(task);
}
static void join_task(Task *task) {
  if (task->running) pthread_join(task->thread, NULL);
  task->running = false;
}"""


def _limited(text: str) -> str:
    """As many elements as positions of 32 bits can tell; more are told by the buffer's length."""
    text = text.replace("i64 most = INT64_MAX / size", f"i64 most = {imp.MOST_NARROW}")
    refused = "if (count > most) return"
    return text.replace(f"{refused} 1;", f"{refused} slot[2] = count, 1;")


@dataclass(slots=True)
class Needs:
    """What a file has turned out to need, collected while it is printed."""

    types: set[str] = field(default_factory=set)
    headers: set[str] = field(default_factory=set)
    functions: dict[str, str] = field(default_factory=dict)
    statuses: set[int] = field(default_factory=set)
    grow: bool = False
    swap: bool = False
    prefetch: bool = False
    tasks: bool = False
    narrow: bool = False  # the kernel is

    def function(self, operation: str, dtype: str) -> str:
        """The name of a function of the prelude, which is added."""
        name = f"{operation}_{SHORT[dtype]}"
        if operation in ("min", "max") and dtype == "int64":
            name = operation
        if name not in self.functions:
            self.types.add(dtype)
            self.functions[name] = self._define(operation, name, dtype)
        return name

    def _define(self, operation: str, name: str, dtype: str) -> str:
        c, kind = TYPES[dtype], dtype[0]
        part, f = ("float", "f") if dtype == "complex64" else ("double", "")
        if operation == "quotient":
            self.headers |= {"complex.h", "math.h"}
            self.types.add("bool")
            return _QUOTIENT.format(T=c, name=name, R=part, f=f, F=f.upper())
        if operation in BITS:
            self.headers.add("string.h")
            return _BITS.format(T=c, name=name, R=BITS[operation])
        if operation in WORDS:
            self.types |= {"uint64"} if "u64" in WORDS[operation] else set()
            return WORDS[operation].format(T=c, name=name)
        if operation in TESTS:
            return self._test(operation, name, dtype)
        bits = int(dtype.lstrip("uint")) if kind in "iu" else 0
        if operation == "to":
            high = f"0x1p{bits - 1}" if kind == "i" else f"0x1p{bits}"
            low = f"-{high}" if kind == "i" else "0"
            limit = f"{'U' if kind == 'u' else ''}INT{bits}"
            least = f"{limit}_MIN" if kind == "i" else "0"
            return _TO.format(T=c, name=name, low=low, high=high, MIN=least, MAX=f"{limit}_MAX")
        if operation in ("shl", "shr"):
            self.types.add("uint64")
        if operation not in _FUNCTIONS:
            raise InternalError(f"the C back end has no {operation} of {dtype}")
        return _FUNCTIONS[operation].format(
            T=c,
            name=name,
            bits=bits,
            nan=" || a != a" if kind == "f" else "",
            minus="b == -1 ? -a : " if kind == "i" else "",
            or_minus=" || b == -1" if kind == "i" else "",
            sign="a < 0 ? -1 : 0" if kind == "i" else "0",
        )

    def _test(self, operation: str, name: str, dtype: str) -> str:
        """What C's macros tell, as true or false: theirs is any number, -1 for an infinity."""
        self.types.add("bool")
        if dtype[0] not in "fc":
            return _TEST.format(T=TYPES[dtype], name=name, body=int(operation == "isfinite"))
        self.headers.add("math.h")
        if dtype[0] == "f":
            return _TEST.format(T=TYPES[dtype], name=name, body=f"{operation}(x)")
        self.headers.add("complex.h")
        join = "&&" if operation == "isfinite" else "||"
        body = f"{operation}(creal(x)) {join} {operation}(cimag(x))"
        return _TEST.format(T=TYPES[dtype], name=name, body=body)

    def text(self) -> str:
        """The prelude."""
        lines = ["#include <stdint.h>"]
        headers = set(self.headers)
        headers |= {"stdbool.h", "stdlib.h", "string.h"} if self.grow else set()
        headers |= {"stdbool.h"} if "bool" in self.types else set()
        headers |= {"pthread.h", "stdbool.h", "stddef.h"} if self.tasks else set()
        lines += [f"#include <{name}>" for name in sorted(headers)]
        if "complex.h" in headers:
            lines += ["#undef I", _PAIRS]
        integers = [d for d in TYPES if d[0] in "iu" and (d in self.types or d == "int64")]
        lines += ["", " ".join(f"typedef {d}_t {TYPES[d]};" for d in integers)]
        if self.statuses or self.grow:
            kinds = self.statuses | ({imp.OUT_OF_MEMORY} if self.grow else set())
            lines.append(f"enum {{ {', '.join(f'{STATUS[k]} = {k}' for k in sorted(kinds))} }};")
        lines += list(self.functions.values())
        if self.grow:
            lines.append(_limited(_GROW) if self.narrow else _GROW)
        lines += [_SWAP] if self.swap else []
        lines += [_PREFETCH] if self.prefetch else []
        lines += [_TASKS] if self.tasks else []
        return "\n".join(lines)
