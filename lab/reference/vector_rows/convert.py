"""Conversions, with every rounding mode."""

from __future__ import annotations

from functools import partial

import numpy as np

from lab.reference import rounding
from lab.reference.rounding import Round
from lab.reference.vector_rows.element import (
    NUMPY_TYPES,
    TRUNCATE_CAST,
    Array,
    Meaning,
    Modes,
)


def conversion(dst: str, src: str, mode: Round) -> tuple[Meaning, Modes]:
    """What a conversion means, and what instead while a bit of CTRL is set."""
    if dst == "half":
        return partial(rounding.to_half, mode=mode), {}
    if dst == "bfloat16_t":
        return partial(rounding.to_bfloat16, mode=mode), {}
    if dst == "float":
        return _to_float(src, mode), {}
    exact = _exact(dst)
    if src in ("half", "float", "bfloat16_t"):
        low_bits = _to_integer(dst, src, mode, keep_low_bits=True)
        return _to_integer(dst, src, mode), {TRUNCATE_CAST: low_bits}
    low, high = _limits(dst)
    return lambda x: exact(np.clip(x, low, high)), {TRUNCATE_CAST: exact}


def _exact(dst: str) -> Meaning:
    return lambda x: x.astype(NUMPY_TYPES[dst])


def _limits(dtype: str) -> tuple[int, int]:
    info = np.iinfo(np.dtype(NUMPY_TYPES[dtype]))
    return (-8, 7) if dtype == "int4b_t" else (int(info.min), int(info.max))


def _to_float(src: str, mode: Round) -> Meaning:
    if src == "bfloat16_t":
        return rounding.from_bfloat16
    if src == "half":
        return _exact("float")
    return partial(rounding.integral if src == "float" else rounding.to_float, mode=mode)


def _to_integer(dst: str, src: str, mode: Round, keep_low_bits: bool = False) -> Meaning:
    to = rounding.low_bits if keep_low_bits else rounding.to_integer

    def meaning(x: Array) -> Array:
        wide = rounding.from_bfloat16(x) if src == "bfloat16_t" else x.astype(np.float32)
        return to(rounding.integral(wide, mode), *_limits(dst), NUMPY_TYPES[dst])

    return meaning
