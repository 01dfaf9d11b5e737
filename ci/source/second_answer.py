"""A second answer to each question to a golden function, from a process with another past.

A function that keeps something from call to call, or that depends on time, chance or its process,
would say for one candidate what it does not say for the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ci.system.resident import Resident

MOST_BYTES: Final = 64 << 20
"""Most bytes of inputs and outputs of a question that is asked twice: both are held here."""

ROOM: Final = 16.0
"""How far two answers may lie apart, in the spacing of floats at the largest value: libraries add
up in an order that depends on where memory lies."""

FURTHEST: Final = 1e-3
"""The most that this may be of the largest value, where floats are wide apart."""

_LONGER: Final = 4


class Second:
    """The process of the second answers. It is begun again after 1, 4, 16 … questions, so that it
    was never asked as much as the first one, nor in the same order."""

    def __init__(self) -> None:
        self._resident: Resident | None = None
        self._left, self._life = 0, 1

    def next(self, start: Callable[[], Resident]) -> Resident:
        """The process for the next question; raises what `start`, which begins one, does."""
        if self._resident is None or not self._resident.alive or not self._left:
            self.close()
            self._resident = start()
            self._left, self._life = self._life, self._life * _LONGER
        self._left -= 1
        return self._resident

    def close(self) -> None:
        """End it; nothing when there is none."""
        if self._resident is not None:
            self._resident.close()
            self._resident = None


def size(values: list[Any]) -> int:
    """Bytes of arrays and lists of them."""
    return sum(size(one) if isinstance(one, list) else one.nbytes for one in values)


def alike(one: Any, other: Any) -> bool:
    """Whether two answers, arrays or lists of them, are the same but for the order of sums."""
    if isinstance(one, list) or isinstance(other, list):
        both = isinstance(one, list) and isinstance(other, list) and len(one) == len(other)
        return both and all(map(alike, one, other))
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return False
    floats = one.dtype.kind in "fc"
    if np.array_equal(one, other, equal_nan=floats):
        return True
    finite = np.isfinite(one) if floats else None
    if finite is None or not np.array_equal(finite, np.isfinite(other)):
        return False
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    first, second = one[finite].astype(wide), other[finite].astype(wide)
    share = min(ROOM * float(np.finfo(one.dtype).eps), FURTHEST)
    return bool((np.abs(first - second) <= share * np.abs(first).max(initial=0.0)).all())
