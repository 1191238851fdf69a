"""What functions mean: their types, their code, and the laws that simplification relies on."""
