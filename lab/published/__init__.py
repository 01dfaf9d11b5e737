"""The published cases: figures from hardware, our operators that do the same, and the comparison.

`src/` holds one operator a family in the cann-ops layout, written from the description of the
published one; a version is a workload case of its name.
"""
