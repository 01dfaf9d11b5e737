"""Reference of hinge_loss in double precision."""

import numpy as np


def hinge_loss(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    target = target.astype(np.float64)
    return np.maximum(1.0 - x * target, 0.0).astype(np.float32)
