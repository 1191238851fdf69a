"""Loop programs to loop programs: what the user left unsaid is said (FINCH §5)."""
