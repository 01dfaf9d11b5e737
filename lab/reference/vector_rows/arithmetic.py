"""Arithmetic, estimates and shifts, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lab.reference.rounding import Round
from lab.reference.vector_rows.convert import conversion
from lab.reference.vector_rows.element import (
    FLOATS,
    NUMPY_TYPES,
    SATURATE_INTEGER,
    Array,
    Meaning,
    Modes,
)

_OPERATIONS: dict[str, Callable[..., Array]] = {
    "vadd": np.add, "vsub": np.subtract, "vmul": np.multiply, "vdiv": np.divide,
    "vmax": np.maximum, "vmin": np.minimum, "vand": np.bitwise_and, "vor": np.bitwise_or,
    "vadds": np.add, "vmuls": np.multiply, "vmaxs": np.maximum, "vmins": np.minimum,
    "vabs": np.abs, "vexp": np.exp, "vln": np.log, "vsqrt": np.sqrt, "vnot": np.invert,
    "vrelu": lambda x: np.where(x < 0, 0, x),  # a NaN stays
    "vlrelu": lambda x, slope: np.where(x >= 0, x, x * slope),
    "vmla": lambda a, b, d: a * b + d,
    "vmadd": lambda a, b, d: a * d + b,
    "vaxpy": lambda a, d, s: a * s + d,
}  # fmt: skip


def meaning(mnemonic: str, dst: str, src: str) -> tuple[Meaning, Modes]:
    """What an instruction means, and what instead while a bit of CTRL is set."""
    stem, _, converted = mnemonic.partition("_")
    if converted:
        first, _ = meaning(stem.removesuffix("conv"), src, src)
        second, others = conversion(dst, src, Round.EVEN)
        modes = {bit: _composed(first, other) for bit, other in others.items()}
        return _composed(first, second), modes
    if stem in _OTHERS:
        return _OTHERS[stem](dst), {}
    then_relu = stem not in _OPERATIONS
    operation = _OPERATIONS[stem.removesuffix("relu") if then_relu else stem]
    plain, clipped = _wide(operation, dst), _wide(operation, dst, clip=True)
    if then_relu:
        relu = _wide(_OPERATIONS["vrelu"], dst)
        plain, clipped = _composed(plain, relu), _composed(clipped, relu)
    saturates = dst not in FLOATS and operation in (np.add, np.subtract, np.multiply)
    return plain, {SATURATE_INTEGER: clipped} if saturates else {}


def _composed(first: Meaning, second: Meaning) -> Meaning:
    return lambda *operands: second(first(*operands))


def _wide(operation: Callable[..., Array], dtype: str, *, clip: bool = False) -> Meaning:
    """In float64 for floats, rounded once; integers wrap, or saturate where `clip` says so."""
    element = NUMPY_TYPES[dtype]
    wide = np.float64 if dtype in FLOATS else np.int64

    def apply(*operands: Any) -> Array:
        with np.errstate(all="ignore"):
            result = np.asarray(operation(*(np.asarray(x).astype(wide) for x in operands)))
            if clip:
                info = np.iinfo(np.dtype(element))
                result = np.clip(result, info.min, info.max)
            return result.astype(element)

    return apply


def _reciprocal(of: Callable[[Array], Array]) -> Callable[[str], Meaning]:
    """An estimate of 1 / of(x): 8 fraction bits, nearest even."""

    def make(dtype: str) -> Meaning:
        def estimate(x: Array) -> Array:
            with np.errstate(all="ignore"):
                single = np.float32(1) / of(x.astype(np.float32))
                mantissa, exponent = np.frexp(single)
                kept = np.ldexp(np.rint(mantissa * np.float32(512)), exponent - 9)
                return np.where(np.isfinite(single), kept, single).astype(NUMPY_TYPES[dtype])

        return estimate

    return make


def _shift_left(dtype: str) -> Meaning:
    element = np.dtype(NUMPY_TYPES[dtype])
    width = element.itemsize * 8
    sign = 1 << (width - 1) if element.kind == "i" else 0

    def shift(x: Array, distance: int) -> Array:
        bits = [value & ((1 << width) - 1) for value in x.tolist()]
        moved = [b << distance & ((1 << width) - 1) & ~sign | b & sign for b in bits]
        return np.array(moved, dtype=f"u{element.itemsize}").view(element)

    return shift


def _shift_right(dtype: str) -> Meaning:
    element = np.dtype(NUMPY_TYPES[dtype])

    def shift(x: Array, distance: int, round_: bool) -> Array:
        rounds = round_ and element.kind == "i" and distance > 0
        last = [v >> (distance - 1) & 1 if rounds else 0 for v in x.tolist()]
        moved = [(v >> distance) + more for v, more in zip(x.tolist(), last, strict=True)]
        return np.array(moved, dtype=element)

    return shift


_OTHERS: dict[str, Callable[[str], Meaning]] = {
    "vrec": _reciprocal(lambda x: x),
    "vrsqrt": _reciprocal(np.sqrt),
    "vshl": _shift_left,
    "vshr": _shift_right,
}
