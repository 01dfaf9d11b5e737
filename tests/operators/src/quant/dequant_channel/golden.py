"""Reference of dequant_channel in double precision."""

import numpy as np


def dequant_channel(q: np.ndarray, scale: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    value = q.astype(np.float64) * scale.astype(np.float64)
    if bias is not None:
        value = value + bias.astype(np.float64)
    return value.astype(np.float16)
