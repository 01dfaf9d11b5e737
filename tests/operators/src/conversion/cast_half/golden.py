"""Reference of cast_half: the half neighbours of each float, chosen by the rounding mode."""

import numpy as np


def cast_half(x: np.ndarray, round_mode: str = "rint") -> np.ndarray:
    nearest = x.astype(np.float16)
    wide = nearest.astype(np.float32)
    below = np.where(wide > x, np.nextafter(nearest, np.float16(-np.inf)), nearest)
    above = np.where(wide < x, np.nextafter(nearest, np.float16(np.inf)), nearest)
    if round_mode == "floor":
        return below
    if round_mode == "ceil":
        return above
    if round_mode == "trunc":
        return np.where(x < 0, above, below)
    if round_mode == "round":  # ties go away from zero
        to_below = x - below.astype(np.float32)
        to_above = above.astype(np.float32) - x
        away = np.where(x < 0, below, above)
        return np.where(to_below == to_above, away, nearest)
    return nearest
