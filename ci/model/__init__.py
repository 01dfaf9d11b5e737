"""Frozen data that passes between the parts, and the settings people give."""
