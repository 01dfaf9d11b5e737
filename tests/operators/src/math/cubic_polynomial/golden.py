"""Reference of cubic_polynomial in double precision."""

import numpy as np


def cubic_polynomial(
    x: np.ndarray, c0: float = 0.5, c1: float = -1.0, c2: float = 0.25, c3: float = 0.125
) -> np.ndarray:
    x = x.astype(np.float64)
    return (((c3 * x + c2) * x + c1) * x + c0).astype(np.float32)
