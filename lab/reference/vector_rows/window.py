"""What an instruction that is not element by element reads and changes, and a row for it.

A row names the instruction, how it is called on a window of the unified buffer, which numbers its
arguments may take, and its meaning: a function that makes the same change to a `Window` in numpy.
Tests draw numbers, masks, modes and contents, and compare the machine with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lab.reference.vector_rows.element import NUMPY_TYPES, Array

Bytes: TypeAlias = npt.NDArray[np.uint8]

DST, A, B, EXTRA, END = 0, 4096, 8192, 12288, 16384
"""Offsets of the operands in the window; each has 4096 bytes."""

KEEP_INFINITY = 1 << 48
"""CTRL[48]: without it half results saturate and NaN becomes 0."""


@dataclass(frozen=True)
class Pointer:
    """C++ text of a pointer into the window; a format such as `{a:int32_t}` names another type."""

    dtype: str
    offset: int

    def __format__(self, dtype: str) -> str:
        return f"({dtype or self.dtype}*)(ub + {self.offset})"


def pointers(dtype: str) -> dict[str, Pointer]:
    """The operands as a call names them."""
    places = {"dst": DST, "a": A, "b": B, "extra": EXTRA}
    return {name: Pointer(dtype, offset) for name, offset in places.items()}


@dataclass
class Window:
    """A part of the unified buffer, and the registers that instructions read and leave."""

    ub: Bytes
    low: int
    high: int
    counter: bool
    control: int
    compare: list[int]
    scalar: float
    left: dict[str, int] = field(default_factory=dict)
    """Registers that the instruction must have left: accumulated, max_min, reduced, merged."""

    def active(self, width: int, repeat: int, *, masked: bool = True) -> list[Array]:
        """Which lanes take part in each iteration, from the mask register."""
        lanes = np.arange(width)
        if self.counter:
            return [lanes < self.low - start for start in range(0, self.low, width)]
        mask = self.low | self.high << 64
        chosen = np.array([not masked or bool(mask >> i & 1) for i in range(width)])
        return [chosen] * repeat if chosen.any() else []

    def lanes(
        self, dtype: str, base: int, width: int, r: int, block: int = 1, stride: int = 8
    ) -> Array:
        """All lanes of iteration `r`; strides in 32-byte blocks."""
        kind = np.dtype(NUMPY_TYPES[dtype])
        lane = np.arange(width)
        per_block = 32 // kind.itemsize
        where = base + r * stride * 32 + lane // per_block * block * 32
        where = where + lane % per_block * kind.itemsize
        raw = np.stack([self.ub[(where + i) % END] for i in range(kind.itemsize)], axis=1)
        return np.ascontiguousarray(raw).view(kind)[:, 0]

    def put(self, offset: int, values: Any) -> None:
        """Write a scalar's or an array's bytes."""
        data = np.frombuffer(np.asarray(values).tobytes(), dtype=np.uint8)
        self.ub[offset : offset + len(data)] = data

    def get(self, dtype: str, offset: int, count: int) -> Array:
        """`count` adjacent elements."""
        kind = np.dtype(NUMPY_TYPES[dtype])
        return self.ub[offset : offset + count * kind.itemsize].view(kind).copy()

    def saturated(self, value: Any) -> Any:
        """A half result as CTRL[48] wants it."""
        if self.control & KEEP_INFINITY or value.dtype != np.float16:
            return value
        if np.isnan(value):
            return np.float16(0)
        return np.clip(value, np.float16(-65504), np.float16(65504))


Meaning: TypeAlias = Callable[[Window, Sequence[int]], None]
Prepare: TypeAlias = Callable[[Window, Sequence[int], np.random.Generator], None]
Meanings: TypeAlias = dict[str, Callable[[str, str], Meaning]]
"""Meanings by the table's mnemonic; each is made for an element type and one of the row's
keys."""
Operands: TypeAlias = dict[str, Callable[[str], Prepare]]
"""Operands by the table's name for them; each is made for an element type."""


def _numbers(dtype: str) -> Prepare:
    """Operands A and B with small numbers, many of them equal, and the special values."""
    kind = NUMPY_TYPES[dtype]

    def prepare(window: Window, _: Sequence[int], random: np.random.Generator) -> None:
        count = (EXTRA - A) // np.dtype(kind).itemsize
        if np.issubdtype(kind, np.floating):
            numbers = random.integers(-4, 5, count) * random.choice([1.0, 0.3, 9000.0])
            special = np.array([np.nan, np.inf, -np.inf, -0.0, 6e-8, 1e-40, 65504.0])
            share = random.choice([0.0, 0.01, 0.2])
            drawn = np.where(random.random(count) < share, random.choice(special, count), numbers)
        else:
            info = np.iinfo(np.dtype(kind))
            drawn = random.integers(max(info.min, -4), 5, count)
            edge = random.choice(np.array([info.min, info.max]), count)
            drawn = np.where(random.random(count) < 0.1, edge, drawn)
        with np.errstate(all="ignore"):
            window.put(A, drawn.astype(kind))

    return prepare


OPERANDS: Operands = {"numbers": _numbers, "bytes": lambda dtype: lambda *_: None}
"""Bytes are what the window is filled with."""


@dataclass(frozen=True)
class Whole:
    """One overload of an instruction that is not element by element."""

    mnemonic: str
    dtype: str
    """C++ type of the elements, by which results are compared."""
    call: str
    """C++ statements over `ub`, the numbers `n[]` and `scalar`."""
    numbers: tuple[tuple[int, ...], ...]
    """Values that each of `n[]` may take."""
    meaning: Meaning
    formula: str
    """The meaning in words, for the documentation."""
    prepare: Prepare
    assumption: str = ""
    """What no document says and the machine therefore assumes; '' when there is nothing."""
    variant: str = ""
    """Tells rows of one mnemonic and dtype apart."""

    @property
    def name(self) -> str:
        """Unique in the table."""
        return f"{self.mnemonic}{self.variant}({self.dtype})"
