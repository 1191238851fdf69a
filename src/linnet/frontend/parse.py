"""A Python function as a loop program: the front end of `@ln.kernel`.

Whatever is outside the language is refused here and in the files that this one uses, at the user's
line, when the kernel is defined. What is said here is made complete by `normalize`.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from linnet import loops
from linnet.errors import KernelSyntaxError, Location
from linnet.frontend import words
from linnet.frontend.assignments import assign, lets, swap, update
from linnet.frontend.calls import call
from linnet.frontend.expressions import expression, operator
from linnet.frontend.ranges import how_of, range_of
from linnet.frontend.refusals import refusal
from linnet.frontend.scope import Scope, outer_names
from linnet.imp.how import How
from linnet.loops.bases import coordinates
from linnet.loops.nodes import base_of
from linnet.loops.rewrite import block, point_of, walk
from linnet.python.source import Source, source_of


def parse(function: types.FunctionType) -> loops.Program:
    """The loop program that a Python function describes."""
    function = inspect.unwrap(function)
    if function.__name__ == "<lambda>":
        raise KernelSyntaxError(
            "a kernel is a function, not a lambda",
            at=Location(function.__code__.co_filename, function.__code__.co_firstlineno),
            hint="write it with def",
        )
    found = source_of(function)
    program = parse_tree(found.definition, found.source, outer_names(function))
    used = {*_used(program.body), *program.results}
    return replace(program, temporaries=tuple(t for t in program.temporaries if t[0] in used))


def parse_tree(tree: ast.FunctionDef, source: Source, outer: Mapping[str, object]) -> loops.Program:
    """The loop program of a function's syntax tree; `outer` are the Python names it sees."""
    scope = Scope(source, _local_names(tree), outer, tree.name)
    try:
        params = _parameters(tree, scope)
        stmts, results = _results(tree.body, scope)
        body = _block(stmts, scope)
        scope.check_dimensions()
        returned = tuple([_result(node, scope) for node in results])
    except RecursionError:
        raise scope.error(
            tree, f"`{tree.name}` is nested too deeply", hint="split long expressions into lines"
        ) from None
    temporaries = scope.temporaries({*_used(body), *returned})
    return loops.Program(tree.name, params, temporaries, body, returned, source.location(tree))


def _used(body: loops.Stmt) -> Iterator[str]:
    """The tensors that a program reads, writes or declares."""
    for node in walk(body):
        match node:
            case loops.Access(str(tensor)) | loops.Declare(tensor):
                yield tensor
            case loops.Freeze(tensor) | loops.Thaw(tensor):
                yield tensor
            case loops.Swap(a, b):
                yield from (a, b)


# -- the function ----------------------------------------------------------------------------------


