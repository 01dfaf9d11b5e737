"""Reference of softplus in double precision."""

import numpy as np


def softplus(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return np.log1p(np.exp(x)).astype(np.float32)
