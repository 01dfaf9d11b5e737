"""Cases of a repository that are too large to be launched often, made smaller."""

from __future__ import annotations

from collections.abc import Iterator

from ci.judge.varied.base import tensors
from ci.model.workload import Entry, TensorCase, WorkloadCase

LEAST_LENGTH = 16
"""Shorter dimensions stay: what they count are heads and their like."""


def halved(case: WorkloadCase) -> Iterator[WorkloadCase]:
    """Smaller and smaller cases: each time the longest dimension is half as long wherever a tensor
    has that length, and so are the values of a list that ends with it."""
    while True:
        lengths = [n for t in tensors(case) if t.present for n in t.shape]
        longest = max((n for n in lengths if n % 2 == 0 and n > LEAST_LENGTH), default=0)
        if not longest:
            return
        case = case.model_copy(
            update={
                "inputs": tuple(_halved(entry, longest) for entry in case.inputs),
                "outputs": tuple(_halved(entry, longest) for entry in case.outputs),
            }
        )
        yield case


def _halved(entry: Entry, length: int) -> Entry:
    if isinstance(entry, tuple):
        return tuple(t for one in entry if isinstance(t := _halved(one, length), TensorCase))
    whole = [value for value in entry.values or () if isinstance(value, int)]
    if whole and max(whole) == length:
        return entry.model_copy(update={"values": tuple(value // 2 for value in whole)})
    if entry.values is not None and len(entry.values) > 1:
        return entry  # as many values as elements
    shape = tuple(n // 2 if n == length else n for n in entry.shape)
    return entry.model_copy(update={"shape": shape})
