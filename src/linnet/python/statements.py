"""Statements of restricted Python, translated into the imperative IR: one round over a function."""

from __future__ import annotations

import ast
from dataclasses import field

from linnet import imp
from linnet.imp.effects import ends
from linnet.imp.rewrite import walk
from linnet.python.arithmetic import concrete
from linnet.python.exact_rules import EXACT
from linnet.python.expressions import (
    Frame,
    buffer_of,
    translate_call,
    translate_expr,
    translate_index,
    translate_test,
    zero,
)
from linnet.python.scopes import HEAD, Place, Scopes
from linnet.records import dataclass

RESULT = ""  # among the types of variables, that of the value returned


@dataclass(slots=True)
class Work:
    """One round of translating a function.

    The first round takes every literal to be of 64 bits, which nearly always is right. If a
    variable turns out to hold other values too, rounds follow in which literals are weak, until no
    type changes.
    """

    frame: Frame
    scopes: Scopes
    changed: set[str]  # parameters that must hold values of another type too
    weak: bool
    settled: bool = True
    assumed: dict[str, str] = field(
        default_factory=dict
    )  # types of variables not yet given a value


def function_body(
    work: Work, types: tuple[str, ...]
) -> tuple[tuple[imp.Var | imp.Buffer, ...], imp.Block]:
    """One round: the parameters, and the body with the types known so far."""
    frame = work.frame
    params: list[imp.Var | imp.Buffer] = []
    for name, dtype in zip(_parameters(frame, types), types, strict=True):
        if dtype.endswith("*"):
            params.append(imp.Buffer(frame.names.fresh(name), dtype[:-1]))
        else:
            params.append(imp.Var(frame.names.fresh(name), dtype))
            frame.types[params[-1].name] = dtype
            frame.given.add(params[-1].name)
        frame.env[name] = params[-1]
    start: list[imp.Stmt] = []
    for param in params:
        if param.name in work.changed and isinstance(param, imp.Var):
            start.append(_copy(work, param))
    body = _block(work, frame.source.definition.body)
    return tuple(params), imp.Block((*start, *body.stmts))


def _copy(work: Work, param: imp.Var) -> imp.Let:
    """A variable of a wider type in place of a parameter, which is later assigned such values."""
    frame = work.frame
    name = next(n for n, found in frame.env.items() if found == param)
    variable = frame.names.fresh(name)
    dtype = frame.types[variable] = frame.rules.held(frame.types.get(variable, param.dtype))
    frame.env[name] = imp.Var(variable, dtype)
    frame.given.add(variable)
    return imp.Let(imp.Var(variable, dtype), frame.rules.coerce(param, dtype))


def _parameters(frame: Frame, types: tuple[str, ...]) -> list[str]:
    definition = frame.source.definition
    args = definition.args
    if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
        raise frame.refusal(definition, "parameters are plain names, without defaults")
    if len(args.args) != len(types):
        raise frame.refusal(
            definition, f"{len(args.args)} arguments are expected, and {len(types)} given"
        )
    return [a.arg for a in args.args]


def _block(work: Work, body: list[ast.stmt], before: tuple[imp.Stmt, ...] = ()) -> imp.Block:
    """The statements of a block; what it introduces is forgotten after it."""
    frame = work.frame
    env = dict(frame.env)
    with frame.collect() as out:
        out += before
        for number, stmt in enumerate(body):
            place = (id(body), number)
            for name in work.scopes.zeros.get(place, ()):
                variable = frame.names.fresh(name)
                dtype = frame.rules.held(frame.types.get(variable, imp.INT))
                work.assumed[variable] = dtype
                frame.env[name] = imp.Var(variable, dtype)
                out.append(imp.Let(imp.Var(variable, dtype), zero(frame.rules, dtype)))
            _statement(work, stmt, place)
    frame.env = env
    return imp.Block(tuple(out))


