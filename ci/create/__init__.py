"""Operators that do not exist yet: golden function → trace → tile program → operator folder."""
