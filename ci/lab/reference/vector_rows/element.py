"""A row of the instruction table for what is element by element: types, form, meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from ci.lab.reference.vector_rows.assumed import assumption_of

Array = npt.NDArray[Any]
Meaning = Callable[..., Array]

NUMPY_TYPES: dict[str, type[np.generic]] = {
    "half": np.float16,
    "bfloat16_t": np.uint16,
    "float": np.float32,
    "int8_t": np.int8,
    "uint8_t": np.uint8,
    "int16_t": np.int16,
    "uint16_t": np.uint16,
    "int32_t": np.int32,
    "uint32_t": np.uint32,
    "int64_t": np.int64,
    "int4b_t": np.int8,
}
"""Element types by their C++ name. bfloat16 appears as its bits, 4-bit integers unpacked."""

KEEP_INFINITY = 48
"""Bit of CTRL: cleared, half and bfloat16 results saturate and NaN becomes 0."""
SATURATE_INTEGER = 53
"""Bit of CTRL: set, sums, differences and products of integers saturate instead of wrapping."""
TRUNCATE_CAST = 59
"""Bit of CTRL: set, conversions to integers keep the low bits instead of saturating."""

FLOATS = ("half", "float")
NUMBERS = ("half", "float", "int16_t", "int32_t")


class Form(Enum):
    """The argument list of an instruction."""

    BINARY = "binary"
    """(dst, src0, src1, repeat, three block strides, three repeat strides)"""
    BINARY_HALF = "binary, upper half"
    """as BINARY, and a flag that selects the half of the destination block"""
    UNARY = "unary"
    """(dst, src, repeat, two block strides, two repeat strides)"""
    SCALAR = "scalar"
    """as UNARY, with a scalar of the source's type after src"""
    SHIFT = "shift"
    """as UNARY, with a distance after src"""
    SHIFT_ROUND = "shift, round"
    """as SHIFT, and a flag that switches rounding on"""


@dataclass(frozen=True)
class Instruction:
    """One overload of an element-by-element instruction."""

    mnemonic: str
    form: Form
    dst: str
    """C++ element type of the destination."""
    src: str
    """C++ element type of the sources."""
    meaning: Meaning
    """From source lanes (then the destination's old lanes when `reads_dst`, then scalars) to
    result lanes."""
    formula: str
    """The meaning in words or symbols, for the documentation."""
    reads_dst: bool = False
    ulps: int = 0
    """Units in the last place by which the machine may differ (libm, fused rounding)."""
    modes: Mapping[int, Meaning] = field(default_factory=dict)
    """What it means instead while a bit of CTRL is set."""

    def under(self, control: int) -> Meaning:
        """The meaning with this content of CTRL."""
        chosen = next((m for bit, m in self.modes.items() if control >> bit & 1), self.meaning)
        if control >> KEEP_INFINITY & 1 or self.dst not in ("half", "bfloat16_t"):
            return chosen
        return lambda *operands: _finite(chosen(*operands), self.dst)

    @property
    def assumption(self) -> str:
        """What no document says and the machine therefore assumes; '' when there is nothing."""
        return assumption_of(self.mnemonic, self.dst, self.src)

    @property
    def name(self) -> str:
        """Unique in the table."""
        return f"{self.mnemonic}({self.dst}, {self.src})"


def arithmetic(operation: Callable[..., Array]) -> Callable[[str], Meaning]:
    """`operation` in float64 for floats, rounded once; wrapping for integers."""

    def make(dtype: str) -> Meaning:
        element = NUMPY_TYPES[dtype]
        wide = np.float64 if dtype in FLOATS else np.int64

        def meaning(*operands: Any) -> Array:
            with np.errstate(all="ignore"):
                result = operation(*(np.asarray(x).astype(wide) for x in operands))
                return np.asarray(result).astype(element)

        return meaning

    return make


def clipped(operation: Callable[..., Array]) -> Callable[[str], Meaning]:
    """`operation` on integers, saturated."""

    def make(dtype: str) -> Meaning:
        info = np.iinfo(np.dtype(NUMPY_TYPES[dtype]))

        def meaning(*operands: Any) -> Array:
            result = operation(*(np.asarray(x).astype(np.int64) for x in operands))
            return np.clip(result, info.min, info.max).astype(NUMPY_TYPES[dtype])

        return meaning

    return make


def _finite(values: Array, dtype: str) -> Array:
    """Infinities replaced by the largest finite values, NaN by 0; in the type's bits."""
    infinity = 0x7C00 if dtype == "half" else 0x7F80
    bits = values.view(np.uint16)
    magnitude = bits & 0x7FFF
    kept = np.where(magnitude == infinity, bits - 1, bits)
    return np.where(magnitude > infinity, 0, kept).astype(np.uint16).view(values.dtype)


def relu(x: Array) -> Array:
    """max(x, 0); a NaN stays."""
    return np.where(x < 0, 0, x)


def then_relu(make: Callable[[str], Meaning], dtype: str) -> Meaning:
    """The meaning, then the larger of it and 0."""
    meaning = make(dtype)
    return lambda *operands: relu(meaning(*operands)).astype(NUMPY_TYPES[dtype])
