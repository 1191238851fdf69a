"""Calling kernels: binding arguments, checking them, running machine code, taking over results."""
