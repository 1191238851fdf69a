"""Functions of NumPy that the Array API does not have, and how NumPy's functions get here."""
