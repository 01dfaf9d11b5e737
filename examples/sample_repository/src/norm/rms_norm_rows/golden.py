"""Reference of rms_norm_rows in double precision."""

import numpy as np


def rms_norm_rows(x: np.ndarray, gamma: np.ndarray, epsilon: float = 1e-6) -> np.ndarray:
    v = x.astype(np.float64)
    scale = 1.0 / np.sqrt(np.mean(v * v, axis=-1, keepdims=True) + epsilon)
    return (v * scale * gamma.astype(np.float64)).astype(x.dtype)
