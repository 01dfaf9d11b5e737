"""Workloads that nobody has written: cases an operator takes, found by asking and running it.

`candidates.py` collects cases that its sources, examples and tests name (`example.py`,
`tiling_tests.py`; facts as in `example_facts.py`). Programs are run against a stand-in of the
runtime (`example_run.py`); what they hand over is put in the operator's terms (`example_calls.py`).
`host_queries.py` asks its host tiling which of them it takes, `accepted_cases.py` puts these in
order, `case_variants.py` makes smaller, larger and odd ones, `case_selection.py` picks a few that
differ, `runner.py` runs them, `case_repair.py` finds changes that let one pass, `script.py` finds a
golden function, and `derive.py` does it all.
"""