def _statement(work: Work, stmt: ast.stmt, place: Place) -> None:
    frame = work.frame
    match stmt:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _assign(work, target, value, place)
        case ast.AugAssign():
            _augment(work, stmt, place)
        case ast.If(test=test, body=body, orelse=orelse):
            _if(work, translate_test(frame, test), body, orelse)
        case ast.While(test=test, body=body, orelse=[]):
            with frame.collect(lazy=True):
                cond = translate_test(frame, test)
            frame.out.append(imp.While(cond, _loop_body(work, body)))
        case ast.For(orelse=[]):
            _for(work, stmt)
        case ast.Return(value=value):
            _return(work, stmt, value)
        case ast.Break():
            frame.out.append(imp.Break())
        case ast.Expr(value=ast.Call() as call):
            frame.out.append(imp.Do(translate_call(frame, call)))
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            pass
        case ast.Continue():
            raise frame.refusal(
                stmt, "`continue` cannot be compiled", "put the rest of the body in an `if`"
            )
        case _:
            word = type(stmt).__name__.lower()
            raise frame.refusal(stmt, f"a statement of this kind ({word}) cannot be compiled")


def _if(work: Work, cond: imp.Expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
    """A branch; what surely has a value after it has got one on every way that leads there."""
    frame = work.frame
    before, after = frame.given, list[set[str]]()
    blocks = []
    for branch in (body, orelse):
        frame.given = set(before)
        blocks.append(_block(work, branch))
        if not ends(blocks[-1]):
            after.append(frame.given)
    frame.given = set.intersection(*after) if after else before
    frame.out.append(imp.If(cond, blocks[0], blocks[1]))


def _loop_body(work: Work, body: list[ast.stmt], first: tuple[imp.Stmt, ...] = ()) -> imp.Block:
    """The body of a loop, which may be run not even once."""
    before = set(work.frame.given)
    block = _block(work, body, first)
    work.frame.given = before
    return block


def _assign(work: Work, target: ast.expr, value: ast.expr, place: Place) -> None:
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            _assign_all(work, targets, values, place)
        case ast.Tuple(), _:
            raise work.frame.refusal(target, "several names are given as many values, side by side")
        case _:
            _give(work, target, translate_expr(work.frame, value), place)


def _assign_all(work: Work, targets: list[ast.expr], nodes: list[ast.expr], place: Place) -> None:
    """`a, b = x, y`: a value that an earlier assignment would spoil is kept aside first."""
    frame = work.frame
    values = [translate_expr(frame, node) for node in nodes]
    spoilt = set[str]()
    for number, target in enumerate(targets):
        if any(_name_read(n) in spoilt for n in walk(values[number])):
            values[number] = frame.temporary(values[number])
        spoilt.add(_name_given(frame, target))
    for target, value in zip(targets, values, strict=True):
        _give(work, target, value, place)


def _name_read(node: object) -> str:
    """The variable that a node reads, or "[]" for memory; a call may read what it is given."""
    if isinstance(node, imp.Var):
        return node.name
    return "[]" if isinstance(node, imp.Load | imp.Call) else ""


def _name_given(frame: Frame, target: ast.expr) -> str:
    found = frame.env.get(target.id) if isinstance(target, ast.Name) else None
    if isinstance(target, ast.Subscript):
        return "[]"
    return found.name if found is not None else "?"


def _give(work: Work, target: ast.expr, value: imp.Expr, place: Place) -> None:
    """Give a variable or an element its value."""
    frame = work.frame
    match target:
        case ast.Subscript(value=array, slice=index):
            buffer, at = buffer_of(frame, array), translate_index(frame, index)
            frame.out.append(imp.Store(buffer, at, _fitted(frame, target, value, buffer.dtype)))
        case ast.Name(id=name):
            found = frame.env.get(name)
            if isinstance(found, imp.Buffer):
                raise frame.refusal(
                    target, f"`{name}` is an array and cannot be given another value"
                )
            new = found is None or name in work.scopes.lets.get(place, ())
            new = new or _retyped(work, found, value, place)
            variable = frame.names.fresh(name) if new or found is None else found.name
            dtype = _hold(work, target, variable, value.dtype)
            var = frame.env[name] = imp.Var(variable, dtype)
            frame.given.add(variable)
            held = frame.rules.held(dtype)
            make = imp.Let if new else imp.Assign
            frame.out.append(make(var, _fitted(frame, target, value, held)))
        case _:
            raise frame.refusal(target, "only names and elements of arrays are given values")


def _retyped(work: Work, found: imp.Var | None, value: imp.Expr, place: Place) -> bool:
    """Whether a name begins anew with a value of another type: in no branch and no loop it can."""
    frame = work.frame
    outermost = place[0] == id(frame.source.definition.body)
    if frame.rules is EXACT or found is None or not outermost:
        return False
    return value.dtype != frame.types.get(found.name, value.dtype)


def _hold(work: Work, node: ast.AST, variable: str, dtype: str) -> str:
    """The type of a variable that, it now appears, holds values of this type too."""
    before, rules = work.frame.types.get(variable), work.frame.rules
    new = dtype if work.weak else concrete(dtype)
    try:
        dtype = rules.join(before, new) if before else new
    except TypeError as error:
        raise work.frame.because(node, error) from None
    if dtype != (before or work.assumed.get(variable, rules.held(dtype))):
        work.settled = False
        work.changed.add(variable)
    work.frame.types[variable] = dtype
    return dtype


def _fitted(frame: Frame, node: ast.AST, value: imp.Expr, dtype: str) -> imp.Expr:
    try:
        return frame.rules.coerce(value, dtype)
    except TypeError as error:
        raise frame.because(node, error) from None


def _augment(work: Work, stmt: ast.AugAssign, place: Place) -> None:
    """`x += e`, `array[i] += e`."""
    load = ast.copy_location(_as_read(stmt.target), stmt.target)
    value = ast.copy_location(ast.BinOp(load, stmt.op, stmt.value), stmt)
    _give(work, stmt.target, translate_expr(work.frame, value), place)


def _as_read(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Subscript(value=value, slice=index):
            return ast.Subscript(value, index, ast.Load())
        case _:
            return target


def _return(work: Work, stmt: ast.Return, value: ast.expr | None) -> None:
    frame = work.frame
    if value is None:
        frame.out.append(imp.Return(None))
        return
    result = translate_expr(frame, value)
    dtype = frame.rules.held(_hold(work, stmt, RESULT, result.dtype))
    frame.out.append(imp.Return(_fitted(frame, stmt, result, dtype)))


def _for(work: Work, stmt: ast.For) -> None:
    """`for i in range(…)`; the limit is evaluated once, and `i` can be used like any variable."""
    frame = work.frame
    match stmt.target, stmt.iter:
        case (
            ast.Name(id=name),
            ast.Call(func=ast.Name(id="range"), args=[_] | [_, _] | [_, _, _] as args, keywords=[]),
        ):
            limits = [translate_index(frame, arg) for arg in args]
        case _:
            raise frame.refusal(
                stmt.iter, "a loop runs over a `range`", "for i in range(start, stop):"
            )
    start, stop = (imp.ZERO, limits[0]) if len(limits) == 1 else (limits[0], limits[1])
    if len(limits) == 3 and limits[2] != imp.ONE:
        _for_step(work, stmt, start, stop, limits[2])
        return
    head = (id(stmt.body), HEAD)
    own = name in work.scopes.lets.get(head, ()) and not _assigns(stmt.body, name)
    counter = imp.Var(frame.names.fresh(name if own else f"{name}_next"))
    frame.types[counter.name] = frame.rules.counter
    env, given = dict(frame.env), set(frame.given)
    frame.given.add(counter.name)
    with frame.collect() as first:
        if own:
            frame.env[name] = counter
        else:
            _give(work, stmt.target, imp.Var(counter.name, frame.rules.counter), head)
    body = _loop_body(work, stmt.body, tuple(first))
    frame.env, frame.given = env, given
    frame.out.append(imp.For(counter, start, stop, body))


def _for_step(work: Work, stmt: ast.For, start: imp.Expr, stop: imp.Expr, step: imp.Expr) -> None:
    """A range with a step: a `while` whose counter moves on first, so that any body will do."""
    frame = work.frame
    if not isinstance(step, imp.Const) or not step.value:
        raise frame.refusal(
            stmt.iter, "the step of a range is a number other than zero, known in advance"
        )
    stop = frame.temporary(stop)
    counter = frame.temporary(start)
    frame.types[counter.name] = frame.rules.counter
    env, given = dict(frame.env), set(frame.given)
    with frame.collect() as first:
        number = imp.Var(counter.name, frame.rules.counter)
        _give(work, stmt.target, number, (id(stmt.body), HEAD))
        frame.out.append(imp.Assign(counter, counter + step))
    body = _loop_body(work, stmt.body, tuple(first))
    frame.env, frame.given = env, given
    goes_on = counter < stop if int(step.value.real) > 0 else counter > stop
    frame.out.append(imp.While(goes_on, body))


def _assigns(body: list[ast.stmt], name: str) -> bool:
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for stmt in body
        for n in ast.walk(stmt)
    )
