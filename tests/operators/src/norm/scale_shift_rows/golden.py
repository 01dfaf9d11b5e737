"""Reference of scale_shift_rows in double precision."""

import numpy as np


def scale_shift_rows(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    gamma = gamma.astype(np.float64)
    beta = beta.astype(np.float64)
    return (x * gamma + beta).astype(np.float32)
