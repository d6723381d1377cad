"""How large a difference between two objectives must be before a study of a given size can prove it."""
