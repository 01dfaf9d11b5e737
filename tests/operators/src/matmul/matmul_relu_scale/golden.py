"""Reference of matmul_relu_scale: relu of a product with bias, scaled by column."""

import numpy as np


def matmul_relu_scale(
    a: np.ndarray, b: np.ndarray, bias: np.ndarray, scale: np.ndarray
) -> np.ndarray:
    c = a.astype(np.float64) @ b.astype(np.float64) + bias
    return (np.maximum(c, 0) * scale).astype(np.float32)
