"""Reference of leaky_relu_shift in double precision."""

import numpy as np


def leaky_relu_shift(x: np.ndarray, shift: float = 0.25) -> np.ndarray:
    x = x.astype(np.float64)
    v = x + shift
    return np.where(v > 0, v, 0.1 * v).astype(np.float32)
