"""Reference of affine_clamp in double precision."""

import numpy as np


def affine_clamp(
    x: np.ndarray, alpha: float = 1.0, beta: float = 0.0, low: float = -1.0, high: float = 1.0
) -> np.ndarray:
    return np.clip(x.astype(np.float64) * alpha + beta, low, high).astype(x.dtype)
