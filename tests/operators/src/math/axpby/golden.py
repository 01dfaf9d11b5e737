"""Reference of axpby in double precision."""

import numpy as np


def axpby(x: np.ndarray, z: np.ndarray, alpha: float = 1.5, beta: float = -0.75) -> np.ndarray:
    x = x.astype(np.float64)
    z = z.astype(np.float64)
    return (alpha * x + beta * z).astype(np.float32)
