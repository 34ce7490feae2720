"""Lowerings of ATen operators: one operator, or one tight group of aliases, a file."""
