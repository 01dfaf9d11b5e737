"""Workloads that nobody has written: cases an operator takes, found by asking and running it.

`candidates.py` collects cases that its sources, examples and tests speak of, `asking.py` has its
host tiling say which of them it takes, `growing.py` makes smaller, larger and odd ones of those,
`choosing.py` picks a few that differ, and `derive.py` runs them and keeps what passes.
"""
