"""Search strategies that ours are compared with; `bench strategies` knows them.

`optimize` takes them, too, with ASCENDOPT_STRATEGIES=lab.strategies.
"""
