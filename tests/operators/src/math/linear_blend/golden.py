"""Reference of linear_blend in double precision."""

import numpy as np


def linear_blend(x: np.ndarray, z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    z = z.astype(np.float64)
    weight = weight.astype(np.float64)
    return (x + weight * (z - x)).astype(np.float32)
