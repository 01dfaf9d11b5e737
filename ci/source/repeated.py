"""Tensors of more elements than anybody draws: a pattern whose memory is mapped again and again."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from ci.model.errors import InputError
from ci.model.launch import Array
from ci.source.golden_child import again_and_again

PATTERN_BYTES = 4099 * mmap.PAGESIZE
"""Bytes of a pattern: a prime number of pages, so that what is off by a power of two differs."""


class Repeated(np.ndarray[Any, Any]):
    """A read-only array whose memory is that of `pattern`, over and over. Its views are none."""

    pattern: Array | None = None
    """The bytes that repeat; None of a view."""

    def __array_finalize__(self, other: object) -> None:
        """A part of it, or what is computed with it, has no pattern of its own."""
        self.pattern = None


def pattern_of(array: Array) -> Array | None:
    """The bytes that repeat in an array, None where they do not."""
    return array.pattern if isinstance(array, Repeated) else None


def repeated(pattern: Array, shape: tuple[int, ...]) -> Repeated:
    """An array of the pattern's dtype whose elements, row-major, are the pattern's again and again.

    `pattern` has PATTERN_BYTES. Raises InputError where this machine cannot map so much.
    """
    raw = np.ascontiguousarray(pattern).reshape(-1).view(np.uint8)
    total = int(np.prod(shape, dtype=np.int64)) * pattern.dtype.itemsize
    try:
        memory = again_and_again(raw.data, total)
    except OSError as problem:
        raise InputError(f"A tensor of shape {list(shape)} has {problem.strerror}.") from None
    array = np.frombuffer(memory, pattern.dtype).reshape(shape).view(Repeated)
    array.setflags(write=False)
    array.pattern = raw
    return array
