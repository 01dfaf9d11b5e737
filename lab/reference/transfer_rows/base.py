"""A row of the table of copies and cube instructions: memories, arguments, meaning in numpy.

Such an instruction takes bytes from one to three memories and leaves bytes in one. A row's meaning
works on the first bytes of each, as numpy sees them; a test fills them, executes the instruction on
the machine, and compares all of what the memory holds afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Memory: TypeAlias = Literal["GM", "OUT", "UB", "L1", "L0A", "L0B", "L0C", "BIAS", "FIXBUF"]
"""GM is global memory that is read, OUT global memory that is written."""

WINDOW = 32 * 1024
"""Bytes from the start of each memory that take part."""
SIZES: Mapping[Memory, int] = {"BIAS": 1024, "FIXBUF": 7 * 1024}
"""Sizes of memories that are smaller."""

BLOCK = 32
FRACTAL = 512


Memories: TypeAlias = dict[Memory, npt.NDArray[np.uint8]]
Draw: TypeAlias = Callable[[np.random.Generator], list[int]]
Meaning: TypeAlias = Callable[[Memories, Sequence[int]], None]
Fill: TypeAlias = Callable[[np.random.Generator, int], npt.NDArray[np.uint8]]


def random_bytes(random: np.random.Generator, size: int) -> npt.NDArray[np.uint8]:
    """Anything."""
    return random.integers(0, 256, size, dtype=np.uint8)


@dataclass(frozen=True)
class TransferRow:
    """One overload or mode of an instruction."""

    mnemonic: str
    variant: str
    """What tells it from the others with that name: types, mode."""
    core: Literal["vector", "cube"]
    reads: tuple[Memory, ...]
    writes: Memory
    call: str
    """C++ over `gm`, `out` and the numbers `n[]`; local memories start at address 0."""
    draw: Draw
    """Numbers for the arguments, such that all stays within the windows."""
    meaning: Meaning
    """Changes the written memory."""
    fills: Mapping[Memory, Fill] = field(default_factory=dict)
    """What the memories hold before; any bytes where nothing is said."""
    element: str = ""
    """Type of the results where NaN may have any bits."""

    @property
    def name(self) -> str:
        """Unique in the table."""
        return f"{self.mnemonic} {self.variant}".strip()


def pick(random: np.random.Generator, *choices: int) -> int:
    """One of the values."""
    return int(random.choice(choices))


def span(random: np.random.Generator, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return int(random.integers(low, high + 1))


def up(value: int, by: int) -> int:
    """How many times `by` covers `value`."""
    return -(-value // by)
