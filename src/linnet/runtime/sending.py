"""Kernels as plain data, for processes that cannot import them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from linnet import loops
from linnet.python.sending import here, is_imported, keep
from linnet.runtime.kernel import Kernel

if TYPE_CHECKING:
    from linnet.formats.policies import Policy


def reduced(kernel: Kernel) -> str | tuple[object, ...]:
    """What a pickle holds of a kernel: its name, or its program.

    A program prints with the places of all that is in it.
    """
    module, name = kernel.__module__, kernel.__qualname__
    if is_imported(kernel, module, name):
        return name
    parts = (kernel.program, kernel.policy, module, name, kernel.__doc__)
    key = ""
    if kernel.policy is None:  # a policy does not print all that it is
        key = hashlib.sha256(f"{kernel.text}\n{parts!r}".encode()).hexdigest()
        keep(key, kernel)
    return _arrived, (key, *parts)


def _arrived(
    key: str,
    program: loops.Program,
    policy: Policy | None,
    module: str,
    name: str,
    doc: str | None,
) -> Kernel:
    """The kernel that another process has sent: one, as often as it comes."""
    found = here(key, Kernel)
    if found is None:
        found = Kernel(program, policy)
        found.__module__, found.__qualname__, found.__doc__ = module, name, doc
        if key:
            keep(key, found)
    return found
