"""Reference of row_squared_error in double precision."""

import numpy as np


def row_squared_error(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    target = target.astype(np.float64)
    return ((x - target) ** 2).mean(axis=-1).astype(np.float32)
