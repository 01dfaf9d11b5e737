"""The tensor dtypes: names, framework constants, sizes, and how numpy stores them.

The numeric values are those of the public `ge::DataType` enumeration, which the host tiling and
the `DT_*` macros of the kernel side share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class DType:
    """One tensor dtype."""

    name: str
    macro: str
    number: int
    bytes: float
    storage: str
    kernel_type: str

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype whose bytes equal the device's (bfloat16 is held as uint16 bits)."""
        return np.dtype(self.storage)

    @property
    def bits(self) -> int:
        """Bits of one element; below 8 several elements share a byte, the first lowest."""
        return int(self.bytes * 8)

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest value of an integer dtype."""
        if self.bits >= 8:
            held = np.iinfo(self.numpy)
            return int(held.min), int(held.max)
        if self.name.startswith("u"):
            return 0, (1 << self.bits) - 1
        return -1 << (self.bits - 1), (1 << (self.bits - 1)) - 1

    @property
    def decades(self) -> float:
        """Decimal exponent of the largest value of a floating-point dtype."""
        return {"float16": 4.8, "float64": 308.0}.get(self.name, 38.5)

    @property
    def is_float(self) -> bool:
        """True for real floating-point dtypes."""
        return self.name in {"float16", "bfloat16", "float32", "float64"}

    @property
    def is_complex(self) -> bool:
        """True for complex dtypes that numpy can compute with."""
        return self.name in {"complex64", "complex128"}


_TABLE = (
    DType("float32", "DT_FLOAT", 0, 4, "float32", "float"),
    DType("float16", "DT_FLOAT16", 1, 2, "float16", "half"),
    DType("int8", "DT_INT8", 2, 1, "int8", "int8_t"),
    DType("int32", "DT_INT32", 3, 4, "int32", "int32_t"),
    DType("uint8", "DT_UINT8", 4, 1, "uint8", "uint8_t"),
    DType("int16", "DT_INT16", 6, 2, "int16", "int16_t"),
    DType("uint16", "DT_UINT16", 7, 2, "uint16", "uint16_t"),
    DType("uint32", "DT_UINT32", 8, 4, "uint32", "uint32_t"),
    DType("int64", "DT_INT64", 9, 8, "int64", "int64_t"),
    DType("uint64", "DT_UINT64", 10, 8, "uint64", "uint64_t"),
    DType("float64", "DT_DOUBLE", 11, 8, "float64", "double"),
    DType("bool", "DT_BOOL", 12, 1, "bool", "bool"),
    DType("complex64", "DT_COMPLEX64", 16, 8, "complex64", "complex64"),
    DType("complex128", "DT_COMPLEX128", 17, 16, "complex128", "complex128"),
    DType("qint8", "DT_QINT8", 18, 1, "int8", "int8_t"),
    DType("bfloat16", "DT_BF16", 27, 2, "uint16", "bfloat16_t"),
    DType("int4", "DT_INT4", 29, 0.5, "uint8", "int4b_t"),
    DType("uint1", "DT_UINT1", 30, 0.125, "uint8", "uint1b_t"),
    DType("int2", "DT_INT2", 31, 0.25, "uint8", "int2b_t"),
    DType("complex32", "DT_COMPLEX32", 33, 4, "uint32", "complex32"),
    DType("hifloat8", "DT_HIFLOAT8", 34, 1, "uint8", "hifloat8_t"),
    DType("float8_e5m2", "DT_FLOAT8_E5M2", 35, 1, "uint8", "fp8_e5m2_t"),
    DType("float8_e4m3fn", "DT_FLOAT8_E4M3FN", 36, 1, "uint8", "fp8_e4m3fn_t"),
)

BY_NAME: dict[str, DType] = {d.name: d for d in _TABLE}
BY_MACRO: dict[str, DType] = {d.macro: d for d in _TABLE}
# Spellings that people and other tools use.
_ALIASES = {
    "float": "float32",
    "fp32": "float32",
    "half": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
    "double": "float64",
    "int": "int32",
    "bool_": "bool",
}


def find_dtype(name: str) -> DType | None:
    """The dtype called `name` in any usual spelling (float32, fp32, DT_FLOAT, ge::DT_FLOAT)."""
    text = name.strip().removeprefix("torch.").removeprefix("np.").removeprefix("ge::")
    if text in BY_MACRO:
        return BY_MACRO[text]
    lowered = text.lower()
    return BY_NAME.get(_ALIASES.get(lowered, lowered))


def pack(values: npt.NDArray[Any], dtype: DType) -> npt.NDArray[np.uint8]:
    """Integers as the bytes that hold them where several share one: flat, the rest of it 0."""
    each = 8 // dtype.bits
    bits = values.reshape(-1).astype(np.int8).view(np.uint8) & ((1 << dtype.bits) - 1)
    rows = np.pad(bits, (0, -bits.size % each)).reshape(-1, each)
    packed = np.zeros(rows.shape[0], np.uint8)
    for place in range(each):
        packed |= rows[:, place] << np.uint8(place * dtype.bits)
    return packed


def unpack(packed: npt.NDArray[Any], dtype: DType) -> npt.NDArray[np.int8]:
    """The integers that bytes hold where several share one, flat; more than there are elements."""
    each, low = 8 // dtype.bits, dtype.limits[0]
    shifts = np.arange(each, dtype=np.uint8) * dtype.bits
    bits = (packed.reshape(-1, 1) >> shifts) & ((1 << dtype.bits) - 1)
    values = bits.reshape(-1).astype(np.int8)
    return np.where(values > dtype.limits[1], values + 2 * low, values).astype(np.int8)


def to_bfloat16(values: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """The bits of `values` as bfloat16, rounded to nearest even from float32; NaN stays NaN, and
    what float32 cannot hold is an infinity."""
    with np.errstate(over="ignore"):
        single = np.asarray(values, dtype=np.float32)
    bits = single.view(np.uint32) if single.ndim else single.reshape(1).view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(
        16
    )
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    result = np.where(np.isnan(single).reshape(bits.shape), quiet, rounded).astype(np.uint16)
    return result.reshape(single.shape)


def from_bfloat16(bits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The float32 values of bfloat16 bits."""
    wide = np.asarray(bits, np.uint16, order="C").astype(np.uint32) << np.uint32(16)
    return wide.view(np.float32).reshape(bits.shape)
