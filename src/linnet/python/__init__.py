"""Functions of Python: their text, how it is translated to imperative code, how they are sent."""
