"""Reference of hard_swish in double precision."""

import numpy as np


def hard_swish(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return (x * np.clip(x / 6.0 + 0.5, 0.0, 1.0)).astype(np.float32)
