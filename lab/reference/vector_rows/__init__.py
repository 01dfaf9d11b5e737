"""Rows of the instruction table for what is not element by element, by family."""
