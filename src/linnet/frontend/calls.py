"""Kernels that call kernels: the body of the called one stands where it is called.

    @ln.kernel                            @ln.kernel
    def add_row(y, A, i, scale):          def total(y, A, w):
        for j in ...:                         y[...] = 0
            y[j] += scale[()] * A[i[()], j]   for i in ...:
                                                  add_row(y, A, i, w[i])

An argument that is a tensor takes the place of a parameter; any other is a value, which the called
kernel reads without indices. A value that is read from tensors is read once, before; an index stays
one. What the called kernel names itself has names of its own here. All else, such as life cycles,
is found out of the program as a whole.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from linnet import loops
from linnet.errors import LifecycleError
from linnet.frontend.expressions import expression
from linnet.frontend.scope import Scope
from linnet.loops.rewrite import map_positions, rewrite_stmt, walk
from linnet.normalize.lifecycles import insert_lifecycles
from linnet.records import dataclass
from linnet.runtime.kernel import Kernel


def call(node: ast.Call, scope: Scope) -> loops.Stmt | None:
    """What a call of another kernel does, or None if no kernel is called."""
    if not scope.is_static(node.func):
        return None
    if isinstance(node.func, ast.Name) and node.func.id == scope.kernel:
        why = "what it does is written out where it is called, which would never end"
        raise scope.error(node, f"the kernel `{scope.kernel}` cannot call itself", why=why)
    called = scope.called(node.func)
    return _written_out(node, called.program, scope) if isinstance(called, Kernel) else None


@dataclass(frozen=True, slots=True)
class _Meanings:
    """What the names of a program mean where it is called."""

    tensors: dict[str, str]
    values: dict[str, loops.Expr]  # parameters that are given one
    own: dict[str, str]  # indices and lets


def _written_out(node: ast.Call, program: loops.Program, scope: Scope) -> loops.Stmt:
    given = dict(zip(program.params, _arguments(node, program, scope), strict=True))
    names = {param: arg for param, arg in given.items() if isinstance(arg, ast.Name)}
    tensors = {param: scope.tensor(arg) for param, arg in names.items()}
    known = {param: tensor for param, tensor in tensors.items() if tensor is not None}
    others = {param: arg for param, arg in given.items() if param not in known}
    _check_values(program, others, scope)
    _check_uses(program, known, given, scope)
    _check_same(program, known, given, scope)
    made = {name: scope.adopt(name, format, node) for name, format in program.temporaries}
    own = {name: scope.fresh(name) for name in _bound(program)}
    values = {param: expression(arg, scope) for param, arg in others.items()}
    lets = {param: scope.fresh(param) for param, value in values.items() if _reads(value)}
    before = {param: loops.Name(name) for param, name in lets.items()}
    body = _renamed(program.body, _Meanings(known | made, values | before, own))
    for param, name in reversed(lets.items()):
        body = loops.Let(name, values[param], body, scope.source.location(given[param]))
    return body


def _reads(value: loops.Expr) -> bool:
    return any(isinstance(n, loops.Access) for n in walk(value))


# -- what is refused -------------------------------------------------------------------------------


def _arguments(node: ast.Call, program: loops.Program, scope: Scope) -> list[ast.expr]:
    text, count = ast.unparse(node.func), len(program.params)
    hint = f"`{text}({', '.join(program.params)})`, one after the other"
    for odd in (*node.keywords, *(arg for arg in node.args if isinstance(arg, ast.Starred))):
        raise scope.error(odd, "a kernel is given its arguments in order", hint=hint)
    if len(node.args) != count:
        message = f"`{text}` takes {count} argument{'s' * (count != 1)}, not {len(node.args)}"
        raise scope.error(node, message, hint=hint)
    return node.args


def _check_values(program: loops.Program, given: dict[str, ast.expr], scope: Scope) -> None:
    """A parameter that is given a value is a number to be read."""
    for n in walk(program.body):
        match n:
            case loops.Access(tensor, indices) if indices and tensor in given:
                raise _no_tensor(given[tensor], f"`{tensor}` is indexed", program, scope)
            case loops.Positions(tensor) if tensor in given:
                raise _no_tensor(given[tensor], f"`{tensor}` is gone through", program, scope)
            case loops.Dimension(tensor, _) if tensor in given:
                raise _no_tensor(given[tensor], f"`{tensor}` has dimensions", program, scope)
            case loops.Assign(loops.Access(tensor)) if tensor in given:
                raise _no_tensor(given[tensor], f"`{tensor}` is written to", program, scope)
            case loops.Declare(tensor) | loops.Freeze(tensor) | loops.Thaw(tensor):
                if tensor in given:
                    raise _no_tensor(given[tensor], f"`{tensor}` is written to", program, scope)
            case loops.Swap(a, b) if a in given or b in given:
                raise _no_tensor(given[a if a in given else b], "it is swapped", program, scope)


def _no_tensor(arg: ast.expr, what: str, program: loops.Program, scope: Scope) -> Exception:
    where = "" if program.at is None else f", line {program.at.line} of {program.at.file}"
    return scope.error(
        arg,
        f"`{ast.unparse(arg)}` is a value, and `{program.name}` wants a tensor",
        why=f"{what} in `{program.name}`{where}",
        hint="pass a parameter or a temporary, by its name",
    )


def _check_uses(
    program: loops.Program, tensors: dict[str, str], given: dict[str, ast.expr], scope: Scope
) -> None:
    """A tensor has as many indices there as here."""
    for n in walk(program.body):
        match n:
            case loops.Access(str(param), indices) if param in tensors:
                scope.use(tensors[param], len(indices), given[param])
            case loops.Dimension(param, mode) if param in tensors:
                scope.use_dimension(tensors[param], mode, given[param])


def _check_same(
    program: loops.Program, tensors: dict[str, str], given: dict[str, ast.expr], scope: Scope
) -> None:
    """Two parameters may be one tensor if the program could be written with one."""
    first = {tensor: param for param, tensor in reversed(tensors.items())}
    again = {param: first[tensor] for param, tensor in tensors.items() if first[tensor] != param}
    if not again:
        return
    names = {name: name for name in (*program.params, *dict(program.temporaries))}
    body = _renamed(program.body, _Meanings(names | again, {}, _bound(program)))
    try:
        insert_lifecycles(replace(program, body=body))
    except LifecycleError as error:
        named = [param for param, other in again.items() if other in error.message.split()]
        param = [*named, *again][0]
        raise LifecycleError(
            f"`{tensors[param]}` cannot be both `{again[param]}` and `{param}` of `{program.name}`",
            at=scope.source.location(given[param]),
            why=f"in `{program.name}` {error.message} then",
            hint="copy it to a temporary, and pass that",
        ) from error


# -- names -----------------------------------------------------------------------------------------


def _bound(program: loops.Program) -> dict[str, str]:
    """The indices and lets of a program."""
    found = [n for n in walk(program.body) if isinstance(n, loops.Loop | loops.Let)]
    names = [n.index if isinstance(n, loops.Loop) else n.name for n in found]
    return dict(zip(names, names, strict=True))


def _renamed(body: loops.Stmt, meanings: _Meanings) -> loops.Stmt:
    tensors, values, own = meanings.tensors, meanings.values, meanings.own

    def on_expr(e: loops.Expr) -> loops.Expr | None:
        match e:
            case loops.Index(name) | loops.Name(name):
                return replace(e, name=own[name])
            case loops.Access(str(tensor)):
                found = tensors.get(tensor)
                return values[tensor] if found is None else replace(e, tensor=found)
            case loops.Dimension(tensor):
                return replace(e, tensor=tensors[tensor])
            case loops.Parts(of) | loops.Place(of):
                return replace(e, of=map_positions(of, moved))
        return None

    def moved(positions: loops.Positions) -> loops.Positions:
        return replace(positions, tensor=tensors[positions.tensor])

    def on_stmt(stmt: loops.Stmt) -> loops.Stmt | None:
        match stmt:
            case loops.Loop(index):
                extent = None if stmt.extent is None else map_positions(stmt.extent, moved)
                return replace(stmt, index=own[index], extent=extent)
            case loops.Let(name):
                return replace(stmt, name=own[name])
            case loops.Assign(loops.Access(str(tensor)) as target):
                return replace(stmt, target=replace(target, tensor=tensors[tensor]))
            case loops.Declare(tensor) | loops.Freeze(tensor) | loops.Thaw(tensor):
                return replace(stmt, tensor=tensors[tensor])
            case loops.Swap(a, b):
                return replace(stmt, a=tensors[a], b=tensors[b])
        return None

    return rewrite_stmt(body, on_stmt, on_expr)
