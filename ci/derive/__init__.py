"""Workloads that nobody has written: cases an operator takes, found by asking and running it.

`candidates.py` collects cases that its sources, examples and tests speak of (`example.py`,
`tiling_tests.py`, as `told.py` has them), `asking.py` has its host tiling say which of them it
takes, `taking.py` puts these in order, `growing.py` makes smaller, larger and odd ones,
`choosing.py` picks a few that differ, `running.py` runs them, `mending.py` says what else may make
one pass, `script.py` finds a golden function, and `derive.py` does it all.
"""
