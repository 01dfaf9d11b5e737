"""The vector unit's rounding modes in exact numpy arithmetic.

Written independently of `machine/vector_round.h`, which tests compare with it: candidates on both
sides of the exact value are computed and the mode chooses, instead of manipulating bits.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Round(Enum):
    """Rounding modes, by the letter that ends a conversion's mnemonic."""

    EVEN = "r"
    FLOOR = "f"
    CEILING = "c"
    AWAY = "a"
    ZERO = "z"
    ODD = "o"


def integral(x: Array, mode: Round) -> Array:
    """Rounds to integral values, in the floating type given."""
    if mode is Round.EVEN:
        return np.rint(x)
    if mode is Round.FLOOR:
        return np.floor(x)
    if mode is Round.CEILING:
        return np.ceil(x)
    whole = np.trunc(x)
    if mode is Round.AWAY:
        with np.errstate(invalid="ignore"):
            return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole)
    return whole


def to_integer(x: Array, low: int, high: int, dtype: npt.DTypeLike) -> Array:
    """Integral values to integers: NaN becomes 0, out of range saturates."""
    result = np.zeros(x.shape, dtype=object)
    for i, value in enumerate(x.tolist()):
        if value != value:
            result[i] = 0
        elif value in (float("inf"), float("-inf")):
            result[i] = high if value > 0 else low
        else:
            result[i] = min(max(int(value), low), high)
    return result.astype(dtype)


def low_bits(x: Array, low: int, high: int, dtype: npt.DTypeLike) -> Array:
    """Integral values to integers: what is out of range keeps the low bits of its 64; NaN, infinity
    and what 64 bits do not hold become 0."""
    span = high - low + 1
    result = np.zeros(x.shape, dtype=object)
    for i, value in enumerate(x.tolist()):
        if low <= value <= high:
            result[i] = int(value)
        elif abs(value) < 2.0**63:
            result[i] = (int(value) - low) % span + low
    return result.astype(dtype)


def _choose(
    exact: Array,
    low: Array,
    high: Array,
    high_value: Array,
    low_value: Array,
    odd: Array,
    mode: Round,
) -> Array:
    """`low` or `high`, the neighbours of `exact` towards -inf and +inf; `odd` tells whether
    `low` has an odd last bit. `*_value` are the neighbours where infinity counts as the next
    representable magnitude."""
    down, up = exact - low_value, high_value - exact
    if mode is Round.FLOOR:
        return low
    if mode is Round.CEILING:
        return high
    if mode is Round.ZERO:
        return np.where(exact < 0, high, low)
    if mode is Round.ODD:
        return np.where(odd, low, high)
    if mode is Round.AWAY:
        return np.where(down == up, np.where(exact < 0, low, high), np.where(down < up, low, high))
    return np.where(down == up, np.where(odd, high, low), np.where(down < up, low, high))


def to_half(x: Array, mode: Round) -> Array:
    """float32 (or narrower integers) to float16. Magnitudes from 65536 on are infinite in every
    mode."""
    exact = x.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = exact.astype(np.float16)
        below = np.where(
            nearest.astype(np.float64) <= exact, nearest, np.nextafter(nearest, np.float16("-inf"))
        )
        above = np.where(
            nearest.astype(np.float64) >= exact, nearest, np.nextafter(nearest, np.float16("inf"))
        )
        limit = 65536.0
        value_below = np.clip(below.astype(np.float64), -limit, limit)
        value_above = np.clip(above.astype(np.float64), -limit, limit)
        odd = (below.view(np.uint16) & 1).astype(bool)
        chosen = _choose(exact, below, above, value_above, value_below, odd, mode)
        chosen = np.where(below == above, nearest, chosen)
        chosen = np.where(np.abs(exact) >= limit, np.copysign(np.inf, exact), chosen)
        chosen = np.where(np.isnan(exact), np.nan, chosen).astype(np.float16)
    # Rounding to zero keeps the sign.
    return np.where(chosen == 0, np.copysign(np.float16(0), x).astype(np.float16), chosen)


def to_bfloat16(x: Array, mode: Round) -> Array:
    """float32 to bfloat16 bits (uint16)."""
    bits = x.astype(np.float32).view(np.uint32)
    toward_zero = (bits & np.uint32(0xFFFF0000)).view(np.float32)
    inexact = (bits & np.uint32(0xFFFF)) != 0
    away = ((bits & np.uint32(0xFFFF0000)) + np.uint32(0x10000)).view(np.float32)
    negative = np.signbit(x)
    below = np.where(negative, away, toward_zero)
    above = np.where(negative, toward_zero, away)
    exact = x.astype(np.float64)
    limit = 2.0**128
    with np.errstate(invalid="ignore"):
        odd = (below.view(np.uint32) >> np.uint32(16) & np.uint32(1)).astype(bool)
        chosen = _choose(
            exact,
            below,
            above,
            np.clip(above.astype(np.float64), -limit, limit),
            np.clip(below.astype(np.float64), -limit, limit),
            odd,
            mode,
        )
    chosen = np.where(inexact & np.isfinite(x), chosen, toward_zero).astype(np.float32)
    result = (chosen.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), result)


def to_float(x: Array, mode: Round) -> Array:
    """Integers to float32."""
    exact = x.astype(np.longdouble)
    nearest = x.astype(np.float32)
    below = np.where(
        nearest.astype(np.longdouble) <= exact, nearest, np.nextafter(nearest, np.float32("-inf"))
    )
    above = np.where(
        nearest.astype(np.longdouble) >= exact, nearest, np.nextafter(nearest, np.float32("inf"))
    )
    odd = (below.view(np.uint32) & 1).astype(bool)
    chosen = _choose(exact, below, above, above.astype(np.longdouble),
                     below.astype(np.longdouble), odd, mode)  # fmt: skip
    return np.where(below == above, nearest, chosen).astype(np.float32)


def from_bfloat16(bits: Array) -> Array:
    """bfloat16 bits to float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
