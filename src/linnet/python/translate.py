"""Restricted Python to the imperative IR: the codelets, and the functions of users.

A function is translated once for each combination of argument types (`"int64"`, `"int32*"` for a
buffer). Types of locals are found by translating until they no longer change. What its operators
mean is said by `Rules`; what is outside the language is refused.
"""

from __future__ import annotations

from dataclasses import replace
from types import FunctionType
from weakref import WeakKeyDictionary

from linnet import imp
from linnet.errors import KernelSyntaxError
from linnet.imp.effects import ends
from linnet.imp.rewrite import rewrite
from linnet.names import identifier
from linnet.python.arithmetic import concrete
from linnet.python.exact_rules import EXACT
from linnet.python.expressions import Callee, Frame
from linnet.python.rare import is_rare
from linnet.python.rules import Rules
from linnet.python.scopes import find_scopes
from linnet.python.source import source_of
from linnet.python.statements import RESULT, Work, function_body
from linnet.records import dataclass

Types = tuple[str, ...]
Module = tuple[imp.Function, ...]  # a function, last, after all that it calls
Key = tuple[FunctionType, Types]


@dataclass(frozen=True, slots=True)
class Translation:
    """A function for some types of arguments; `dtype` is its result's, weak if all it has are."""

    module: Module
    dtype: str | None


_translated: WeakKeyDictionary[FunctionType, dict[Types, Translation]] = WeakKeyDictionary()
_LETTER = {"int": "i", "uint": "u", "float": "f", "complex": "c", "bool": "b"}
_MAX_ROUNDS = 20


def translate(
    function: FunctionType,
    argument_types: Types,
    codelets: dict[str, imp.Function],
    rules: Rules = EXACT,
) -> imp.Function:
    """The function for arguments of these types; it is put in `codelets`, after all that it calls.

    One whose name is taken by a different function gets another.
    """
    return admit(translation(function, argument_types, rules).module, codelets)


def translation(
    function: FunctionType, types: Types, rules: Rules = EXACT, active: tuple[Key, ...] = ()
) -> Translation:
    """The function and what it calls; translated once. `active` are those under translation."""
    known = _translated.setdefault(function, {})
    found = known.get(types)
    if found is None:
        try:
            found = _translate(function, types, rules, active)
        except RecursionError:
            raise _too_deep(function) from None
        found = known.setdefault(types, found)  # equal ones, if two threads ask at once
    return found


def _too_deep(function: FunctionType) -> KernelSyntaxError:
    source = source_of(function)
    return KernelSyntaxError(
        f"`{function.__name__}` is nested too deeply",
        at=source.location(source.definition),
        hint="split long expressions into lines",
    )


def define(function: FunctionType, types: Types, module: Module) -> None:
    """Say what a function is for arguments of these types, instead of translating its text."""
    _translated.setdefault(function, {})[types] = Translation(module, module[-1].dtype)


def admit(module: Module, codelets: dict[str, imp.Function]) -> imp.Function:
    """Put functions among others; one whose name is taken by a different one gets another."""
    renamed: dict[str, str] = {}
    for found in module:
        admitted = _rename(found, renamed)
        number = 1
        while codelets.get(admitted.name, admitted) != admitted:
            number += 1
            renamed[found.name] = f"{found.name}_{number}"
            admitted = _rename(found, renamed)
        codelets.setdefault(admitted.name, admitted)
    return admitted


def _rename(function: imp.Function, names: dict[str, str]) -> imp.Function:
    """The function under other names, its own and those that it calls."""
    if not names:
        return function

    def rule(node: object) -> imp.Call | None:
        if isinstance(node, imp.Call) and node.function in names:
            return replace(node, function=names[node.function])
        return None

    name = names.get(function.name, function.name)
    return replace(function, name=name, body=rewrite(function.body, rule))


def _translate(
    function: FunctionType, types: Types, rules: Rules, active: tuple[Key, ...]
) -> Translation:
    source, key = source_of(function), (function, types)
    is_lambda = function.__code__.co_name == "<lambda>"
    called = source.definition.name if is_lambda else function.__name__
    scopes, name = find_scopes(source.definition), _specialized_name(called, types)
    found: dict[str, str] = {}  # the types of variables
    callees: dict[str, imp.Function] = {}
    changed = set[str]()

    def callee(other: FunctionType, given: Types) -> Callee:
        if (other, given) == key:
            return name, found.get(RESULT)
        if (other, given) in active:
            raise TypeError(f"`{function.__name__}` and `{other.__name__}` call each other")
        result = translation(other, given, rules, (*active, key))
        return admit(result.module, callees).name, result.dtype

    exact = rules is EXACT
    for number in range(_MAX_ROUNDS):
        callees.clear()
        frame = Frame(source, function, rules, callee, found)
        work = Work(frame, scopes, changed, weak=number > 0 or not exact)
        params, body = function_body(work, types)
        if work.settled:
            break
        if exact:
            found = {v: concrete(dtype) for v, dtype in found.items() if number > 0}
    else:
        raise frame.refusal(source.definition, "the types of variables here depend on each other")
    result = found.get(RESULT)
    if result and not ends(body):
        raise work.frame.refusal(source.definition, f"`{function.__name__}` may return no value")
    made = rules.finish(imp.Function(name, params, body, result, is_rare(function)))
    return Translation((*callees.values(), made), result)


def _specialized_name(name: str, types: Types) -> str:
    """`search` for ("int32*", "int64", …) is `search_i32`: 64-bit numbers go without saying.

    It is a name in LLVM and in C, whatever letters the user's has.
    """
    suffix = ""
    for dtype in types:
        if dtype.startswith("weak_"):
            suffix += f"_w{dtype[5]}"
        elif dtype != imp.INT:
            word = dtype.rstrip("*0123456789")
            suffix += f"_{_LETTER[word]}{dtype[len(word) :].rstrip('*')}"
    return identifier(name.lstrip("_")) + (suffix or "_i64")
