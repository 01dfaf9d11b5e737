"""The way from a tile program to a kernel, a pass a file, in the order of `PASSES` in
`lower.py`."""
