"""Reference of row_dot in double precision."""

import numpy as np


def row_dot(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    z = z.astype(np.float64)
    return (x * z).sum(axis=-1).astype(np.float32)
