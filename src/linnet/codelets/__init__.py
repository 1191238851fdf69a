"""What kernels call to work on memory: searching, sorting, hashing, merging, in restricted Python.

The functions of numbers (powers, logarithms, complex division) are restricted Python, too, and are
with the table that names them, in `algebra`.
"""
