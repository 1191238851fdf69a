"""Reading and writing tensors: `read` and `write`, and one file for every kind of file."""
