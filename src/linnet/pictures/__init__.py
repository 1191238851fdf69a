"""Pictures of tensors: what is stored, and how."""
