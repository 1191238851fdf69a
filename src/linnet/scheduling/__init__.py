"""Rewriting loop programs on request: how derived indices come about, and workspaces by hand."""
