"""What becomes of a lazy array: its kernels, what each of them computes and why, and their code."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.arrays.evaluate import planned
from linnet.arrays.nodes import Constant, Labels, Leaf, Map, Node, Position, Reduce, Take, View
from linnet.arrays.plan import Plan, Result, Step
from linnet.arrays.trace import Trace
from linnet.explanation import Explanation, explain
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.runtime.slices import sizes


def explained(
    nodes: Sequence[Node], wanted: Sequence[Format | None] = (), labels: Sequence[Labels] = ()
) -> Explanation:
    """The plan of some nodes, then all stages of every kernel. Nothing is computed.

    Where there are several kernels, the names of their stages are numbered: `code 1`.
    """
    made, found = planned(nodes, tuple(wanted) or (None,) * len(nodes), labels)
    stages = {"plan": _plan(found, made)}
    formats = {number: t.contents().format for number, t in enumerate(found.tensors)}
    for number, step in enumerate(made.steps, 1):
        formats |= {r.slot: _settled(found.nodes[r.node], r) for r in step.results}
        kernel = explain(step.kernel, *_arguments(step, formats, found))
        end = f" {number}" if len(made.steps) > 1 else ""
        stages |= {f"{name}{end}": text for name, text in kernel.stages.items()}
    return Explanation(stages)


def _arguments(step: Step, formats: dict[int, Format], found: Trace) -> list[Tensor]:
    """Tensors of the formats that a kernel will get; what they hold does not matter."""
    outs = [Tensor(result.format, None) for result in step.results]
    operands = [
        _sample(step.reorder.get(place, formats[k]))
        if place in step.reorder or k >= len(found.tensors)
        else found.tensors[k]
        for place, k in enumerate(step.inputs)
    ]
    return [*outs, *operands, *([sizes((1,) * len(step.numbers))] if step.numbers else [])]


def _sample(format: Format) -> Tensor:
    """An empty tensor of a format."""
    from linnet.formats.construct import tensor

    ndim = format.ndim
    return tensor([[]] * ndim, [0] * (not ndim), (1,) * ndim, format=format)


def _settled(node: Node, result: Result) -> Format:
    """The format in which a result is handed on."""
    from linnet.formats.named import settle

    return settle(result.convert or result.final or result.format, node.dtype)


# -- the plan --------------------------------------------------------------------------------------


def _plan(found: Trace, made: Plan) -> str:
    lines = []
    called = {found.operand(n): n.name for n in found.nodes if isinstance(n, Leaf)}
    names = {k: called.get(k) or chr(ord("A") + k % 26) for k in range(len(found.tensors))}
    numbers = {
        k: repr(t.item()) for k, t in enumerate(found.tensors) if not t.ndim and not called.get(k)
    }
    for k, tensor in enumerate(found.tensors):
        lines.append(f"{names[k]} is {numbers.get(k) or repr(tensor)}")
    known = {}
    for node in found.nodes:
        if isinstance(node, Leaf):
            k = found.operand(node)
            known[found.places[id(node)]] = numbers.get(k) or names[k]
    if not made.steps:
        lines.append("nothing is computed: the result is an operand")
    for number, step in enumerate(made.steps, 1):
        lines.append(f"kernel {number}:")
        for result in step.results:
            node = found.nodes[result.node]
            name = f"R{result.slot}"
            text = describe(node, found, known, root=True)
            lines.append(f"  {name} = {text}")
            known |= dict.fromkeys((result.node, *result.twins), name)
            lines.append(f"    {result.format!r} of shape {node.shape}, {node.dtype}")
            lines += [f"    {note}" for note in result.notes]
            if result.why:
                lines.append(f"    by itself, since {result.why}")
            elif len(made.steps) > 1 and result.slot not in made.outputs:
                lines.append("    needed by the next kernels")
        if number > 1 and all(k < len(found.tensors) for k in step.inputs):
            lines.append("  apart, since no kernel before has the same loops over its operands")
        for place, format in step.reorder.items():
            slot = step.inputs[place]
            lines.append(f"  {names.get(slot, f'R{slot}')} is first stored as {format!r}, since "
                         "the loops run in another order than it is stored in")  # fmt: skip
    outs = ", ".join(names.get(k, f"R{k}") for k in made.outputs)
    return "\n".join([*lines, f"gives {outs}"])


def describe(node: Node, found: Trace, known: dict[int, str], root: bool = False) -> str:
    """A node as text, by the names of what is known."""
    if isinstance(node, Constant):
        return repr(node.value)
    place = found.places[id(node)]
    if not root and place in known:
        return known[place]
    match node:
        case Leaf():
            return known[place]
        case Map(function, args):
            parts = [describe(a, found, known) for a in args]
            return f"{function.name}({', '.join(parts)})"
        case Reduce(function, axes, arg):
            return f"{function.name}-reduce({describe(arg, found, known)}, axes={axes})"
        case View(arg, axes, shape):
            read = ["" if a.out is None else str(a.out) for a in axes]
            whole = f"view({describe(arg, found, known)}"
            return f"{whole}, axes=({', '.join(read)}), shape={shape})"
        case Position(axis):
            return f"position({axis})"
        case Take(arg, indices):
            parts = [describe(i, found, known) for i in indices]
            return f"{describe(arg, found, known)}[{', '.join(parts)}]"
