"""Reference of l2_normalize_rows in double precision."""

import numpy as np


def l2_normalize_rows(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return (x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + 1e-12)).astype(np.float32)
