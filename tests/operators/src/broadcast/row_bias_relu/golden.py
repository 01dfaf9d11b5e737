"""Reference of row_bias_relu in double precision."""

import numpy as np


def row_bias_relu(x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    bias = bias.astype(np.float64)
    return np.maximum(x + bias, 0.0).astype(np.float32)
