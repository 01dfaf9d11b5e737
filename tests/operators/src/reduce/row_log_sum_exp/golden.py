"""Reference of row_log_sum_exp in double precision."""

import numpy as np


def row_log_sum_exp(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return np.log(np.exp(x).sum(axis=-1)).astype(np.float32)
