"""Reference of inplace_fused_matmul_softmax_grad in double precision."""

import numpy as np


def inplace_fused_matmul_softmax_grad(
    softmax: np.ndarray, grad: np.ndarray, values: np.ndarray
) -> np.ndarray:
    s = softmax.astype(np.float64)
    g = grad.astype(np.float64) @ np.swapaxes(values.astype(np.float64), -2, -1)
    return ((g - (s * g).sum(-1, keepdims=True)) * s).astype(softmax.dtype)
