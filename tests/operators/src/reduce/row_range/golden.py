"""Reference of row_range in double precision."""

import numpy as np


def row_range(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return (x.max(axis=-1) - x.min(axis=-1)).astype(np.float32)
