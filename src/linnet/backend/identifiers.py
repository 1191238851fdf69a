"""Names that C and LLVM accept, made from the user's."""

from __future__ import annotations

import re

from linnet import imp
from linnet.imp.functions import COMPLEX, MATH, TESTS
from linnet.names import RESERVED, Names, identifier

# Limits that headers define, and functions of our prelude.
_PRELUDE = """abs bits count_bits div from_bits imag isfinite isinf isnan lowest_bit
    max min quotient rem shl shr signbit to""".split()
_DEFINED = re.compile(
    rf"U?INT[A-Z0-9_]*_(MAX|MIN|C)$|[A-Z]+_(MAX|MIN)$|({'|'.join(_PRELUDE)})_[a-z]+[0-9]*$"
)
# What else headers and prelude define as macros, or what we call.
_WORDS = """CMPLX CMPLXF EXIT_FAILURE EXIT_SUCCESS FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO
    HUGE_VAL HUGE_VALF HUGE_VALL MB_CUR_MAX ASTRAY NO_PLACE OUT_OF_BOUNDS OUT_OF_MEMORY OVERFLOW
    Task UNBOUND UNSORTED asm cabs cabsf cimag cimagf complex conj conjf creal crealf enlarge
    exchange_slots fpclassify grow int16_t int32_t int64_t int8_t isnormal join_task
    math_errhandling prefetch pthread_attr_destroy pthread_attr_init pthread_attr_setstacksize
    pthread_attr_t pthread_create pthread_join pthread_t resized size_t spawn_task swap_buffers
    typeof uint16_t uint32_t uint64_t uint8_t""".split()
_TAKEN = (
    RESERVED
    | frozenset(_WORDS)
    | {f"{name}{suffix}" for name in (*MATH, *TESTS, *COMPLEX) for suffix in ("", "f", "l")}
)
# Functions of the C library, which a function of ours must not be named like.
_LIBRARY = """abort aligned_alloc atexit atof atoi atol bsearch calloc carg ccos cexp clog cpow csin
    csqrt ctan div drand48 exit frexp gamma getenv ilogb index j0 j1 jn labs ldexp ldiv llabs lldiv
    llrint llround logb lrint lround madvise mblen memchr memcmp memmove modf nan nanf nexttoward
    qsort rand random remove rindex scalbln scalbn signgam srand srandom strlen strtod strtof strtol
    strtoll strtoul sysconf system y0 y1 yn""".split()
_TAKEN_BY_FUNCTIONS = _TAKEN | frozenset(_LIBRARY)


def symbol(kernel: imp.Kernel) -> str:
    """The name under which a kernel is found in the compiled code."""
    name = identifier(kernel.name)
    taken = name in _TAKEN_BY_FUNCTIONS or _DEFINED.match(name) or name.startswith("_")
    return f"{name}_kernel" if taken else name


class Identifiers:
    """The C names of one function's variables and buffers, each given when it is first met."""

    def __init__(self, taken: frozenset[str] = frozenset(), functions: bool = False) -> None:
        self._names = Names((_TAKEN_BY_FUNCTIONS if functions else _TAKEN) | taken)
        self._given: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        given = self._given.get(name)
        if given is None:
            text = identifier(name)
            if text.startswith("_") or _DEFINED.match(text):
                text = f"v{text}"
            given = self._given[name] = self._names.fresh(text)
        return given

    def extra(self, hint: str) -> str:
        """A name for something that has none in the program."""
        return self._names.fresh(hint)
