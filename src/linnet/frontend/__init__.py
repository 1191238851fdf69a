"""The user's doors: Python text and objects become loop programs."""
