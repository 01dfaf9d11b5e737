"""Tries every operator of a repository and says how far each one gets, and what stops it.

`attempt.py` tries one operator, `worker.py` keeps it from stopping the others, `run.py` does them
all and resumes, `summary.py` counts.
"""
