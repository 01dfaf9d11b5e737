"""Reference of hypotenuse in double precision."""

import numpy as np


def hypotenuse(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    z = z.astype(np.float64)
    return np.sqrt(x * x + z * z).astype(np.float32)
