"""Reference of softmax_rows in double precision."""

import numpy as np


def softmax_rows(x: np.ndarray) -> np.ndarray:
    v = x.astype(np.float64)
    e = np.exp(v - v.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(x.dtype)
