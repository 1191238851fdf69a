"""Why a kernel is not called: errors about its arguments, or its program, in the user's words."""

from __future__ import annotations

from linnet.errors import ArgumentError, LifecycleError, Location
from linnet.runtime.kernel import Kernel


def wrong_count(kernel: Kernel, count: int) -> ArgumentError:
    """Too many arguments, or too few."""
    params = kernel.params
    return ArgumentError(
        f"`{kernel.__name__}` takes {len(params)} tensors ({', '.join(params)}), not {count}",
        at=Location.of_caller(),
    )


def not_a_tensor(kernel: Kernel, name: str, value: object) -> ArgumentError:
    """An output that no kernel can write to."""
    updated = "pass ln.asarray(…), which is updated and leaves your array as it is"
    return ArgumentError(
        f"`{name}` is written by `{kernel.__name__}`, so it must be a tensor of Linnet",
        at=Location.of_caller(),
        why=f"it is a {type(value).__name__}, whose memory is not ours to write to",
        hint=updated if name in kernel.kept else "pass ln.empty_tensor(format)",
    )


def no_contents(kernel: Kernel, k: int) -> LifecycleError:
    """An argument that is read before anything was written to it."""
    name = kernel.params[k]
    what = "updates what it holds" if name in kernel.outputs else "reads it"
    return LifecycleError(
        f"`{name}` has no contents yet, and `{kernel.__name__}` {what}",
        at=Location.of_caller(),
        why="it gets its shape and values from a kernel that writes to it; none has, or the "
        "last one failed",
        hint=f"declare it in the kernel, `{name}[...] = 0`, or pass a tensor that has a shape"
        if name in kernel.outputs
        else "pass it as the output of a kernel first",
    )


def one_tensor(kernel: Kernel, one: str, other: str) -> ArgumentError:
    """Two outputs that are the same."""
    return ArgumentError(
        f"`{one}` and `{other}` are one tensor, and `{kernel.__name__}` writes both",
        at=Location.of_caller(),
        hint="pass two tensors, such as two of ln.empty_tensor(format)",
    )
