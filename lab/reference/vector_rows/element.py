"""A row of the instruction table for what is element by element: types, form, meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Meaning = Callable[..., Array]
Modes = Mapping[int, Meaning]
"""Meanings by the bit of CTRL that switches to them."""

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
SHORT = {
    "half": "f16", "float": "f32", "bfloat16_t": "bf16", "int4b_t": "s4", "int8_t": "s8",
    "uint8_t": "u8", "int16_t": "s16", "uint16_t": "u16", "int32_t": "s32", "uint32_t": "u32",
    "int64_t": "s64",
}  # fmt: skip
"""Element types as mnemonics name them."""


class Form(Enum):
    """The argument list of an instruction."""

    BINARY = "binary"
    """(dst, src0, src1, repeat, three block strides, three repeat strides)"""
    BINARY_HALF = "binary, upper half"
    """Arguments as BINARY, and a flag that selects the half of the destination block"""
    UNARY = "unary"
    """(dst, src, repeat, two block strides, two repeat strides)"""
    SCALAR = "scalar"
    """Arguments as UNARY, with a scalar of the source's type after src"""
    SHIFT = "shift"
    """Arguments as UNARY, with a distance after src"""
    SHIFT_ROUND = "shift, round"
    """Arguments as SHIFT, and a flag that switches rounding on"""


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
    """The meaning, from source lanes (then the destination's old lanes when `reads_dst`, then
    scalars) to
    result lanes."""
    formula: str
    """The meaning in words or symbols, for the documentation."""
    reads_dst: bool = False
    ulps: int = 0
    """Units in the last place by which the machine may differ (libm, fused rounding)."""
    modes: Modes = field(default_factory=dict)
    """What it means instead while a bit of CTRL is set."""
    assumption: str = ""
    """What no document says and the machine therefore assumes; '' when there is nothing."""

    def under(self, control: int) -> Meaning:
        """The meaning with this content of CTRL."""
        chosen = next((m for bit, m in self.modes.items() if control >> bit & 1), self.meaning)
        if control >> KEEP_INFINITY & 1 or self.dst not in ("half", "bfloat16_t"):
            return chosen
        return lambda *operands: _finite(chosen(*operands), self.dst)

    @property
    def name(self) -> str:
        """Unique in the table."""
        return f"{self.mnemonic}({self.dst}, {self.src})"


def _finite(values: Array, dtype: str) -> Array:
    """Infinities replaced by the largest finite values, NaN by 0; in the type's bits."""
    infinity = 0x7C00 if dtype == "half" else 0x7F80
    bits = values.view(np.uint16)
    magnitude = bits & 0x7FFF
    kept = np.where(magnitude == infinity, bits - 1, bits)
    return np.where(magnitude > infinity, 0, kept).astype(np.uint16).view(values.dtype)
