"""Reference of sum_squares in double precision."""

import numpy as np


def sum_squares(x: np.ndarray) -> np.ndarray:
    return np.array([np.square(x.astype(np.float64)).sum()], dtype=np.float32)
