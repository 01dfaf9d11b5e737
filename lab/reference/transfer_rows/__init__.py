"""The rows of the table of copies and cube instructions, one module a family."""
