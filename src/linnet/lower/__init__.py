"""From loop programs over formats to imperative code, one loop at a time (FINCH §5.6)."""
