"""Reference of row_manhattan in double precision."""

import numpy as np


def row_manhattan(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    z = z.astype(np.float64)
    return np.abs(x - z).sum(axis=-1).astype(np.float32)
