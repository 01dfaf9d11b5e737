"""Reference of half_to_float_scale in double precision."""

import numpy as np


def half_to_float_scale(x: np.ndarray, scale: float = 0.5) -> np.ndarray:
    x = x.astype(np.float64)
    return (x * scale).astype(np.float32)