def _local_names(tree: ast.FunctionDef) -> frozenset[str]:
    """All names that the function binds anywhere, as in Python."""
    args = tree.args
    given = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    names = {a.arg for a in given if a is not None}
    for node in (n for stmt in tree.body for n in ast.walk(stmt)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return frozenset(names)


def _parameters(tree: ast.FunctionDef, scope: Scope) -> tuple[str, ...]:
    args = tree.args
    for odd in (args.vararg, args.kwarg, *args.kwonlyargs):
        if odd is not None:
            raise scope.error(
                odd,
                f"`{odd.arg}` is not a plain parameter",
                hint="name each tensor: `def kernel(C, A, B):`",
            )
    for default in (*args.defaults, *(d for d in args.kw_defaults if d is not None)):
        raise scope.error(
            default,
            "a parameter of a kernel has no default",
            hint="use a number of the surrounding code in the body instead",
        )
    given = [*args.posonlyargs, *args.args]
    return tuple([scope.bind("parameter", a.arg, a) for a in given])


def _results(body: list[ast.stmt], scope: Scope) -> tuple[list[ast.stmt], list[ast.expr]]:
    """The statements before the final return, and what it returns."""
    if not isinstance(body[-1], ast.Return):
        return body, []
    match body[-1].value:
        case None | ast.Constant(None):
            return body[:-1], []
        case ast.Tuple(items):
            return body[:-1], items
        case item:
            return body[:-1], [item]


def _result(node: ast.expr, scope: Scope) -> str:
    tensor = scope.tensor(node) if isinstance(node, ast.Name) else None
    if tensor is not None:
        return tensor
    if isinstance(node, ast.Name) and scope.find(node.id) is None:
        raise scope.undefined(node.id, node)
    raise scope.error(
        node,
        f"`{ast.unparse(node)}` cannot be returned",
        why="a kernel returns tensors: parameters and temporaries, by name",
        hint="assign it to a tensor, `s[()] = …`, and return that: `return s`",
    )


# -- statements ------------------------------------------------------------------------------------


def _block(stmts: Sequence[ast.stmt], scope: Scope) -> loops.Stmt:
    """Statements in order; a let holds for those after it."""
    done: list[loops.Stmt] = []
    for k, stmt in enumerate(stmts):
        if (swapped := swap(stmt, scope)) is not None:
            done.append(swapped)
            continue
        given = lets(stmt, scope)
        if given is not None:
            rest = _block(stmts[k + 1 :], scope)
            for name, value in reversed(given):
                rest = loops.Let(name, value, rest, scope.source.location(stmt))
            return block([*done, rest])
        done.append(_statement(stmt, scope))
        if isinstance(stmt, ast.Break) and stmts[k + 1 :]:
            raise scope.error(stmts[k + 1], "nothing is run after a break", hint="leave it out")
    return block(done)


def _inner(stmts: list[ast.stmt], scope: Scope) -> loops.Stmt:
    """A block with names of its own."""
    with scope.block():
        return _block(stmts, scope)


def _statement(node: ast.stmt, scope: Scope) -> loops.Stmt:
    """Any statement but a let."""
    match node:
        case ast.For():
            return _loop(node, scope)
        case ast.If(test, body, orelse):
            cond = expression(test, scope)
            at = scope.source.location(test)
            return loops.If(cond, _inner(body, scope), _inner(orelse, scope), at)
        case ast.Assign([target], value):
            return assign(node, target, value, scope)
        case ast.AugAssign(target, op, value):
            return update(node, target, operator(op, node, scope), value, scope)
        case ast.Expr(value):
            return _bare(node, value, scope)
        case ast.Break():
            return loops.Break(scope.source.location(node))
        case ast.Pass():
            return loops.NOTHING
        case ast.Assign():
            raise scope.error(node, "one assignment at a time", hint="write two lines")
        case ast.Return():
            hint = "return at the end of the kernel; put what follows under `if`"
            raise scope.error(node, "a kernel returns once, at its end", hint=hint)
        case _:
            message, hint_or_none = refusal(node)
            raise scope.error(node, message, hint=hint_or_none)


def _bare(node: ast.Expr, value: ast.expr, scope: Scope) -> loops.Stmt:
    """An expression as a statement: text, `...`, a kernel, or a call that steers a life cycle."""
    if isinstance(value, ast.Call) and (done := call(value, scope)) is not None:
        return done
    match value:
        case ast.Constant(text) if isinstance(text, str) or text is ...:
            return loops.NOTHING
        case ast.Call(func, [ast.Name() as name, *rest], []) if scope.is_static(func):
            steered = _life_cycle(node, scope.static(func), name, rest, scope)
            if steered is not None:
                return steered
    expression(value, scope)  # refuses what is not even an expression, with its own message
    raise scope.error(
        node, "this computes a value and drops it", hint="store it: `y[i] = …` or `d = …`"
    )


def _life_cycle(
    node: ast.Expr, word: object, name: ast.Name, rest: list[ast.expr], scope: Scope
) -> loops.Stmt | None:
    """`ln.freeze(w)`, `ln.thaw(w)`, `ln.declare(w, 0, (n, m))`."""
    tensor, at = scope.tensor(name), scope.source.location(node)
    if tensor is None:
        return None
    if word is words.freeze and not rest:
        return loops.Freeze(tensor, at)
    if word is words.thaw and not rest:
        return loops.Thaw(tensor, at)
    match rest:
        case [init, ast.Tuple(sizes)] if word is words.declare:
            value = expression(init, scope)
            dims = tuple([expression(size, scope) for size in sizes])
            return loops.Declare(tensor, value, dims, at)
        case [_, sizes] if word is words.declare:
            hint = f"`ln.declare({name.id}, 0, (A.shape[0], A.shape[1]))`, and `(n,)` for a vector"
            raise scope.error(sizes, "the sizes of a tensor are written one by one", hint=hint)
    return None


# -- loops -----------------------------------------------------------------------------------------


def _loop(node: ast.For, scope: Scope) -> loops.Stmt:
    if node.orelse:
        raise scope.error(node.orelse[0], "a loop has no else", hint="write it after the loop")
    at = _heading(node, scope)
    iterable, how = how_of(node.iter, scope)
    extent = _extent(iterable, scope)
    names = _index_names(node, extent, scope)
    if (left := _own_break(node.body)) is not None:
        _check_break(left, extent, len(names), scope)
    with scope.block():
        indices = [scope.bind("index", n.id, n) for n in names]
        body = _inner(node.body, scope)
    if how.flat and not (extent is not None and isinstance(base_of(extent), loops.Positions)):
        hint = "`for i, j in ln.flat(ln.stored(A)):`"
        raise scope.error(node.iter, "a flat loop goes through what a tensor stores", hint=hint)
    if len(names) > 1 and how != How(flat=how.flat):
        hint = "write a loop for each index"
        raise scope.error(node.iter, "how a loop is run is said of one loop", hint=hint)
    for depth, index in reversed(list(enumerate(indices))):
        one = extent
        if extent is not None and len(indices) > 1:
            one = loops.Along(extent, tuple(map(loops.Index, indices[:depth])))
        body = loops.Loop(index, one, body, at, how)
    return body


def _check_break(left: ast.Break, extent: loops.Range | None, count: int, scope: Scope) -> None:
    """Refuse to leave what is no loop of its own."""
    if count > 1 and extent is None:
        hint = "write a loop for each index: `for i in ...:` and below it `for j in ...:`"
        raise scope.error(left, "break ends one loop, and here are several", hint=hint)
    if point_of(extent) is not None:
        hint = "put what follows under `if`"
        raise scope.error(left, "break ends a loop over one index, which ends anyway", hint=hint)


def _own_break(stmts: list[ast.stmt]) -> ast.Break | None:
    """The first `break` that ends the loop around these statements."""
    for stmt in stmts:
        found = stmt if isinstance(stmt, ast.Break) else None
        if isinstance(stmt, ast.If):
            found = _own_break(stmt.body) or _own_break(stmt.orelse)
        if found is not None:
            return found
    return None


def _heading(node: ast.For, scope: Scope) -> Location:
    """The place of `for i in …`, without the body."""
    start, stop = scope.source.location(node), scope.source.location(node.iter)
    if start.line != stop.line:
        return start
    return Location(start.file, start.line, start.column, stop.end_column, start.text)


def _index_names(node: ast.For, extent: loops.Range | None, scope: Scope) -> list[ast.Name]:
    several = isinstance(node.target, ast.Tuple | ast.List)
    items = node.target.elts if isinstance(node.target, ast.Tuple | ast.List) else [node.target]
    names = [item for item in items if isinstance(item, ast.Name)]
    if not names or len(names) < len(items):
        raise scope.error(node.target, "a loop index is a name", hint="`for i, j in ...:`")
    count = len(names) if extent is None else coordinates(extent)
    if several and count == 1:
        hint = "`for i in range(n):` and below it `for j in range(m):`"
        raise scope.error(node.target, "a range has one index", hint=hint)
    if count not in (0, len(names)):
        message = f"`{ast.unparse(node.iter)}` has {count} indices, not {len(names)}"
        hint = f"`for {', '.join('ijklmnpqrst'[:count])} in …:`"
        raise scope.error(node.target, message, hint=hint)
    return names


def _extent(node: ast.expr, scope: Scope) -> loops.Range | None:
    match node:
        case ast.Constant(value) if value is ...:
            return None
        case ast.Name() | ast.Attribute() if scope.names_dots(node):  # `ln.extents`
            return None
        case iterable:
            return range_of(iterable, scope)
