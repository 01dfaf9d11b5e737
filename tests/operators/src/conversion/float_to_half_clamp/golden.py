"""Reference of float_to_half_clamp in double precision."""

import numpy as np


def float_to_half_clamp(x: np.ndarray, limit: float = 2.0) -> np.ndarray:
    x = x.astype(np.float64)
    return np.clip(x, -limit, limit).astype(np.float16)
