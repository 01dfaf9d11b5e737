"""Holds the machine and the tool against published and counted figures; no run needs it."""
