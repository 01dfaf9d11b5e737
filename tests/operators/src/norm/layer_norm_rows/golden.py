"""Reference of layer_norm_rows in double precision."""

import numpy as np


def layer_norm_rows(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, epsilon: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    v = x.astype(np.float64)
    mean = v.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(v.var(axis=-1, keepdims=True) + epsilon)
    y = (v - mean) * rstd * gamma.astype(np.float64) + beta.astype(np.float64)
    return (
        y.astype(x.dtype),
        mean[..., 0].astype(np.float32),
        rstd[..., 0].astype(np.float32),
    )
