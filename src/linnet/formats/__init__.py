"""How tensors are stored: levels, the formats built from them, and the tensors that hold data."""
